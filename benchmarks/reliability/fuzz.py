"""Every file that sizer reads, spoiled in thousands of ways: one sentence, the right exit code, nothing written.

    python benchmarks/reliability/fuzz.py [--cases 10000] [--seed 1] [--only TARGET] [--keep FOLDER]

A valid file is changed (Hypothesis draws how: values of another type or size, keys, lists, hostile text, bytes) and
read by the commands that read it, in this process. A case fails where an exception escapes or the exit code is 1
(`tracebacks`), where the exit code is not one that the promise names, the sentence is missing, names no file or is not
one, where numpy warns, or where output holds characters that a terminal obeys (`wrong`), where a command takes over
10 s of CPU time (`slow`), or where a refused file leaves anything changed (`written`). Of each kind of failure some
inputs are kept, with the command that read them. Exit status 1 if any of these columns is not 0. Nothing is measured.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from fuzz_sandbox import Case, CaseVerdict, Sandbox, limit_memory
from fuzz_targets import Target, targets, write_files
from hypothesis import HealthCheck, Phase, given, seed, settings

FAULTS = ("tracebacks", "wrong", "slow", "written")
CODES = (0, 2, 3, 4, 5)
KEPT = 3
"""Failures of one kind that are kept."""
COLUMNS = ("cases", "accepted", *(f"exit {code}" for code in CODES[1:]), *FAULTS)


@dataclass
class TargetTally:
    """What became of a target's cases; `slowest` and `seconds` are CPU time."""

    name: str
    counts: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    seconds: float = 0.0

    def count(self, verdict: CaseVerdict) -> None:
        code = verdict.ended.code
        self.counts.update(["cases", "accepted" if code == 0 else f"exit {code}", verdict.kind])
        self.slowest = max(self.slowest, verdict.ended.seconds)

    @property
    def failed(self) -> int:
        return sum(self.counts[kind] for kind in FAULTS)

    @property
    def line(self) -> str:
        counts = "".join(f"{self.counts[column]:>11}" for column in COLUMNS)
        return f"{self.name:22}{counts}{self.slowest:>11.1f}{self.seconds:>11.0f}"


def fuzz(
    sandbox: Sandbox, target: Target, cases: int, seed_: int, failed: Callable[[CaseVerdict], None]
) -> TargetTally:
    """So many cases of a target; each failing one is handed on."""
    tally, start = TargetTally(target.name), time.process_time()

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
        verdict = sandbox.judge(case)
        tally.count(verdict)
        if verdict.faults:
            failed(verdict)

    one()
    tally.seconds = time.process_time() - start
    return tally


def keep(verdict: CaseVerdict, folder: Path, kinds: Counter[str]) -> None:
    """Store a failing case, and say what it said; a few of a kind."""
    case, lines = verdict.case, [line.strip() for fault in verdict.faults for line in fault.strip().splitlines()]
    kind = f"{verdict.kind} {lines[-1][:60]}"
    kinds[kind] += 1
    if kinds[kind] > KEPT:
        return
    place = folder / f"{kinds.total():05d}-{Path(case.path).name}"
    place.write_bytes(case.content)
    print(f"{case.target}: {verdict.kind}: {' '.join(case.words)}: {' | '.join(lines[-3:])[:600]}")
    print(f"  {case.path} was {place}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", metavar="TARGET")
    parser.add_argument("--keep", type=Path, help="where failing inputs go; default: a new temporary folder")
    arguments = parser.parse_args()
    limit_memory()
    kept, kinds = arguments.keep or Path(tempfile.mkdtemp(prefix="sizer-fuzz-failed-")), Counter[str]()
    kept.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="sizer-fuzz-") as folder:
        sandbox = write_files(Path(folder) / "files")
        choices = {target.name: target for target in targets(sandbox.root)}
        if arguments.only not in (None, *choices):
            raise SystemExit(f"`{arguments.only}` is no target; one of: {', '.join(choices)}")
        chosen = [choices[name] for name in choices if arguments.only in (None, name)]
        total = sum(target.share for target in chosen)
        rows = []
        for target in chosen:
            count = max(1, round(arguments.cases * target.share / total))
            rows.append(fuzz(sandbox, target, count, arguments.seed, lambda verdict: keep(verdict, kept, kinds)))
            print(f"{target.name}: {count} cases, {rows[-1].failed} failed", file=sys.stderr, flush=True)
    slowest, seconds = max(row.slowest for row in rows), sum(row.seconds for row in rows)
    rows.append(TargetTally("all", sum((row.counts for row in rows), Counter()), slowest, seconds))
    print(f"{'target':22}{''.join(f'{column:>11}' for column in COLUMNS)}{'slowest':>11}{'CPU s':>11}")
    print("\n".join(row.line for row in rows))
    return 1 if rows[-1].failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
