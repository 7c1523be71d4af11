"""Configurations -> service times of the disk stages and the other rows of the bottleneck equation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sizer.model.coordinates import batch_of, disk_of, gpus_of, memory_of, name_of_disk, vcpus_of
from sizer.model.feeds import CPU_LABEL, REPLAY, label_at
from sizer.model.memory import anonymous_bytes, cached_fraction, hit_rate
from sizer.model.model import Feed, MeasuredRange, Observation, WhatIf, WorkloadFacts
from sizer.records.configuration import Configuration
from sizer.records.device import DiskRates
from sizer.records.units import GIB

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]

INSTANT = DiskRates(1e12, 1e18, 1e12, 1e18)
"""A disk on which nothing waits."""
NEGLIGIBLE = 0.02
"""A disk stage that is busy for less than this share of the time at the highest rate has nothing to be fitted."""


def read_seconds(facts: WorkloadFacts, rates: DiskRates, missed: float = 1.0) -> tuple[float, bool] | None:
    """Seconds of disk reading a sample and whether requests (not bytes) bind; None where figures are missing."""
    return _slower(
        (facts.read_bytes, rates.read_bytes_per_second), (facts.read_ios, rates.read_iops), factor=max(missed, 0.0)
    )


def write_seconds(facts: WorkloadFacts, rates: DiskRates) -> float | None:
    """Seconds of disk writing a sample; a tier's write limits equal its read limits unless given."""
    found = _slower(
        (facts.written_bytes, rates.write_bytes_per_second or rates.read_bytes_per_second),
        (facts.write_ios, rates.write_iops or rates.read_iops),
    )
    return None if found is None else found[0]


def as_good(facts: WorkloadFacts, disk: DiskRates, other: DiskRates) -> bool:
    """Whether a disk is no slower than another in each figure that the job uses; not where one is not known."""
    needs = (facts.read_bytes, facts.read_ios, facts.written_bytes, facts.write_ios)
    pairs = zip(needs, _limits(disk), _limits(other), strict=True)
    used = [(rate, its) for need, rate, its in pairs if need]
    return bool(used) and all(rate is not None and its is not None and rate >= its for rate, its in used)


def _limits(rates: DiskRates) -> tuple[float | None, ...]:
    """Of bytes and requests read, then written."""
    read = rates.read_bytes_per_second, rates.read_iops
    return *read, rates.write_bytes_per_second or read[0], rates.write_iops or read[1]


def _slower(
    volume: tuple[float | None, float | None], requests: tuple[float | None, float | None], factor: float = 1.0
) -> tuple[float, bool] | None:
    by_bytes = volume[0] / volume[1] if volume[0] is not None and volume[1] else None
    by_requests = requests[0] / requests[1] if requests[0] is not None and requests[1] else None
    if by_bytes is None and by_requests is None:
        return None
    return factor * max(by_bytes or 0.0, by_requests or 0.0), (by_requests or 0.0) > (by_bytes or 0.0)


def fitted_disks(facts: WorkloadFacts, measured: MeasuredRange) -> tuple[str, ...]:
    """The disks that get a parameter: those busy enough to matter, and of several those without figures."""
    names = []
    for disk in measured.disks:
        read, write = read_seconds(facts, disk.rates), write_seconds(facts, disk.rates)
        if read is None and write is None:
            if len(measured.disks) > 1:
                names.append(name_of_disk(disk.name))
        elif max(read[0] if read else 0.0, write or 0.0) * facts.highest_rate > NEGLIGIBLE:
            names.append(name_of_disk(disk.name))
    return tuple(names)


def disk_is_free(facts: WorkloadFacts, measured: MeasuredRange, name: str) -> bool:
    """Whether nothing is known of this disk but the throughput on it."""
    disk = measured.disk(name)
    return disk is None or (read_seconds(facts, disk.rates) is None and write_seconds(facts, disk.rates) is None)


@dataclass(frozen=True)
class Rows:
    """What the equation needs of n configurations, each (n,) but for the names.

    `disk` indexes `disks` and `accelerator` `labels`. `read` is ln seconds that reading a whole sample takes by demand
    and rates of the disk (where nothing is known of it but rates on it, `is_free`, those of the highest rate), `write`
    likewise, `missed` the share of reads that go to the disk. `gpus` counts accelerators, `speed_up` is ln of how many
    times the samples of one they make where that is stated, else 0. `decodes`, `steps` and `computes` say which work a
    row does: synthetic input decodes nothing, a replay of the files computes nothing, `steps` are on the CPU. Second
    threads of cores begin at every second vCPU where `paired`, else from `cores` on. `observed`: what was
    measured, where an emulated GPU made the rate that it was given. `supposed`: the disk is given by
    its figures alone; `instant`: nothing waits for it. The shifts are a what-if's factors on times, in ln.
    """

    vcpus: Array
    batch_ratio: Array
    memory_bytes: Array
    least_memory: float
    disks: tuple[str, ...]
    disk: Indices
    labels: tuple[str, ...]
    accelerator: Indices
    gpus: Array
    speed_up: Array
    missed: Array
    read: Array
    read_is_iops: Flags
    write: Array
    is_free: Flags
    reads: Flags
    decodes: Flags
    computes: Flags
    steps: Flags
    paired: bool
    cores: float
    observed: bool = False
    supposed: bool = False
    instant: bool = False
    decode_shift: float = 0.0
    accelerator_shift: float = 0.0
    latency_shift: float = 0.0

    @cached_property
    def second_threads(self) -> Array:
        """How many of the vCPUs are the second thread of their core."""
        if not self.paired:
            return np.maximum(self.vcpus - self.cores, 0.0)
        whole = np.ceil(self.vcpus)
        found: Array = np.floor(whole / 2) * self.vcpus / whole
        return found

    def with_vcpus(self, vcpus: Array) -> Rows:
        return replace(self, vcpus=vcpus)


