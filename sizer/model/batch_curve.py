"""The mini-batch efficiency curve: seconds a sample against batch size, where nothing but the batch differs. Pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import NormalDist

from sizer.model.coordinates import batch_of, gpus_of, vcpus_of
from sizer.model.isolation import end_to_end
from sizer.model.model import NORMAL_90, deviation_of
from sizer.model.observations import Noise, completed, measured_rate, noise_at, noise_of
from sizer.model.step_line import StepLine, step_line
from sizer.records.batch_sizes import BatchCurve, BatchPoint, StepFit
from sizer.records.configuration import Configuration, Estimate
from sizer.records.device import Device
from sizer.records.run import Run

NEAR_BEST = 0.95
"""Share of the best rate that is enough of one: below 5 % nobody chooses a batch by its rate."""
SURE, HARDLY = 0.9, 0.1
"""Probability from which a batch surely gives that, and below which it surely does not."""


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
            machine = None if run.machine is None else run.machine.at_any_price
            place = replace(run.configuration, batch_size=None)
            places[place, machine, run.spec.workload].append(run)
    noise = noise_of([group for alike in places.values() for group in _by_batch(alike).values()])
    found = [_curve(_by_batch(alike), noise) for alike in places.values() if len(_by_batch(alike)) > 1]
    return tuple(sorted(found, key=_order))


def nearest(curves: Sequence[BatchCurve], at: Configuration | None) -> BatchCurve | None:
    """The curve at a configuration, whatever its batch; else the first one. None without any."""
    if at is not None:
        here = replace(at, batch_size=None)
        places = [(replace(each.at, batch_size=None), each) for each in curves]
        same = [each for place, each in places if place == here]
        same = same or [each for place, each in places if replace(place, memory_bytes=here.memory_bytes) == here]
        if same:
            return same[0]
    return curves[0] if curves else None


def _by_batch(runs: Iterable[Run]) -> dict[int, list[Run]]:
    found: dict[int, list[Run]] = defaultdict(list)
    for run in runs:
        found[batch_of(run.configuration)].append(run)
    return dict(sorted(found.items()))


def _order(curve: BatchCurve) -> tuple[float, ...]:
    fastest = max(point.throughput.value for point in curve.points)
    return -len(curve.points), -vcpus_of(curve.at), gpus_of(curve.at), -fastest


def _curve(groups: dict[int, list[Run]], noise: Noise) -> BatchCurve:
    each = _samples_per_batch([run for group in groups.values() for run in group])
    points = {batch: _point(batch, group, each, noise) for batch, group in groups.items()}
    samples, seconds = [], []
    for batch, group in groups.items():
        samples += [batch * each] * len(group)
        seconds += [batch * each / run.throughput.value for run in group if run.throughput is not None]
    line = step_line(samples, seconds, noise.run if noise.measured else None, noise.repeated)
    best = max(points, key=lambda batch: points[batch].throughput.value)
    chances = {batch: _reaches(points[batch], points[best]) for batch in points}
    enough = next(b for b in points if points[b].throughput.value >= NEAR_BEST * points[best].throughput.value)
    beyond = _beyond(line, each, best, points)
    return BatchCurve(
        at=next(iter(groups.values()))[0].configuration,
        points=tuple(points.values()),
        samples_per_batch=each,
        fit=line.fit,
        launch=line.launch,
        slope=line.slope,
        best=best,
        enough=enough,
        sure=enough == best or chances[enough] >= SURE,
        open=tuple(batch for batch in points if batch < enough and chances[batch] > HARDLY),
        rising=beyond is not None,
        beyond=beyond,
        emulated=any(run.spec.device.kind == "emulated" for group in groups.values() for run in group),
    )


def _samples_per_batch(runs: Sequence[Run]) -> float:
    """How many samples a step has for each one of its batch: 35 words, 1 image.

    1 where no step was kept, or the runs differ: a program that joins its steps shows another number each time.
    """
    shown = {step.samples / batch_of(run.configuration) for run in runs for step in run.steps[-1:] if step.samples}
    return shown.pop() if len(shown) == 1 else 1.0


def _point(batch: int, group: Sequence[Run], each: float, noise: Noise) -> BatchPoint:
    rate = measured_rate([run.throughput for run in group if run.throughput is not None]).value
    half = NORMAL_90 * deviation_of(noise_at(group, noise), len(group))
    half = math.hypot(half, max(_beyond_published(run.spec.device) for run in group))
    return BatchPoint(
        batch,
        Estimate(rate, rate * math.exp(-half), rate * math.exp(half)),
        seconds_per_sample=1 / rate,
        step_seconds=batch * each / rate,
        runs=len(group),
        peak_bytes=max((peak for run in group if (peak := _peak(run))), default=None),
    )


def _beyond_published(device: Device) -> float:
    """Ln of how far a rate may be off that was emulated beyond the published batch sizes; that of others is no other's
    than that of the whole curve."""
    ends = (device.rate_low, device.rate_high)
    if device.rate_basis != "extrapolated" or device.samples_per_second is None or None in ends:
        return 0.0
    return max(abs(math.log((each or 1.0) / device.samples_per_second)) for each in ends)


def _peak(run: Run) -> int | None:
    anonymous = run.peak_anonymous_bytes
    return anonymous + (run.peak_kernel_bytes or 0) if anonymous else None


def _reaches(point: BatchPoint, best: BatchPoint) -> float:
    """The probability that a batch gives NEAR_BEST of what the best one does."""
    deviations = [math.log(each.throughput.high / each.throughput.value) / NORMAL_90 for each in (point, best)]
    ahead = math.log(point.throughput.value / (NEAR_BEST * best.throughput.value))
    return NormalDist().cdf(ahead / max(math.hypot(*deviations), 1e-9))


def _beyond(line: StepLine, each: float, best: int, points: dict[int, BatchPoint]) -> int | None:
    """The batch that would be within 5 % of what the line tends to; None where the best measured one is already.

    A step of launch + slope x samples gives 95 % of 1 / slope at 19 launch / slope samples. What two points let expect,
    or a launch that may be none, is no reason to look further.
    """
    if line.fit is not StepFit.AFFINE or line.launch is None or line.slope is None or best != max(points):
        return None
    if line.slope.value <= 0 or not 0 < line.launch.low < line.launch.value:
        return None
    wanted = math.ceil(NEAR_BEST / (1 - NEAR_BEST) * line.launch.value / line.slope.value / each)
    return wanted if wanted > best else None
