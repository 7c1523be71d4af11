"""Figures with a goal beside each, the table that they are printed in, and cases judged by several processes."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, TypeVar

import numpy as np

Judged = TypeVar("Judged")


@dataclass(frozen=True)
class GoalRow:
    """One row of the table: a figure, its goal in words, and whether it is met; None where it has no goal."""

    part: str
    figure: str
    value: float
    unit: str
    goal: str = ""
    met: bool | None = None
    cases: int = 0

    @property
    def line(self) -> str:
        """As it is printed."""
        verdict = {True: "met", False: "MISSED", None: ""}[self.met]
        shown = "-" if math.isnan(self.value) else f"{self.value:.3g}{self.unit}"
        return f"{self.part:30s}  {self.figure:46s}  {shown:>9s}  {self.goal:22s}  {verdict:6s}  {self.cases:>6d}"


HEAD = f"{'part':30s}  {'figure':46s}  {'value':>9s}  {'goal':22s}  {'':6s}  {'cases':>6s}"


def printed(table: Sequence[GoalRow], lines: Iterable[str] = ()) -> int:
    """The exit status, once these lines and the table are printed: 1 where a goal is missed."""
    print("\n".join([*lines, HEAD, *(row.line for row in table)]), flush=True)
    return 1 if any(row.met is False for row in table) else 0


def error(predicted: float, truth: float) -> float:
    """|ln| of their ratio as a share: 0.1 is 10.5 % too high or 9.5 % too low."""
    if predicted <= 0 or not math.isfinite(predicted):
        return math.inf
    return abs(math.log(predicted / truth))


def quantile(values: Sequence[float], at: float) -> float:
    """nan of nothing."""
    return float(np.quantile(np.asarray(values, dtype=float), at)) if values else math.nan


def at_most(part: str, figure: str, values: Sequence[float], at: float, goal: float | None = None) -> GoalRow:
    """A quantile of errors in percent; `goal` is a share."""
    value = quantile(values, at)
    met = None if goal is None or math.isnan(value) else value <= goal
    shown = f"<= {100 * goal:.3g} %" if goal is not None else ""
    return GoalRow(part, figure, 100 * value, " %", shown, met, len(values))


def share(
    part: str, figure: str, flags: Iterable[bool], least: float | None = None, most: float | None = None
) -> GoalRow:
    """How many of them in percent, within goals that are shares."""
    outcomes = list(flags)
    value = sum(outcomes) / len(outcomes) if outcomes else math.nan
    goal = ""
    if least is not None:
        goal = f"{100 * least:g} to {100 * most:g} %" if most is not None else f">= {100 * least:g} %"
    met = None if least is None or not outcomes else least <= value <= (1.0 if most is None else most)
    return GoalRow(part, figure, 100 * value, " %", goal, met, len(outcomes))


def below(part: str, figure: str, value: float, unit: str, goal: float, cases: int = 1) -> GoalRow:
    """One figure that must not be above its goal."""
    return GoalRow(part, figure, value, unit, f"<= {goal:g}{unit}", value <= goal, cases)


def in_processes(judge: Callable[..., Judged], cases: Iterable[tuple[Any, ...]], processes: int) -> list[Judged]:
    """What `judge` says of the arguments of each case, in their order."""
    if processes == 1:
        return [judge(*case) for case in cases]
    with get_context("fork").Pool(processes) as pool:
        return pool.starmap(judge, cases, chunksize=1)


def judge_numbered(
    doc: str,
    kind: str,
    count: int,
    judge: Callable[[int], Judged],
    scores: Callable[[list[Judged]], Sequence[GoalRow]],
    worst_lines: Callable[[list[Judged]], Iterable[str]],
) -> int:
    """The exit status of a benchmark of `count` cases, called `kind`, drawn by their number; `--worst` lists some."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument(f"--{kind}", dest="count", type=int, default=count)
    parser.add_argument("--first", type=int, default=0, help=f"number of the first of the {kind}")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--worst", type=int, default=0, help="so many of those that are wrong or missing are listed")
    given = parser.parse_args()
    numbers = [(number,) for number in range(given.first, given.first + given.count)]
    judged = in_processes(judge, numbers, given.processes)
    return printed(scores(judged), list(worst_lines(judged))[: given.worst])
