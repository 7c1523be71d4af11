"""What of a run's series a data set keeps: as much as the correction for the noise of the host is found from."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace

from sizer.model.stretches import stretches
from sizer.records.run import Run, Sample, Step


def for_correction(run: Run) -> Run:
    """The run with the counters of its steady state that its probe is judged by, and with the steps around these; both
    in seconds from its first step. Nothing of a run without a probe, which is not corrected."""
    readings = stretches(run).readings if run.probe is not None else ()
    if not readings:
        return replace(run, steps=(), samples=())
    origin = run.steps[0].time
    times = [each.time for each in readings]
    return replace(
        run,
        steps=tuple(replace(step, time=step.time - origin) for step in _around(run.steps, times)),
        samples=tuple(_told(each, origin) for each in readings),
    )


def _told(sample: Sample, origin: float) -> Sample:
    return Sample(
        sample.time - origin,
        sample.core_seconds,
        probe_core_seconds=sample.probe_core_seconds,
        probe_rounds=sample.probe_rounds,
        product_core_seconds=sample.product_core_seconds,
    )


def _around(steps: tuple[Step, ...], times: list[float]) -> list[Step]:
    """The first step, and the last one before and the first one after each of these times, each with the samples of
    those left out before it: what was made by then, and in between by a straight line, stays the same."""
    ends = [step.time for step in steps]
    kept = {0}
    for time in times:
        after = bisect_right(ends, time)
        kept |= {max(0, after - 1), min(after, len(steps) - 1)}
    found, since = [], 0
    for number, step in enumerate(steps):
        since += step.samples
        if number in kept:
            found.append(Step(step.time, since, 0.0, step.epoch))
            since = 0
    return found
