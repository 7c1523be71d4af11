"""The mini-batch efficiency curve: seconds a sample against batch size, where nothing but the batch differs. Pure.

The time of a step is launch + slope x batch: a line through the runs of several batch sizes by least squares of
relative errors, since a run is off by a share of its rate. A launch or a slope below 0 is none: the line is then fitted
again without it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from sizer.model.equation import Array
from sizer.model.model import batch_of, deviation_of, gpus_of, vcpus_of
from sizer.model.observations import Noise, completed, measured_rate, noise_at, noise_of
from sizer.model.runs import end_to_end
from sizer.records.answer import BatchCurve, BatchPoint, StepFit
from sizer.records.device import Device
from sizer.records.prediction import NORMAL_90, Configuration, Estimate
from sizer.records.run import Run

NEAR_BEST = 0.95
"""Share of the best rate that is enough of one: below 5 % nobody chooses a batch by its rate."""
SURE, HARDLY = 0.9, 0.1
"""Probability from which a batch surely gives that, and below which it surely does not."""
UNLIKELY = 0.05
"""Probability below which what is off the line is not the runs' noise."""
LEAST_MISFIT = 0.02
"""Share by which batch sizes may be off the line on the whole, however exact the runs: nobody chooses by less."""
UNKNOWN_NOISE = 0.025
"""Standard deviation of relative rates where no repeats show it, as in a table of single figures."""
EXACT = 10**6
"""Degrees of freedom of a noise that is known."""
LEAST_OFF = 0.003
"""Share by which a run is off at the least, however well three of them fit: quiet machines repeat to 0.3-2 %."""
PASSES = 3
"""Of fits, each weighted by the times that the one before gave."""


def batch_curves(runs: Sequence[Run]) -> tuple[BatchCurve, ...]:
    """One curve for each place at which two batch sizes or more were measured, the one with the most of them first.

    `runs` are those of one workload; failed ones, searches and runs that show one stage are left aside. So are those of
    an emulated accelerator of one rate, which waits as long for a sample whatever its batch.
    """
    places: dict[object, list[Run]] = defaultdict(list)
    for run in completed(end_to_end(runs)):
        device = run.spec.workload.computes_on
        one_rate = not run.imported and device.kind == "emulated" and not device.batch_rates
        if run.configuration.batch_size is not None and not one_rate:
            machine = None if run.declared.machine is None else run.declared.machine.at_any_price
            place = replace(run.configuration, batch_size=None)
            places[place, machine, run.spec.workload].append(run)
    noise = noise_of([group for alike in places.values() for group in _by_batch(alike).values()])
    curves = [_curve(_by_batch(alike), noise) for alike in places.values() if len(_by_batch(alike)) > 1]
    return tuple(sorted(curves, key=_order))


def nearest(curves: Sequence[BatchCurve], at: Configuration | None) -> BatchCurve | None:
    """The curve at a configuration, whatever its batch; else the first one. None without any."""
    if at is not None:
        here = replace(at, batch_size=None)
        places = [(replace(curve.at, batch_size=None), curve) for curve in curves]
        same = [curve for place, curve in places if place == here]
        same = same or [curve for place, curve in places if replace(place, memory_bytes=here.memory_bytes) == here]
        if same:
            return same[0]
    return curves[0] if curves else None


def _by_batch(runs: Iterable[Run]) -> dict[int, list[Run]]:
    by_batch: dict[int, list[Run]] = defaultdict(list)
    for run in runs:
        by_batch[batch_of(run.configuration)].append(run)
    return dict(sorted(by_batch.items()))


def _order(curve: BatchCurve) -> tuple[float, ...]:
    fastest = max(point.throughput.value for point in curve.points)
    return -len(curve.points), -vcpus_of(curve.at), gpus_of(curve.at), -fastest


def _curve(groups: dict[int, list[Run]], noise: Noise) -> BatchCurve:
    runs = [run for group in groups.values() for run in group]
    of_one = _samples_per_batch(runs)
    points = {batch: _point(batch, group, of_one, noise) for batch, group in groups.items()}
    timed = [(batch_of(run.configuration) * of_one, run.throughput.value) for run in runs if run.throughput is not None]
    samples = [size for size, _ in timed]
    line = step_line(
        samples, [size / rate for size, rate in timed], noise.run if noise.measured else None, noise.repeated
    )
    best = max(points, key=lambda batch: points[batch].throughput.value)
    chances = {batch: _reaches(point, points[best]) for batch, point in points.items()}
    enough = next(b for b in points if points[b].throughput.value >= NEAR_BEST * points[best].throughput.value)
    beyond = _beyond(line, of_one) if best == max(points) else None
    beyond = beyond if beyond is not None and beyond > best else None
    return BatchCurve(
        at=runs[0].configuration,
        points=tuple(points.values()),
        samples_per_batch=of_one,
        fit=line.fit,
        launch=line.launch,
        slope=line.slope,
        best=best,
        enough=enough,
        sure=enough == best or chances[enough] >= SURE,
        open=tuple(batch for batch in points if batch < enough and chances[batch] > HARDLY),
        rising=beyond is not None,
        beyond=beyond,
        emulated=any(run.spec.device.kind == "emulated" for run in runs),
    )


def _samples_per_batch(runs: Sequence[Run]) -> float:
    """How many samples a step has for each one of its batch: 35 words, 1 image.

    1 where no step was kept, or the runs differ: a program that joins its steps shows another number each time.
    """
    shown = {step.samples / batch_of(run.configuration) for run in runs for step in run.steps[-1:] if step.samples}
    return shown.pop() if len(shown) == 1 else 1.0


