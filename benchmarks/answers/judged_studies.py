"""Simulated studies judged one after another by several processes, the worst listed, and the table of goals."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from accuracy_scores import HEAD, GoalRow
from processes import in_processes

Judged = TypeVar("Judged")


def judge_and_print(
    title: str,
    judge_study: Callable[[int], Judged],
    scores: Callable[[list[Judged]], Sequence[GoalRow]],
    worst_lines: Callable[[list[Judged]], Iterable[str]],
    worst: str,
) -> int:
    """The exit status: 1 where a goal is missed. `worst` says which lines `--worst` lists."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="number of the first study")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--worst", type=int, default=0, help=f"so many answers that are {worst} are listed")
    given = parser.parse_args()
    numbers = [(number,) for number in range(given.first, given.first + given.studies)]
    judged = in_processes(judge_study, numbers, given.processes)
    for line in list(worst_lines(judged))[: given.worst]:
        print(line)
    table = scores(judged)
    print("\n".join([HEAD, *(row.line for row in table)]))
    return 1 if any(row.met is False for row in table) else 0
