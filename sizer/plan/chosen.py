"""What an adaptive plan does after the runs so far: the next run, or how it ended, and what a bound has room for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from sizer.plan.following import Following, TwoEpochs
from sizer.plan.run_order import estimate_seconds, seconds_of_each
from sizer.records.run import Run
from sizer.records.study import Adaptive, PlanEndKind, RunReason, RunSpec, Study

FEWEST_MORE = 4
"""Runs that a larger bound has room for: as many as half of all curves take (`benchmarks/choosing`)."""


@dataclass(frozen=True)
class NextRun:
    """A run to make, and why; `why` is None for one that the study asks for whatever the answer is."""

    spec: RunSpec
    why: RunReason | None


@dataclass(frozen=True)
class PlanEnd:
    """How the plan ended: the workloads that are `settled`, those that are still `open`, and of these the ones that
    `failed` in every run that was made of them, after how many runs and seconds of them.

    `then` is the run that its bound has no room for, None where no bound is in the way, and `enough` a budget in
    seconds, or a number of runs, that has room for it and for as many more as were made.
    """

    kind: PlanEndKind
    settled: tuple[str, ...]
    open: tuple[str, ...]
    runs: int
    seconds: float
    failed: tuple[str, ...] = ()
    then: NextRun | None = None
    enough: float | None = None

    @property
    def bound_spent(self) -> float:
        """What is spent of the bound that `enough` is of."""
        return self.runs if self.kind is PlanEndKind.RUNS else self.seconds


def next_of(chosen: NextRun | PlanEnd | None) -> NextRun | None:
    """The run that it makes next, or would make if its bound had room."""
    return chosen.then if isinstance(chosen, PlanEnd) else chosen


def within(asked: Adaptive, left: Sequence[RunSpec], runs: Sequence[Run]) -> tuple[int, float]:
    """How many of the runs that are left may be made at the most, and how many seconds these take."""
    if asked.runs is not None:
        left = left[: max(0, asked.runs - len(runs))]
    seconds = sorted(seconds_of_each(left, runs))
    if asked.budget is not None:
        spent = list(accumulate(seconds, initial=seconds_spent(runs)))
        seconds = [estimate for estimate, whole in zip(seconds, spent[1:], strict=True) if whole <= asked.budget]
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


@dataclass(frozen=True)
class Unfinished:
    """A search or pass whose next run is still to be made. `bound` is what has no room for that run, None where nothing
    but an interruption kept it from being made; `enough` the budget in seconds, or the number of runs, that would have
    room for as many runs as it and those before it usually take, runs that the same bound kept an answer from among
    them."""

    following: Following
    bound: PlanEndKind | None = None
    enough: float | None = None


def unfinished(
    following: Iterable[Following], runs: Sequence[Run], study: Study, chosen: NextRun | PlanEnd | None = None
) -> tuple[Unfinished, ...]:
    """What these runs of a study leave open of its searches and passes; `chosen` is what its adaptive plan does."""
    names = {workload.workload.name for workload in study.workloads}
    runs = [run for run in runs if run.spec.workload.name in names]
    asked = study.adaptive
    searches: list[Unfinished] = []
    usual: list[float] = []
    for search in following:
        spec = search.next_run(runs)
        if spec is None:
            continue
        seconds = _seconds(search, spec, runs)
        usual += [seconds] * max(1, search.usual_runs - _made(search, runs))
        bound = None if asked is None else no_room(asked, seconds, runs)
        room = None if bound is None else enough(bound, usual, runs) + _for_answers(bound, chosen)
        searches.append(Unfinished(search, bound, room))
    return tuple(searches)


def most_to_follow(following: Iterable[Following], runs: Sequence[Run]) -> list[RunSpec]:
    """As many runs as searches and passes may take after these at the most, each as its next one."""
    return [
        spec
        for search in following
        if (spec := search.next_run(runs)) is not None
        for _ in range(max(1, search.most_runs - _made(search, runs)))
    ]


def _for_answers(bound: PlanEndKind, chosen: NextRun | PlanEnd | None) -> float:
    """What of a larger bound the runs take first that answers are still open for."""
    if not isinstance(chosen, PlanEnd) or chosen.enough is None or chosen.kind is not bound:
        return 0.0
    return chosen.enough - chosen.bound_spent


def _seconds(search: Following, spec: RunSpec, runs: Sequence[Run]) -> float:
    """How long the next run takes: a pass two epochs at the least, which other runs do not show."""
    seconds = estimate_seconds([spec], runs)
    return max(seconds, search.least_seconds(runs)) if isinstance(search, TwoEpochs) else seconds


def _made(search: Following, runs: Iterable[Run]) -> int:
    """How many of these runs a search or pass has made."""
    return sum(search.includes(run.spec) and run.spec.purpose is search.base.purpose for run in runs)
