"""Searches for the memory floor and the largest batch, and what is said of a plan that is not finished."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.model.memory import trials
from sizer.model.model import LEAST_BYTES, WITHIN
from sizer.model.runs import HELD_STEPS, MOST_RUNS, largest_batch, searched_floor
from sizer.plan.chooser import PlanEnd, Unfinished, most_to_follow, unfinished
from sizer.plan.following import FLOOR_SECONDS, PRECISION, TIMEOUT, BatchSearch, Following, Search, following_runs
from sizer.plan.run_order import AROUND_SECONDS
from sizer.records.device import Device
from sizer.records.prediction import Configuration, Estimate
from sizer.records.run import Cause, CauseKind, DataSet, Failure, MemoryUse, Run, Step
from sizer.records.run_kinds import LargestBatch, MemoryPlace, Outcome, Purpose, SearchEnd
from sizer.records.study import Adaptive, Limits, Measure, PlanEndKind, RunSpec, Study, Workload, WorkloadPlan
from sizer.records.units import GIB, MIB
from sizer.study.presets import HostSize
from sizer.words.names import floor_in_words
from sizer.words.runs import following_in_words
from sizer.words.studies.planning import going_on_with, plan_ended_line, unfinished_in_words, unfinished_said
from tests.unit.plan.machine import HOST, SECONDS, chooser_of, knee, made, study_of

# The memory floor is found in a few runs, whatever is known before.


SEARCHED_HOST = HostSize(4, 64 * GIB)
TRAIN = Workload("train", "image_training")


def plan_of(memory_floor: bool = True, **axes: tuple[float, ...]) -> WorkloadPlan:
    return WorkloadPlan(TRAIN, (16, 32), memory_floor=memory_floor, **{"vcpus": (1.0, 2.0), **axes})  # type: ignore[arg-type]


def search_of(study: Study) -> Search:
    (search,) = following_runs(study, SEARCHED_HOST)
    assert isinstance(search, Search)
    return search


def tried(spec: RunSpec, outcome: Outcome, needed: int = 0) -> Run:
    memory = spec.limits.memory_bytes or SEARCHED_HOST.memory_bytes
    configuration = Configuration(spec.limits.vcpus or 4.0, memory, "host", spec.batch_size)
    rate = Estimate(100.0, 99.0, 101.0) if outcome is Outcome.COMPLETED else None
    start = "2026-11-21T10:00:00+00:00"
    return Run(
        spec, outcome, configuration, start, 9.0, throughput=rate, memory=MemoryUse(peak_anonymous_bytes=needed or None)
    )


def searched(search: Search, floor: int, runs: list[Run], peak: int | None) -> list[Run]:
    """Search to the end on a machine where the workload completes from `floor` on."""
    runs = list(runs)
    while (spec := search.next_run(runs)) is not None:
        held = (spec.limits.memory_bytes or 0) >= floor
        runs.append(tried(spec, Outcome.COMPLETED if held else Outcome.OUT_OF_MEMORY, (peak or 0) if held else 0))
    return runs


@given(
    st.integers(12 * MIB, 48 * GIB),
    st.sampled_from([None, 0.3, 0.9, 1.0, 1.05, 3.0]),
    st.lists(st.integers(1, 60 * 1024), max_size=3),
)
def test_the_bounds_close_around_the_floor(floor: int, share: float | None, caps: list[int]) -> None:
    """Within 10 % or a MiB, in 16 runs at the most, from any caps tried before and any guess of what is needed."""
    search = search_of(Study("s", (plan_of(),)))
    peak = round(floor * share) if share else None
    before = [tried(replace(search.base, limits=Limits(2.0), purpose=Purpose.ASKED), Outcome.COMPLETED, peak or 0)]
    before += [
        tried(search.at(cap * MIB), Outcome.COMPLETED if cap * MIB >= floor else Outcome.OUT_OF_MEMORY) for cap in caps
    ]
    runs = searched(search, floor, before, peak)
    result = search.result(runs).bounds
    assert result.held is not None
    low = result.too_small or LEAST_BYTES
    assert low < floor <= result.held
    assert result.held <= max(WITHIN * low, low + MIB)
    assert len(runs) - len(before) <= MOST_RUNS
    asked = [run.spec.limits.memory_bytes or 0 for run in runs[len(before) :]]
    assert all(cap % MIB == 0 for cap in asked)
    assert len(set(asked)) == len(asked)


@given(st.integers(60 * MIB, 32 * GIB), st.floats(0.9, 1.03))
def test_what_the_runs_needed_shortens_the_search(floor: int, share: float) -> None:
    """With the anonymous peak of one completed run the floor is found in five runs."""
    search = search_of(Study("s", (plan_of(),)))
    peak = round(floor * share)
    before = [tried(replace(search.base, limits=Limits(2.0), purpose=Purpose.ASKED), Outcome.COMPLETED, peak)]
    assert len(searched(search, floor, before, peak)) - len(before) <= 5


def test_a_job_larger_than_the_host_has_no_floor_here() -> None:
    """Nothing is left to try when the host's own memory is too small."""
    search = search_of(Study("s", (plan_of(),)))
    runs = [tried(search.at(SEARCHED_HOST.memory_bytes), Outcome.OUT_OF_MEMORY)]
    assert search.next_run(runs) is None
    assert following_in_words(search, runs) == (
        "`train`: the memory floor is above 64 GiB: no cap that was tried was enough"
    )


