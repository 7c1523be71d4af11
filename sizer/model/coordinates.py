"""What an axis is for the fit where an imported table does not say it.

All runs of a workload have such an axis or none has it (`sizer import` sees to it), so an unknown one is the same in
all of them, and any constant does for the fit: of one vCPU and a batch of one the logarithm is 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from sizer.records.configuration import Configuration
from sizer.records.device import HOST_DISK
from sizer.records.units import GIB

Value = TypeVar("Value")


def vcpus_of(configuration: Configuration) -> float:
    return 1.0 if configuration.vcpus is None else configuration.vcpus


def memory_of(configuration: Configuration) -> int:
    return GIB if configuration.memory_bytes is None else configuration.memory_bytes


def batch_of(configuration: Configuration) -> int:
    return 1 if configuration.batch_size is None else configuration.batch_size


def disk_of(configuration: Configuration) -> str:
    return name_of_disk(configuration.disk)


def name_of_disk(name: str | None) -> str:
    """A disk that nobody named is wherever the data lay."""
    return HOST_DISK if name is None else name


def gpus_of(configuration: Configuration) -> int:
    """How many accelerators; 0 is as many as the device says."""
    return configuration.gpu_count or 0


def or_unknown(values: Sequence[Value]) -> Sequence[Value | None]:
    """The measured values of an axis; a single None where the axis is not known."""
    return values or (None,)


def no_more(one: float | None, other: float | None) -> bool:
    """Whether a value is no larger than another: on an unknown axis all are the same."""
    return one is None or other is None or one <= other


def known(values: Iterable[Value | None]) -> set[Value]:
    """The values that are."""
    return {value for value in values if value is not None}


def needs_no_less(configuration: Configuration, killed: Configuration) -> bool:
    """Whether what ran out of memory there does so here: as much to hold or more, in as much memory or less."""
    return (
        fills_accelerators(configuration, killed)
        and no_more(killed.vcpus, configuration.vcpus)
        and no_more(configuration.memory_bytes, killed.memory_bytes)
    )


def fills_accelerators(configuration: Configuration, killed: Configuration) -> bool:
    """The same of the memory of the accelerators: as large a batch or larger, on as many of the kind or fewer."""
    return (
        configuration.gpu == killed.gpu
        and max(1, gpus_of(configuration)) <= max(1, gpus_of(killed))
        and batch_of(configuration) >= batch_of(killed)
    )
