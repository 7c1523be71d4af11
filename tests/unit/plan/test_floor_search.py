"""The memory floor is found in a few runs, whatever is known before."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.model.memory import trials
from sizer.model.model import LEAST_BYTES, WITHIN
from sizer.model.runs import MOST_RUNS, searched_floor
from sizer.plan.following import FLOOR_SECONDS, PRECISION, Search, following_runs
from sizer.records.configuration import Configuration, Estimate
from sizer.records.device import Device
from sizer.records.run import MemoryUse, Run
from sizer.records.run_kinds import Outcome, Purpose
from sizer.records.study import Limits, Measure, RunSpec, Study, Workload, WorkloadPlan
from sizer.records.units import GIB, MIB
from sizer.study.presets import HostSize
from sizer.words.names import floor_in_words
from sizer.words.runs import following_in_words

HOST = HostSize(4, 64 * GIB)
TRAIN = Workload("train", "image_training")


def plan_of(memory_floor: bool = True, **axes: tuple[float, ...]) -> WorkloadPlan:
    return WorkloadPlan(TRAIN, (16, 32), memory_floor=memory_floor, **{"vcpus": (1.0, 2.0), **axes})  # type: ignore[arg-type]


def search_of(study: Study) -> Search:
    (found,) = following_runs(study, HOST)
    assert isinstance(found, Search)
    return found


def tried(spec: RunSpec, outcome: Outcome, needed: int = 0) -> Run:
    memory = spec.limits.memory_bytes or HOST.memory_bytes
    configuration = Configuration(spec.limits.vcpus or 4.0, memory, "host", spec.batch_size)
    rate = Estimate(100.0, 99.0, 101.0) if outcome is Outcome.COMPLETED else None
    start = "2026-11-21T10:00:00+00:00"
    return Run(
        spec, outcome, configuration, start, 9.0, throughput=rate, memory=MemoryUse(peak_anonymous_bytes=needed or None)
    )


def found(search: Search, floor: int, runs: list[Run], peak: int | None) -> list[Run]:
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
    known = [tried(replace(search.base, limits=Limits(2.0), purpose=Purpose.ASKED), Outcome.COMPLETED, peak or 0)]
    known += [
        tried(search.at(cap * MIB), Outcome.COMPLETED if cap * MIB >= floor else Outcome.OUT_OF_MEMORY) for cap in caps
    ]
    runs = found(search, floor, known, peak)
    result = search.result(runs).bounds
    assert result.held is not None
    low = result.too_small or LEAST_BYTES
    assert low < floor <= result.held
    assert result.held <= max(WITHIN * low, low + MIB)
    assert len(runs) - len(known) <= MOST_RUNS
    asked = [run.spec.limits.memory_bytes or 0 for run in runs[len(known) :]]
    assert all(cap % MIB == 0 for cap in asked)
    assert len(set(asked)) == len(asked)


@given(st.integers(60 * MIB, 32 * GIB), st.floats(0.9, 1.03))
def test_what_the_runs_needed_shortens_the_search(floor: int, share: float) -> None:
    """With the anonymous peak of one completed run the floor is found in five runs."""
    search = search_of(Study("s", (plan_of(),)))
    peak = round(floor * share)
    known = [tried(replace(search.base, limits=Limits(2.0), purpose=Purpose.ASKED), Outcome.COMPLETED, peak)]
    assert len(found(search, floor, known, peak)) - len(known) <= 5


def test_a_job_larger_than_the_host_has_no_floor_here() -> None:
    """Nothing is left to try when the host's own memory is too small."""
    search = search_of(Study("s", (plan_of(),)))
    runs = [tried(search.at(HOST.memory_bytes), Outcome.OUT_OF_MEMORY)]
    assert search.next_run(runs) is None
    assert following_in_words(search, runs) == (
        "`train`: the memory floor is above 64 GiB: no cap that was tried was enough"
    )


def test_the_search_stands_at_the_point() -> None:
    """At the point, or else the most vCPUs, with the first batch size; only where the study asks; short runs, once."""
    assert following_runs(Study("s", (plan_of(False),)), HOST) == ()
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
    known = (
        [tried(replace(search.base, limits=Limits(2.0), purpose=Purpose.ASKED), Outcome.COMPLETED, GIB)]
        if larger
        else []
    )
    spec = search.next_run(known)
    assert spec is not None
    runs = [*known, tried(spec, outcome)]
    assert search.next_run(runs) is None
    assert following_in_words(search, runs).endswith(why)
    stored = searched_floor(runs)
    assert stored is not None
    assert floor_in_words(stored).endswith(why)
    assert search.next_run([*known, tried(spec, Outcome.REFUSED)]) == spec


def test_a_cap_that_is_too_slow_is_too_small_if_a_larger_one_completes() -> None:
    """Without swap a run crawls before it is killed, so the search goes on above it, and says what the bound is."""
    search = search_of(Study("s", (plan_of(),)))
    runs = [tried(replace(search.base, limits=Limits(2.0), purpose=Purpose.ASKED), Outcome.COMPLETED, 300 * MIB)]
    while (spec := search.next_run(runs)) is not None:
        held = (spec.limits.memory_bytes or 0) >= 320 * MIB
        runs.append(tried(spec, Outcome.COMPLETED if held else Outcome.TIMEOUT))
    found = searched_floor(runs)
    assert found is not None
    assert found.bounds.close
    assert (found.bounds.too_small or 0) < 320 * MIB <= (found.bounds.held or 0)
    assert "it did not finish in time)" in floor_in_words(found)
    assert floor_in_words(found) in following_in_words(search, runs)
    assert not [trial for trial in trials(runs) if not trial.completed]


def test_a_search_that_was_interrupted_is_not_finished() -> None:
    """Bounds that are not within a tenth are not told as the floor."""
    search = search_of(Study("s", (plan_of(),)))
    runs = [tried(search.at(cap * MIB), Outcome.COMPLETED) for cap in (800, 400)]
    assert following_in_words(search, runs).endswith("is no higher than 400 MiB; the search is not finished")
    runs.append(tried(search.at(200 * MIB), Outcome.OUT_OF_MEMORY))
    assert following_in_words(search, runs).endswith("is between 200 MiB and 400 MiB; the search is not finished")


def test_an_emulated_accelerator_holds_no_memory_of_a_framework() -> None:
    """So the floor is told as that of the input pipeline."""
    emulated = replace(TRAIN, device=Device("emulated", gpu="P100", samples_per_second=219.0))
    search = search_of(Study("s", (replace(plan_of(), workload=emulated),)))
    runs = [
        tried(search.at(300 * MIB), Outcome.OUT_OF_MEMORY),
        tried(search.at(320 * MIB), Outcome.COMPLETED),
    ]
    assert following_in_words(search, runs).endswith(
        "320 MiB; that is for the input pipeline alone: the framework of a real GPU needs more"
    )
