"""How right is sizer on cases it has never seen? One table, the goal beside each figure.

    python benchmarks/accuracy/accuracy.py [--quick] [--only PART ...] [--machines 500] [--worst 20] [--processes 2]

Exit status 1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

# Before numpy: two processes that compute with two threads each would wait for one another.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from accuracy_scores import HEAD, GoalRow

sys.path.append(str(Path(__file__).parents[1] / "grid"))


@dataclass(frozen=True)
class Asked:
    """What the command line asks for."""

    machines: int
    first: int
    worst: int
    processes: int
    quick: bool


def simulated(asked: Asked) -> list[GoalRow]:
    """Machines whose truth is known."""
    from multiprocessing import get_context

    from accuracy_simulated import judge_case
    from accuracy_simulated_scores import scores
    from accuracy_worst import worst_lines

    numbers = range(asked.first, asked.first + asked.machines)
    if asked.processes > 1:
        with get_context("fork").Pool(asked.processes) as pool:
            outcomes = pool.map(judge_case, numbers, chunksize=1)
    else:
        outcomes = [judge_case(number) for number in numbers]
    for line in worst_lines(outcomes, asked.worst):
        print(line)
    return scores(outcomes)


def grid(asked: Asked) -> list[GoalRow]:
    """The grid of this repository, and the same measured again two days later."""
    from accuracy_grid import scores
    from grid_data import SECOND, load_grid

    table, lines = scores()
    again, more = scores(load_grid(SECOND), "second grid")
    print("\n".join([*lines, *more] if asked.worst else []))
    return table + again


def shapes(asked: Asked) -> list[GoalRow]:
    """Curves as tables from elsewhere have them, and published ones."""
    from accuracy_shapes import scores

    table, lines = scores(2 if asked.quick else 20)
    print("\n".join(lines if asked.worst else []))
    return table


def curves(asked: Asked) -> list[GoalRow]:
    """Curves of real machines, most of them measured by others."""
    from accuracy_real import scores

    table, lines = scores(asked.quick, asked.processes)
    print("\n".join(lines if asked.worst else []))
    return table


def speed(asked: Asked) -> list[GoalRow]:
    """Seconds of large studies."""
    from accuracy_speed import scores

    return scores(asked.quick)


PARTS: dict[str, Callable[[Asked], list[GoalRow]]] = {
    "grid": grid,
    "simulated": simulated,
    "shapes": shapes,
    "curves": curves,
    "speed": speed,
}


def main() -> int:
    asked, chosen = _arguments()
    found: list[GoalRow] = []
    for part in chosen:
        table = PARTS[part](asked)
        found += table
        print("\n".join(["", HEAD, *(score.line for score in table)]), flush=True)
    missed = [score for score in found if score.met is False]
    print(f"{len(missed)} of {sum(score.met is not None for score in found)} goals missed")
    return 1 if missed else 0


def _arguments() -> tuple[Asked, list[str]]:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few machines: whether all of it works, not how well")
    parser.add_argument("--only", action="append", choices=list(PARTS), help="this part; may be given again")
    parser.add_argument("--machines", type=int, help="simulated machines (default 500, 15 with --quick)")
    parser.add_argument("--first", type=int, default=0, help="number of the first machine")
    parser.add_argument("--worst", type=int, default=0, help="so many worst cases are listed, with their machines")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    machines = given.machines or (15 if given.quick else 500)
    return Asked(machines, given.first, given.worst, given.processes, given.quick), given.only or list(PARTS)


if __name__ == "__main__":
    raise SystemExit(main())
