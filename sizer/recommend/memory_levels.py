"""Sizes of memory that do not differ by more than chance: of these the smallest is needed, and all tell one rate."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sizer.model import more_than_chance
from sizer.recommend.comparison import kind_of
from sizer.recommend.machines import Machine, MemoryLevel

Group = list[tuple[int, Machine]]
"""Machines that differ in memory alone, the largest first, each with its place among all."""


@dataclass(frozen=True)
class _Rate:
    """The mean of ln rate of some machines, each by what it is worth, and its standard deviation."""

    log: float
    deviation: float


def levelled(machines: Sequence[Machine]) -> tuple[Machine, ...]:
    """The same machines, each with the level of its memory where others, all else alike, are on the same one.

    From the largest down a size is on the level of those above it if it is neither slower nor faster than these by more
    than chance, at all numbers of vCPUs together or at one of them.
    """
    found = list(machines)
    for groups in _families(machines):
        known: dict[tuple[int, frozenset[int]], bool] = {}
        for group in groups:
            for level in _levels(group, groups, known):
                shared = _shared([machine for _, machine in level]) if len(level) > 1 else None
                for place, machine in level:
                    if shared is not None or machine.level is not None:
                        found[place] = replace(machine, level=shared)
    return tuple(found)


def _families(machines: Sequence[Machine]) -> list[list[Group]]:
    """Machines that differ in vCPUs and memory alone, by vCPUs."""
    found: dict[tuple[object, ...], dict[float | None, Group]] = defaultdict(lambda: defaultdict(list))
    for place, machine in enumerate(machines):
        here, rented = machine.configuration, machine.rented
        if here.memory_bytes is None:
            continue
        named = (rented.name, rented.region) if rented is not None else (None, None)
        found[kind_of(machine), here.disk, here.batch_size, named][here.vcpus].append((place, machine))
    return [[sorted(group, key=_largest_first) for group in groups.values()] for groups in found.values()]


def _largest_first(placed: tuple[int, Machine]) -> int:
    return -_memory(placed[1])


def _memory(machine: Machine) -> int:
    return machine.configuration.memory_bytes or 0


def _levels(group: Group, groups: Sequence[Group], known: dict[tuple[int, frozenset[int]], bool]) -> list[Group]:
    """`known` is what was found out for other groups of the family."""
    found: list[Group] = []
    for placed in group:
        if found:
            key = _memory(placed[1]), frozenset(_memory(machine) for _, machine in found[-1])
            if key not in known:
                known[key] = _alike(*key, groups)
            if known[key]:
                found[-1].append(placed)
                continue
        found.append([placed])
    return found


def _alike(size: int, level: frozenset[int], groups: Sequence[Group]) -> bool:
    """Whether this size is on that level, by all groups that have both."""
    gains = []
    for group in groups:
        own = [machine for _, machine in group if _memory(machine) == size]
        above = [machine for _, machine in group if _memory(machine) in level]
        if own and above:
            less, more = _mean(own), _mean(above)
            gains.append((more.log - less.log, math.hypot(more.deviation, less.deviation)))
    return not more_than_chance(gains) and not more_than_chance([(-gain, spread) for gain, spread in gains])


def _mean(machines: Sequence[Machine]) -> _Rate:
    weights = [each.deviation**-2 for each in machines]
    whole = sum(weights)
    log = sum(weight * math.log(each.rate) for weight, each in zip(weights, machines, strict=True)) / whole
    return _Rate(log, whole**-0.5)


def _shared(machines: Sequence[Machine]) -> MemoryLevel:
    mean = _mean(machines)
    smallest_first = sorted(machines, key=_memory)
    sizes = tuple(float(_memory(each)) for each in smallest_first)
    return MemoryLevel(math.exp(mean.log), mean.deviation, sizes, tuple(each.rate for each in smallest_first))
