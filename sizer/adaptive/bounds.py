"""What a budget or a number of runs has room for after the runs that an adaptive plan has made. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from sizer.plan.run_order import seconds_of_each
from sizer.records.adaptive import Adaptive, PlanEndKind
from sizer.records.run import Run
from sizer.records.study import RunSpec

FEWEST_MORE = 4
"""Runs that a larger bound has room for: as many as half of all curves take (`benchmarks/choosing`)."""


def within(asked: Adaptive, left: Sequence[RunSpec], runs: Sequence[Run]) -> tuple[int, float]:
    """How many of the runs that are left may be made at the most, and how many seconds these take."""
    if asked.runs is not None:
        left = left[: max(0, asked.runs - len(runs))]
    seconds = sorted(seconds_of_each(left, runs))
    if asked.budget is not None:
        spent = list(accumulate(seconds, initial=seconds_spent(runs)))
        seconds = [each for each, whole in zip(seconds, spent[1:], strict=True) if whole <= asked.budget]
    return len(seconds), sum(seconds)


def no_room(asked: Adaptive, seconds: float, runs: Sequence[Run]) -> PlanEndKind | None:
    """Which bound has no room for a run of so many seconds; None where it can be made."""
    if asked.runs is not None and len(runs) >= asked.runs:
        return PlanEndKind.RUNS
    if asked.budget is not None and seconds_spent(runs) + seconds > asked.budget:
        return PlanEndKind.BUDGET
    return None


def enough(bound: PlanEndKind, seconds: Sequence[float], runs: Sequence[Run]) -> float:
    """The seconds of a budget, or the number of runs, that has room for more runs, of which each takes so long."""
    return len(runs) + len(seconds) if bound is PlanEndKind.RUNS else seconds_spent(runs) + sum(seconds)


def more_room(bound: PlanEndKind, seconds: float, left: int, runs: Sequence[Run]) -> float:
    """The same for one more run of so many seconds and as many as were made, of which so many are left."""
    more = max(1, min(left, max(len(runs), FEWEST_MORE)))
    return enough(bound, [seconds] * more, runs)


def seconds_spent(runs: Sequence[Run]) -> float:
    """What a budget counts: the seconds of the runs, not the time between them."""
    return sum(run.wall_seconds for run in runs)
