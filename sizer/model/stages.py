"""Configurations -> service times of the disk stages and the other rows of the bottleneck equation."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sizer.model.equation import Design
from sizer.model.memory import anonymous_bytes, cached_fraction, hit_rate
from sizer.model.model import Facts, Measured, Structure, WhatIf
from sizer.records import Configuration, DiskRates

UNBINDING = 3.0
"""A disk or memory level of unknown capacity is believed to carry this multiple of the highest rate."""
NEGLIGIBLE = 0.02
"""A disk stage that is busy for less than this share of the time at the highest rate has nothing to be fitted."""


def read_seconds(facts: Facts, rates: DiskRates, missed: float = 1.0) -> tuple[float, bool] | None:
    """Seconds of disk reading a sample and whether requests (not bytes) bind; None where figures are missing."""
    return _slower(
        (facts.read_bytes, rates.read_bytes_per_second), (facts.read_ios, rates.read_iops), factor=max(missed, 0.0)
    )


def write_seconds(facts: Facts, rates: DiskRates) -> float | None:
    """Seconds of disk writing a sample; a tier's write limits equal its read limits unless given."""
    found = _slower(
        (facts.written_bytes, rates.write_bytes_per_second or rates.read_bytes_per_second),
        (facts.write_ios, rates.write_iops or rates.read_iops),
    )
    return None if found is None else found[0]


def _slower(
    volume: tuple[float | None, float | None], requests: tuple[float | None, float | None], factor: float = 1.0
) -> tuple[float, bool] | None:
    by_bytes = volume[0] / volume[1] if volume[0] is not None and volume[1] else None
    by_requests = requests[0] / requests[1] if requests[0] is not None and requests[1] else None
    if by_bytes is None and by_requests is None:
        return None
    return factor * max(by_bytes or 0.0, by_requests or 0.0), (by_requests or 0.0) > (by_bytes or 0.0)


def fitted_disks(facts: Facts, measured: Measured) -> tuple[str, ...]:
    """The disks that get a parameter: those busy enough to matter, and of several those without figures."""
    names = []
    for disk in measured.disks:
        read, write = read_seconds(facts, disk.rates), write_seconds(facts, disk.rates)
        if read is None and write is None:
            if len(measured.disks) > 1:
                names.append(disk.name)
        elif max(read[0] if read else 0.0, write or 0.0) * facts.highest_rate > NEGLIGIBLE:
            names.append(disk.name)
    return tuple(names)


def disk_is_free(facts: Facts, measured: Measured, name: str) -> bool:
    """Whether nothing is known of this disk but the throughput on it."""
    disk = measured.disk(name)
    return disk is None or (read_seconds(facts, disk.rates) is None and write_seconds(facts, disk.rates) is None)


def build_design(
    facts: Facts,
    measured: Measured,
    structure: Structure,
    configurations: Sequence[Configuration],
    what_if: WhatIf | None = None,
) -> Design:
    """The rows of the equation for these configurations, as the what-if would have them."""
    what_if = what_if or WhatIf()
    rows = [_disk_row(facts, measured, structure, configuration, what_if) for configuration in configurations]
    levels = [_level(structure, configuration.memory_bytes) for configuration in configurations]
    return Design(
        vcpus=np.array([configuration.vcpus for configuration in configurations], dtype=float),
        batch_ratio=np.array([facts.reference_batch / max(1, c.batch_size) for c in configurations], dtype=float),
        read=np.array([row[0] for row in rows], dtype=float),
        read_is_iops=np.array([row[1] for row in rows], dtype=bool),
        write=np.array([row[2] for row in rows], dtype=float),
        disk=np.array([row[3] for row in rows], dtype=np.intp),
        memory_level=np.array(levels, dtype=np.intp),
        decode=math.log(what_if.decode_factor),
        accelerator=-math.log(what_if.gpu_speedup),
    )


def _disk_row(
    facts: Facts, measured: Measured, structure: Structure, stand: Configuration, what_if: WhatIf
) -> tuple[float, bool, float, int]:
    disk = measured.disk(stand.disk)
    rates = what_if.disk_rates or (disk.rates if disk else DiskRates())
    index = -1
    if what_if.disk_rates is None and stand.disk in structure.disks:
        index = structure.disks.index(stand.disk)
        if disk_is_free(facts, measured, stand.disk):
            return -math.log(UNBINDING * facts.highest_rate), False, -math.inf, index
    hits = hit_share(facts, measured, stand, what_if.data_bytes_factor)
    read = read_seconds(facts, rates, 1 - hits) or (0.0, False)
    return _log(read[0]), read[1], _log(write_seconds(facts, rates) or 0.0), index


def hit_share(facts: Facts, measured: Measured, stand: Configuration, data_factor: float = 1.0) -> float:
    """The share of reads that the page cache would serve at this configuration."""
    anonymous = anonymous_bytes(measured, stand.vcpus, stand.batch_size)
    cached = cached_fraction(facts, stand.memory_bytes, anonymous, data_factor)
    return hit_rate(cached, facts.sequential, facts.hit_blend)


def _level(structure: Structure, memory_bytes: int) -> int:
    """The highest measured level that this memory reaches; -1 where memory has no levels."""
    if not structure.memory_levels:
        return -1
    reached = [index for index, level in enumerate(structure.memory_levels) if level <= memory_bytes]
    return max(reached, default=0)


def _log(seconds: float) -> float:
    return math.log(seconds) if seconds > 0 else -math.inf