def test_the_search_stands_at_the_point() -> None:
    """At the point, or else the most vCPUs, with the first batch size; only where the study asks; short runs, once."""
    assert following_runs(Study("s", (plan_of(False),)), SEARCHED_HOST) == ()
    base = search_of(Study("s", (plan_of(memory_bytes=(GIB, 2 * GIB)),), measure=Measure(3, 30.0))).base
    assert (base.limits, base.batch_size) == (Limits(2.0), 16)
    assert (base.measure.repeats, base.measure.seconds, base.measure.precision) == (1, FLOOR_SECONDS, PRECISION)
    around = Study("s", (plan_of(),), around=Limits(1.0, GIB, "ssd"), measure=Measure(3, 2.0))
    assert search_of(around).base.limits == Limits(1.0, None, "ssd")
    assert search_of(around).base.measure.seconds == 2.0


def test_caps_of_a_memory_axis_count_and_those_of_other_runs_do_not() -> None:
    """What was tried with the same vCPUs and batch is known; a smaller batch or fewer vCPUs tell nothing here."""
    search = search_of(Study("s", (plan_of(),)))
    ordinary = replace(search.at(300 * MIB), measure=Measure(3, 30.0))
    runs = [
        tried(ordinary, Outcome.OUT_OF_MEMORY),
        tried(replace(ordinary, limits=Limits(2.0, 320 * MIB)), Outcome.COMPLETED),
    ]
    assert search.next_run(runs) is None
    assert following_in_words(search, runs) == "`train`: the memory floor is between 300 MiB and 320 MiB"
    other = [tried(replace(run.spec, batch_size=8), run.outcome) for run in runs]
    assert search.next_run(other) is not None


@pytest.mark.parametrize(
    ("outcome", "larger", "why"),
    [
        (Outcome.CRASHED, True, "crashed, which shows nothing about the cap"),
        (Outcome.TIMEOUT, False, "timed out, and no larger cap completed"),
    ],
)
def test_a_run_that_fails_otherwise_ends_the_search(outcome: Outcome, larger: bool, why: str) -> None:
    """With a sentence, which the stored runs tell as well: it says nothing of its cap, and would fail again."""
    search = search_of(Study("s", (plan_of(),)))
    before = (
        [tried(replace(search.base, limits=Limits(2.0), purpose=Purpose.ASKED), Outcome.COMPLETED, GIB)]
        if larger
        else []
    )
    spec = search.next_run(before)
    assert spec is not None
    runs = [*before, tried(spec, outcome)]
    assert search.next_run(runs) is None
    assert following_in_words(search, runs).endswith(why)
    stored = searched_floor(runs)
    assert stored is not None
    assert floor_in_words(stored).endswith(why)
    assert search.next_run([*before, tried(spec, Outcome.REFUSED)]) == spec


def test_a_cap_that_is_too_slow_is_too_small_if_a_larger_one_completes() -> None:
    """Without swap a run crawls before it is killed, so the search goes on above it, and says what the bound is."""
    search = search_of(Study("s", (plan_of(),)))
    runs = [tried(replace(search.base, limits=Limits(2.0), purpose=Purpose.ASKED), Outcome.COMPLETED, 300 * MIB)]
    while (spec := search.next_run(runs)) is not None:
        held = (spec.limits.memory_bytes or 0) >= 320 * MIB
        runs.append(tried(spec, Outcome.COMPLETED if held else Outcome.TIMEOUT))
    floor = searched_floor(runs)
    assert floor.bounds.close
    assert (floor.bounds.too_small or 0) < 320 * MIB <= (floor.bounds.held or 0)
    assert "it did not finish in time)" in floor_in_words(floor)
    assert floor_in_words(floor) in following_in_words(search, runs)
    assert not [trial for trial in trials(runs) if not trial.completed]


# The largest batch is found in a few runs, whatever ends the search.


