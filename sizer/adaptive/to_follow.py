"""Searches and passes that have a run left, and whether a bound of the adaptive plan is why. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sizer.adaptive.bounds import enough, no_room
from sizer.adaptive.chosen import NextRun, PlanEnd
from sizer.plan.following import Following
from sizer.plan.run_order import estimate_seconds
from sizer.plan.two_epochs import TwoEpochs
from sizer.records.adaptive import PlanEndKind
from sizer.records.run import Run
from sizer.records.study import RunSpec, Study


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
    names = {each.workload.name for each in study.workloads}
    runs = [run for run in runs if run.spec.workload.name in names]
    asked = study.adaptive
    found: list[Unfinished] = []
    usual: list[float] = []
    for each in following:
        spec = each.next_run(runs)
        if spec is None:
            continue
        seconds = _seconds(each, spec, runs)
        usual += [seconds] * max(1, each.usual_runs - _made(each, runs))
        bound = None if asked is None else no_room(asked, seconds, runs)
        room = None if bound is None else enough(bound, usual, runs) + _for_answers(bound, chosen)
        found.append(Unfinished(each, bound, room))
    return tuple(found)


def most_to_follow(following: Iterable[Following], runs: Sequence[Run]) -> list[RunSpec]:
    """As many runs as searches and passes may take after these at the most, each as its next one."""
    return [
        spec
        for each in following
        if (spec := each.next_run(runs)) is not None
        for _ in range(max(1, each.most_runs - _made(each, runs)))
    ]


def _for_answers(bound: PlanEndKind, chosen: NextRun | PlanEnd | None) -> float:
    """What of a larger bound the runs take first that answers are still open for."""
    if not isinstance(chosen, PlanEnd) or chosen.enough is None or chosen.kind is not bound:
        return 0.0
    return chosen.enough - chosen.bound_spent


def _seconds(each: Following, spec: RunSpec, runs: Sequence[Run]) -> float:
    """How long the next run takes: a pass two epochs at the least, which other runs do not show."""
    seconds = estimate_seconds([spec], runs)
    return max(seconds, each.least_seconds(runs)) if isinstance(each, TwoEpochs) else seconds


def _made(each: Following, runs: Iterable[Run]) -> int:
    """How many of these runs a search or pass has made."""
    return sum(each.includes(run.spec) and run.spec.purpose is each.base.purpose for run in runs)
