"""Whether more than the most measured would be faster still: what the last step to it gained."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

from sizer.model import CLEAR, GAIN, UNLIKELY
from sizer.recommend.comparison import kind_of
from sizer.recommend.machines import Machine
from sizer.records import SLIP, Bottleneck, ReasonCode


@dataclass(frozen=True)
class Growth:
    """The gain of the last step to the most measured, and the probability that it is more than GAIN.

    `bound_by` is what holds the most measured back although vCPUs do not buy it, or may (ambiguous): then the step
    gained, and the next one need not. `after` is the next smaller size measured where it is less than half: then the
    rate may have stopped rising anywhere between, and the probability is that of the least that the last doubling of
    the vCPUs can have gained, as nothing scales better than in proportion.
    """

    code: ReasonCode
    most: float
    gain: float
    probability: float
    bound_by: Bottleneck | None = None
    after: float | None = None

    @property
    def seen(self) -> bool:
        """Whether the rate is seen to rise still at the most measured."""
        return self.probability >= CLEAR and self.bound_by is None

    @property
    def settled(self) -> bool:
        return self.probability <= UNLIKELY and self.after is None


def with_count(machine: Machine, machines: Sequence[Machine]) -> Growth | None:
    """Of the last step to its count of accelerators; None where it has not the most measured of its kind."""
    kind, count = kind_of(machine)
    alike = [each for each in machines if kind_of(each)[0] == kind]
    fewer = [each for each in alike if 0 < kind_of(each)[1] < count]
    if not fewer or any(kind_of(each)[1] > count for each in alike):
        return None
    before = max(kind_of(each)[1] for each in fewer)
    best = max((each for each in fewer if kind_of(each)[1] == before), key=lambda each: each.level_rate)
    return _growth(ReasonCode.RISES_WITH_GPUS, float(count), machine, best)


def with_vcpus(machine: Machine, machines: Sequence[Machine]) -> Growth | None:
    """Of the last doubling of vCPUs, all else alike but the memory that comes with them.

    None where it has not the most measured of these.
    """
    alike = _alike(machine, machines)
    found = _last_doubling(ReasonCode.RISES_TO_MOST_VCPUS, "vcpus", machine, alike)
    return found if found is None or found.settled else _across_a_gap(found, machine, alike)


def gap_below(machine: Machine, machines: Sequence[Machine]) -> Growth | None:
    """The step to its vCPUs from the next fewer measured, where these are less than half and the rate may have stopped
    rising between the two; else None."""
    alike = _alike(machine, machines)
    fewer = [each for each in alike if _vcpus(each) <= _vcpus(machine)]
    found = _last_doubling(ReasonCode.RISES_TO_MOST_VCPUS, "vcpus", machine, fewer)
    if found is None or found.settled:
        return None
    step = _across_a_gap(found, machine, alike)
    return None if step.after is None else step


def with_memory(machine: Machine, machines: Sequence[Machine]) -> Growth | None:
    """Of the last doubling of memory, all else alike; None where it has not the most measured."""
    vcpus = machine.configuration.vcpus
    alike = [each for each in _alike(machine, machines) if each.configuration.vcpus == vcpus]
    return _last_doubling(ReasonCode.RISES_WITH_MEMORY, "memory_bytes", machine, alike)


def _alike(machine: Machine, machines: Sequence[Machine]) -> list[Machine]:
    """Those with its kind and count of accelerator, its disk and its batch size; of named ones, of its family."""
    own = _but_for_size(machine)
    return [each for each in machines if _but_for_size(each) == own]


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


def _but_for_size(machine: Machine) -> tuple[object, ...]:
    """What machines have alike that differ in vCPUs and memory alone."""
    here = machine.configuration
    return kind_of(machine), here.disk, here.batch_size, family_of(machine)


def _last_doubling(code: ReasonCode, axis: str, machine: Machine, alike: Sequence[Machine]) -> Growth | None:
    here = getattr(machine.configuration, axis)
    sizes = {id(each): getattr(each.configuration, axis) for each in alike}
    if here is None or any((size or 0) > here for size in sizes.values()):
        return None
    fewer = [each for each in alike if sizes[id(each)] is not None and sizes[id(each)] < here]
    if not fewer:
        return None
    half = [each for each in fewer if sizes[id(each)] >= here / 2] or fewer
    return _growth(code, float(here), machine, max(half, key=lambda each: each.level_rate))


def _across_a_gap(step: Growth, machine: Machine, alike: Sequence[Machine]) -> Growth:
    """The step as it is if it is a doubling or less; else of what its last doubling can have gained at the least."""
    before = max((each for each in alike if _vcpus(each) < step.most), key=lambda each: (_vcpus(each), each.level_rate))
    if _vcpus(before) >= step.most / 2:
        return step
    at_half = min(before.level_rate * step.most / 2 / _vcpus(before), machine.level_rate)
    half = replace(before, rate=at_half, deviation=before.level_deviation, level=None)
    least = _growth(step.code, step.most, machine, half)
    return step if least.seen else replace(step, probability=least.probability, after=_vcpus(before))


def _growth(code: ReasonCode, most: float, machine: Machine, before: Machine) -> Growth:
    gain = machine.level_rate / before.level_rate - 1
    spread = math.hypot(machine.level_deviation, before.level_deviation)
    return Growth(code, most, gain, NormalDist().cdf((math.log1p(gain) - math.log1p(GAIN)) / spread))


@dataclass(frozen=True)
class SizesApart:
    """A machine whose rate does not go with the one of `fewer` accelerators or vCPUs: `ratio` times what is likely."""

    machine: Machine
    fewer: float
    ratio: float


def sizes_apart(machines: Sequence[Machine]) -> SizesApart | None:
    """The first machine that is over SLIP times as fast as in proportion to the next smaller one, or as slow."""
    by_count = _fastest_by_size(machines, _but_for_count, _count)
    by_vcpus = _fastest_by_size(machines, _but_for_size, _vcpus)
    for each in machines:
        found = _apart_from(each, _count(each), by_count[_but_for_count(each)])
        found = found or _apart_from(each, _vcpus(each), by_vcpus[_but_for_size(each)])
        if found is not None:
            return found
    return None


def _count(machine: Machine) -> float:
    return float(kind_of(machine)[1])


def _vcpus(machine: Machine) -> float:
    return machine.configuration.vcpus or 0.0


def _but_for_count(machine: Machine) -> tuple[object, ...]:
    here = machine.configuration
    return kind_of(machine)[0], here.batch_size, here.disk


def _fastest_by_size(
    machines: Sequence[Machine], alike: Callable[[Machine], tuple[object, ...]], size: Callable[[Machine], float]
) -> dict[tuple[object, ...], dict[float, float]]:
    """Of machines that are alike the highest rate of each size, the sizes in rising order; no size is none."""
    found: dict[tuple[object, ...], dict[float, float]] = defaultdict(dict)
    for each in sorted(machines, key=size):
        rates = found[alike(each)]
        if size(each) > 0:
            rates[size(each)] = max(rates.get(size(each), 0.0), each.rate)
    return found


def _apart_from(machine: Machine, here: float, rates: dict[float, float]) -> SizesApart | None:
    """Beside the next smaller of these sizes."""
    sizes = list(rates)
    place = bisect_left(sizes, here)
    if place == 0:
        return None
    size = sizes[place - 1]
    slower = machine.rate / rates[size]
    faster = slower / (here / size)
    if faster > SLIP or slower < 1 / SLIP:
        return SizesApart(machine, size, faster if faster > SLIP else slower)
    return None
