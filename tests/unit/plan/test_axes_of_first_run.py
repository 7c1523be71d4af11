"""The axes that are worth measuring follow from what a program used without limits."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.limits.interface import Control
from sizer.plan.axes_of_first_run import FAR_ABOVE, Needs, chosen_axes, needs_of
from sizer.records.configuration import Configuration, Estimate
from sizer.records.run import DataSet, Demand, MemoryUse, Meter, MeterKind, Run, RunWarning, Sample, Step, WarningKind
from sizer.records.run_kinds import Outcome
from sizer.records.study import Limits, Measure, RunSpec, Workload
from sizer.records.units import GIB, MIB
from sizer.study.presets import HostSize

NEEDS = Needs(
    vcpus=2.0,
    busy_vcpus=1.9,
    own_memory_bytes=500 * MIB,
    page_cache_bytes=300 * MIB,
    read_bytes=1e5,
    written_bytes=0.0,
    first_step_seconds=3.0,
    rate=Estimate(100.0, 99.0, 101.0),
    unit="image",
    batch_samples=32,
    meter=Meter(MeterKind.HOOK, "torch"),
)


def host(vcpus: int, memory: int = 64 * GIB) -> HostSize:
    return HostSize(vcpus, memory)


@pytest.mark.parametrize(
    ("vcpus", "busy", "chosen"),
    [
        (1, 1.0, (0.25, 0.5, 1)),
        (2, 1.9, (0.5, 1, 2)),
        (2, 0.2, (0.5, 1, 2)),
        (3, 2.9, (0.5, 1, 2, 3)),
        (5, 4.9, (0.5, 1, 2, 5)),
        (8, 7.5, (0.5, 1, 2, 4, 8)),
        (16, 3.2, (0.5, 1, 2, 4, 16)),
        (64, 3.2, (0.5, 1, 2, 4, 64)),
        (64, 0.3, (0.5, 1, 64)),
        (64, 60.0, (4, 8, 16, 32, 64)),
        (96, 90.0, (8, 16, 32, 64, 96)),
        (8, None, (0.5, 1, 2, 4, 8)),
    ],
)
def test_vcpus_double_up_to_the_hosts(vcpus: int, busy: float | None, chosen: tuple[float, ...]) -> None:
    """Without those far above what was busy, or so few that the program would only wait for them."""
    assert chosen_axes(replace(NEEDS, vcpus=float(vcpus), busy_vcpus=busy), host(vcpus)).vcpus == chosen


def test_what_others_took_it_might_have_used() -> None:
    """A first run beside other load is no reason to leave values out."""
    beside = replace(NEEDS, vcpus=16.0, busy_vcpus=3.0, taken_cores=10.0)
    assert chosen_axes(beside, host(16)).vcpus == (1, 2, 4, 8, 16)
    contended = run(
        throughput=Estimate(100.0, 99.0, 101.0), warnings=(RunWarning(WarningKind.CONTENDED, {"cores": 1.5}),)
    )
    needs = needs_of(contended, host(2))
    assert needs is not None
    assert needs.taken_cores == 1.5


@given(st.integers(1, 512), st.floats(0.01, 512.0))
def test_there_are_three_values_and_the_hosts_own_is_the_last(vcpus: int, busy: float) -> None:
    found = chosen_axes(replace(NEEDS, vcpus=float(vcpus), busy_vcpus=min(busy, vcpus)), host(vcpus)).vcpus
    assert len(found) >= 3
    assert found[-1] == vcpus
    assert list(found) == sorted(set(found))
    assert all(value * 4 % 1 == 0 for value in found)
    assert len([value for value in found[:-1] if value >= FAR_ABOVE * max(busy, 1.0)]) <= 1


def test_the_floor_is_searched_for_where_memory_can_be_limited() -> None:
    assert chosen_axes(NEEDS, host(2)).memory_floor
    assert chosen_axes(None, host(2)).memory_floor
    without = chosen_axes(replace(NEEDS, data_bytes=300 * MIB), host(2), [Control.MEMORY])
    assert not without.memory_floor
    assert without.memory_bytes == ()


def test_memory_is_capped_where_the_page_cache_holds_data_that_is_read_again() -> None:
    """Above what the program needs itself, up to where its data fits; no cap as large as the host."""
    reads = replace(NEEDS, data_bytes=300 * MIB)
    assert chosen_axes(reads, host(2)).memory_bytes == (625 * MIB, 700 * MIB, 850 * MIB)
    assert chosen_axes(reads, host(2, 800 * MIB)).memory_bytes == (625 * MIB, 700 * MIB)
    assert chosen_axes(NEEDS, host(2)).memory_bytes == ()
    assert chosen_axes(replace(reads, page_cache_bytes=100 * MIB), host(2)).memory_bytes == (), "not read to its end"
    assert chosen_axes(replace(reads, own_memory_bytes=None), host(2)).memory_bytes == ()
    assert chosen_axes(replace(NEEDS, data_bytes=MIB), host(2)).memory_bytes == (), "too small to matter"


def run(**changes: object) -> Run:
    spec = RunSpec(Workload("mine", "command", "other"), 1, Limits(), Measure())
    found = Run(spec, Outcome.COMPLETED, Configuration(2.0, GIB, "host", 1), None, 9.0, sample_unit="image")
    return replace(found, **changes)  # type: ignore[arg-type]


def test_what_a_run_shows() -> None:
    """vCPUs from its demand, memory that cannot be dropped with the kernel's own for it, and most steps' batch."""
    shown = run(
        throughput=Estimate(100.0, 99.0, 101.0),
        demand=Demand(core_seconds=0.015, read_bytes=2e4, written_bytes=0.0),
        memory=MemoryUse(peak_anonymous_bytes=100 * MIB, peak_kernel_bytes=2 * MIB, peak_page_cache_bytes=7 * MIB),
        data_set=DataSet("/data", "folder", 5 * MIB, 10, False),
        steps=(Step(14.0, 32, 0.0, 0), Step(15.0, 32, 0.0, 0), Step(16.0, 7, 0.0, 0)),
        samples=(Sample(10.5),),
        meter=Meter(MeterKind.HOOK, "torch"),
    )
    needs = needs_of(shown, host(2))
    assert needs is not None
    assert (needs.vcpus, needs.busy_vcpus, needs.own_memory_bytes) == (2.0, 1.5, 102 * MIB)
    assert (needs.page_cache_bytes, needs.read_bytes, needs.data_bytes) == (7 * MIB, 2e4, 5 * MIB)
    assert (needs.first_step_seconds, needs.batch_samples, needs.unit) == (3.5, 32, "image")


def test_a_batch_is_not_seen_in_lines_of_a_log_or_joined_steps() -> None:
    """Each of these stands for several."""
    told = run(
        throughput=Estimate(100.0, 99.0, 101.0), steps=(Step(14.0, 32, 0.0, 0),), meter=Meter(MeterKind.HOOK, "torch")
    )
    for each in (
        replace(told, meter=Meter(MeterKind.LOG, "tqdm")),
        replace(told, warnings=(RunWarning(WarningKind.STEPS_JOINED, {"steps": 2}),)),
    ):
        needs = needs_of(each, host(2))
        assert needs is not None
        assert needs.batch_samples is None


def test_a_run_without_a_rate_shows_nothing() -> None:
    assert needs_of(run(outcome=Outcome.CRASHED), host(2)) is None
    assert needs_of(run(throughput=Estimate(0.0, 0.0, 0.0)), host(2)) is None
