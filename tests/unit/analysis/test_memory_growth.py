"""Memory over time: its slope over steps, and whether the peak was still being raised."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sizer.analysis.run_warnings import memory_growth
from sizer.analysis.steady_state import SteadyState
from sizer.records.configuration import Estimate
from sizer.records.run import Sample, Step

MIB = 2**20
STEADY = SteadyState(Estimate(320.0, 310.0, 330.0), 0.0, 0.0, 20.0)
STEPS = [Step(0.1 * number, 32, 0.0, 0) for number in range(201)]


def samples(anonymous: Callable[[float], float], page_cache: Callable[[float], float] = lambda _: 0.0) -> list[Sample]:
    """A sampling each half second for 20 s."""
    times = [0.5 * number for number in range(41)]
    return [
        Sample(time=time, anonymous_bytes=int(anonymous(time)), page_cache_bytes=int(page_cache(time)))
        for time in times
    ]


def test_a_leak_is_measured_in_bytes_a_step() -> None:
    """1 MiB a second at ten steps a second is a tenth of a MiB a step, and the peak still rises."""
    growth = memory_growth(STEADY, STEPS, samples(lambda time: 100 * MIB + time * MIB))
    assert growth is not None
    assert growth.anonymous_bytes_per_step.value == pytest.approx(MIB / 10, rel=0.02)
    assert growth.anonymous_bytes_per_step.low > 0
    assert growth.steps == 200
    assert growth.rising


def test_memory_that_goes_up_and_down_does_not_grow() -> None:
    """The interval of the slope holds zero, and the peak of the first part is not passed."""
    growth = memory_growth(STEADY, STEPS, samples(lambda time: (100 + 5 * (int(time * 2) % 3)) * MIB))
    assert growth is not None
    assert growth.anonymous_bytes_per_step.low < 0 < growth.anonymous_bytes_per_step.high
    assert not growth.rising
