"""What a study still has is advised before anything that it has not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sizer.catalog.catalog import Catalog
from sizer.model.fitting import fit
from sizer.plan.run_order import plan
from sizer.recommend.edges import StillPlanned, prefer_planned_run
from sizer.recommend.recommendation import recommend
from sizer.records.configuration import Configuration
from sizer.records.prediction import Action, Reason, ReasonCode, Spec, Suggestion, reason
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome, Purpose
from sizer.records.study import Objective
from sizer.records.units import GIB
from sizer.words.names import Terms
from sizer.words.reasons.suggestions import suggestion_sentences
from tests.unit.plan.machine import HOST, knee, made, study_of

NOT_MADE = reason(ReasonCode.RUN_WOULD_SETTLE)


def place(vcpus: float, memory_gib: int = 64) -> Configuration:
    return Configuration(vcpus, memory_gib * GIB, "host", 1, gpu_count=1)


def measured(*vcpus: float, failed: tuple[float, ...] = ()) -> list[Run]:
    """One run at each of these, of which some were killed."""
    specs = {spec.limits.vcpus: spec for spec in plan(study_of(vcpus=(*vcpus, *failed)), HOST) if spec.repeat == 0}
    return [
        made(specs[each], knee(4.0), Outcome.OUT_OF_MEMORY if each in failed else Outcome.COMPLETED)
        for each in (*vcpus, *failed)
    ]


def advised(suggestion: Suggestion, runs: list[Run], left: StillPlanned) -> Suggestion:
    return prefer_planned_run(suggestion, left, fit(runs).workloads[0].measured, runs)


def at(*vcpus: float) -> Suggestion:
    return Suggestion(Action.MEASURE, reason(ReasonCode.RUN_WOULD_SETTLE, larger=vcpus[0]), vcpus=vcpus)


@pytest.mark.parametrize(
    ("known", "wanted", "left", "found"),
    [
        ((0.5, 2.0), (4.0,), (1.0,), (1.0,)),
        ((2.0,), (1.0, 4.0), (0.5, 1.0, 1.5), (1.0, 1.5)),
        ((2.0,), (1.0, 4.0), (0.5,), (0.5,)),
        ((1.0, 2.0, 4.0), (8.0, 16.0), (3.0, 6.0, 16.0), (6.0, 16.0)),
        ((1.0, 2.0, 4.0), (8.0,), (3.0, 0.5), (8.0,)),
        ((2.0, 3.0, 4.0), (1.0,), (1.5, 16.0), (1.5,)),
        ((1.0, 2.0, 8.0), (4.0,), (3.0, 16.0), (3.0,)),
        ((1.0, 2.0, 4.0), (8.0,), (), (8.0,)),
    ],
)
def test_the_nearest_value_of_the_study_that_would_do(
    known: tuple[float, ...], wanted: tuple[float, ...], left: tuple[float, ...], found: tuple[float, ...]
) -> None:
    """With fewer than three values any does; else those on the same side of what was tried."""
    suggestion = advised(at(*wanted), measured(*known), StillPlanned(tuple(map(place, left))))
    assert suggestion.vcpus == found
    assert (suggestion.why == NOT_MADE) is (found != wanted)


def test_a_reason_without_figures_holds_of_any_value() -> None:
    suggestion = replace(at(4.0), why=reason(ReasonCode.ONLY_MEASURED_SIZES))
    found = advised(suggestion, measured(0.5, 2.0), StillPlanned((place(1.0),)))
    assert (found.vcpus, found.why) == ((1.0,), suggestion.why)


def test_a_value_that_was_tried_is_none_that_is_left() -> None:
    """With more memory it may do; by itself it failed."""
    left = StillPlanned((place(1.0, 128),))
    assert advised(at(4.0), measured(0.5, 2.0, failed=(1.0,)), left).vcpus == (4.0,)


def test_a_search_is_no_run_of_what_is_planned() -> None:
    """It shows whether a cap holds and no rate."""
    *runs, searched = measured(0.5, 2.0, 1.0)
    searched = replace(searched, spec=replace(searched.spec, purpose=Purpose.FLOOR_SEARCH))
    assert advised(at(4.0), [*runs, searched], StillPlanned((place(1.0),))).vcpus == (1.0,)


def test_more_memory_is_more_than_was_tried() -> None:
    """Less is on the other side of what was killed."""
    runs = [
        replace(run, configuration=replace(run.configuration, memory_bytes=4 * GIB)) for run in measured(failed=(1.0,))
    ]
    more = Suggestion(Action.MEASURE, memory_bytes=8 * GIB)
    assert advised(more, runs, StillPlanned((place(1.0, 2), place(1.0, 6)))).memory_bytes == 6 * GIB
    assert advised(more, runs, StillPlanned((place(1.0, 2),))) == more


@pytest.mark.parametrize(
    "kept",
    [
        Suggestion(Action.RETRY, vcpus=(1.0,)),
        Suggestion(Action.REPEAT, repeat_how="batches"),
        Suggestion(Action.IMPORT, column="vcpus"),
    ],
)
def test_what_is_to_be_mended_first_stays(kept: Suggestion) -> None:
    assert advised(kept, measured(0.5, 2.0), StillPlanned((place(1.0),), place(1.0))) == kept


def test_the_next_run_of_an_adaptive_plan_is_advised() -> None:
    """With what the study varies; a further run of what was measured is a repeat."""
    terms = Terms("job")
    new = StillPlanned((place(1.0),), Configuration(1.0, 2 * GIB, None, None, gpu_count=None))
    assert suggestion_sentences(advised(at(4.0), measured(0.5, 2.0), new), terms) == (
        "Measure `job` with 1 vCPU, 2 GiB. The study's plan has runs that are not made yet."
    )
    again = StillPlanned((), Configuration(2.0, None, None, None, gpu_count=None), again=True)
    assert suggestion_sentences(advised(at(4.0), measured(0.5, 2.0), again), terms).startswith(
        "Repeat `job` at 2 vCPUs."
    )
    more = replace(again, next_run=Configuration(2.0, None, "slow", None, gpu_count=None))
    assert suggestion_sentences(advised(at(4.0), measured(0.5, 2.0), more), terms).startswith(
        "Repeat `job` with 2 vCPUs, disk slow."
    )


def test_the_same_run_keeps_what_it_would_settle() -> None:
    settling = Suggestion(Action.REPEAT, Reason(ReasonCode.RUN_WOULD_SETTLE, {}, Spec(2.0)), vcpus=(2.0,))
    left = StillPlanned((), Configuration(2.0, None, None, None, gpu_count=None), again=True)
    assert advised(settling, measured(0.5, 2.0), left) == settling


def test_an_answer_names_what_is_planned_and_not_a_larger_host() -> None:
    """The rate rises to the most of three values, of a study that has a fourth."""
    runs = measured(1.0, 2.0, 4.0)
    runs = [replace(run, throughput=made(run.spec, knee(64.0)).throughput) for run in runs]
    asked = fit(runs), runs, Objective(), Catalog.load()
    (alone,) = recommend(*asked, host_vcpus=8.0).workloads
    (found,) = recommend(*asked, host_vcpus=8.0, still_planned={"job": StillPlanned((place(8.0),))}).workloads
    assert alone.next_run.needs_larger_host
    assert (found.next_run.vcpus, found.next_run.needs_larger_host) == ((8.0,), False)
