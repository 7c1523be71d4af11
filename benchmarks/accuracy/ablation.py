"""What each form and step of the model is for: left out by itself, how much worse is sizer on cases it has not seen?

    python benchmarks/accuracy/ablation.py [--whole] [--only NAME ...] [--processes 2]

A change is shown where chance does not explain it: the cases are drawn again 1,000 times, for both models alike, and
in 99 of 100 draws it has the same sign; and where it counts: LEAST points of an error, or LEAST_SHARE of a share. The
small form takes less than 20 CPU minutes, `--whole` some hours.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

# Before numpy: two processes that compute with two threads each would wait for one another.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

sys.path.append(str(Path(__file__).parents[1] / "answers"))
sys.path.append(str(Path(__file__).parents[1] / "choosing"))
sys.path.append(str(Path(__file__).parents[1] / "curves"))
sys.path.append(str(Path(__file__).parents[1] / "grid"))

import numpy as np
from ablation_cases import FAMILIES, SMALL, WHOLE_SIZE, Judge, Outcome, cases
from ablation_parts import WHOLE, Part, parts
from numpy.typing import NDArray

Array = NDArray[np.float64]
DRAWS = 1000
SURE = 0.99
LEAST, LEAST_SHARE = 0.1, 0.5
"""Percentage points by which an error, or a share, must change to be shown."""
FIGURES = ("median", "90th", "covered", "right", "named")
JUDGES: list[Judge] = []
"""All cases, made before the processes that judge them begin."""


@dataclass(frozen=True)
class Judged:
    """What every case of a family came to, in their order, with one part left out."""

    cases: tuple[Outcome, ...]

    def figures(self, drawn: NDArray[np.intp] | None = None) -> Array:
        """FIGURES in percent (5,), of all cases or of those that were drawn; not a number where there is none."""
        chosen = self.cases if drawn is None else [self.cases[number] for number in drawn]
        errors = np.concatenate([np.array(each.errors, dtype=float) for each in chosen])
        covered = [flag for each in chosen for flag in each.covered]
        right = [flag for each in chosen for flag in each.right]
        named = [flag for each in chosen for flag in each.named]
        found = [float(np.quantile(errors, at)) if errors.size else math.nan for at in (0.5, 0.9)]
        return 100.0 * np.array([*found, *map(_share, (covered, right, named))], dtype=np.float64)


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else math.nan


def judge_without(part: Part) -> dict[str, Judged]:
    """Every case with a part left out, by family."""
    found: dict[str, list[Outcome]] = {}
    with part.left_out():
        for judge in JUDGES:
            for family, outcome in judge().items():
                found.setdefault(family, []).append(outcome)
    return {family: Judged(tuple(outcomes)) for family, outcomes in found.items()}


def changes(whole: Judged, without: Judged) -> list[str]:
    """What leaving a part out changes beyond chance, in words."""
    random = np.random.default_rng(1)
    count = len(whole.cases)
    drawn = [random.integers(0, count, count) for _ in range(DRAWS)]
    differences = np.array([without.figures(draw) - whole.figures(draw) for draw in drawn])
    found = []
    for number, (figure, by) in enumerate(zip(FIGURES, without.figures() - whole.figures(), strict=True)):
        known = differences[:, number][~np.isnan(differences[:, number])]
        sure = known.size > 0 and max(np.mean(known > 0), np.mean(known < 0)) >= SURE
        if sure and abs(by) >= (LEAST if number < 2 else LEAST_SHARE):
            found.append(f"{figure} {by:+.1f}")
    return found


def line(name: str, cells: Sequence[str]) -> str:
    """A row of the table, as README has it."""
    return " | ".join(["", name, *cells, ""]).strip()


def main() -> int:
    asked = _arguments()
    JUDGES.extend(cases(WHOLE_SIZE if asked.whole else SMALL))
    chosen = [WHOLE, *(part for part in parts() if not asked.only or part.name in asked.only)]
    print(line("without", FAMILIES))
    print("|---" * (len(FAMILIES) + 1) + "|")
    with get_context("fork").Pool(asked.processes) as pool:
        for number, judged in enumerate(pool.imap(judge_without, chosen)):
            if not number:
                whole = judged
                cells = [_in_words(whole[family]) for family in FAMILIES]
            else:
                cells = [", ".join(changes(whole[family], judged[family])) or "." for family in FAMILIES]
            print(line(chosen[number].name, cells), flush=True)
    return 0


def _in_words(judged: Judged) -> str:
    known = zip(FIGURES, judged.figures(), strict=True)
    return ", ".join(f"{name} {value:.3g}" for name, value in known if not np.isnan(value))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--whole", action="store_true", help="all curves, many machines: hours")
    parser.add_argument("--only", action="append", choices=[part.name for part in parts()], help="this part alone")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
