"""Whether more than the most measured would be faster still: what the last step to it gained."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

from sizer.model import CLEAR, GAIN, UNLIKELY
from sizer.recommend.comparison import kind_of
from sizer.recommend.machines import Machine
from sizer.records import SLIP, Configuration, ReasonCode


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
    """Those with its kind and count of accelerator, its disk and its batch size; of named ones, of its family."""
    bare, family = _bare(machine), family_of(machine)
    return [
        each
        for each in machines
        if kind_of(each) == kind_of(machine) and _bare(each) == bare and family_of(each) == family
    ]


def family_of(machine: Machine) -> str | None:
    """`aws m7i` of aws m7i.4xlarge, `gcp n1-standard` of gcp n1-standard-8: sizes of one family differ in size alone.

    Other names are without their last number, and Azure's without their first. None where it has no name.
    """
    name = None if machine.rented is None else machine.rented.name
    if name is None:
        return None
    if "." in name:
        return name.rpartition(".")[0]
    if "Standard_" in name:
        return re.sub(r"\d+", "", name, count=1)
    return re.sub(r"\d+(?=\D*$)", "", name)


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


@dataclass(frozen=True)
class SizesApart:
    """A machine whose rate does not go with the one of `fewer` accelerators or vCPUs: `ratio` times what is likely."""

    machine: Machine
    fewer: float
    ratio: float


def sizes_apart(machines: Sequence[Machine]) -> SizesApart | None:
    """The first machine that is over SLIP times as fast as in proportion to the next smaller one, or as slow."""
    for each in machines:
        count = kind_of(each)[1]
        alike = [other for other in machines if kind_of(other)[0] == kind_of(each)[0] and _same_batch(other, each)]
        found = _apart_from(each, {id(other): float(kind_of(other)[1]) for other in alike}, alike, float(count))
        if found is None and each.configuration.vcpus is not None:
            alike = _alike(each, machines)
            sizes = {id(other): other.configuration.vcpus or 0.0 for other in alike}
            found = _apart_from(each, sizes, alike, each.configuration.vcpus)
        if found is not None:
            return found
    return None


def _same_batch(one: Machine, other: Machine) -> bool:
    here, there = one.configuration, other.configuration
    return (here.batch_size, here.disk) == (there.batch_size, there.disk)


def _apart_from(machine: Machine, sizes: dict[int, float], alike: Sequence[Machine], here: float) -> SizesApart | None:
    fewer = [each for each in alike if 0 < sizes[id(each)] < here]
    if not fewer:
        return None
    before = max(fewer, key=lambda each: (sizes[id(each)], each.rate))
    size = sizes[id(before)]
    faster, slower = machine.rate / before.rate / (here / size), machine.rate / before.rate
    if faster > SLIP or slower < 1 / SLIP:
        return SizesApart(machine, size, faster if faster > SLIP else slower)
    return None
