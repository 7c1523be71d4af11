"""The record of a run: what was accounted, and each warning with its cause."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sizer.analysis import monitor as joined_steps
from sizer.analysis.events import EventError, EventReader
from sizer.analysis.monitor import RunMonitor
from sizer.analysis.record import ChildResult, run_record
from sizer.analysis.run_warnings import run_warnings
from sizer.analysis.steady_state import Epochs
from sizer.files.codec import from_json, to_json
from sizer.records.device import DiskRates
from sizer.records.prediction import Bottleneck, Configuration, Estimate
from sizer.records.run import (
    Cause,
    CauseKind,
    Conditions,
    DataSet,
    Demand,
    DiskCheck,
    Failure,
    LimitedBy,
    LimitedByKind,
    MemoryGrowth,
    Meter,
    MeterKind,
    RateChange,
    RateDetails,
    Run,
    RunWarning,
    Sample,
    Step,
    WarningKind,
)
from sizer.records.run_kinds import Outcome
from sizer.records.study import DiskTier, Limits, Measure, RunSpec, Workload
from sizer.records.units import GIB
from sizer.words.runs import result_in_words
from sizer.words.warnings import warning_line

# The record that is made of a child that is gone.


MIB = 2**20
EVERY = frozenset(field.name for field in fields(Sample)) - {"time"}
DATA = DataSet("/data/train.rec", "recordio", 50_000_000, 1000, False)


def sample(time: float) -> Sample:
    """A job that uses 0.98 cores, reads 2 MB/s, and grows by 1 MiB a second."""
    return Sample(
        time=time,
        core_seconds=0.98 * time,
        memory_bytes=int((300 + 5 * time) * MIB),
        anonymous_bytes=int((200 + time) * MIB),
        page_cache_bytes=int(4 * time * MIB),
        kernel_bytes=3 * MIB,
        read_bytes=int(2_000_000 * time),
        read_ios=int(20 * time),
        host_core_seconds=0.99 * time,
        io_stall=0.1 * time,
        peak_memory_bytes=int((350 + 5 * time) * MIB),
        steal_core_seconds=0.25 * time,
        unwritten_bytes=int(time * MIB),
    )


def measured(accounted: frozenset[str] = EVERY, **workload: str) -> ChildResult:
    """Twenty seconds of 80 images/s on one vCPU."""
    named = Workload("train", "image_training", **workload)  # type: ignore[arg-type]
    seen = RunMonitor(RunSpec(named, 8, Limits(1.0), Measure(seconds=20)), 0.0)
    seen.steps = [Step(0.1 * number, 8, 0.002, 0) for number in range(201)]
    return ChildResult(
        seen=seen,
        exit_status=0,
        joined=True,
        samples=tuple(sample(0.5 * tick) for tick in range(41)),
        accounted=accounted,
        limited_by=LimitedBy(LimitedByKind.SIZER, "cgroup v1", "0", by_cpuset=True),
        last_lines="",
        resident_bytes=0,
        resident_after_bytes=40_000_000,
        throttles_buffered_writes=False,
    )


def record(result: ChildResult) -> Run:
    place = Configuration(1.0, 2**34, "host", 8)
    return run_record(result, place, DATA, None, "2026-11-21T10:00:00+00:00", 21.0)


def test_a_completed_run_holds_everything_that_was_accounted() -> None:
    """Rate, demands, memory by kind, hit rate and what bound it."""
    run = record(measured())
    assert run.outcome is Outcome.COMPLETED
    assert run.throughput.value == pytest.approx(80, rel=1e-6)
    assert run.demand.core_seconds == pytest.approx(0.98 / 80)
    assert run.demand.asked_bytes == 50_000
    assert run.demand.read_bytes == pytest.approx(25_000, rel=1e-3)
    assert run.conditions.hit_rate == pytest.approx(0.5, abs=1e-3)
    assert run.demand.io_stall == pytest.approx(0.1 / 80)
    assert (run.memory.peak_anonymous_bytes, run.memory.peak_page_cache_bytes) == (220 * MIB, 80 * MIB)
    assert (run.memory.peak_kernel_bytes, run.memory.peak_swap_bytes) == (3 * MIB, 0)
    assert (run.conditions.resident_bytes, run.conditions.resident_after_bytes) == (0, 40_000_000)
    assert run.memory.memory_growth.anonymous_bytes_per_step.value == pytest.approx(MIB / 10, rel=0.02)
    assert run.evidence.bottleneck is Bottleneck.CPU
    assert [warning.kind for warning in run.warnings] == [WarningKind.STOLEN, WarningKind.MEMORY_RISING]


def test_the_peak_is_the_kernels_own_mark_where_it_has_one() -> None:
    """A spike between two samplings is in the mark; without one the highest sampling has to do."""
    assert record(measured()).memory.peak_memory_bytes == 450 * MIB
    assert record(measured(EVERY - {"peak_memory_bytes"})).memory.peak_memory_bytes == 400 * MIB


@pytest.mark.parametrize(
    ("rates", "throttled", "limited"),
    [
        (DiskRates(write_bytes_per_second=16e6), False, False),
        (DiskRates(write_iops=50), True, True),
        (DiskRates(read_bytes_per_second=16e6), False, None),
        (None, False, None),
    ],
)
def test_writes_past_a_throttle_are_told(rates: DiskRates | None, throttled: bool, limited: bool | None) -> None:
    """What waited in the page cache counts on a tier that limits writes, where the throttle does not hold it."""
    disk = DiskCheck(DiskTier("slow", emulated=rates), DiskRates())
    result = replace(measured(), throttles_buffered_writes=throttled)
    run = run_record(result, Configuration(1.0, 2**34, "slow", 8), DATA, disk, "2026-11-21T10:00:00+00:00", 21.0)
    assert run.conditions.limits_buffered_writes is limited
    assert run.conditions.unwritten_bytes == 20 * MIB
    assert any(warning.kind is WarningKind.WRITES_UNLIMITED for warning in run.warnings) is (limited is False)


def test_a_killed_run_keeps_its_peaks_and_has_no_rate() -> None:
    """out_of_memory is a finding about memory."""
    result = measured()
    killed = replace(result, samples=(*result.samples, replace(result.samples[-1], oom_kills=1)), exit_status=-9)
    run = record(killed)
    assert run.outcome is Outcome.OUT_OF_MEMORY
    assert run.throughput is None
    assert run.memory.peak_anonymous_bytes == 220 * MIB


def slowing(
    disk: DiskCheck | None, cores: float = 0.2, read: float = 25_000, others: float = 0.0, **workload: str
) -> Run:
    """A job that makes 80 images/s for 12 s and 40 after that, and reads so many bytes an image from the device."""
    result = measured(**workload)
    ends = [*(0.1 * number for number in range(121)), *(12 + 0.2 * number for number in range(1, 61))]
    result.seen.steps = [Step(end, 8, 0.05, 0) for end in ends]
    slow = []
    for tick in range(49):
        images = 80 * min(0.5 * tick, 12) + 40 * max(0.0, 0.5 * tick - 12)
        busy, late = cores * tick, max(0.0, 0.5 * tick - 12)
        slow.append(
            replace(
                sample(0.5 * tick),
                core_seconds=busy,
                read_bytes=int(read * images),
                host_core_seconds=busy + others * late + 1e-6,
            )
        )
    place = Configuration(1.0, 2**34, "disk", 8)
    return run_record(replace(result, samples=tuple(slow)), place, DATA, disk, "2026-11-21T10:00:00+00:00", 25.0)


def test_a_real_disk_that_became_slower_gives_two_rates() -> None:
    """The rate that lasts is the throughput, over the time after the fall."""
    run = slowing(DiskCheck(DiskTier("disk", path="/mnt/disk"), DiskRates()))
    assert run.rate.rate_change.before.value == pytest.approx(80, rel=0.02)
    assert run.rate.rate_change.after.value == pytest.approx(40, rel=0.02)
    assert run.rate.rate_change.seconds == pytest.approx(12, abs=0.6)
    assert run.throughput.value == pytest.approx(40, rel=0.02)
    assert run.rate.measured_seconds == pytest.approx(12, abs=0.8)
    assert any(warning_line(warning, "image").startswith("two rates: 80") for warning in run.warnings)


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(slowing(DiskCheck(DiskTier("disk", emulated=DiskRates(1e3, 1e6)), DiskRates())), id="emulated"),
        pytest.param(slowing(None, cores=0.49), id="bound by the CPU"),
        pytest.param(slowing(None, input="cached"), id="read from memory"),
        pytest.param(slowing(None, cache="natural"), id="page cache in use"),
        pytest.param(slowing(None, read=500), id="hardly read"),
        pytest.param(slowing(None, others=0.6), id="a neighbour"),
    ],
)
def test_a_fall_that_no_disk_can_have_caused_is_no_rate_of_a_disk(run: Run) -> None:
    """A throttle has no burst credit, and a host that became slower shows in other ways."""
    assert run.rate.rate_change is None


NO_ROOM = RunWarning(WarningKind.LOG_INCOMPLETE, text="run.log (No space left on device)")


def test_troubles_stand_in_a_run_of_any_outcome_and_reasons_in_one_that_failed() -> None:
    """A log that is not whole is a warning; a full disk explains a crash, and says nothing of a run that completed."""
    result = replace(measured(), troubles=(NO_ROOM,), reasons=(Cause(CauseKind.DISK_FULL),))
    assert record(result).warnings[0] == NO_ROOM
    assert record(result).error is None
    crashed = record(replace(result, exit_status=3, last_lines="Boom"))
    assert crashed.outcome is Outcome.CRASHED
    assert crashed.warnings == (NO_ROOM,)
    status = Cause(CauseKind.EXIT_STATUS, {"status": 3})
    assert crashed.error == Failure(status, (Cause(CauseKind.DISK_FULL),), "Boom")


def test_a_log_that_told_one_rate_again_and_again_gives_no_interval() -> None:
    """It is said as one reading, on the terminal, too; and the run says that its log was the meter."""
    result = measured()
    result.seen.meter = Meter(MeterKind.LOG, "pattern")
    result.seen.meter_warnings = (RunWarning(WarningKind.ONE_READING),)
    run = record(result)
    assert run.meter == Meter(MeterKind.LOG, "pattern")
    assert not run.throughput.has_interval
    assert run.throughput.value == pytest.approx(80, rel=1e-6)
    assert result_in_words(run).startswith("80 samples/s (one reading), ")
    assert result_in_words(replace(run, meter=Meter(MeterKind.LOG, "tqdm"))).endswith(", counted by its log (tqdm)")
    assert from_json(Run, json.loads(json.dumps(to_json(run))), "run.json") == run


HOSTILE = st.sampled_from([0, 1, 2, 8, 10**6, 10**12, 10**17, 10**18])
DURATIONS = st.sampled_from([0.0, 5e-324, 1e-70, 1e-60, 1e-30, 1e-18, 1e-9, 0.01, 1e9, 1e18]) | st.floats(0, 1e18)


@example(
    gaps=[0.1] * 60,
    samples=[10**18],
    waits=[0.0],
    epochs=[0],
    latency=None,
    start={"batch_size": 1, "dataset_bytes": 0, "dataset_samples": 0},
    most=4,
)
@given(
    gaps=st.lists(st.sampled_from([0.0, 1e-9, 1e-6, 0.001, 0.1, 0.5]), min_size=2, max_size=60),
    samples=st.lists(HOSTILE, min_size=1, max_size=60),
    waits=st.lists(DURATIONS, min_size=1, max_size=60),
    epochs=st.lists(st.sampled_from([0, 0, 0, 1, 10**18]), min_size=1, max_size=60),
    latency=st.none() | DURATIONS,
    start=st.fixed_dictionaries({"batch_size": HOSTILE, "dataset_bytes": HOSTILE, "dataset_samples": HOSTILE}),
    most=st.sampled_from([4, 8, joined_steps.MOST_STEPS]),
)
def test_whatever_a_program_tells_can_be_read_again(
    gaps: list[float],
    samples: list[int],
    waits: list[float],
    epochs: list[int],
    latency: float | None,
    start: dict[str, int],
    most: int,
) -> None:
    """A stream that keeps the form becomes a record that sizer's own reader takes: no run is lost by its figures."""
    lines: list[dict[str, object]] = [{"event": "start", "sample_unit": "image", **start}]
    time, epoch = 0.0, 0
    for number, gap in enumerate(gaps):
        time, epoch = time + gap, max(epoch, epochs[number % len(epochs)])
        step = {"samples": samples[number % len(samples)], "input_wait": waits[number % len(waits)], "epoch": epoch}
        lines.append({"event": "step", "time": time, "latency": latency, **step})
    result = measured()
    seen = RunMonitor(result.seen.spec, 0.0)
    reader = EventReader()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joined_steps, "MOST_STEPS", most)  # Their sums have to be numbers of a record, too.
        for line in lines:
            try:
                seen.take(reader.feed(json.dumps(line).encode() + b"\n"), now=time)
            except EventError as error:
                seen.broke(str(error))
                break
    run = record(replace(result, seen=seen))
    assert from_json(Run, json.loads(json.dumps(to_json(run), allow_nan=False)), "run") == run


