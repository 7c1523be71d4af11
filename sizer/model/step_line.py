"""The time of a step as launch + slope x batch: a line through the runs of several batch sizes, with intervals. Pure.

Least squares of relative errors, since a run is off by a share of its rate. A launch or a slope below 0 is none: the
line is then fitted again without it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, fdtrc, stdtrit

from sizer.model.model import NORMAL_90
from sizer.records.batch_sizes import StepFit
from sizer.records.configuration import Estimate

Array = NDArray[np.float64]

UNLIKELY = 0.05
"""Probability below which what is off the line is not the runs' noise."""
LEAST_MISFIT = 0.02
"""Share by which batch sizes may be off the line on the whole, however exact the runs: nobody chooses by less."""
MOST_MISFIT = 0.05
"""The same where nothing shows how exact the rates are, as in a table of single figures."""
LEAST_OFF = 0.003
"""Share by which a run is off at the least, however well three of them fit: quiet machines repeat to 0.3-2 %."""
PASSES = 3
"""Of fits, each weighted by the times that the one before gave."""


@dataclass(frozen=True)
class StepLine:
    """`launch` in seconds a step and `slope` in seconds a sample; an interval that is not known is the value alone."""

    fit: StepFit
    launch: Estimate | None
    slope: Estimate | None


@dataclass(frozen=True)
class _Fit:
    launch: float
    slope: float
    free: int
    fitted: Array
    spread: Array
    """Standard deviations of launch and slope for runs that are off by all of their time; 0 where one is held at 0."""


def step_line(
    samples: Sequence[float], seconds: Sequence[float], noise: float | None, repeated: bool = False
) -> StepLine:
    """The line through runs with so many samples a step, each of which took so many seconds; two sizes at least.

    `noise` is the standard deviation of ln of a run's rate, as other runs of the workload show it, None where nothing
    does; `repeated` if it is by repeats, and not by what moved within single runs.
    """
    sizes, times = np.asarray(samples, float), np.asarray(seconds, float)
    found = _fitted(sizes, times)
    distinct = len(set(samples))
    if _is_off(found, sizes, times, noise if repeated else None, noise):
        return StepLine(StepFit.NOT_AFFINE, None, None)
    half = _half_widths(found, times, noise)
    kind = StepFit.UNTESTED if distinct <= found.free else StepFit.AFFINE
    return StepLine(kind, _estimate(found.launch, half, 0), _estimate(found.slope, half, 1))


def _fitted(sizes: Array, times: Array) -> _Fit:
    both = _least_squares(sizes, times, (True, True))
    if both.launch < 0:
        return _least_squares(sizes, times, (False, True))
    return both if both.slope >= 0 else _least_squares(sizes, times, (True, False))


def _least_squares(sizes: Array, times: Array, free: tuple[bool, bool]) -> _Fit:
    columns = np.column_stack([np.ones_like(sizes), sizes])[:, list(free)]
    scale = times
    for _ in range(PASSES):
        weighted = columns / scale[:, None]
        values, *_rest = np.linalg.lstsq(weighted, times / scale, rcond=None)
        fitted = columns @ values
        scale = np.where(fitted > 0, fitted, times)
    full, spread = np.zeros(2), np.zeros(2)
    full[list(free)] = values
    spread[list(free)] = np.sqrt(np.diag(np.linalg.pinv(weighted.T @ weighted)))
    # What is held at 0 was estimated below it: its interval reaches as far above as the estimate was exact.
    if not all(free):
        every = np.column_stack([np.ones_like(sizes), sizes]) / scale[:, None]
        spread = np.where(free, spread, np.sqrt(np.diag(np.linalg.pinv(every.T @ every))))
    return _Fit(float(full[0]), float(full[1]), int(sum(free)), fitted, spread)


def _is_off(found: _Fit, sizes: Array, times: Array, repeated: float | None, noise: float | None) -> bool:
    """Whether batch sizes lie off the line by more than their runs can be off by themselves (lack of fit)."""
    groups: dict[float, list[float]] = defaultdict(list)
    for size, off in zip(sizes, times / found.fitted - 1, strict=True):
        groups[float(size)].append(float(off))
    freedom, left = len(groups) - found.free, len(times) - len(groups)
    if freedom < 1:
        return False
    off_line = sum(len(group) * float(np.mean(group)) ** 2 for group in groups.values())
    misfit = float(np.sqrt(off_line / len(times)))
    pure = sum(float(np.sum((np.asarray(group) - np.mean(group)) ** 2)) for group in groups.values())
    if misfit <= LEAST_MISFIT:
        return False
    if repeated is not None:
        return float(chdtrc(freedom, off_line / max(repeated, 1e-6) ** 2)) < UNLIKELY
    if left >= 2:
        variance = max(pure / left, 1e-12)
        return float(fdtrc(freedom, left, off_line / freedom / variance)) < UNLIKELY
    return misfit > max(MOST_MISFIT, 2 * (noise or 0.0))


def _half_widths(found: _Fit, times: Array, noise: float | None) -> Array | None:
    """Of the 90 % intervals of launch and slope; None where nothing shows how exact the runs are."""
    left = len(times) - found.free
    if len(times) < 3 and noise is None:
        return None
    squares = float(np.sum((times / found.fitted - 1) ** 2))
    seen = np.sqrt(squares / left) if left else 0.0
    quantile = float(stdtrit(left, 0.95)) if len(times) > 2 else NORMAL_90
    return np.asarray(quantile * max(seen, noise or 0.0, LEAST_OFF) * found.spread)


def _estimate(value: float, half: Array | None, which: int) -> Estimate:
    if half is None:
        return Estimate(value, value, value)
    return Estimate(value, max(0.0, value - float(half[which])), value + float(half[which]))
