"""What one sample cost: counters between two moments, and what follows from them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sizer.analysis import accounting
from sizer.analysis.steady_state import SteadyState
from sizer.records.configuration import Estimate
from sizer.records.device import Device
from sizer.records.run import DataSet, Demand, Sample, Step
from sizer.records.study import Workload

STEADY = SteadyState(Estimate(100.0, 99.0, 101.0), 1.0, 1.0, 11.0)
STEPS = [Step(float(second), 100, 0.25, 0) for second in range(12)]
DATA = DataSet("/data/train.rec", "recordio", 100_000_000, 1000, False)
EVERY = frozenset(accounting.COUNTERS)
TRAINING = Workload("train", "image_training")


def samples(**rates: float) -> list[Sample]:
    """One sampling a second of counters that grow at these rates."""
    return [Sample(time=float(t), **{name: rate * t for name, rate in rates.items()}) for t in range(13)]  # type: ignore[arg-type]


def test_counters_are_divided_by_the_samples_of_the_steady_state() -> None:
    """Ten seconds of 100 samples a second."""
    seen = samples(core_seconds=1.5, read_bytes=2_500_000, io_stall=0.5)
    used = accounting.demand(STEADY, STEPS, seen, TRAINING, DATA, EVERY)
    assert used.core_seconds == pytest.approx(0.015)
    assert used.read_bytes == pytest.approx(25_000)
    assert used.io_stall == pytest.approx(0.005)
    assert used.input_wait == pytest.approx(0.0025)
    assert used.asked_bytes == 100_000


@pytest.mark.parametrize(("read", "expected"), [(0.0, 1.0), (25_000.0, 0.75), (100_000.0, 0.0), (127_000.0, 0.0)])
def test_what_did_not_come_from_the_device_was_a_hit(read: float, expected: float) -> None:
    """Device bytes against bytes asked for; readahead that nobody used is no negative hit."""
    assert accounting.hit_rate(Demand(asked_bytes=100_000, read_bytes=read)) == pytest.approx(expected)


@pytest.mark.parametrize(
    "workload",
    [Workload("synthetic", "image_training", input="synthetic"), Workload("lstm", "lstm_training")],
    ids=lambda workload: workload.name,
)
def test_a_job_that_does_not_read_with_each_sample_asks_for_nothing(workload: Workload) -> None:
    """A text is read at the start of an epoch: no second of the epoch has bytes of its own."""
    assert accounting.asked_bytes(workload, DATA) is None


def test_the_emulated_accelerator_is_busy_as_its_rate_says() -> None:
    """The published step time is the demand."""
    device = Device("emulated", samples_per_second=200.0)
    workload = Workload("train", "image_training", device=device)
    assert accounting.demand(STEADY, STEPS, samples(), workload, DATA, EVERY).accelerator_seconds == 0.005


CUDA = Workload("train", "image_training", device=Device("cuda", 0))


def told(*seconds: float | None) -> list[Step]:
    """The steps, of which the accelerator took so long for each, in turn."""
    return [replace(step, accelerator_seconds=seconds[at % len(seconds)]) for at, step in enumerate(STEPS)]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [(told(0.6), 0.006), (told(0.6, None), 0.006), (told(0.6, None, None), 0.009), (told(None), 0.009)],
)
def test_a_gpus_own_clock_goes_before_its_driver(steps: list[Step], expected: float) -> None:
    """Where it timed at least half of the samples; the driver says how long any kernel was running: 0.9 s a second."""
    seen = samples(accelerator_busy=0.9)
    assert accounting.demand(STEADY, steps, seen, CUDA, DATA, EVERY).accelerator_seconds == pytest.approx(expected)


def test_an_accelerator_that_nobody_timed_is_unknown() -> None:
    """Neither its own clock nor a driver."""
    assert accounting.demand(STEADY, STEPS, samples(), CUDA, DATA, EVERY).accelerator_seconds is None