# The warnings of a run: each says what spoilt a figure, and none is given without cause.


@pytest.fixture
def run() -> Callable[..., Run]:
    """A quiet run of 100 images/s, with figures changed."""

    def changed(vcpus: float = 1.0, **figures: Any) -> Run:
        spec = RunSpec(Workload("train", "image_training"), 32, Limits(vcpus), Measure(precision=0.02))
        quiet = Run(
            spec,
            Outcome.COMPLETED,
            Configuration(vcpus, 4 * GIB, "host", 32),
            "2026-11-21T10:00:00+00:00",
            40.0,
            sample_unit="image",
            data_set=DataSet("/data/train.rec", "recordio", GIB, 10_000, False),
            throughput=Estimate(100.0, 99.0, 101.0),
            rate=RateDetails(measured_seconds=30.0, stopped="precision"),
            demand=Demand(asked_bytes=100_000, read_bytes=101_000),
            conditions=Conditions(resident_bytes=0, other_cores=0.01, overhead=0.002, stolen_cores=0.01),
        )
        groups = {
            name: replace(getattr(quiet, name), **group) for name, group in figures.items() if type(group) is dict
        }
        return replace(quiet, **{**figures, **groups})

    return changed


def warnings_of(run: Run) -> list[str]:
    """What is said of a run."""
    return [warning_line(warning, run.sample_unit) for warning in run_warnings(run, Epochs.ANY)]


