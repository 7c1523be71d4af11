"""Sentences about a search or a two-epoch pass whose next run is still to be made."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from sizer.adaptive.chosen import PlanEnd
from sizer.adaptive.to_follow import Unfinished
from sizer.plan.batch_search import BatchSearch
from sizer.plan.floor_search import Search
from sizer.records.adaptive import PlanEndKind
from sizer.records.batch_sizes import SearchEnd
from sizer.records.run import Run
from sizer.words.adaptive import plan_ended
from sizer.words.batch_sizes import largest_in_words
from sizer.words.floors import floor_in_words
from sizer.words.language import _
from sizer.words.names import clauses


def unfinished_said(left: Sequence[Unfinished], runs: Sequence[Run]) -> str:
    """Before the command that goes on with them: what each has found so far, and why it made no further run."""
    return _("Not finished: {what}. To go on:", what=clauses([unfinished_in_words(each, runs) for each in left]))


def unfinished_ended(left: Unfinished, runs: Sequence[Run], folder: str) -> str:
    """The same of one as a line of the progress, with the command; `folder` is the study's, as one types it."""
    known = {"what": unfinished_in_words(left, runs), "command": going_on_with([left], folder)}
    return _("{what}; to go on, type: {command}", **known)


def plan_ended_line(end: PlanEnd, left: Sequence[Unfinished], folder: str, emulated: Collection[str]) -> str:
    """How an adaptive plan ended as a line of the progress, with the command where a larger bound would go on: with
    room for the searches that are `left`, too."""
    said = plan_ended(end, emulated)
    if end.then is None:
        return said
    return _("{what}; to go on, type: {command}", what=said, command=going_on_with(left, folder, end))


def going_on_with(left: Sequence[Unfinished], folder: str, ended: PlanEnd | None = None) -> str:
    """The command that makes the runs that are left: with a bound that has room for them, where one was in the way of
    searches, or of the plan that `ended`."""
    bounded = [each for each in left if each.enough is not None]
    if bounded:
        bound, enough = bounded[-1].bound, bounded[-1].enough
    elif ended is not None and ended.enough is not None:
        bound, enough = ended.kind, ended.enough
    else:
        return f"sizer resume {folder}"
    more = math.ceil(enough or 0.0)
    option = f"--runs {more}" if bound is PlanEndKind.RUNS else f"--budget {math.ceil(more / 60)}m"
    return f"sizer run {folder}/study.yaml --out {folder} {option}"


def unfinished_in_words(left: Unfinished, runs: Sequence[Run]) -> str:
    """`` `job`: the memory floor is no higher than 2 GiB; the search is not finished; the budget has no room for its
    next run``."""
    name = left.following.base.workload.name
    bound = _bound(left.bound)
    if isinstance(left.following, Search):
        floor = floor_in_words(left.following.found(runs), unfinished=True)
        return clauses([_("`{workload}`: {floor}", workload=name, floor=floor), *bound])
    if isinstance(left.following, BatchSearch):
        largest = _("`{workload}`: {largest}", workload=name, largest=_largest(left.following, runs))
        return clauses([largest, *bound])
    epochs = _("two epochs of `{workload}` with half of its data in memory are not measured yet", workload=name)
    return clauses([epochs, *bound])


def _largest(search: BatchSearch, runs: Sequence[Run]) -> str:
    found = search.found(runs)
    if found is not None and found.ended is SearchEnd.UNFINISHED:
        return largest_in_words(found)
    known = _("the largest batch that fits is not known") if found is None else largest_in_words(found)
    return clauses([known, _("the search is not finished")])


def _bound(bound: PlanEndKind | None) -> list[str]:
    if bound is PlanEndKind.BUDGET:
        return [_("the budget has no room for its next run")]
    return [_("as many runs are made as were allowed")] if bound is PlanEndKind.RUNS else []
