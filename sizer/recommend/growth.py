"""Whether more than the most measured would be faster still: what the last step to it gained."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

from sizer.model import CLEAR, GAIN, UNLIKELY
from sizer.recommend.comparison import kind_of
from sizer.recommend.machines import Machine
from sizer.records import Configuration, ReasonCode


@dataclass(frozen=True)
class Growth:
    """The gain of the last step to the most measured, and the probability that it is more than GAIN."""

    code: ReasonCode
    most: float
    gain: float
    probability: float

    @property
    def seen(self) -> bool:
        return self.probability >= CLEAR

    @property
    def settled(self) -> bool:
        return self.probability <= UNLIKELY


def with_count(machine: Machine, machines: Sequence[Machine]) -> Growth | None:
    """Of the last step to its count of accelerators; None where it has not the most measured of its kind."""
    kind, count = kind_of(machine)
    alike = [each for each in machines if kind_of(each)[0] == kind]
    fewer = [each for each in alike if 0 < kind_of(each)[1] < count]
    if not fewer or any(kind_of(each)[1] > count for each in alike):
        return None
    before = max(kind_of(each)[1] for each in fewer)
    best = max((each for each in fewer if kind_of(each)[1] == before), key=lambda each: each.rate)
    return _growth(ReasonCode.RISES_WITH_GPUS, float(count), machine, best)


def with_vcpus(machine: Machine, machines: Sequence[Machine]) -> Growth | None:
    """Of the last doubling of vCPUs, all else alike but the memory that comes with them.

    None where it has not the most measured of these.
    """
    return _last_doubling(ReasonCode.RISES_TO_MOST_VCPUS, "vcpus", machine, _alike(machine, machines))


def with_memory(machine: Machine, machines: Sequence[Machine]) -> Growth | None:
    """Of the last doubling of memory, all else alike; None where it has not the most measured."""
    vcpus = machine.configuration.vcpus
    alike = [each for each in _alike(machine, machines) if each.configuration.vcpus == vcpus]
    return _last_doubling(ReasonCode.RISES_WITH_MEMORY, "memory_bytes", machine, alike)


def _alike(machine: Machine, machines: Sequence[Machine]) -> list[Machine]:
    """Those with its kind and count of accelerator, its disk and its batch size."""
    bare = _bare(machine)
    return [each for each in machines if kind_of(each) == kind_of(machine) and _bare(each) == bare]


def _bare(machine: Machine) -> Configuration:
    """Without the kind and count of accelerator, which are compared by themselves."""
    return replace(machine.configuration, vcpus=None, memory_bytes=None, gpu=None, gpu_count=None)


def _last_doubling(code: ReasonCode, axis: str, machine: Machine, alike: Sequence[Machine]) -> Growth | None:
    here = getattr(machine.configuration, axis)
    sizes = {id(each): getattr(each.configuration, axis) for each in alike}
    if here is None or any((size or 0) > here for size in sizes.values()):
        return None
    fewer = [each for each in alike if sizes[id(each)] is not None and sizes[id(each)] < here]
    if not fewer:
        return None
    half = [each for each in fewer if sizes[id(each)] >= here / 2] or fewer
    return _growth(code, float(here), machine, max(half, key=lambda each: each.rate))


def _growth(code: ReasonCode, most: float, machine: Machine, before: Machine) -> Growth:
    gain = machine.rate / before.rate - 1
    spread = math.hypot(machine.deviation, before.deviation)
    return Growth(code, most, gain, NormalDist().cdf((math.log1p(gain) - math.log1p(GAIN)) / spread))