@pytest.mark.parametrize(
    ("figures", "warning"),
    [
        ({"conditions": {"overhead": 0.023}}, "overhead: sizer itself used 2.3 % of the workload's core-seconds"),
        ({"conditions": {"stolen_cores": 0.31}}, "stolen: the hypervisor gave 0.31 cores to others meanwhile"),
        (
            {"conditions": {"limits_buffered_writes": False, "unwritten_bytes": 120 << 20}},
            "writes unlimited: up to 120 MiB waited in the page cache, where this kernel's throttle does not see them; "
            "let the program sync while it writes",
        ),
        (
            {"conditions": {"resident_bytes": GIB // 2}},
            "page cache warm: 50 % of the data was in memory before the run",
        ),
        ({"memory": {"peak_swap_bytes": 3 * GIB}}, "swapped: up to 3 GiB of its memory was in swap"),
        (
            {"memory": {"memory_growth": MemoryGrowth(Estimate(1048.576, 900.0, 1200.0), 0.0, 500, True)}},
            "memory rising: anonymous memory still rose at the end, by 1 MiB in 1,000 steps; a longer run needs more",
        ),
        (
            {"demand": Demand(asked_bytes=100_000, read_bytes=127_000)},
            "read amplified: the device read 1.27 bytes for each byte that the program asked for",
        ),
        (
            {"rate": {"rate_change": RateChange(14.2, Estimate(812.0, 800.0, 824.0), Estimate(402.0, 396.0, 408.0))}},
            "two rates: 812 images/s for 14 s, then 402; the later rate counts",
        ),
        (
            {"throughput": Estimate(100.0, 93.0, 107.0)},
            "imprecise: ±7.0 % after 30 s, where ±2.0 % was asked for",
        ),
        ({"rate": {"stopped": "deadline"}}, "short: stopped at the deadline after 30 s of steady state"),
    ],
)
def test_each_cause_has_its_sentence(run: Callable[..., Run], figures: dict[str, Any], warning: str) -> None:
    """One cause, one sentence."""
    assert warnings_of(run(**figures)) == [warning]


def test_a_fraction_is_throttled_by_design_and_says_what_that_does(run: Callable[..., Run]) -> None:
    """Slices of time are not a slower CPU; with more than one thread waiting costs extra."""
    (half,) = warnings_of(run(0.5, conditions={"throttled": 0.97}))
    assert half.startswith("throttled: 97 % of CPU periods used up the quota of 0.5 vCPU")
    assert "wait for each other" not in half
    (more,) = warnings_of(run(1.5, conditions={"throttled": 0.97}))
    assert "wait for each other" in more


@pytest.mark.parametrize(
    ("epochs", "kind"),
    [
        (Epochs.FIRST, WarningKind.FIRST_EPOCH),
        (Epochs.NOT_KNOWN, WarningKind.NO_EPOCHS),
        (Epochs.PART, WarningKind.PART_OF_EPOCH),
        (Epochs.WHOLE, None),
    ],
)
def test_a_rate_of_other_epochs_than_were_asked_for_is_said(
    run: Callable[..., Run], epochs: Epochs, kind: WarningKind | None
) -> None:
    """Whole later epochs need no word."""
    assert [warning.kind for warning in run_warnings(run(), epochs)] == ([kind] if kind else [])