def _point(batch: int, group: Sequence[Run], of_one: float, noise: Noise) -> BatchPoint:
    rate = measured_rate([run.throughput for run in group if run.throughput is not None]).value
    half = NORMAL_90 * deviation_of(noise_at(group, noise), len(group))
    half = math.hypot(half, max(_beyond_published(run.spec.device) for run in group))
    return BatchPoint(
        batch,
        Estimate(rate, rate * math.exp(-half), rate * math.exp(half)),
        seconds_per_sample=1 / rate,
        step_seconds=batch * of_one / rate,
        runs=len(group),
        peak_bytes=max(
            (
                run.memory.peak_anonymous_bytes + (run.memory.peak_kernel_bytes or 0)
                for run in group
                if run.memory.peak_anonymous_bytes
            ),
            default=None,
        ),
    )


def _beyond_published(device: Device) -> float:
    """Ln of how far a rate may be off that was emulated beyond the published batch sizes; that of others is no other's
    than that of the whole curve."""
    ends = (device.rate_low, device.rate_high)
    if device.rate_basis != "extrapolated" or device.samples_per_second is None or None in ends:
        return 0.0
    return max(abs(math.log((end or 1.0) / device.samples_per_second)) for end in ends)


def _reaches(point: BatchPoint, best: BatchPoint) -> float:
    """The probability that a batch gives NEAR_BEST of what the best one does."""
    deviations = [math.log(end.throughput.high / end.throughput.value) / NORMAL_90 for end in (point, best)]
    ahead = math.log(point.throughput.value / (NEAR_BEST * best.throughput.value))
    return NormalDist().cdf(ahead / max(math.hypot(*deviations), 1e-9))


def _beyond(line: StepLine, of_one: float) -> int | None:
    """The batch that would be within 5 % of what the line tends to.

    A step of launch + slope x samples gives 95 % of 1 / slope at 19 launch / slope samples. What two points let expect,
    or a launch that may be none, is no reason to look further.
    """
    if line.fit is not StepFit.AFFINE or line.launch is None or line.slope is None:
        return None
    if line.slope.value <= 0 or not 0 < line.launch.low < line.launch.value:
        return None
    return math.ceil(NEAR_BEST / (1 - NEAR_BEST) * line.launch.value / line.slope.value / of_one)


@dataclass(frozen=True)
class StepLine:
    """`launch` in seconds a step and `slope` in seconds a sample; an interval that is not known is the value alone."""

    fit: StepFit
    launch: Estimate | None
    slope: Estimate | None


def step_line(
    samples: Sequence[float], seconds: Sequence[float], noise: float | None, repeated: bool = False
) -> StepLine:
    """The line through runs with so many samples a step, each of which took so many seconds; two sizes at least.

    `noise` is the standard deviation of ln of a run's rate, as other runs of the workload show it, None where nothing
    does; `repeated` if it is by repeats, and not by what moved within single runs.
    """
    from scipy.special import fdtrc, stdtrit

    sizes, times = np.asarray(samples, float), np.asarray(seconds, float)
    free = [True, True]
    values, fitted, spread = _least_squares(sizes, times, free)
    if values.min() < 0:
        free = [bool(values[0] >= 0), bool(values[0] < 0)]
        values, fitted, spread = _least_squares(sizes, times, free)
    distinct, off = len(set(samples)), times / fitted - 1
    of_sizes = sum(float(off[sizes == size].sum()) ** 2 / float((sizes == size).sum()) for size in set(samples))
    variance, of_runs = max(noise or 0.0, UNKNOWN_NOISE) ** 2, EXACT
    if noise is not None and repeated:
        variance = max(noise, 1e-6) ** 2
    elif (again := len(times) - distinct) >= 2:
        variance, of_runs = max((float(off @ off) - of_sizes) / again, 1e-12), again
    freedom, lack_of_fit = distinct - sum(free), math.sqrt(of_sizes / len(times))
    if freedom > 0 and lack_of_fit > LEAST_MISFIT and fdtrc(freedom, of_runs, of_sizes / freedom / variance) < UNLIKELY:
        return StepLine(StepFit.NOT_AFFINE, None, None)
    left = len(times) - sum(free)
    seen = math.sqrt(float(off @ off) / left) if left else 0.0
    quantile = float(stdtrit(left, 0.95)) if len(times) > 2 else NORMAL_90
    half = quantile * max(seen, noise or 0.0, LEAST_OFF) * spread
    if len(times) < 3 and noise is None:  # nothing shows how exact the runs are
        half = np.zeros(2)
    launch, slope = (
        Estimate(float(v), max(0.0, float(v - h)) if h else float(v), float(v + h))
        for v, h in zip(values, half, strict=True)
    )
    return StepLine(StepFit.UNTESTED if freedom < 1 else StepFit.AFFINE, launch, slope)


def _least_squares(sizes: Array, times: Array, free: Sequence[bool]) -> tuple[Array, Array, Array]:
    """Launch and slope, of which some are held at 0; the times that they give; and their standard deviations for runs
    that are off by all of their time. What is held at 0 was estimated below it: its interval reaches as far above as
    the estimate was exact."""
    both = np.column_stack([np.ones_like(sizes), sizes])
    scale = times
    for _ in range(PASSES):
        some, *_rest = np.linalg.lstsq(both[:, free] / scale[:, None], times / scale, rcond=None)
        values, spread = np.zeros(2), _spread(both / scale[:, None])
        values[free], spread[free] = some, _spread(both[:, free] / scale[:, None])
        fitted = both @ values
        scale = np.where(fitted > 0, fitted, times)
    return values, fitted, spread


def _spread(weighted: Array) -> Array:
    return np.asarray(np.sqrt(np.diag(np.linalg.pinv(weighted.T @ weighted))))
