"""Searches and passes keep to the bounds of an adaptive plan, and say what they have found so far."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sizer.plan.chosen import PlanEnd, Unfinished, most_to_follow, unfinished
from sizer.plan.following import Following, following_runs
from sizer.plan.run_order import AROUND_SECONDS
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Adaptive, PlanEndKind, RunSpec, Study
from sizer.records.units import MIB
from sizer.words.studies.planning import going_on_with, plan_ended_line, unfinished_in_words, unfinished_said
from tests.unit.plan.machine import HOST, SECONDS, chooser_of, knee, made, study_of

FLOOR = 700 * MIB
EACH = SECONDS + 5
"""Seconds of every run of the machine."""


def floor_study(**bounds: float) -> Study:
    return replace(study_of(memory_floor=True), adaptive=Adaptive(**bounds))  # type: ignore[arg-type]


def tried(spec: RunSpec) -> Run:
    """It completes from the floor on."""
    held = (spec.limits.memory_bytes or HOST.memory_bytes) >= FLOOR
    run = made(spec, knee(4.0), Outcome.COMPLETED if held else Outcome.OUT_OF_MEMORY)
    return replace(run, memory=replace(run.memory, peak_anonymous_bytes=500 * MIB if held else None))


def followed(study: Study, runs: list[Run]) -> tuple[list[Run], tuple[Unfinished, ...]]:
    """Every run that searches make after these, and what is left of them."""
    runs = list(runs)
    following = following_runs(study, HOST)
    for each in following:
        while (spec := each.next_run(runs)) is not None and not _bound(each, runs, study):
            runs.append(tried(spec))
            assert len(runs) < 60
    return runs, unfinished(following, runs, study)


def _bound(each: Following, runs: list[Run], study: Study) -> PlanEndKind | None:
    (left,) = unfinished([each], runs, study)
    return left.bound


def chosen(count: int) -> list[Run]:
    """So many runs of the plan, without a memory cap."""
    study = study_of()
    return [tried(spec) for spec in (*chooser_of(study).start(), *chooser_of(study)._specs)][:count]


def test_a_search_makes_no_run_that_the_budget_has_no_room_for() -> None:
    """Three runs are there, and of a budget of five and a half the search has two."""
    runs, left = followed(floor_study(budget=5.5 * EACH), chosen(3))
    assert len(runs) == 5
    (search,) = left
    assert search.bound is PlanEndKind.BUDGET
    assert search.enough == pytest.approx(5 * EACH + 2 * (EACH + AROUND_SECONDS))


def test_a_larger_bound_goes_on_where_the_search_ended() -> None:
    """The runs are those that one stretch would have made, none twice."""
    whole, _ = followed(floor_study(), chosen(3))
    some, (search,) = followed(floor_study(budget=5.5 * EACH), chosen(3))
    again, left = followed(floor_study(budget=40 * EACH), some)
    assert [run.id for run in again] == [run.id for run in whole]
    assert left == ()
    assert search.enough is not None


def test_what_was_found_so_far_is_said_and_what_to_type() -> None:
    """That it is not finished, and nothing of a floor that is not there."""
    runs, left = followed(floor_study(budget=4.5 * EACH), chosen(3))
    assert unfinished_said(left, runs) == (
        "Not finished: `job`: the memory floor is between 500 MiB and 64 GiB; the search is not finished; the budget "
        "has no room for its next run. To go on:"
    )
    assert going_on_with(left, "my-study") == "sizer run my-study/study.yaml --out my-study --budget 5m"
    none, left = followed(floor_study(runs=3), chosen(3))
    assert unfinished_in_words(left[0], none) == (
        "`job`: the memory floor is no higher than 64 GiB; the search is not finished; as many runs are made as were "
        "allowed"
    )
    assert going_on_with(left, "my-study") == "sizer run my-study/study.yaml --out my-study --runs 7"


def test_nothing_tried_is_not_nothing_found() -> None:
    """Neither for the memory floor nor for the largest batch."""
    study = replace(study_of(memory_floor=True, largest_batch=512), adaptive=Adaptive(runs=0))
    floor, batch = unfinished(following_runs(study, HOST), [], study)
    assert unfinished_in_words(floor, []).startswith(
        "`job`: the memory floor is not known; the search is not finished;"
    )
    assert unfinished_in_words(batch, []).startswith(
        "`job`: the largest batch that fits is not known; the search is not finished;"
    )


def test_an_interrupted_search_goes_on_by_resume() -> None:
    """No bound was in its way."""
    study = study_of(memory_floor=True)
    left = unfinished(following_runs(study, HOST), chosen(3), study)
    assert [each.bound for each in left] == [None]
    assert going_on_with(left, "my-study") == "sizer resume my-study"


def test_one_larger_bound_has_room_for_answers_and_searches() -> None:
    """The runs that an open answer takes first are among them, and one command goes on with both."""
    study = floor_study(runs=2)
    following, runs = following_runs(study, HOST), chosen(2)
    end = chooser_of(study, runs=2).next_run(runs)
    assert isinstance(end, PlanEnd)
    assert end.enough == 2 + 4
    (alone,), (left,) = unfinished(following, runs, study), unfinished(following, runs, study, end)
    assert left.enough == (alone.enough or 0) + 4
    assert going_on_with([left], "s", end).endswith(f" --runs {left.enough}")
    assert plan_ended_line(end, [left], "s", ()).endswith(f" --runs {left.enough}")


def test_what_may_follow_counts_in_the_bound() -> None:
    """Sixteen runs of a search at the most, and no more than are allowed in all."""
    study = floor_study()
    after = most_to_follow(following_runs(study, HOST), [])
    assert len(after) == 16
    alone, _ = chooser_of(study).at_most([])
    assert chooser_of(study).at_most([], after)[0] == alone + 16
    assert chooser_of(study, runs=5).at_most([], after)[0] == 5
    assert chooser_of(study, budget=200.0).at_most([], after)[1] <= 200.0
