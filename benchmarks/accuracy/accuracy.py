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

from accuracy_scores import HEAD, GoalRow
from processes import in_processes

Scores = tuple[list[GoalRow], list[str]]
"""The rows of a part, and lines about the worst of its cases."""


def grid(asked: argparse.Namespace) -> Scores:
    """The grid of this repository, and the same measured again two days later."""
    from accuracy_grid import scores
    from grid_data import SECOND, load_grid

    first, second = scores(load_grid(), "grid", asked.worst), scores(load_grid(SECOND), "second grid", asked.worst)
    return first[0] + second[0], first[1] + second[1]


def simulated(asked: argparse.Namespace) -> Scores:
    """Machines whose truth is known: rates and bottlenecks."""
    from accuracy_simulated import judge_case, scores

    return scores(in_processes(judge_case, asked.numbers, asked.processes), asked.worst)


def answers(asked: argparse.Namespace) -> Scores:
    """What is recommended for the same machines."""
    from accuracy_advised import advise_case, scores

    return scores(in_processes(advise_case, asked.numbers, asked.processes), asked.worst)


def shapes(asked: argparse.Namespace) -> Scores:
    """Curves as tables from elsewhere have them, and published ones."""
    from accuracy_curves import scores_of_shapes

    return scores_of_shapes(2 if asked.quick else 20, asked.processes, asked.worst)


def curves(asked: argparse.Namespace) -> Scores:
    """Curves of real machines, most of them measured by others."""
    from accuracy_curves import scores_of_real

    return scores_of_real(20 if asked.quick else 1, asked.processes, asked.worst)


def speed(asked: argparse.Namespace) -> Scores:
    """Seconds of small and of large studies."""
    from accuracy_speed import scores

    return scores(asked.quick), []


PARTS: dict[str, Callable[[argparse.Namespace], Scores]] = {
    part.__name__: part for part in (grid, simulated, answers, shapes, curves, speed)
}


def main() -> int:
    asked = _arguments()
    goals = []
    for part in asked.only or PARTS:
        table, lines = PARTS[part](asked)
        goals += [row.met for row in table if row.met is not None]
        print("\n".join([*lines, "", HEAD, *(row.line for row in table)]), flush=True)
    print(f"{goals.count(False)} of {len(goals)} goals missed")
    return 0 if all(goals) else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few machines: whether all of it works, not how well")
    parser.add_argument("--only", action="append", choices=list(PARTS), help="this part; may be given again")
    parser.add_argument("--machines", type=int, help="simulated machines (default 500, 15 with --quick)")
    parser.add_argument("--first", type=int, default=0, help="number of the first machine")
    parser.add_argument("--worst", type=int, default=0, help="so many worst cases are listed")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    machines = given.machines or (15 if given.quick else 500)
    given.numbers = [(number,) for number in range(given.first, given.first + machines)]
    return given


if __name__ == "__main__":
    raise SystemExit(main())