GPU = replace(TRAIN, device=Device("cuda"))
CAPPED = WorkloadPlan(TRAIN, (16, 32), vcpus=(1.0, 2.0), memory_bytes=(4 * GIB,), largest_batch=4096)


def batch_search_of(plan: WorkloadPlan = CAPPED, timeout: float | None = None) -> BatchSearch:
    (search,) = following_runs(Study("s", (plan,), measure=Measure(timeout=timeout)), SEARCHED_HOST)
    assert isinstance(search, BatchSearch)
    return search


def ended(spec: RunSpec, outcome: Outcome, where: MemoryPlace | None = MemoryPlace.HOST, steps: int = 4) -> Run:
    memory = spec.limits.memory_bytes or SEARCHED_HOST.memory_bytes
    at = Configuration(spec.limits.vcpus or 4.0, memory, "host", spec.batch_size)
    error = None if outcome is Outcome.COMPLETED else Failure(Cause(CauseKind.MEMORY_CAP), where=where)
    rate = Estimate(100.0, 99.0, 101.0) if outcome is Outcome.COMPLETED else None
    made = tuple(Step(float(number), spec.batch_size, 0.0, 0) for number in range(steps))
    return Run(spec, outcome, at, "2026-11-21T10:00:00+00:00", 9.0, error=error, throughput=rate, steps=made)


def to_the_end(search: BatchSearch, fits: int, runs: list[Run]) -> list[Run]:
    """Search on a machine where batches up to `fits` do."""
    runs = list(runs)
    while (spec := search.next_run(runs)) is not None:
        runs.append(ended(spec, Outcome.COMPLETED if spec.batch_size <= fits else Outcome.OUT_OF_MEMORY))
    return runs


def found_of(search: BatchSearch, runs: list[Run]) -> LargestBatch:
    largest = search.result(runs)
    assert largest is not None
    return largest


@given(st.integers(1, 4095), st.booleans())
def test_the_bounds_close_around_the_largest_batch(fits: int, has_runs: bool) -> None:
    """Within a tenth or one sample, in 16 runs at the most; what the study's own runs show is not tried again."""
    search = batch_search_of()
    asked = replace(search.base, purpose=Purpose.ASKED, measure=Measure())
    before = [
        ended(replace(asked, batch_size=size), Outcome.COMPLETED) for size in (16, 32) if size <= fits and has_runs
    ]
    runs = to_the_end(search, fits, before)
    largest = found_of(search, runs)
    assert len(runs) - len(before) <= MOST_RUNS
    assert largest.batch_size is not None
    assert largest.too_large is not None
    assert largest.batch_size <= fits < largest.too_large <= max(WITHIN * largest.batch_size, largest.batch_size + 1)
    assert (largest.ended, largest.where, largest.memory_bytes) == (SearchEnd.CLOSE, MemoryPlace.HOST, 4 * GIB)
    if has_runs and fits >= 32:
        assert all(run.spec.batch_size > 32 for run in runs[len(before) :])


def test_a_search_that_was_broken_off_goes_on() -> None:
    """It knows only what is stored: the next run is the one that was lost."""
    search = batch_search_of()
    runs = to_the_end(search, 100, [])
    for lost in range(len(runs)):
        again = search.next_run(runs[:lost])
        assert again.id == runs[lost].spec.id
    assert found_of(search, runs[:3]).ended is SearchEnd.UNFINISHED


@pytest.mark.parametrize(
    ("plan", "cap"),
    [
        (CAPPED, 4 * GIB),
        (replace(CAPPED, memory_bytes=()), int(0.9 * 64 * GIB)),
        (replace(CAPPED, workload=GPU, memory_bytes=()), None),
    ],
)
def test_under_which_cap_it_searches(plan: WorkloadPlan, cap: int | None) -> None:
    """The study's own, or most of the host's memory, which nothing else on the host may lose; on a GPU its own."""
    search = batch_search_of(plan)
    memory_bytes = search.base.limits.memory_bytes
    assert (memory_bytes is None) == (cap is None)
    assert cap is None or (memory_bytes is not None and cap - 2**20 < memory_bytes <= cap)
    assert (search.base.limits.vcpus, search.base.measure.timeout) == (2.0, TIMEOUT)
    assert batch_search_of(plan, 40).base.measure.timeout == 40


def test_a_gpu_that_is_full_is_the_bound_whatever_the_host_has() -> None:
    """Told by the framework, whose memory it was."""
    search = batch_search_of(replace(CAPPED, workload=GPU))
    runs = [ended(search.at(32), Outcome.COMPLETED), ended(search.at(64), Outcome.OUT_OF_MEMORY, MemoryPlace.GPU)]
    largest = found_of(search, runs)
    assert (largest.where, largest.memory_bytes, largest.too_large) == (MemoryPlace.GPU, None, 64)
    assert "fits the memory of the GPU" in following_in_words(search, runs)


