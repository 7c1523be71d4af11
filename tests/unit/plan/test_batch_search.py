"""The largest batch is found in a few runs, whatever ends the search."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.model.model import WITHIN
from sizer.model.runs import HELD_STEPS, MOST_RUNS, largest_batch
from sizer.plan.following import TIMEOUT, BatchSearch, following_runs
from sizer.records.configuration import Configuration, Estimate
from sizer.records.device import Device
from sizer.records.run import Cause, CauseKind, DataSet, Failure, Run, Step
from sizer.records.run_kinds import LargestBatch, MemoryPlace, Outcome, Purpose, SearchEnd
from sizer.records.study import Limits, Measure, RunSpec, Study, Workload, WorkloadPlan
from sizer.records.units import GIB
from sizer.study.presets import HostSize
from sizer.words.runs import following_in_words

HOST = HostSize(4, 64 * GIB)
TRAIN = Workload("train", "image_training")
GPU = replace(TRAIN, device=Device("cuda"))
CAPPED = WorkloadPlan(TRAIN, (16, 32), vcpus=(1.0, 2.0), memory_bytes=(4 * GIB,), largest_batch=4096)


def search_of(each: WorkloadPlan = CAPPED, timeout: float | None = None) -> BatchSearch:
    (found,) = following_runs(Study("s", (each,), measure=Measure(timeout=timeout)), HOST)
    assert isinstance(found, BatchSearch)
    return found


def ended(spec: RunSpec, outcome: Outcome, where: MemoryPlace | None = MemoryPlace.HOST, steps: int = 4) -> Run:
    memory = spec.limits.memory_bytes or HOST.memory_bytes
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
    found = search.result(runs)
    assert found is not None
    return found


@given(st.integers(1, 4095), st.booleans())
def test_the_bounds_close_around_the_largest_batch(fits: int, known: bool) -> None:
    """Within a tenth or one sample, in 16 runs at the most; what the study's own runs show is not tried again."""
    search = search_of()
    asked = replace(search.base, purpose=Purpose.ASKED, measure=Measure())
    before = [ended(replace(asked, batch_size=size), Outcome.COMPLETED) for size in (16, 32) if size <= fits and known]
    runs = to_the_end(search, fits, before)
    found = found_of(search, runs)
    assert len(runs) - len(before) <= MOST_RUNS
    assert found.batch_size is not None
    assert found.too_large is not None
    assert found.batch_size <= fits < found.too_large <= max(WITHIN * found.batch_size, found.batch_size + 1)
    assert (found.ended, found.where, found.memory_bytes) == (SearchEnd.CLOSE, MemoryPlace.HOST, 4 * GIB)
    if known and fits >= 32:
        assert all(run.spec.batch_size > 32 for run in runs[len(before) :])


def test_the_example_in_words() -> None:
    """From 32, of which 100 would fit: 64, 128, 96, 112, 104, each once."""
    search = search_of()
    runs = to_the_end(search, 100, [])
    assert [run.spec.batch_size for run in runs] == [32, 64, 128, 96, 112, 104]
    assert following_in_words(search, runs) == "`train`: the largest batch that fits 4 GiB is 96; 104 ran out of memory"


def test_a_search_that_was_broken_off_goes_on() -> None:
    """It knows only what is stored: the next run is the one that was lost."""
    search = search_of()
    runs = to_the_end(search, 100, [])
    for lost in range(len(runs)):
        again = search.next_run(runs[:lost])
        assert again is not None
        assert again.id == runs[lost].spec.id
    assert found_of(search, runs[:3]).ended is SearchEnd.UNFINISHED


