"""The steady state of a run: where warm-up ends, the throughput after it and how sure that is. Pure.

Warm-up is cut by MSER (White 1997, "An effective truncation heuristic for bias reduction in simulation output"):
the cut that minimises the standard error of what remains. The interval comes from batch means: consecutive steps are
joined into batches until the batches no longer correlate (Law, "Simulation Modeling and Analysis", 9.5.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sizer.records import Estimate, Step

Array = NDArray[np.float64]

GROUPS = 200
"""Most points that MSER looks at; more steps than that are joined first, so that one burst is not one point."""

BATCHES = (32, 16, 10)
"""Numbers of batches tried, from many to few; the first whose batches do not correlate is taken."""

CORRELATED = 0.2
"""Lag-1 correlation of batch means above which the batches are too short."""

FEWEST_INTERVALS = 3
"""Steps after warm-up below which no throughput is given."""


@dataclass(frozen=True)
class SteadyState:
    """Throughput from `start` to `end` (monotonic seconds, the times of two steps)."""

    throughput: Estimate
    warm_up_seconds: float
    start: float
    end: float

    @property
    def measured_seconds(self) -> float:
        return self.end - self.start

    @property
    def relative_half_width(self) -> float:
        return (self.throughput.high - self.throughput.low) / 2 / self.throughput.value


def steady_state(steps: Sequence[Step], first_epoch: int = 0) -> SteadyState | None:
    """The steady state in these steps from epoch `first_epoch` on, or None while there are too few of them.

    A step's time is its end, so the first step only starts the clock.
    """
    times = np.array([step.time for step in steps if step.epoch >= first_epoch], dtype=np.float64)
    samples = np.array([step.samples for step in steps if step.epoch >= first_epoch], dtype=np.float64)
    durations = np.diff(times)
    if len(durations) < FEWEST_INTERVALS or times[-1] <= times[0] or samples[1:].sum() <= 0:
        return None
    cut = _warm_up(durations, samples[1:])
    value = samples[cut + 1 :].sum() / (times[-1] - times[cut])
    half = _half_width(durations[cut:], samples[cut + 1 :], value)
    return SteadyState(
        throughput=Estimate(float(value), float(max(0.0, value - half)), float(value + half)),
        warm_up_seconds=float(times[cut] - steps[0].time),
        start=float(times[cut]),
        end=float(times[-1]),
    )


def _warm_up(durations: Array, samples: Array) -> int:
    """How many intervals to cut: the minimum of MSER over the first half, in groups of consecutive intervals."""
    size = max(1, -(-len(durations) // GROUPS))
    seconds = _joined(durations, size) / np.maximum(_joined(samples, size), 1e-12)
    count = len(seconds)
    remaining = count - np.arange(count)
    sums = np.cumsum(seconds[::-1])[::-1]
    squares = np.cumsum(seconds[::-1] ** 2)[::-1]
    errors = np.maximum(squares - sums**2 / remaining, 0.0) / remaining**2
    last = max(1, min(count // 2, count - FEWEST_INTERVALS) + 1)
    return int(np.argmin(errors[:last])) * size


def _half_width(durations: Array, samples: Array, value: float) -> float:
    """95 % half-width of samples over seconds, a ratio estimate over batches (Cochran, "Sampling techniques", 6.3)."""
    from scipy.special import stdtrit

    for batches in (*(number for number in BATCHES if number < len(durations)), len(durations)):
        seconds, counts = _batches(durations, batches), _batches(samples, batches)
        residuals = counts - value * seconds
        if batches <= BATCHES[-1] or _lag_one(residuals) < CORRELATED:
            break
    spread = np.sqrt((residuals**2).sum() / (len(seconds) - 1) / len(seconds)) / seconds.mean()
    return float(stdtrit(len(seconds) - 1, 0.975) * spread)


def _lag_one(values: Array) -> float:
    centred = values - values.mean()
    power = float((centred**2).sum())
    return float((centred[1:] * centred[:-1]).sum()) / power if power > 0 else 0.0


def _joined(values: Array, size: int) -> Array:
    """Sums of each `size` consecutive values; the rest at the end is left out."""
    whole = len(values) // size * size
    sums: Array = values[:whole].reshape(-1, size).sum(axis=1)
    return sums


def _batches(values: Array, number: int) -> Array:
    """Sums over `number` batches of nearly equal length that use every value."""
    edges = np.linspace(0, len(values), number + 1).astype(int)
    return np.add.reduceat(values, edges[:-1])
