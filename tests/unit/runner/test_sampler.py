"""Samples over time, and what NVML tells."""

from __future__ import annotations

from itertools import count

from sizer.records.device import GpuSample
from sizer.records.run import Sample
from sizer.runner.sampler import Sampler


class Counting:
    """A group that uses half a core."""

    def sample(self, time: float) -> Sample:
        return Sample(time=time, core_seconds=time / 2)


def test_each_tick_keeps_a_sample_with_the_clocks_time() -> None:
    """The clock is the caller's."""
    times = iter([10.0, 10.5, 11.0])
    sampler = Sampler(Counting(), lambda: next(times))
    ticks = [sampler.tick() for _ in range(3)]
    assert sampler.samples == ticks
    assert [(tick.time, tick.core_seconds, tick.accelerator_busy) for tick in ticks] == [
        (10.0, 5.0, None),
        (10.5, 5.25, None),
        (11.0, 5.5, None),
    ]


def test_a_sample_has_what_the_driver_told_last_of_each_gpu() -> None:
    """The accelerator's busy seconds are the sum of several, and not known where one of them is not."""
    clock = count(0.0, 2.0)
    told = [(GpuSample(busy=1.0),), (GpuSample(busy=1.0), GpuSample(busy=2.0)), (GpuSample(busy=1.0), GpuSample()), ()]
    readings = iter(told)
    sampler = Sampler(Counting(), lambda: next(clock), lambda: next(readings))
    for _ in range(4):
        sampler.tick()
    assert [sample.accelerator_busy for sample in sampler.samples] == [1.0, 3.0, None, None]
    assert [sample.gpus for sample in sampler.samples] == told
