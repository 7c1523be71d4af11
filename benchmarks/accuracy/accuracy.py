"""How right is sizer on cases it has never seen? One table, the goal beside each figure.

    python benchmarks/accuracy/accuracy.py [--quick] [--only PART ...] [--machines 500] [--worst 20] [--processes 2]

Exit status 1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

# Before numpy: two processes that compute with two threads each would wait for one another.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

sys.path += [str(Path(__file__).parents[1] / name) for name in ("curves", "grid", "shared")]

from accuracy_measured import scores_of_curves, scores_of_grid
from accuracy_simulated import judge_case, scores
from goals import GoalRow, in_processes, printed
from grid_data import SECOND, load_grid

Scores = tuple[list[GoalRow], list[str]]
"""The rows of a part, and lines about the worst of its cases."""


def grid(asked: argparse.Namespace) -> Scores:
    """The grid of this repository, and the same measured again two days later."""
    first = scores_of_grid(load_grid(), "grid", asked.worst)
    second = scores_of_grid(load_grid(SECOND), "second grid", asked.worst)
    return first[0] + second[0], first[1] + second[1]


def simulated(asked: argparse.Namespace) -> Scores:
    """Machines whose truth is known: rates and bottlenecks."""
    numbers = [(asked.first + number,) for number in range(asked.machines or (15 if asked.quick else 500))]
    return scores(in_processes(judge_case, numbers, asked.processes), asked.worst)


def curves(asked: argparse.Namespace) -> Scores:
    """Curves of real machines, most of them measured by others."""
    return scores_of_curves(20 if asked.quick else 1, asked.processes, asked.worst)


PARTS: dict[str, Callable[[argparse.Namespace], Scores]] = {part.__name__: part for part in (grid, simulated, curves)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few machines: whether all of it works, not how well")
    parser.add_argument("--only", action="append", choices=list(PARTS), help="this part; may be given again")
    parser.add_argument("--machines", type=int, help="simulated machines (default 500, 15 with --quick)")
    parser.add_argument("--first", type=int, default=0, help="number of the first machine")
    parser.add_argument("--worst", type=int, default=0, help="so many worst cases are listed")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    goals = []
    for part in asked.only or PARTS:
        table, lines = PARTS[part](asked)
        goals += [row.met for row in table if row.met is not None]
        printed(table, [*lines, ""])
    print(f"{goals.count(False)} of {len(goals)} goals missed")
    return 0 if all(goals) else 1


if __name__ == "__main__":
    raise SystemExit(main())
