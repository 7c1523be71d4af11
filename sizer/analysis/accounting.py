"""What one sample cost over the steady state, by the counters and by what the GPU's driver told. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np

from sizer.analysis.steady_state import SteadyState
from sizer.records.device import Device, GpuSample, GpuUse
from sizer.records.kinds import KINDS
from sizer.records.run import DataSet, Demand, Sample, Step
from sizer.records.study import Workload

COUNTERS = (
    "core_seconds",
    "read_bytes",
    "read_ios",
    "written_bytes",
    "write_ios",
    "cpu_stall",
    "memory_stall",
    "io_stall",
)
"""Counters of a sampling that are demands when they are divided by the samples."""

LEAST_TIMED = 0.5
"""Share of the samples of which the accelerator's own clock must have told, for it to stand for all of them."""


def demand(
    steady: SteadyState,
    steps: Sequence[Step],
    samples: Sequence[Sample],
    workload: Workload,
    data_set: DataSet | None,
    accounted: frozenset[str],
    gpu_count: int = 0,
) -> Demand:
    """Core-seconds, bytes, IOs, waits and stalls a sample; counters between two samplings are interpolated.

    A counter that is not in `accounted` is not kept on this host: it is unknown, not zero.
    """
    counted = sum(step.samples for step in steps if steady.start < step.time <= steady.end)
    waited = sum(step.input_wait for step in steps if steady.start < step.time <= steady.end)
    if counted == 0:
        return Demand()
    used = {
        counter: grown(samples, counter, steady.start, steady.end) / counted
        for counter in COUNTERS
        if counter in accounted
    }
    return Demand(
        **used,
        input_wait=waited / counted,
        accelerator_seconds=_accelerator_seconds(steps, samples, steady, counted, workload.computes_on, gpu_count),
        asked_bytes=asked_bytes(workload, data_set),
    )


def asked_bytes(workload: Workload, data_set: DataSet | None) -> float | None:
    """Bytes that the loader asks the file system for, a sample; None where it does not read sample by sample."""
    if data_set is None or not data_set.samples or not data_set.bytes:
        return None
    if workload.input == "synthetic" or KINDS[workload.kind].reads == "epoch":
        return None
    return data_set.bytes / data_set.samples


def hit_rate(used: Demand) -> float | None:
    """Share of the bytes asked for that did not come from the device, 0 to 1; None where either is unknown.

    Readahead that nobody uses makes the device give more than was asked for: that is a hit rate of 0.
    """
    if not used.asked_bytes or used.read_bytes is None:
        return None
    return min(1.0, max(0.0, 1 - used.read_bytes / used.asked_bytes))


def grown(samples: Sequence[Sample], counter: str, start: float, end: float) -> float:
    """How much a counter grew between two monotonic times; 0 with fewer than two samplings."""
    assert counter in {field.name for field in fields(Sample)}
    if len(samples) < 2:
        return 0.0
    times = [sample.time for sample in samples]
    values = [float(getattr(sample, counter)) for sample in samples]
    first, last = np.interp([start, end], times, values)
    return float(max(0.0, last - first))


def throttled(samples: Sequence[Sample], start: float, end: float) -> float | None:
    """Share of the quota's periods in which it was used up; None where no quota was set."""
    periods = grown(samples, "periods", start, end)
    return min(1.0, grown(samples, "throttled_periods", start, end) / periods) if periods else None


def other_cores(samples: Sequence[Sample], start: float, end: float) -> float | None:
    """Cores that neither the run nor sizer used; None where the host's own use was not counted."""
    host = grown(samples, "host_core_seconds", start, end)
    own = grown(samples, "core_seconds", start, end) + grown(samples, "sizer_core_seconds", start, end)
    return max(0.0, host - own) / (end - start) if host and end > start else None


def stolen_cores(samples: Sequence[Sample], start: float, end: float) -> float | None:
    """Cores that the hypervisor withheld from this host; None where no time passed."""
    return grown(samples, "steal_core_seconds", start, end) / (end - start) if end > start else None


def unwritten_bytes(samples: Sequence[Sample], start: float, end: float) -> int | None:
    """The most that waited in the page cache to be written; None without a sampling between the two times."""
    return max((sample.unwritten_bytes for sample in samples if start <= sample.time <= end), default=None)


def overhead(samples: Sequence[Sample], start: float, end: float) -> float | None:
    """Core-seconds of sizer's own process over those of the workload; None where the workload's were not counted."""
    workload = grown(samples, "core_seconds", start, end)
    return grown(samples, "sizer_core_seconds", start, end) / workload if workload else None


