"""Configurations as columns of numbers, to hold one of them against all of the others at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from sizer.model.coordinates import batch_of, gpus_of
from sizer.records import Configuration

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


class Columns:
    """The values of n configurations, each (n,); what is not known is not a number, and so is no more than anything."""

    def __init__(self, configurations: Sequence[Configuration]) -> None:
        self.vcpus = _numbers(each.vcpus for each in configurations)
        self.memory_bytes = _numbers(each.memory_bytes for each in configurations)
        self.batch_size = _numbers(each.batch_size for each in configurations)
        self.gpu_count = _numbers(gpus_of(each) for each in configurations)
        self._filling = _numbers(batch_of(each) for each in configurations)
        self._codes = {name: code for code, name in enumerate({each.gpu for each in configurations})}
        self._gpu = np.array([self._codes[each.gpu] for each in configurations], dtype=np.intp)

    def need_no_more_than(self, here: Configuration) -> Flags:
        """Which have no more accelerators, vCPUs and memory than this one, and no larger a batch."""
        return (
            (self.gpu_count <= gpus_of(here))
            & ~(self.vcpus > _number(here.vcpus))
            & ~(self.memory_bytes > _number(here.memory_bytes))
            & ~(self.batch_size > _number(here.batch_size))
        )

    def need_no_less_than(self, here: Configuration) -> Flags:
        """The same the other way round."""
        return (
            (self.gpu_count >= gpus_of(here))
            & ~(self.vcpus < _number(here.vcpus))
            & ~(self.memory_bytes < _number(here.memory_bytes))
            & ~(self.batch_size < _number(here.batch_size))
        )

    def overfilled_like(self, here: Configuration) -> Flags:
        """`fills_accelerators` of this configuration against each of those that ran out of memory."""
        found: Flags = (
            (self._gpu == self._codes.get(here.gpu, -1))
            & (max(1, gpus_of(here)) <= np.maximum(1, self.gpu_count))
            & (batch_of(here) >= self._filling)
        )
        return found

    def killed_like(self, here: Configuration) -> Flags:
        """`needs_no_less` of this configuration against each of those that ran out of memory."""
        return (
            self.overfilled_like(here)
            & ~(self.vcpus > _number(here.vcpus))
            & ~(_number(here.memory_bytes) > self.memory_bytes)
        )


def _number(value: float | None) -> float:
    return np.nan if value is None else value


def _numbers(values: Iterable[float | None]) -> Array:
    return np.array([_number(value) for value in values], dtype=float)
