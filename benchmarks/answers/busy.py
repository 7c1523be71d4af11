"""Is an answer of a study on a busy host as good as that of the same study on a quiet one? Measured twins.

    python benchmarks/answers/busy.py
    python benchmarks/answers/busy.py --record DIR [--only NAME ...] [--twin quiet|busy]

Each study of `busy_studies.py` was measured twice by `sizer run`: on a quiet host, and while others took its CPUs. Both
answers are made anew from the stored runs. The busy one is wrong if it is `recommended`, not provisional, and

- the quiet twin's model gives its spec less than 90 % of the rate that it gives the spec of the quiet answer, by which
  a slower disk or too few vCPUs show, or no rate at all, as where it runs out of memory; or
- its vCPUs, or its memory where both have one, are more than 10 % more or less than those of the quiet answer.

The quiet answer may be a lower bound, of which a smaller size is wrong, too, but is no yardstick where it is refused,
provisional or less sure than 0.9. A spec is judged with no more of anything than was measured. Exit status 1 where an
answer is wrong.

`--record` measures (root, 20 minutes) in DIR, and writes the runs beside the study files.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# Before numpy: threads of its own would wait for one another.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

sys.path += [str(Path(__file__).parents[1] / name) for name in ("accuracy", "choosing", "curves", "grid", "shared")]
sys.path.append(str(Path(__file__).parents[2]))

from busy_studies import FOLDER, STUDIES, TWINS, record
from grid_data import load_grid
from judged import place_of

from sizer.catalog.catalog import Catalog
from sizer.model.fitting import fit
from sizer.model.model import WorkloadModel
from sizer.model.prediction import predict
from sizer.recommend.recommendation import recommend
from sizer.recommend.rule import SURE
from sizer.records.answer import Answer
from sizer.records.messages import SizerError
from sizer.records.prediction import Spec
from sizer.records.study import Objective
from sizer.records.units import format_bytes

APART = 0.10
"""Of a rate or a size: what differs by no more is as good."""
LINE = "{:18}  {:32}  {:26}  {:34}  {:>6}  {}"


@dataclass(frozen=True)
class Twin:
    """The answer of one study from the runs on one host, and the model that it rests on."""

    answer: Answer
    model: WorkloadModel

    def rate(self, spec: Spec) -> float:
        """Samples per second of a spec by this model; 0 where it runs out of memory."""
        found = predict(self.model, place_of(self.model, spec))
        return 0.0 if found.out_of_memory else found.throughput.value


@dataclass(frozen=True)
class Pair:
    """Both answers of one study. `kept` is the rate of the busy one's spec over that of the quiet one's, both on the
    quiet host; None where one of them has none."""

    name: str
    quiet: Answer
    busy: Answer
    kept: float | None

    @property
    def differs(self) -> bool:
        """Whether the specs are not as good as one another."""
        quiet, busy = self.quiet.spec, self.busy.spec
        return quiet is not None and busy is not None and self.kept is not None and are_apart(quiet, busy, self.kept)

    @property
    def verdict(self) -> str:
        """`WRONG`; `as good`, or `held back` although it is; `not said` of another spec; `refused`; `no yardstick`."""
        if not is_yardstick(self.quiet):
            return "no yardstick"
        if self.busy.spec is None:
            return "refused"
        if self.differs:
            return "WRONG" if is_plain(self.busy) else "not said"
        return "as good" if is_plain(self.busy) or not is_plain(self.quiet) else "held back"

    @property
    def line(self) -> str:
        load = " + ".join(map(str, STUDIES[self.name]))
        kept = "-" if self.kept is None else f"{self.kept:.0%}"
        return LINE.format(self.name, load, _told(self.quiet), _told(self.busy), kept, self.verdict)


def is_plain(answer: Answer) -> bool:
    """Whether it is an answer to act on."""
    return answer.status == "recommended" and not answer.provisional


def is_yardstick(answer: Answer) -> bool:
    """Whether it has a spec, and is sure of it: of a lower bound, that less is too little."""
    sure = answer.probability is None or answer.probability >= SURE
    return answer.spec is not None and not answer.provisional and sure


def are_apart(quiet: Spec, busy: Spec, kept: float) -> bool:
    """Whether a spec loses more than APART of the rate of the other, or is larger or smaller by more than that."""
    sizes = [(quiet.vcpus, busy.vcpus), (quiet.memory_bytes, busy.memory_bytes)]
    return kept < 1 - APART or any(_other_size(*size) for size in sizes)


def _other_size(quiet: float | None, busy: float | None) -> bool:
    return quiet is not None and busy is not None and abs(busy / quiet - 1) > APART


def judge(name: str) -> Pair:
    """Both twins of a study, from their stored runs."""
    quiet, busy = (twin_of(name, twin) for twin in TWINS)
    specs = quiet.answer.spec, busy.answer.spec
    kept = None
    if specs[0] is not None and specs[1] is not None and (best := quiet.rate(specs[0])):
        kept = quiet.rate(specs[1]) / best
    return Pair(name, quiet.answer, busy.answer, kept)


def twin_of(name: str, twin: str) -> Twin:
    """The answer of a study from its runs on the `quiet` or the `busy` host."""
    runs = load_grid(FOLDER / name / f"{twin}.jsonl")
    model = fit(runs)
    (answer,) = recommend(model, runs, Objective(), Catalog.load()).workloads
    return Twin(answer, model.workloads[0])


def _told(answer: Answer) -> str:
    """`2 vCPU nvme, at_least, 0.93`."""
    status = f"provisional {answer.status}" if answer.provisional else answer.status
    likely = "" if answer.probability is None else f", {answer.probability:.2f}"
    if answer.spec is None:
        return status
    spec = answer.spec
    memory = "" if spec.memory_bytes is None else f" {format_bytes(spec.memory_bytes)}"
    return f"{spec.vcpus:g} vCPU{memory}{f' {spec.disk}' if spec.disk else ''}, {status}{likely}"


def show(pairs: Sequence[Pair]) -> None:
    """The table, and how many are wrong."""
    print(LINE.format("study", "beside", "quiet answer", "busy answer", "rate", "verdict"))
    for pair in pairs:
        print(pair.line)
    counts = Counter(pair.verdict for pair in pairs)
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()), f"of {len(pairs)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", type=Path, metavar="DIR", help="measure the studies in DIR")
    parser.add_argument("--only", nargs="+", choices=STUDIES, default=list(STUDIES), metavar="NAME")
    parser.add_argument("--twin", choices=TWINS, help="measure this one alone")
    given = parser.parse_args()
    if given.record is not None:
        # So that what it started is ended with it.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        try:
            record(given.record.absolute(), given.only, [given.twin] if given.twin else TWINS)
        except SizerError as error:
            print(f"busy: {error}", file=sys.stderr)
            return error.exit_code
        return 0
    pairs = [judge(name) for name in given.only]
    show(pairs)
    return 1 if any(pair.verdict == "WRONG" for pair in pairs) else 0


if __name__ == "__main__":
    raise SystemExit(main())
