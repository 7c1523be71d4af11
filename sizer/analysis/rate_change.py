"""A rate that fell during a run and stayed down, as that of a disk whose burst credit is spent. Pure.

The one split that leaves the least squares, tested against noise that is correlated: the difference of the two means
over its standard error, where the largest of many splits needs more than the largest of one (Andrews 1993, "Tests for
parameter instability and structural change with unknown change point"). A straight line must fit worse, too: a slow
drift is no fall.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import stdtrit

from sizer.analysis.accounting import grown, other_cores
from sizer.analysis.epochs import measured_from_epoch
from sizer.analysis.steady_state import Array, long_run_variance, mean_rate, without_line
from sizer.records.run import RateChange, Run, Step

BINS = 60
"""Equal parts of the time in which the rate is looked at; fewer where there are fewer steps."""

START_UP = 0.03
"""Share of the time left out at the start: the first steps fill queues that were empty."""

SHORTEST = 0.08
"""Share of the rest that each of the two rates must have held. A burst in the first fifth of the seconds is taken for
warm-up and its run goes on for that much longer, so that it is a tenth of what is seen here."""

LEAST_FALL = 0.1
"""Share of the rate before; a smaller fall is within what a shared host does of its own."""

CONFIDENCE = 0.9995
"""Quantile of Student's t for the difference: Andrews's 1 % for the largest of all splits is 3.5 standard errors."""


def rate_change(steps: Sequence[Step]) -> RateChange | None:
    """The lasting fall of the rate within these steps, in seconds after the first of them; None if there is none.

    Give it all steps of a run: a burst at the start would else be cut away as warm-up.
    """
    begin, edges, rates = _rates(steps)
    if len(rates) < 2 / SHORTEST:
        return None
    split = _best_split(rates)
    if not SHORTEST * len(rates) <= split <= (1 - SHORTEST) * len(rates) or not _fell(rates, split):
        return None
    at = float(edges[split])
    before = mean_rate([step for step in steps if begin <= step.time <= at])
    after = mean_rate([step for step in steps if step.time > at])
    if before is None or after is None:
        return None
    return RateChange(at - steps[0].time, before.throughput, after.throughput)


def _rates(steps: Sequence[Step]) -> tuple[float, Array, Array]:
    """When start-up is over, the edges of the bins after it, and samples/s in each; a step spreads over its bins."""
    if len(steps) < 3 or steps[-1].time <= steps[0].time:
        return 0.0, np.zeros(1), np.zeros(0)
    times = np.array([step.time for step in steps])
    done = np.cumsum([0, *(step.samples for step in steps[1:])])
    begin = float(times[0] + START_UP * (times[-1] - times[0]))
    edges = np.linspace(begin, times[-1], min(BINS, len(steps) - 2) + 1)
    return begin, edges, np.diff(np.interp(edges, times, done)) / np.diff(edges)


def _best_split(rates: Array) -> int:
    """How many bins are before the split that leaves the least squares."""
    before = np.arange(1, len(rates))
    sums = np.cumsum(rates)
    explained = sums[before - 1] ** 2 / before + (sums[-1] - sums[before - 1]) ** 2 / (len(rates) - before)
    return int(before[np.argmax(explained)])


def _fell(rates: Array, split: int) -> bool:
    """Whether the means on both sides of the split differ by more than noise and drift can do."""
    high, low = float(rates[:split].mean()), float(rates[split:].mean())
    if high - low < LEAST_FALL * high:
        return False
    residuals = np.concatenate([rates[:split] - high, rates[split:] - low])
    drifted = without_line(rates)
    if residuals @ residuals >= drifted @ drifted:
        return False
    variance, freedom = long_run_variance(residuals, fitted=2)
    error = np.sqrt(variance * (1 / split + 1 / (len(rates) - split)))
    return bool(high - low > stdtrit(freedom, CONFIDENCE) * error)


FOLLOWS = 0.5
"""Share of the fall of the rate that the device's bytes a second must show, too: a job that computes more slowly reads
less as well, but one whose data is in memory does not read less because its disk has become slower."""

LEAST_READ = 0.2
"""Share of the bytes that the loader asks for that must come from the device: a few library pages do not slow a job."""

RISEN_CORES = 0.1
"""What something else on the host may use more than before; more of it explains a fall without the disk."""


def disk_fall(run: Run) -> RateChange | None:
    """The fall of this run's rate, where its disk can be the cause; None without one.

    An emulated tier has no credit to spend, and under `natural` the page cache changes the rate from epoch to epoch.
    """
    emulated = run.disk is not None and run.disk.tier.emulated is not None
    if emulated or run.spec.workload.input not in ("disk", "replay") or measured_from_epoch(run.spec.workload):
        return None
    change = rate_change(run.steps)
    return change if change is not None and _from_the_device(run, change) and not _by_others(run, change) else None


def _from_the_device(run: Run, change: RateChange) -> bool:
    begin, split, end = _times(run, change)
    before = grown(run.samples, "read_bytes", begin, split) / (split - begin)
    after = grown(run.samples, "read_bytes", split, end) / (end - split)
    asked = run.data_set.bytes / run.data_set.samples if run.data_set and run.data_set.samples else 0.0
    if min(before / change.before.value, after / change.after.value) <= LEAST_READ * asked:
        return False
    return 1 - after / before >= FOLLOWS * (1 - change.after.value / change.before.value)


def _by_others(run: Run, change: RateChange) -> bool:
    begin, split, end = _times(run, change)
    before, after = other_cores(run.samples, begin, split), other_cores(run.samples, split, end)
    return (after or 0.0) - (before or 0.0) > RISEN_CORES


def _times(run: Run, change: RateChange) -> tuple[float, float, float]:
    """First step, fall, and last step, in monotonic seconds."""
    return run.steps[0].time, run.steps[0].time + change.seconds, run.steps[-1].time
