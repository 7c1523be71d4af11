"""Which configurations of a grid to measure: a rule that sees the axes and no rate. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from sizer.model.coordinates import memory_of, vcpus_of
from sizer.records.configuration import Configuration


def designed(configurations: Sequence[Configuration], count: int) -> tuple[Configuration, ...]:
    """So many configurations, spread by a rule that sees nothing but the axes.

    One after another, the one whose values were taken least often so far, then whose pairs of values were (a pairwise
    covering design, as in Cohen et al. 1997); among equals the one whose vCPUs are nearest to an end, then the larger.
    """
    single: Counter[object] = Counter()
    paired: Counter[object] = Counter()
    ends = sorted({vcpus_of(configuration) for configuration in configurations})

    def cost(place: Configuration) -> tuple[float, ...]:
        values, vcpus = values_of(place), vcpus_of(place)
        # Three values of the vCPUs are needed to say anything between them.
        alone = 4 * single[values[0]] + sum(single[value] for value in values[1:])
        together = sum(paired[pair] for pair in combinations(values, 2))
        return alone, together, min(vcpus - ends[0], ends[-1] - vcpus), -vcpus, -memory_of(place)

    chosen: list[Configuration] = []
    left = sorted(
        configurations, key=lambda s: (s.vcpus, s.memory_bytes, s.disk, s.batch_size, s.gpu or "", s.gpu_count)
    )
    for _ in range(min(count, len(configurations))):
        best = min(left, key=cost)
        left.remove(best)
        chosen.append(best)
        single.update(values_of(best))
        paired.update(combinations(values_of(best), 2))
    return tuple(chosen)


def values_of(place: Configuration) -> tuple[tuple[int, object], ...]:
    """By the number of their axis, vCPUs first."""
    return tuple(
        enumerate((place.vcpus, place.memory_bytes, place.disk, place.batch_size, (place.gpu, place.gpu_count)))
    )


def seen_together(configuration: Configuration, measured: Sequence[Configuration]) -> bool:
    """Whether each pair of its values beside the vCPUs was measured: rates alone cannot tell how two axes act together.

    A memory between measured ones counts as both of its neighbours.
    """
    pairs = {pair for each in measured for pair in combinations(values_of(each)[1:], 2)}
    sizes = sorted({memory_of(each) for each in measured})
    below = [size for size in sizes if size <= memory_of(configuration)][-1:]
    above = [size for size in sizes if size >= memory_of(configuration)][:1]
    places = [replace(configuration, memory_bytes=size) for size in (*below, *above)]
    return all(pair in pairs for place in places for pair in combinations(values_of(place)[1:], 2))
