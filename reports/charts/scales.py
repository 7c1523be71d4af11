"""From a value to a place on the paper: linear and logarithmic scales with ticks at round values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

WIDE_RANGE = 8.0
"""From this ratio of largest to smallest on, an axis is logarithmic."""


@dataclass(frozen=True)
class Scale:
    """Maps low..high to start..end, in pixels; `start` may be the larger one."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        low, high, value = (math.log(each) if self.logarithmic else each for each in (self.low, self.high, value))
        return self.start + (value - low) / (high - low) * (self.end - self.start)


def is_wide(values: Sequence[float]) -> bool:
    """Whether values that are all positive span so wide a range that a linear axis would crowd the small ones."""
    return min(values) > 0 and max(values) / min(values) >= WIDE_RANGE


def nice_ticks(high: float, wanted: int = 5) -> list[float]:
    """Round values from 0 to the first one at or above `high`, in steps of 1, 2, 2.5 or 5 times a power of ten."""
    if high <= 0:
        return [0.0, 1.0]
    raw = high / wanted
    power = 10.0 ** math.floor(math.log10(raw))
    step = power * next(factor for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * (1 - 1e-9))
    return [index * step for index in range(math.ceil(high / step - 1e-9) + 1)]


def ticks_between(low: float, high: float, wanted: int = 4) -> list[float]:
    """Round values from the last one at or below `low` to the first one at or above `high`."""
    step = nice_ticks(high - low, wanted)[1] if high > low else abs(high) or 1.0
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [index * step for index in range(first, max(last, first + 1) + 1)]


def doubling_ticks(low: float, high: float, most: int = 7) -> list[float]:
    """Powers of two (of four, of eight ... where those are too many) within low..high."""
    first, last = math.ceil(math.log2(low) - 1e-9), math.floor(math.log2(high) + 1e-9)
    stride = max(1, math.ceil((last - first + 1) / most))
    return [2.0**power for power in range(first, last + 1, stride)]