def test_a_batch_of_one_that_does_not_fit() -> None:
    search = batch_search_of()
    runs = to_the_end(search, 0, [])
    assert found_of(search, runs).ended is SearchEnd.NOTHING_FITS
    assert following_in_words(search, runs) == "`train`: not even a batch of 1 fits 4 GiB"


def test_it_stops_at_the_largest_to_try() -> None:
    search = batch_search_of(replace(CAPPED, largest_batch=100))
    runs = to_the_end(search, 1000, [])
    assert max(run.spec.batch_size for run in runs) == 100
    assert found_of(search, runs).ended is SearchEnd.MOST_TRIED


def test_it_stops_at_the_whole_data_set() -> None:
    """A batch of more images than there are is none."""
    search = batch_search_of()
    data = DataSet("/d", "recordio", 10**6, 150, embedded=False)
    runs = [replace(ended(search.at(32), Outcome.COMPLETED), data_set=data)]
    while (spec := search.next_run(runs)) is not None:
        runs.append(replace(ended(spec, Outcome.COMPLETED), data_set=data))
    assert max(run.spec.batch_size for run in runs) == 150
    assert found_of(search, runs).ended is SearchEnd.WHOLE_DATA


def test_a_slow_batch_that_made_steps_has_held() -> None:
    """Its time was up, but not its memory; one that made fewer shows nothing, and ends the search."""
    search = batch_search_of()
    slow = ended(search.at(64), Outcome.TIMEOUT, None, HELD_STEPS)
    stuck = ended(search.at(128), Outcome.TIMEOUT, None, HELD_STEPS - 1)
    assert found_of(search, [slow]).batch_size == 64
    largest = found_of(search, [slow, stuck])
    assert (largest.ended, largest.batch_size, largest.failed) == (SearchEnd.TOO_SLOW, 64, 128)
    assert "128 did not make enough steps in its time" in following_in_words(search, [slow, stuck])


def test_a_crash_says_nothing_of_memory() -> None:
    search = batch_search_of()
    runs = [ended(search.at(32), Outcome.COMPLETED), ended(search.at(64), Outcome.CRASHED, None)]
    assert found_of(search, runs).ended is SearchEnd.CRASHED
    assert search.next_run(runs) is None


def test_without_a_search_the_studys_runs_show_what_they_can() -> None:
    """A batch that held and one that did not, under the most memory; nothing where all held."""
    spec = RunSpec(TRAIN, 32, Limits(2.0, 4 * GIB), Measure())
    held, killed = ended(spec, Outcome.COMPLETED), ended(replace(spec, batch_size=64), Outcome.OUT_OF_MEMORY)
    largest = largest_batch([held, killed])
    assert (largest.batch_size, largest.too_large, largest.ended) == (32, 64, SearchEnd.NOT_SEARCHED)
    assert largest_batch([held]) is None


# Searches and passes keep to the bounds of an adaptive plan, and say what they have found so far.


FLOOR = 700 * MIB
EACH = SECONDS + 5
"""Seconds of every run of the machine."""


def floor_study(**bounds: float) -> Study:
    return replace(study_of(memory_floor=True), adaptive=Adaptive(**bounds))  # type: ignore[arg-type]


def tried_runs(spec: RunSpec) -> Run:
    """It completes from the floor on."""
    held = (spec.limits.memory_bytes or HOST.memory_bytes) >= FLOOR
    run = made(spec, knee(4.0), Outcome.COMPLETED if held else Outcome.OUT_OF_MEMORY)
    return replace(run, memory=replace(run.memory, peak_anonymous_bytes=500 * MIB if held else None))


def followed(study: Study, runs: list[Run]) -> tuple[list[Run], tuple[Unfinished, ...]]:
    """Every run that searches make after these, and what is left of them."""
    runs = list(runs)
    following = following_runs(study, HOST)
    for search in following:
        while (spec := search.next_run(runs)) is not None and not _bound(search, runs, study):
            runs.append(tried_runs(spec))
            assert len(runs) < 60
    return runs, unfinished(following, runs, study)


def _bound(following: Following, runs: list[Run], study: Study) -> PlanEndKind | None:
    (left,) = unfinished([following], runs, study)
    return left.bound


def chosen(count: int) -> list[Run]:
    """So many runs of the plan, without a memory cap."""
    study = study_of()
    return [tried_runs(spec) for spec in (*chooser_of(study).start(), *chooser_of(study)._specs)][:count]


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
    assert [one.bound for one in left] == [None]
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
