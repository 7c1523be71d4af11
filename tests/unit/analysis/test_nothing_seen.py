"""Runs of which too little was seen: nothing is made up of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sizer.analysis import accounting
from sizer.analysis.run_warnings import memory_growth
from sizer.analysis.steady_state import SteadyState
from sizer.records.configuration import Estimate
from sizer.records.device import Device
from sizer.records.run import Demand, Sample, Step
from sizer.records.study import Workload

STEADY = SteadyState(Estimate(100.0, 99.0, 101.0), 1.0, 1.0, 11.0)
SAMPLES = [Sample(time=float(second), core_seconds=float(second)) for second in range(13)]


def test_without_a_sample_nothing_costs_anything() -> None:
    """No step lay in the steady state, so there is nothing to divide by."""
    late = [Step(20.0, 100, 0.1, 0)]
    everything = frozenset(accounting.COUNTERS)
    workload = Workload("train", "image_training", device=Device())
    assert accounting.demand(STEADY, late, SAMPLES, workload, None, everything) == Demand()
    seen = accounting.demand(STEADY, [replace(late[0], time=5.0)], SAMPLES, workload, None, everything)
    assert seen.core_seconds == pytest.approx(0.1)


@pytest.mark.parametrize(("count", "grown"), [(0, 0.0), (1, 0.0), (13, 10.0)])
def test_one_sampling_shows_no_growth(count: int, grown: float) -> None:
    """A counter grows between two."""
    assert accounting.grown(SAMPLES[:count], "core_seconds", 1.0, 11.0) == pytest.approx(grown)


def test_memory_does_not_grow_over_no_step() -> None:
    """Where nothing was done between the first and the last sampling, bytes a step mean nothing."""
    seen = [Sample(time=0.25 * number, anonymous_bytes=number) for number in range(41)]
    assert memory_growth(STEADY, [Step(0.5, 1, 0.0, 0)], seen) is None
    steps = [Step(0.25 * number, 1, 0.0, 0) for number in range(41)]
    growth = memory_growth(STEADY, steps, seen)
    assert growth is not None
    assert growth.anonymous_bytes_per_step.value == pytest.approx(1.0)
