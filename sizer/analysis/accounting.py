"""What one sample cost over the steady state, by the counters and by what the GPU's driver told. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from statistics import median

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

MOST = 0.5
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
    each = {
        counter: grown(samples, counter, steady.start, steady.end) / counted
        for counter in COUNTERS
        if counter in accounted
    }
    return Demand(
        **each,
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
        told = [
            (step.accelerator_seconds, step.samples)
            for step in steps
            if step.accelerator_seconds is not None and steady.start < step.time <= steady.end
        ]
        timed = sum(samples_of_step for _, samples_of_step in told)
        if timed >= MOST * counted:
            return max(1, count) * sum(seconds for seconds, _ in told) / timed
    known = [sample for sample in samples if sample.accelerator_busy is not None]
    return grown(known, "accelerator_busy", steady.start, steady.end) / counted if len(known) >= 2 else None


@dataclass(frozen=True)
class CounterRates:
    """What a run used a second between two samples.

    `cores` and `other_cores` are busy cores of the run and of everything else on the host; `throttled` is the share of
    quota periods in which the run was held back; `accelerator` the busy share of the accelerator, None where unknown.
    """

    seconds: float
    cores: float
    other_cores: float
    read_bytes: float
    written_bytes: float
    read_ios: float
    write_ios: float
    throttled: float
    accelerator: float | None


def rates(before: Sample, after: Sample) -> CounterRates | None:
    """The rates between two samples; None if no time passed between them."""
    seconds = after.time - before.time
    if seconds <= 0:
        return None
    cores = (after.core_seconds - before.core_seconds) / seconds
    host_cores = (after.host_core_seconds - before.host_core_seconds) / seconds
    periods = after.periods - before.periods
    known = before.accelerator_busy is not None and after.accelerator_busy is not None
    accelerator = (after.accelerator_busy or 0.0) - (before.accelerator_busy or 0.0)
    return CounterRates(
        seconds=seconds,
        cores=cores,
        other_cores=max(0.0, host_cores - cores),
        read_bytes=(after.read_bytes - before.read_bytes) / seconds,
        written_bytes=(after.written_bytes - before.written_bytes) / seconds,
        read_ios=(after.read_ios - before.read_ios) / seconds,
        write_ios=(after.write_ios - before.write_ios) / seconds,
        throttled=(after.throttled_periods - before.throttled_periods) / periods if periods else 0.0,
        accelerator=accelerator / seconds if known else None,
    )


Times = list[tuple[float, GpuSample]]
"""One GPU at the time of each sampling."""


def peaks(gpus: Sequence[GpuUse], samples: Sequence[Sample]) -> tuple[GpuUse, ...]:
    """The GPUs with the most memory that was in use at any time of the run, also of one that failed."""
    found = []
    for place, gpu in enumerate(gpus):
        seen = [each for _, each in _of(place, samples)]
        peak, own = _most(seen, lambda each: each.memory_bytes), _most(seen, lambda each: each.own_memory_bytes)
        found.append(replace(gpu, peak_memory_bytes=peak, own_peak_memory_bytes=own))
    return tuple(found)


def gpu_uses(
    gpus: Sequence[GpuUse], samples: Sequence[Sample], start: float, end: float, counted: int
) -> tuple[GpuUse, ...]:
    """The GPUs with their figures between two monotonic times, in which so many samples were `counted`."""
    return tuple(_use(gpu, _of(place, samples), start, end, counted) for place, gpu in enumerate(gpus))


def _use(gpu: GpuUse, times: Times, start: float, end: float, counted: int) -> GpuUse:
    within = [each for time, each in times if start <= time <= end]
    known = [each.held_back for each in within if each.held_back is not None]
    reasons = Counter(reason.value for each in known for reason in each)
    shared = sum(bool(each.others) for each in within)
    return replace(
        gpu,
        busy=_median_share(times, start, end),
        watts=_median(within, lambda each: each.watts),
        sm_hertz=_median(within, lambda each: each.sm_hertz),
        memory_hertz=_median(within, lambda each: each.memory_hertz),
        joules=_each(times, lambda each: each.joules, start, end, counted),
        sent_bytes=_each(times, lambda each: each.sent_bytes, start, end, counted),
        received_bytes=_each(times, lambda each: each.received_bytes, start, end, counted),
        held_back={reason: count / len(known) for reason, count in sorted(reasons.items())},
        shared=shared / len(within) if within else 0.0,
        others=tuple(dict.fromkeys(name for each in within for name in each.others)),
    )


def _of(place: int, samples: Sequence[Sample]) -> Times:
    return [(sample.time, sample.gpus[place]) for sample in samples if place < len(sample.gpus)]


def _known(times: Times, figure: Callable[[GpuSample], float | None]) -> list[tuple[float, float]]:
    found = ((time, figure(each)) for time, each in times)
    return [(time, value) for time, value in found if value is not None]


def _median(within: Sequence[GpuSample], figure: Callable[[GpuSample], float | None]) -> float | None:
    values = [value for each in within if (value := figure(each)) is not None]
    return median(values) if values else None


def _most(seen: Sequence[GpuSample], figure: Callable[[GpuSample], int | None]) -> int | None:
    return max((value for each in seen if (value := figure(each)) is not None), default=None)


def _median_share(times: Times, start: float, end: float) -> float | None:
    """The median over the samplings of the share of the time since the one before."""
    known = [(time, busy) for time, busy in _known(times, lambda each: each.busy) if start <= time <= end]
    pairs = pairwise(known)
    shares = [(now - before) / (time - last) for (last, before), (time, now) in pairs if time > last]
    return min(1.0, max(0.0, median(shares))) if shares else None


def _each(
    times: Times, counter: Callable[[GpuSample], float | None], start: float, end: float, counted: int
) -> float | None:
    """By how much a counter grew for each sample; None with fewer than two samplings that have it."""
    known = _known(times, counter)
    if len(known) < 2 or not counted:
        return None
    times_known, values = [time for time, _ in known], [value for _, value in known]
    first, last = np.interp([start, end], times_known, values)
    return float(max(0.0, last - first)) / counted
