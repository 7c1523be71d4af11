"""What one sample cost between two moments of a run: the sampler's counters over the steady state. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from sizer.records import Demand, Device, Sample, Step
from sizer.steady_state import SteadyState


def demand(steady: SteadyState, steps: Sequence[Step], samples: Sequence[Sample], device: Device) -> Demand:
    """Core-seconds, bytes, IOs and waits a sample; counters between two samplings are interpolated."""
    counted = sum(step.samples for step in steps if steady.start < step.time <= steady.end)
    waited = sum(step.input_wait for step in steps if steady.start < step.time <= steady.end)
    if counted == 0:
        return Demand()

    def each(counter: str) -> float:
        return grown(samples, counter, steady.start, steady.end) / counted

    return Demand(
        core_seconds=each("core_seconds"),
        read_bytes=each("read_bytes"),
        read_ios=each("read_ios"),
        written_bytes=each("written_bytes"),
        write_ios=each("write_ios"),
        input_wait=waited / counted,
        accelerator_seconds=_accelerator_seconds(samples, steady, counted, device),
    )


def grown(samples: Sequence[Sample], counter: str, start: float, end: float) -> float:
    """How much a counter grew between two monotonic times; 0 with fewer than two samplings."""
    assert counter in {field.name for field in fields(Sample)}
    if len(samples) < 2:
        return 0.0
    times = [sample.time for sample in samples]
    values = [float(getattr(sample, counter)) for sample in samples]
    first, last = np.interp([start, end], times, values)
    return float(max(0.0, last - first))


def other_cores(samples: Sequence[Sample], start: float, end: float) -> float:
    """Cores that something else on this host used meanwhile."""
    host = grown(samples, "host_core_seconds", start, end)
    own = grown(samples, "core_seconds", start, end)
    return max(0.0, host - own) / (end - start) if host and end > start else 0.0


def _accelerator_seconds(samples: Sequence[Sample], steady: SteadyState, counted: int, device: Device) -> float | None:
    """By the published rate for an emulated accelerator, by the driver's busy time for a real one."""
    if device.kind == "emulated" and device.samples_per_second:
        return 1.0 / device.samples_per_second
    told = [sample for sample in samples if sample.accelerator_busy is not None]
    return grown(told, "accelerator_busy", steady.start, steady.end) / counted if len(told) >= 2 else None
