"""What a run used of its GPUs, from what their driver told at each sampling. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

import numpy as np

from sizer.records.gpu import GpuSample, GpuUse
from sizer.records.run import Sample

Times = list[tuple[float, GpuSample]]
"""One GPU at the time of each sampling."""


def peaks(gpus: Sequence[GpuUse], samples: Sequence[Sample]) -> tuple[GpuUse, ...]:
    """The GPUs with the most memory that was in use at any time of the run, also of one that failed."""
    found = []
    for place, gpu in enumerate(gpus):
        seen = [each for _, each in _of(place, samples)]
        peak, own = _most(seen, lambda each: each.memory_bytes), _most(seen, lambda each: each.own_memory_bytes)
        found.append(replace(gpu, peak_memory_bytes=peak, own_peak_memory_bytes=own))
    return tuple(found)


def gpu_uses(
    gpus: Sequence[GpuUse], samples: Sequence[Sample], start: float, end: float, counted: int
) -> tuple[GpuUse, ...]:
    """The GPUs with their figures between two monotonic times, in which so many samples were `counted`."""
    return tuple(_use(gpu, _of(place, samples), start, end, counted) for place, gpu in enumerate(gpus))


def _use(gpu: GpuUse, times: Times, start: float, end: float, counted: int) -> GpuUse:
    within = [each for time, each in times if start <= time <= end]
    known = [each.held_back for each in within if each.held_back is not None]
    reasons = Counter(reason.value for each in known for reason in each)
    shared = sum(bool(each.others) for each in within)
    return replace(
        gpu,
        busy=_median_share(times, start, end),
        watts=_median(within, lambda each: each.watts),
        sm_hertz=_median(within, lambda each: each.sm_hertz),
        memory_hertz=_median(within, lambda each: each.memory_hertz),
        joules=_each(times, lambda each: each.joules, start, end, counted),
        sent_bytes=_each(times, lambda each: each.sent_bytes, start, end, counted),
        received_bytes=_each(times, lambda each: each.received_bytes, start, end, counted),
        held_back={reason: count / len(known) for reason, count in sorted(reasons.items())},
        shared=shared / len(within) if within else 0.0,
        others=tuple(dict.fromkeys(name for each in within for name in each.others)),
    )


def _of(place: int, samples: Sequence[Sample]) -> Times:
    return [(sample.time, sample.gpus[place]) for sample in samples if place < len(sample.gpus)]


def _known(times: Times, figure: Callable[[GpuSample], float | None]) -> list[tuple[float, float]]:
    found = ((time, figure(each)) for time, each in times)
    return [(time, value) for time, value in found if value is not None]


def _median(within: Sequence[GpuSample], figure: Callable[[GpuSample], float | None]) -> float | None:
    values = [value for each in within if (value := figure(each)) is not None]
    return median(values) if values else None


def _most(seen: Sequence[GpuSample], figure: Callable[[GpuSample], int | None]) -> int | None:
    return max((value for each in seen if (value := figure(each)) is not None), default=None)


def _median_share(times: Times, start: float, end: float) -> float | None:
    """The median over the samplings of the share of the time since the one before."""
    known = [(time, busy) for time, busy in _known(times, lambda each: each.busy) if start <= time <= end]
    pairs = pairwise(known)
    shares = [(now - before) / (time - last) for (last, before), (time, now) in pairs if time > last]
    return min(1.0, max(0.0, median(shares))) if shares else None


def _each(
    times: Times, counter: Callable[[GpuSample], float | None], start: float, end: float, counted: int
) -> float | None:
    """By how much a counter grew for each sample; None with fewer than two samplings that have it."""
    known = _known(times, counter)
    if len(known) < 2 or not counted:
        return None
    times_known, values = [time for time, _ in known], [value for _, value in known]
    first, last = np.interp([start, end], times_known, values)
    return float(max(0.0, last - first)) / counted
