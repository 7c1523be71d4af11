"""Configurations -> service times of the disk stages and the other rows of the bottleneck equation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sizer.model.coordinates import batch_of, disk_of, gpus_of, memory_of, name_of_disk, vcpus_of
from sizer.model.equation import Design
from sizer.model.feeds import CPU_LABEL, REPLAY, label_at
from sizer.model.memory import anonymous_bytes, cached_fraction, hit_rate
from sizer.model.model import Feed, MeasuredRange, Structure, WhatIf, WorkloadFacts
from sizer.model.observations import Observation
from sizer.records import Configuration, DiskRates

UNBINDING = 3.0
"""A disk or memory level of unknown capacity is believed to allow this multiple of the highest rate."""
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


def build_design(
    facts: WorkloadFacts,
    measured: MeasuredRange,
    structure: Structure,
    configurations: Sequence[Configuration],
    what_if: WhatIf | None = None,
    seen: Sequence[Observation] | None = None,
) -> Design:
    """The rows of the equation for these configurations, as the what-if would have them.

    `seen` are the observations of these rows where they were measured; without them each is of the kind that
    predictions are about, on CPUs as fast as usual.
    """
    what_if = what_if or WhatIf()
    seen = seen or [Observation(c, facts.setting, 0.0, 1.0) for c in configurations]
    fed = [each.feed for each in seen]
    rows = [_disk_row(facts, measured, structure, each, what_if) for each in seen]
    levels = [_level(structure, memory_of(configuration)) for configuration in configurations]
    return Design(
        vcpus=np.array([vcpus_of(configuration) for configuration in configurations], dtype=float),
        batch_ratio=np.array([facts.reference_batch / max(1, batch_of(c)) for c in configurations], dtype=float),
        read=np.array([row.read for row in rows], dtype=float),
        read_is_iops=np.array([row.read_is_iops for row in rows], dtype=bool),
        write=np.array([row.write for row in rows], dtype=float),
        missed=np.array([row.missed for row in rows], dtype=float),
        disk=np.array([row.index for row in rows], dtype=np.intp),
        memory_level=np.array(levels, dtype=np.intp),
        accelerator=np.array([_accelerator(facts, structure, c) for c in configurations], dtype=np.intp),
        gpus=np.array([max(1, gpus_of(c)) for c in configurations], dtype=float),
        speed_up=np.array([math.log(facts.stated_speed_up(gpus_of(c)) or 1.0) for c in configurations], dtype=float),
        decodes=np.array([each.input in (facts.setting.input, "disk", "cached") for each in fed], dtype=bool),
        computes=np.array([each.input != REPLAY for each in fed], dtype=bool),
        step_on_cpu=np.array(
            [_step_on_cpu(facts, c) and not what_if.step_elsewhere for c in configurations], dtype=bool
        ),
        slowness=np.array([each.slowness for each in seen], dtype=float),
        supposed=what_if.disk_rates is not None and what_if.disk_rates.read_iops != INSTANT.read_iops,
        decode_shift=math.log(what_if.decode_factor),
        accelerator_shift=-math.log(what_if.gpu_speedup),
        latency_shift=-math.log(what_if.loader_workers_factor),
    )


@dataclass(frozen=True)
class _DiskRow:
    """Ln seconds of reading and writing a sample, the share of reads that miss the cache, and the disk's parameter."""

    read: float = -math.inf
    read_is_iops: bool = False
    write: float = -math.inf
    missed: float = 0.0
    index: int = -1


def _disk_row(
    facts: WorkloadFacts, measured: MeasuredRange, structure: Structure, seen: Observation, what_if: WhatIf
) -> _DiskRow:
    configuration, feed = seen.configuration, seen.feed
    disk = measured.disk(configuration.disk)
    rates = what_if.disk_rates or (disk.rates if disk else DiskRates())
    index = -1
    if what_if.disk_rates is None and disk_of(configuration) in structure.disks:
        index = structure.disks.index(disk_of(configuration))
    if feed.input == "synthetic":
        return _DiskRow()
    missed = _missed(facts, measured, seen, what_if)
    if index >= 0 and disk_is_free(facts, measured, disk_of(configuration)):
        free = _log(missed / (UNBINDING * facts.highest_rate))
        return _DiskRow(free, missed=missed, index=index)
    read = read_seconds(facts, rates, missed) or (0.0, False)
    write = 0.0 if feed.input == REPLAY else write_seconds(facts, rates) or 0.0
    return _DiskRow(_log(read[0]), read[1], _log(write), missed, index)


def _missed(facts: WorkloadFacts, measured: MeasuredRange, seen: Observation, what_if: WhatIf) -> float:
    """Device bytes over the bytes of a sample: as accounted where the page cache kept some, else as predicted."""
    configuration, feed = seen.configuration, seen.feed
    if feed.input == "cached" or feed.cache == "warm":
        return 0.0
    if feed.natural and seen.read_bytes is not None and facts.read_bytes:
        return seen.read_bytes / facts.read_bytes
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


def _accelerator(facts: WorkloadFacts, structure: Structure, configuration: Configuration) -> int:
    label = label_at(facts, configuration)
    return structure.accelerators.index(label) if label in structure.accelerators else -1


def _step_on_cpu(facts: WorkloadFacts, configuration: Configuration) -> bool:
    """Where some runs had no accelerator, the step of the others costs the CPU nothing that counts."""
    return label_at(facts, configuration) == CPU_LABEL if facts.mixed_with_cpu else True


def _level(structure: Structure, memory_bytes: int) -> int:
    """The highest measured level that this memory reaches; -1 where memory has no levels."""
    if not structure.memory_levels:
        return -1
    reached = [index for index, level in enumerate(structure.memory_levels) if level <= memory_bytes]
    return max(reached, default=0)


def _log(seconds: float) -> float:
    return math.log(seconds) if seconds > 0 else -math.inf
