"""What one sample cost over the steady state, by the counters and by what the driver of the GPU told; and what bound
the run by that alone. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, replace
from statistics import median
from typing import Any

import numpy as np

from sizer.analysis.steady_state import SteadyState
from sizer.records.device import Device, DiskRates, GpuSample, GpuUse
from sizer.records.kinds import KINDS
from sizer.records.prediction import Bottleneck, Configuration
from sizer.records.run import DataSet, Demand, Evidence, EvidenceKind, Sample, Step
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

CONTENDED_CORES = 0.05
"""Cores used by something else on the host from which a run is marked."""
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
    """Of all accelerators together: by the published rate for emulated ones; for real ones the seconds in which their
    driver saw a kernel run, and what they took for each step by their own clock where that is less or alone is known.

    Their own clock counts the gaps between kernels, in which a thread of the CPU has not started the next one; the
    driver counts what other programs do on them. Those that work together are busy while they exchange gradients, too.
    """
    if device.kind == "emulated" and device.samples_per_second:
        speed_up = device.speed_up(count)
        return None if speed_up is None else max(1, count) / speed_up / device.samples_per_second
    timed_steps = [
        (step.accelerator_seconds, step.samples)
        for step in steps
        if step.accelerator_seconds is not None and steady.start < step.time <= steady.end
    ]
    timed = sum(samples_of_step for _, samples_of_step in timed_steps)
    seconds = []
    if device.kind == "cuda" and timed >= LEAST_TIMED * counted:
        seconds.append(max(1, count) * sum(of_step for of_step, _ in timed_steps) / timed)
    places = range(max((len(sample.gpus) for sample in samples), default=0))
    shares = [_kernel_share(_of(place, samples), steady.start, steady.end) for place in places]
    if shares and None not in shares:
        seconds.append(sum(filter(None, shares)) * (steady.end - steady.start) / counted)
    return min(seconds, default=None)


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
        busy=_kernel_share(times, start, end),
        held_back={reason: count / len(held_backs) for reason, count in sorted(reasons.items())},
        shared=shared / len(within) if within else 0.0,
        others=tuple(dict.fromkeys(name for _, sample in within for name in sample.others)),
        **levels,
        **counters,
    )


def _kernel_share(times: Times, start: float, end: float) -> float | None:
    """The share of the time in which a kernel ran. What the driver tells reaches back by up to a second, so the time
    before the second reading is left out where there are three."""
    readings = [(time, seconds) for time, seconds in _readings(times, "busy") if start <= time <= end]
    if len(readings) < 2:
        return None
    (first, was), (last, now) = readings[0 if len(readings) == 2 else 1], readings[-1]
    return min(1.0, max(0.0, (now - was) / (last - first)))


def _of(place: int, samples: Sequence[Sample]) -> Times:
    return [(sample.time, sample.gpus[place]) for sample in samples if place < len(sample.gpus)]


def _readings(times: Times, figure: str) -> list[tuple[float, float]]:
    values = ((time, getattr(sample, figure)) for time, sample in times)
    return [(time, value) for time, value in values if value is not None]


def _per_sample(counter: Sequence[tuple[float, float]], start: float, end: float, counted: int) -> float | None:
    """By how much a counter grew for each sample; None with fewer than two samplings that have it."""
    if len(counter) < 2 or not counted:
        return None
    first, last = np.interp([start, end], [time for time, _ in counter], [value for _, value in counter])
    return float(max(0.0, last - first)) / counted


# What bound a run, from its accounting alone and without the model.

BUSY = 0.85
"""Busy share from which a resource counts as the one that binds: limits hold their mean within a few percent."""

CLOSE = 0.08
"""Two resources whose busy shares differ by less than this count as equal."""

LEADING = 0.6
"""Busy share from which a resource counts although it is not full, if it is at least twice as busy as any other: the
job waits for something short in between, such as a blocking read, but this is where its time goes."""

SERIAL_BAND = (0.85, 1.25)
"""Core-seconds a second of a job that keeps one core busy and no more."""

UNTHROTTLED = 0.1
"""Share of its periods up to which a quota was not what held a run back. Of quotas of 0.75 to 1.5 vCPU, one busy core
used up none, and preprocessing and decoding that the vCPUs bound used up 92 to 98 %."""

MORE_MEMORY = 1.5
"""How much more memory is asked about where the page cache is short."""

HITTING = 0.1
"""Hit rate from which half as much memory again is worth it, though the data set is larger still. Where records are
read in a new order each epoch, h = 1 - u + u ln u with u the share that is not kept: 0.1 means that 41 % is kept, and
61 % gives 0.24, which is 1.19 x the rate from the same disk."""

REREAD = 0.02
"""Bytes read over bytes asked for from which later epochs read what they could not keep."""


def busy_shares(
    throughput: float, demand: Demand, configuration: Configuration, disk: DiskRates | None, device: Device
) -> dict[Bottleneck, float]:
    """Share of each resource in use, from 0 to about 1, without those that were not accounted or not limited."""
    rates, count = disk or DiskRates(), configuration.gpu_count or 0
    written = (
        _share(throughput, demand.written_bytes, rates.write_bytes_per_second),
        _share(throughput, demand.write_ios, rates.write_iops),
    )
    accelerator = _share(throughput, demand.accelerator_seconds, max(1, count))
    if device.kind == "emulated":
        speed_up, rate = device.speed_up(count), device.samples_per_second
        accelerator = None if speed_up is None or rate is None else _share(throughput, 1.0, rate * speed_up)
    used = {
        Bottleneck.CPU: _share(throughput, demand.core_seconds, configuration.vcpus),
        Bottleneck.DISK_BANDWIDTH: _share(throughput, demand.read_bytes, rates.read_bytes_per_second),
        Bottleneck.DISK_IOPS: _share(throughput, demand.read_ios, rates.read_iops),
        Bottleneck.DISK_WRITE: max((share for share in written if share is not None), default=None),
        Bottleneck.ACCELERATOR: accelerator,
    }
    return {resource: share for resource, share in used.items() if share is not None}


def short_of_memory(demand: Demand, own_bytes: int | None, data: DataSet | None, memory_bytes: int) -> bool:
    """Whether the disk reads again what somewhat more memory would keep, in the later epochs of a run.

    `own_bytes` is what the run itself holds, without page cache. What a sequential reader of a data set larger than its
    memory misses, it misses with half as much again, too: a cap of 48 and of 72 MiB for 83 MB of files gave 194 and 195
    images/s. Then the disk is the bottleneck, and memory becomes it only where all would fit or some is kept already.
    """
    if data is None or demand.read_bytes is None or not demand.asked_bytes:
        return False
    missed = demand.read_bytes / demand.asked_bytes
    if missed <= REREAD:
        return False
    return missed <= 1 - HITTING or (own_bytes or 0) + data.bytes <= MORE_MEMORY * memory_bytes


def name_bottleneck(
    busy: dict[Bottleneck, float],
    vcpus: float,
    starved: bool = False,
    throttled: float | None = None,
    withheld: float = 0.0,
) -> Evidence:
    """The resource that is busy while the others wait.

    `starved`: the disk is read again for want of page cache. `throttled`: share of its periods in which a fraction of a
    vCPU was used up, None where there is no such quota. `withheld`: cores that others on the host used, or the
    hypervisor.
    """
    shares = {resource.value: round(share, 4) for resource, share in busy.items()}
    ranked = sorted(busy.items(), key=lambda item: -item[1])
    full = [(resource, share) for resource, share in ranked if share >= BUSY]
    if _is_serial(busy, vcpus, throttled):
        # What one thread of a step is kept from, all that wait for it lose, too.
        if withheld > CONTENDED_CORES and busy[Bottleneck.CPU] + min(1.0, withheld) >= BUSY:
            return Evidence(Bottleneck.AMBIGUOUS, shares, EvidenceKind.NONE_FULL, _by_name(ranked))
        cores = busy[Bottleneck.CPU] * vcpus
        return Evidence(Bottleneck.SERIAL, shares, EvidenceKind.SERIAL, {"cores": cores, "vcpus": vcpus})
    if len(full) > 1 and full[0][1] - full[1][1] < CLOSE:
        return Evidence(Bottleneck.AMBIGUOUS, shares, EvidenceKind.SEVERAL, _by_name(full))
    others = max((share for _, share in ranked[1:]), default=0.0)
    if not full and not (ranked and ranked[0][1] >= LEADING and others <= ranked[0][1] / 2):
        return Evidence(Bottleneck.AMBIGUOUS, shares, EvidenceKind.NONE_FULL, _by_name(ranked))
    resource, first = ranked[0][0], _by_name(ranked[:1])
    if starved and resource in (Bottleneck.DISK_BANDWIDTH, Bottleneck.DISK_IOPS):
        return Evidence(Bottleneck.MEMORY, shares, EvidenceKind.REREADS, first)
    return Evidence(resource, shares, EvidenceKind.BUSIEST, first)


def _is_serial(busy: dict[Bottleneck, float], vcpus: float, throttled: float | None) -> bool:
    """One core is busy, more than one may be used, no quota cuts it short, no disk is half as busy, and no accelerator
    is full: then the core is busy waiting for it.
    """
    cores = busy.get(Bottleneck.CPU, 0.0) * vcpus
    if vcpus <= 1 or not SERIAL_BAND[0] <= cores <= SERIAL_BAND[1]:
        return False
    if vcpus < 2 and (throttled is None or throttled > UNTHROTTLED):
        return False
    others = busy.keys() - {Bottleneck.CPU, Bottleneck.ACCELERATOR}
    if any(busy[resource] > busy[Bottleneck.CPU] / 2 for resource in others):
        return False
    return busy.get(Bottleneck.ACCELERATOR, 0.0) < BUSY


def _share(throughput: float, per_sample: float | None, capacity: float | None) -> float | None:
    if per_sample is None or not capacity:
        return None
    return throughput * per_sample / capacity


def _by_name(ranked: list[tuple[Bottleneck, float]]) -> dict[str, float]:
    return {resource.value: share for resource, share in ranked}