@pytest.mark.parametrize(
    ("each", "cap"),
    [
        (CAPPED, 4 * GIB),
        (replace(CAPPED, memory_bytes=()), int(0.9 * 64 * GIB)),
        (replace(CAPPED, workload=GPU, memory_bytes=()), None),
    ],
)
def test_under_which_cap_it_searches(each: WorkloadPlan, cap: int | None) -> None:
    """The study's own, or most of the host's memory, which nothing else on the host may lose; on a GPU its own."""
    search = search_of(each)
    found = search.base.limits.memory_bytes
    assert (found is None) == (cap is None)
    assert cap is None or (found is not None and cap - 2**20 < found <= cap)
    assert (search.base.limits.vcpus, search.base.measure.timeout) == (2.0, TIMEOUT)
    assert search_of(each, 40).base.measure.timeout == 40


def test_a_study_that_asks_for_none_has_none() -> None:
    assert following_runs(Study("s", (replace(CAPPED, largest_batch=0),)), HOST) == ()


def test_a_gpu_that_is_full_is_the_bound_whatever_the_host_has() -> None:
    """Told by the framework, whose memory it was."""
    search = search_of(replace(CAPPED, workload=GPU))
    runs = [ended(search.at(32), Outcome.COMPLETED), ended(search.at(64), Outcome.OUT_OF_MEMORY, MemoryPlace.GPU)]
    found = found_of(search, runs)
    assert (found.where, found.memory_bytes, found.too_large) == (MemoryPlace.GPU, None, 64)
    assert "fits the memory of the GPU" in following_in_words(search, runs)


def test_a_batch_of_one_that_does_not_fit() -> None:
    search = search_of()
    runs = to_the_end(search, 0, [])
    assert found_of(search, runs).ended is SearchEnd.NOTHING_FITS
    assert following_in_words(search, runs) == "`train`: not even a batch of 1 fits 4 GiB"


def test_it_stops_at_the_largest_to_try() -> None:
    search = search_of(replace(CAPPED, largest_batch=100))
    runs = to_the_end(search, 1000, [])
    assert max(run.spec.batch_size for run in runs) == 100
    assert found_of(search, runs).ended is SearchEnd.MOST_TRIED


def test_it_stops_at_the_whole_data_set() -> None:
    """A batch of more images than there are is none."""
    search = search_of()
    data = DataSet("/d", "recordio", 10**6, 150, embedded=False)
    runs = [replace(ended(search.at(32), Outcome.COMPLETED), data_set=data)]
    while (spec := search.next_run(runs)) is not None:
        runs.append(replace(ended(spec, Outcome.COMPLETED), data_set=data))
    assert max(run.spec.batch_size for run in runs) == 150
    assert found_of(search, runs).ended is SearchEnd.WHOLE_DATA


def test_a_slow_batch_that_made_steps_has_held() -> None:
    """Its time was up, but not its memory; one that made fewer shows nothing, and ends the search."""
    search = search_of()
    slow = ended(search.at(64), Outcome.TIMEOUT, None, HELD_STEPS)
    stuck = ended(search.at(128), Outcome.TIMEOUT, None, HELD_STEPS - 1)
    assert found_of(search, [slow]).batch_size == 64
    found = found_of(search, [slow, stuck])
    assert (found.ended, found.batch_size, found.failed) == (SearchEnd.TOO_SLOW, 64, 128)
    assert "128 did not make enough steps in its time" in following_in_words(search, [slow, stuck])


def test_a_crash_says_nothing_of_memory() -> None:
    search = search_of()
    runs = [ended(search.at(32), Outcome.COMPLETED), ended(search.at(64), Outcome.CRASHED, None)]
    assert found_of(search, runs).ended is SearchEnd.CRASHED
    assert search.next_run(runs) is None


def test_without_a_search_the_studys_runs_show_what_they_can() -> None:
    """A batch that held and one that did not, under the most memory; nothing where all held."""
    spec = RunSpec(TRAIN, 32, Limits(2.0, 4 * GIB), Measure())
    held, killed = ended(spec, Outcome.COMPLETED), ended(replace(spec, batch_size=64), Outcome.OUT_OF_MEMORY)
    found = largest_batch([held, killed])
    assert found is not None
    assert (found.batch_size, found.too_large, found.ended) == (32, 64, SearchEnd.NOT_SEARCHED)
    assert largest_batch([held]) is None