def _accelerator_seconds(
    steps: Sequence[Step], samples: Sequence[Sample], steady: SteadyState, counted: int, device: Device, count: int
) -> float | None:
    """Of all accelerators together: by the published rate for emulated ones; for real ones by what they took for each
    step, where the steps tell that, else by the seconds in which their driver saw them busy.

    Those that work together are busy while they exchange gradients, too.
    """
    if device.kind == "emulated" and device.samples_per_second:
        speed_up = device.speed_up(count)
        return None if speed_up is None else max(1, count) / speed_up / device.samples_per_second
    if device.kind == "cuda":
        timed_steps = [
            (step.accelerator_seconds, step.samples)
            for step in steps
            if step.accelerator_seconds is not None and steady.start < step.time <= steady.end
        ]
        timed = sum(samples_of_step for _, samples_of_step in timed_steps)
        if timed >= LEAST_TIMED * counted:
            return max(1, count) * sum(seconds for seconds, _ in timed_steps) / timed
    measured = [sample for sample in samples if sample.accelerator_busy is not None]
    return grown(measured, "accelerator_busy", steady.start, steady.end) / counted if len(measured) >= 2 else None


Times = list[tuple[float, GpuSample]]
"""One GPU at the time of each sampling."""


def peaks(gpus: Sequence[GpuUse], samples: Sequence[Sample]) -> tuple[GpuUse, ...]:
    """The GPUs with the most memory that was in use at any time of the run, also of one that failed."""
    uses = []
    for place, gpu in enumerate(gpus):
        times = _of(place, samples)
        peak, own = (
            max((int(value) for _, value in _readings(times, figure)), default=None)
            for figure in ("memory_bytes", "own_memory_bytes")
        )
        uses.append(replace(gpu, peak_memory_bytes=peak, own_peak_memory_bytes=own))
    return tuple(uses)


def gpu_uses(
    gpus: Sequence[GpuUse], samples: Sequence[Sample], start: float, end: float, counted: int
) -> tuple[GpuUse, ...]:
    """The GPUs with their figures between two monotonic times, in which so many samples were `counted`."""
    return tuple(_use(gpu, _of(place, samples), start, end, counted) for place, gpu in enumerate(gpus))


def _use(gpu: GpuUse, times: Times, start: float, end: float, counted: int) -> GpuUse:
    within = [(time, sample) for time, sample in times if start <= time <= end]
    held_backs = [sample.held_back for _, sample in within if sample.held_back is not None]
    reasons = Counter(reason.value for held_back in held_backs for reason in held_back)
    shared = sum(bool(sample.others) for _, sample in within)
    levels: dict[str, Any] = {
        figure: median(values) if (values := [value for _, value in _readings(within, figure)]) else None
        for figure in ("watts", "sm_hertz", "memory_hertz")
    }
    counters: dict[str, Any] = {
        figure: _per_sample(_readings(times, figure), start, end, counted)
        for figure in ("joules", "sent_bytes", "received_bytes")
    }
    return replace(
        gpu,
        busy=_median_share(_readings(within, "busy")),
        held_back={reason: count / len(held_backs) for reason, count in sorted(reasons.items())},
        shared=shared / len(within) if within else 0.0,
        others=tuple(dict.fromkeys(name for _, sample in within for name in sample.others)),
        **levels,
        **counters,
    )


def _of(place: int, samples: Sequence[Sample]) -> Times:
    return [(sample.time, sample.gpus[place]) for sample in samples if place < len(sample.gpus)]


def _readings(times: Times, figure: str) -> list[tuple[float, float]]:
    values = ((time, getattr(sample, figure)) for time, sample in times)
    return [(time, value) for time, value in values if value is not None]


def _median_share(busy: Sequence[tuple[float, float]]) -> float | None:
    """The median over the samplings of the share of the time since the one before."""
    shares = [(now - before) / (time - last) for (last, before), (time, now) in pairwise(busy) if time > last]
    return min(1.0, max(0.0, median(shares))) if shares else None


def _per_sample(counter: Sequence[tuple[float, float]], start: float, end: float, counted: int) -> float | None:
    """By how much a counter grew for each sample; None with fewer than two samplings that have it."""
    if len(counter) < 2 or not counted:
        return None
    first, last = np.interp([start, end], [time for time, _ in counter], [value for _, value in counter])
    return float(max(0.0, last - first)) / counted
