"""How memory goes on with the steps of a run: does a longer run need more? Pure.

A program may take more memory as it goes without getting faster, so that the peak of a short run is no peak.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import stdtrit

from sizer.analysis.steady_state import Array, SteadyState
from sizer.records.configuration import Estimate
from sizer.records.run import MemoryGrowth, Sample, Step

BLOCKS = 10
"""Samplings are averaged in as many blocks before the slope is fitted: neighbouring samplings are not independent."""

RISING_SHARE = 0.01
"""The last third must raise the peak of the first two by this share before it counts as still rising: page tables and
allocators' lists move by less."""


def memory_growth(
    steady: SteadyState, steps: Sequence[Step], samples: Sequence[Sample], calls: int = 1
) -> MemoryGrowth | None:
    """Slopes of anonymous memory and page cache over the steps, each of which represents `calls` of the program's;
    None with fewer than BLOCKS samplings."""
    seen = [sample for sample in samples if steady.start <= sample.time <= steady.end]
    if len(seen) < BLOCKS:
        return None
    step_times = np.array([step.time for step in steps])
    done = calls * np.searchsorted(step_times, [sample.time for sample in seen], side="right").astype(np.float64)
    anonymous = np.array([float(sample.anonymous_bytes) for sample in seen])
    page_cache = np.array([float(sample.page_cache_bytes) for sample in seen])
    if done[-1] <= done[0]:
        return None
    return MemoryGrowth(
        anonymous_bytes_per_step=_slope(done, anonymous),
        page_cache_bytes_per_step=_slope(done, page_cache).value,
        steps=int(done[-1] - done[0]),
        rising=_rising(anonymous),
    )


def _slope(steps: Array, values: Array) -> Estimate:
    """Least squares over block means, with the 95 % interval of the slope (Draper & Smith, section 1.4)."""
    x = np.array([block.mean() for block in np.array_split(steps, BLOCKS)])
    y = np.array([block.mean() for block in np.array_split(values, BLOCKS)])
    away = x - x.mean()
    power = float((away**2).sum())
    if power == 0:
        return Estimate(0.0, 0.0, 0.0)
    slope = float((away * y).sum()) / power
    left = y - y.mean() - slope * away
    half = float(stdtrit(BLOCKS - 2, 0.975) * np.sqrt((left**2).sum() / (BLOCKS - 2) / power))
    return Estimate(slope, slope - half, slope + half)


def _rising(values: Array) -> bool:
    late = len(values) * 2 // 3
    return bool(values[late:].max() > (1 + RISING_SHARE) * values[:late].max())
