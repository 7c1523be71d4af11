"""The rate of an accelerator at a batch size between published ones.

A step costs a launch and its samples, so its time is near affine in the batch, and convex where the launch hides the
first samples: the chord between two published batch sizes is then too slow, and a monotone cubic (Fritsch and Carlson,
Monotone piecewise cubic interpolation, 1980) bends below it. The curve is the geometric mean of both.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

INTERPOLATION_90 = 0.078
"""Ln of how far 90 % of published rates lie from what their neighbours say: `benchmarks/accelerators`, with --fit."""
GROWTH, GROWTH_90 = 0.093, 0.302
"""Ln rate for each e-fold of batch, and its 90 %, of the shipped curves from batch 16 on: the same command."""


@dataclass(frozen=True)
class AtBatch:
    """A rate at a batch size, low and high with 90 %; `how` it follows from the published ones."""

    value: float
    low: float
    high: float
    how: Literal["published", "interpolated", "extrapolated"]


def rate_at(rates: Mapping[int, float], batch_size: int) -> AtBatch:
    """From the rates by batch size of one table (at least one), samples per second.

    Outside of them the nearest one counts, grown as the shipped curves do at large batches.
    """
    sizes = sorted(rates)
    if batch_size in rates:
        return AtBatch(rates[batch_size], rates[batch_size], rates[batch_size], "published")
    if sizes[0] < batch_size < sizes[-1]:
        value = batch_size / _between(sizes, [size / rates[size] for size in sizes], batch_size)
        return _within(value, INTERPOLATION_90, "interpolated")
    edge = sizes[0] if batch_size < sizes[0] else sizes[-1]
    away = math.log(batch_size / edge)
    return _within(rates[edge] * math.exp(GROWTH * away), INTERPOLATION_90 + GROWTH_90 * abs(away), "extrapolated")


def _within(value: float, half: float, how: Literal["interpolated", "extrapolated"]) -> AtBatch:
    return AtBatch(value, value * math.exp(-half), value * math.exp(half), how)


def _between(x: Sequence[int], y: Sequence[float], at: int) -> float:
    """The geometric mean of the chord and of the monotone cubic."""
    index = bisect_right(x, at) - 1
    width, position = x[index + 1] - x[index], (at - x[index]) / (x[index + 1] - x[index])
    chord = y[index] + position * (y[index + 1] - y[index])
    if len(x) == 2:
        return chord
    slopes = _monotone_slopes(x, y)
    squared, cubed = position**2, position**3
    cubic = (
        (2 * cubed - 3 * squared + 1) * y[index]
        + (cubed - 2 * squared + position) * width * slopes[index]
        + (3 * squared - 2 * cubed) * y[index + 1]
        + (cubed - squared) * width * slopes[index + 1]
    )
    return math.sqrt(chord * cubic)


def _monotone_slopes(x: Sequence[int], y: Sequence[float]) -> list[float]:
    """At each point: the weighted harmonic mean of the chords beside it, none where they turn."""
    widths = [after - before for before, after in pairwise(x)]
    chords = [(after - before) / width for (before, after), width in zip(pairwise(y), widths, strict=True)]
    inner = []
    for (left, right), (before, after) in zip(pairwise(widths), pairwise(chords), strict=True):
        if before * after <= 0:
            inner.append(0.0)
            continue
        one, other = 2 * right + left, right + 2 * left
        inner.append((one + other) / (one / before + other / after))
    return [_end_slope(*widths[:2], *chords[:2]), *inner, _end_slope(*widths[:-3:-1], *chords[:-3:-1])]


def _end_slope(width: float, next_width: float, chord: float, next_chord: float) -> float:
    """The three-point slope at an end, as flat as a monotone curve needs."""
    slope = ((2 * width + next_width) * chord - width * next_chord) / (width + next_width)
    if slope * chord <= 0:
        return 0.0
    return 3 * chord if chord * next_chord <= 0 and abs(slope) > 3 * abs(chord) else slope