def build_rows(
    facts: WorkloadFacts,
    measured: MeasuredRange,
    configurations: Sequence[Configuration],
    what_if: WhatIf = WhatIf(),
    seen: Sequence[Observation] | None = None,
) -> Rows:
    """The rows of these configurations, as the what-if would have them.

    `seen` are the observations of these rows where they were measured; without them each is of the kind that
    predictions are about.
    """
    feeds = [facts.setting] * len(configurations) if seen is None else [each.feed for each in seen]
    disks, disk = _numbered([disk_of(each) for each in configurations])
    labels, accelerator = _numbered([label_at(facts, each) for each in configurations])
    missed = np.array([_missed(facts, measured, *each, what_if) for each in zip(configurations, feeds, strict=True)])
    if seen is not None:
        missed = _as_accounted(facts, missed, seen)
    reads = np.array([feed.input != "synthetic" for feed in feeds], dtype=bool)
    gpus = [gpus_of(each) for each in configurations]
    speed_ups = {count: math.log(facts.stated_speed_up(count) or 1.0) for count in set(gpus)}
    rates = [_rates_of(measured, name, what_if) for name in disks]
    read = [read_seconds(facts, each) or (0.0, False) for each in rates]
    write = [write_seconds(facts, each) or 0.0 for each in rates]
    free = np.array([what_if.disk_rates is None and disk_is_free(facts, measured, name) for name in disks], dtype=bool)
    replays = np.array([feed.input == REPLAY for feed in feeds], dtype=bool)
    inputs = (facts.setting.input, "disk", "cached")
    steps = [not what_if.step_elsewhere and (not facts.mixed_with_cpu or label == CPU_LABEL) for label in labels]
    instant = what_if.disk_rates is not None and what_if.disk_rates.read_iops == INSTANT.read_iops
    seconds = np.where(free, 1 / facts.highest_rate, np.array([each for each, _ in read], dtype=float))
    return Rows(
        vcpus=np.array([vcpus_of(each) for each in configurations], dtype=float),
        batch_ratio=np.array([facts.reference_batch / max(1, batch_of(each)) for each in configurations], dtype=float),
        memory_bytes=np.array([memory_of(each) for each in configurations], dtype=float),
        least_memory=float(measured.memory_bytes[0]) if measured.memory_bytes else float(GIB),
        disks=disks,
        disk=disk,
        labels=labels,
        accelerator=accelerator,
        gpus=np.array([max(1, count) for count in gpus], dtype=float),
        speed_up=np.array([speed_ups[count] for count in gpus], dtype=float),
        missed=np.where(reads, np.maximum(missed, 0.0), 0.0),
        read=_log(seconds)[disk],
        read_is_iops=np.array([iops for _, iops in read], dtype=bool)[disk] & reads,
        write=_log(np.where(replays | ~reads, 0.0, np.array(write, dtype=float)[disk])),
        is_free=free[disk],
        reads=reads,
        decodes=np.array([feed.input in inputs for feed in feeds], dtype=bool),
        computes=~replays,
        steps=np.array(steps, dtype=bool)[accelerator] & ~replays,
        paired=facts.paired,
        cores=max(1.0, measured.vcpus[-1] / 2) if measured.vcpus else 1.0,
        observed=seen is not None,
        supposed=what_if.disk_rates is not None and not instant,
        instant=instant,
        decode_shift=math.log(what_if.decode_factor),
        accelerator_shift=-math.log(what_if.gpu_speedup),
        latency_shift=-math.log(what_if.loader_workers_factor),
    )


def _numbered(names: Sequence[str]) -> tuple[tuple[str, ...], Indices]:
    """The distinct names, and (n,) which of them each is."""
    codes = {name: code for code, name in enumerate(dict.fromkeys(names))}
    return tuple(codes), np.array([codes[name] for name in names], dtype=np.intp)


def _rates_of(measured: MeasuredRange, name: str, what_if: WhatIf) -> DiskRates:
    disk = measured.disk(name)
    return what_if.disk_rates or (disk.rates if disk else DiskRates())


def _as_accounted(facts: WorkloadFacts, missed: Array, seen: Sequence[Observation]) -> Array:
    """Device bytes over the bytes of a sample as they were accounted where the page cache kept some."""
    accounted = [
        each.read_bytes / facts.read_bytes
        if each.feed.natural and each.read_bytes is not None and facts.read_bytes
        else math.nan
        for each in seen
    ]
    return np.where(np.isnan(accounted), missed, accounted)


def _missed(
    facts: WorkloadFacts, measured: MeasuredRange, configuration: Configuration, feed: Feed, what_if: WhatIf
) -> float:
    """Device bytes over the bytes of a sample, as predicted."""
    if feed.input == "cached" or feed.cache == "warm":
        return 0.0
    missed = 1 - hit_share(facts, measured, configuration, feed, what_if.data_bytes_factor)
    return missed * facts.read_amplification if feed.natural else missed


def hit_share(
    facts: WorkloadFacts, measured: MeasuredRange, configuration: Configuration, feed: Feed, data_factor: float = 1.0
) -> float:
    """The share of reads that the page cache would serve at this configuration."""
    if not feed.natural:
        return 0.0
    anonymous = anonymous_bytes(measured, configuration.vcpus, configuration.batch_size)
    cached = cached_fraction(facts, memory_of(configuration), anonymous, data_factor)
    return hit_rate(cached, facts.sequential, facts.hit_blend)


def _log(seconds: Array) -> Array:
    """-inf where there is none."""
    with np.errstate(divide="ignore"):
        found: Array = np.log(seconds)
    return found
