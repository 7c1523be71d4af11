"""Every file that sizer reads, spoiled in thousands of ways: one sentence, the right exit code, nothing written.

    python benchmarks/reliability/fuzz.py [--cases 10000] [--seed 1] [--only TARGET] [--keep FOLDER]
    python benchmarks/reliability/fuzz.py --replay FOLDER/CASE

A valid file is changed (Hypothesis draws how: values of another type or size, keys, lists, hostile text, bytes) and
read by the commands that read it. A case fails where an exception escapes or the exit code is 1 (`tracebacks`), where
the exit code is not one that the promise names, the sentence is missing, names no file or is not one, where numpy
warns, or where output holds characters that a terminal obeys (`wrong`), where a command takes over 10 s of CPU time
(`slow`), or where a refused file leaves anything changed (`written`). Each failing input is kept with the command
that plays it again. Most commands run in this process; one in 100 in a real one, too. Exit status 1 if any of these
columns is not 0. Nothing is measured.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from fuzz_cases import Case, CaseVerdict
from fuzz_sandbox import limit_memory
from fuzz_targets import Target, targets, write_files
from hypothesis import HealthCheck, Phase, given, seed, settings

FAULTS = ("tracebacks", "wrong", "slow", "written")
CODES = (2, 3, 4, 5)
EVERY = 100
"""One in so many cases runs in a process of its own."""


class TargetTally:
    """What became of a target's cases."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.cases = 0
        self.codes: Counter[int | None] = Counter()
        self.faults: Counter[str] = Counter()
        self.slowest = 0.0
        self.seconds = 0.0

    def count(self, verdict: CaseVerdict) -> None:
        self.cases += 1
        self.codes[verdict.ended.code] += 1
        self.faults[verdict.kind] += 1
        self.slowest = max(self.slowest, verdict.ended.seconds)

    @property
    def failed(self) -> int:
        return sum(self.faults[kind] for kind in FAULTS)

    def cells(self) -> list[str]:
        refused = [f"{self.codes[code]}" for code in CODES]
        found = [f"{self.faults[kind]}" for kind in FAULTS]
        times = [f"{self.slowest:.1f}", f"{self.seconds:.0f}"]
        return [self.target.name, f"{self.cases}", f"{self.codes[0]}", *refused, *found, *times]


def fuzz(
    target: Target, cases: int, seed_: int, failed: Callable[[CaseVerdict], None], every: int = EVERY
) -> TargetTally:
    """So many cases of a target; each failing one is handed on."""
    row, start = TargetTally(target), time.process_time()

    @seed(seed_)
    @settings(
        max_examples=cases,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(target.cases)
    def one(case: Case) -> None:
        verdicts = [target.judge(case)]
        if target.judge_in_a_process and row.cases % every == every - 1:
            verdicts.append(target.judge_in_a_process(case))
        for verdict in verdicts:
            row.count(verdict)
            if verdict.faults:
                failed(verdict)

    one()
    row.seconds = time.process_time() - start
    return row


class Keeper:
    """Writes each failing case into a folder of its own, and says how to play it again; one of a kind in full."""

    def __init__(self, folder: Path, shown: int = 60) -> None:
        self.folder = folder
        self._left = shown
        self._kinds: Counter[str] = Counter()

    def keep(self, verdict: CaseVerdict) -> None:
        kind = f"{verdict.kind} {verdict.faults[0].strip().splitlines()[-1][:60]}"
        self._kinds[kind] += 1
        if self._kinds[kind] > 3 or self._left <= 0:
            return
        self._left -= 1
        case = verdict.case
        place = self.folder / f"{sum(self._kinds.values()):05d}"
        place.mkdir(parents=True)
        (place / "content").write_bytes(case.content)
        form = {
            "target": case.target,
            "path": case.path,
            "words": case.words,
            "codes": sorted(case.codes),
            "environment": dict(case.environment),
            "kind": verdict.kind,
            "faults": verdict.faults,
        }
        (place / "case.json").write_text(json.dumps(form, indent=1))
        print(f"{case.target}: {verdict.kind}: {' '.join(case.words)}: {_last_lines(verdict)}")
        print(f"  to play it again, type: python benchmarks/reliability/fuzz.py --replay {place}", flush=True)


def _last_lines(verdict: CaseVerdict) -> str:
    return " | ".join(line.strip() for fault in verdict.faults for line in fault.strip().splitlines()[-3:])[:600]


def replay(place: Path) -> int:
    """Play one kept case again and show all that it says."""
    form = json.loads((place / "case.json").read_text())
    case = Case(
        form["target"],
        form["path"],
        (place / "content").read_bytes(),
        tuple(form["words"]),
        frozenset(form["codes"]),
        form["environment"],
    )
    with tempfile.TemporaryDirectory(prefix="sizer-fuzz-") as folder:
        known = {target.name: target for target in targets(write_files(Path(folder) / "files"))}
        verdict = known[case.target].judge(case)
    ended = verdict.ended
    print(f"sizer {' '.join(case.words)}\nexit code {ended.code} after {ended.seconds:.2f} s of CPU time")
    print(f"stdout:\n{ended.out[-2000:]}\nstderr:\n{ended.err[-4000:]}\n{ended.trace}")
    print(f"faults: {verdict.kind} {verdict.faults}" if verdict.faults else "every promise kept")
    return 1 if verdict.faults else 0


def table(rows: Iterable[TargetTally]) -> str:
    """Aligned columns with a line of sums."""
    rows = list(rows)
    header = [
        "target",
        "cases",
        "accepted",
        *(f"exit {code}" for code in CODES),
        *FAULTS,
        "slowest, CPU s",
        "all, CPU s",
    ]
    body = [row.cells() for row in rows]
    numbers = range(1, len(header) - 2)
    sums = [f"{sum(int(cells[column]) for cells in body)}" for column in numbers]
    total = ["all", *sums, f"{max(row.slowest for row in rows):.1f}", f"{sum(row.seconds for row in rows):.0f}"]
    lines = [header, *body, total]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return "\n".join(
        "  ".join(
            [line[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True))]
        )
        for line in lines
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", metavar="TARGET")
    parser.add_argument("--keep", type=Path, help="where failing inputs go; default: a new temporary folder")
    parser.add_argument("--replay", type=Path, metavar="FOLDER")
    arguments = parser.parse_args()
    limit_memory()
    if arguments.replay:
        return replay(arguments.replay)
    keeper = Keeper(arguments.keep or Path(tempfile.mkdtemp(prefix="sizer-fuzz-failed-")))
    with tempfile.TemporaryDirectory(prefix="sizer-fuzz-") as folder:
        chosen = _chosen(targets(write_files(Path(folder) / "files")), arguments.only)
        total = sum(target.share for target in chosen)
        rows = []
        for target in chosen:
            count = max(1, round(arguments.cases * target.share / total))
            rows.append(fuzz(target, count, arguments.seed, keeper.keep))
            print(f"{target.name}: {count} cases, {rows[-1].failed} failed", file=sys.stderr, flush=True)
    print(table(rows))
    return 1 if any(row.failed for row in rows) else 0


def _chosen(known: tuple[Target, ...], only: str | None) -> list[Target]:
    chosen = [target for target in known if only in (None, target.name)]
    if not chosen:
        raise SystemExit(f"`{only}` is no target; one of: {', '.join(target.name for target in known)}")
    return chosen


if __name__ == "__main__":
    raise SystemExit(main())
