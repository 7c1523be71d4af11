"""Two memory caps that a study asks for: whether the rates in them differ by more than chance.

A form of the model with a parameter for memory must pay for it in all that it explains; of two caps it is enough to
hold the runs that differ in nothing else against one another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from sizer.model.model import MeasuredRange, MeasuredRate
from sizer.records.configuration import NORMAL_95, Configuration

SURE = 0.95
"""How sure it must be that a difference is none of chance."""

ONE_RUN = 0.02
"""Standard deviation of ln rate between two processes of one configuration that is believed where a single run shows
none: with half of it, one in five studies of two caps called 2 % of noise a difference."""

REPEATS = 0.01
"""The same at the least where several runs show what they span."""

Pair = tuple[MeasuredRate, MeasuredRate]


@dataclass(frozen=True)
class MemoryCompared:
    """The rates in two sizes of memory: by which share the larger gains, and whether that is `clear`.

    `pairs` are the rates with less memory and with more, where all else is alike.
    """

    low: int
    high: int
    gain: float
    clear: bool
    pairs: tuple[Pair, ...]


def asked_sizes(measured: MeasuredRange) -> tuple[int, ...]:
    """The memory caps that the study asks for and that were tried, rising."""
    return tuple(sorted({trial.memory_bytes for trial in measured.trials if trial.asked}))


def memory_compared(measured: MeasuredRange, configuration: Configuration | None = None) -> MemoryCompared | None:
    """Of two caps, where the study asks for no more and both have rates: over all that was measured with both, or at
    this configuration alone if it was."""
    asked = "compared", configuration
    if asked not in measured.kept:
        measured.kept[asked] = _compared(measured, configuration)
    return cast("MemoryCompared | None", measured.kept[asked])


def _compared(measured: MeasuredRange, configuration: Configuration | None) -> MemoryCompared | None:
    sizes = asked_sizes(measured)
    if len(sizes) != 2 or measured.memory_bytes != sizes:
        return None
    low, high = sizes
    pairs = _pairs(measured, low, high)
    here = tuple(pair for pair in pairs if configuration is not None and _alike(pair[1].configuration, configuration))
    shown = here or pairs
    if not shown:
        return None
    return MemoryCompared(low, high, math.expm1(_mean_gain(shown)), more_than_chance(_gains(shown)), shown)


def _pairs(measured: MeasuredRange, low: int, high: int) -> tuple[Pair, ...]:
    rates = {rate.configuration: rate for rate in measured.rates}
    found = []
    for configuration, more in rates.items():
        less = rates.get(replace(configuration, memory_bytes=low))
        if configuration.memory_bytes == high and less is not None:
            found.append((less, more))
    return tuple(found)


def _alike(one: Configuration, other: Configuration) -> bool:
    return replace(one, memory_bytes=None) == replace(other, memory_bytes=None)


def _gains(pairs: Sequence[Pair]) -> list[tuple[float, float]]:
    """The differences in ln rate, each with its standard deviation."""
    return [
        (math.log(more.throughput.value / less.throughput.value), math.hypot(_deviation(less), _deviation(more)))
        for less, more in pairs
    ]


def _mean_gain(pairs: Sequence[Pair]) -> float:
    return sum(gain for gain, _ in _gains(pairs)) / len(pairs)


def more_than_chance(gains: Sequence[tuple[float, float]]) -> bool:
    """Whether more gains in all together, or in one by so much that as many show it by chance in few cases only.

    `gains` are differences in ln rate with their standard deviations, one at least. More memory makes nothing slower:
    where it seems to, something on the host did.
    """
    together = math.sqrt(sum(deviation**2 for _, deviation in gains)) / len(gains)
    if sum(gain for gain, _ in gains) / len(gains) > _most_by_chance(1) * together:
        return True
    return any(gain > _most_by_chance(len(gains)) * deviation for gain, deviation in gains)


def _most_by_chance(comparisons: int) -> float:
    """Standard deviations that one of so many differences reaches by chance (Bonferroni)."""
    from statistics import NormalDist

    return NormalDist().inv_cdf(1 - (1 - SURE) / 2 / comparisons)


def _deviation(rate: MeasuredRate) -> float:
    """Of the ln of a rate over its runs. What they span does not become narrower with their number, since those that
    something on the host disturbed are no draws of one kind."""
    low, high = rate.throughput.low, rate.throughput.high
    own = math.log(high / low) / (2 * NORMAL_95) if low > 0 else 1.0
    return max(ONE_RUN if rate.runs == 1 else REPEATS, own)
