"""The steady state of a run: where warm-up ends, the throughput after it and how sure that is, over all of the run or
the whole epochs after the first. Pure.

Warm-up is cut by MSER (White 1997, "An effective truncation heuristic for bias reduction in simulation output"): the
cut that minimises the standard error of what remains. MSER alone also cuts whatever is rare and early (a stall among
ordinary steps), so only a stretch that is mostly slower, or mostly faster, than the second half may go; and it stops
where a fading warm-up sinks into the noise, so twice as much is cut: the rest of an exponential is then squared.

The interval comes from batch means whose lag-1 correlation is taken into account, as in Skart (Tafazzoli, Wilson 2011,
"Skart: a skewness- and autocorrelation-adjusted batch-means procedure"): the variance of the mean is multiplied by
(1 + r) / (1 - r). Three things make that hold for short runs: a straight line is taken out first, so that a rate that
drifts is not mistaken for noise; r is corrected for its bias in small samples (Kendall 1954, "Note on bias in the
estimation of autocorrelation"); and Student's degrees of freedom shrink with r.

Under a memory cap and with shuffled reading the page cache serves more at the start of an epoch than at its end (what
was read last is still there), so a part of a later epoch has a rate that no whole one has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from sizer.records.prediction import Estimate
from sizer.records.run import Step
from sizer.records.study import Workload

Array = NDArray[np.float64]

GROUPS = 200
"""Most points that MSER looks at; more steps than that are joined first, so that one burst is not one point."""

ORDINARY = (0.05, 0.95)
"""Quantiles of the second half outside which a point is faster or slower than the steady state."""

BATCHES = 30
"""Batch means are taken over so many batches, or over single steps where there are fewer. Of 20, 24, 30, 40, 60 and 120
this is the one whose intervals hold with the longest correlation of noise and are still narrow without any."""

CORRELATION_RANGE = (-0.5, 0.97)
"""A corrected correlation may reach 1 and more; such a run is longer than nothing it knows of."""

FEWEST_FREEDOM = 2.0
MOST_SKEWED = 0.35
"""Degrees of freedom below which, and skewness of the mean above which, intervals of simulated runs begin to miss: with
steps of 100 ms in 6 s, AR(1) noise of 0.95 (covered 89 %) and random stalls each 3 s (78 %), of which one run in four
is not distinguished from a run with ordinary noise."""

FEWEST_INTERVALS = 3
"""Steps after warm-up below which no throughput is given."""


@dataclass(frozen=True)
class SteadyState:
    """Throughput from `start` to `end` (monotonic seconds, the times of two steps) over `intervals` steps.

    `settled` is False where the steps show that an interval of theirs may well miss the rate of a longer run: its noise
    lasts about as long as the run, or a few long steps make up much of the spread.
    """

    throughput: Estimate
    warm_up_seconds: float
    start: float
    end: float
    intervals: int = 0
    settled: bool = True

    @property
    def measured_seconds(self) -> float:
        return self.end - self.start

    @property
    def relative_half_width(self) -> float:
        return self.throughput.relative_half_width


def steady_state(steps: Sequence[Step], first_epoch: int = 0) -> SteadyState | None:
    """The steady state in these steps from epoch `first_epoch` on, or None while there are too few of them.

    A step's time is its end, so the first step only starts the clock.
    """
    return _measured([step for step in steps if step.epoch >= first_epoch], steps[0].time if steps else 0.0, cut=True)


def mean_rate(steps: Sequence[Step], began: float | None = None) -> SteadyState | None:
    """The throughput over all of these steps, or None if they are too few.

    What was before them, since the run's first step ended at `began`, was warm-up; by default there was none.
    """
    return _measured(steps, steps[0].time if steps and began is None else began or 0.0, cut=False)


def _measured(steps: Sequence[Step], began: float, cut: bool) -> SteadyState | None:
    ends = np.array([step.time for step in steps], dtype=np.float64)
    times, samples = _by_moment(ends, [step.samples for step in steps])
    durations = np.diff(times)
    if len(durations) < FEWEST_INTERVALS or samples.sum() <= 0:
        return None
    first = _warm_up(durations, samples) if cut else 0
    # Where a program tells no more samples, how long it told none is a part of its rate.
    first = first if samples[first:].sum() > 0 else 0
    throughput, settled = _rate(durations[first:], samples[first:])
    return SteadyState(
        throughput=throughput,
        warm_up_seconds=float(times[first] - began),
        start=float(times[first]),
        end=float(times[-1]),
        intervals=int((ends > times[first]).sum()),
        settled=settled,
    )


def _by_moment(ends: Array, samples: Sequence[int]) -> tuple[Array, Array]:
    """The moments at which steps ended, and the samples of each but the first.

    Lines of a log that come at once, after they or who reads them were held up, are steps of one moment: those behind
    the first took no time by themselves, and what was done in the time before it is in all of them.
    """
    last = np.append(ends[1:] > ends[:-1], True)[: len(ends)]
    done = np.cumsum(samples, dtype=np.float64)
    return ends[last], np.diff(done[last])


def _warm_up(durations: Array, samples: Array) -> int:
    """How many intervals to cut, at most half: twice the minimum of MSER over stretches that are not ordinary."""
    size = max(1, -(-len(durations) // GROUPS))
    seconds = _joined(durations, size) / np.maximum(_joined(samples, size), 1e-12)
    last = max(0, min(len(seconds) // 2, len(seconds) - FEWEST_INTERVALS))
    errors = _squared_errors(seconds)[: last + 1]
    faster, slower = np.quantile(seconds[len(seconds) // 2 :], ORDINARY)
    begun = seconds[:last]
    unusual = np.maximum(np.cumsum(begun > slower), np.cumsum(begun < faster)) >= np.arange(1, last + 1) / 2
    cut = int(np.argmin(np.where(np.append(True, unusual), errors, np.inf)))
    return min(2 * cut, last) * size


def _squared_errors(values: Array) -> Array:
    """Squared standard error of the mean of what remains after each number of values cut."""
    remaining = len(values) - np.arange(len(values))
    sums = np.cumsum(values[::-1])[::-1]
    squares = np.cumsum(values[::-1] ** 2)[::-1]
    return np.asarray(np.maximum(squares - sums**2 / remaining, 0.0) / remaining**2)


def _rate(durations: Array, samples: Array) -> tuple[Estimate, bool]:
    """Samples over seconds with its 95 % interval, a ratio estimate over batches (Cochran, "Sampling techniques"); and
    whether the run was long enough for its noise."""
    from scipy.special import stdtrit

    seconds = float(durations.sum())
    value = float(samples.sum()) / seconds
    batches = min(len(durations), BATCHES)
    residuals = without_line(_batches(samples - value * durations, batches))
    variance, freedom = long_run_variance(residuals, fitted=2)
    error = float(np.sqrt(variance * batches)) / seconds
    most = float(stdtrit(freedom, 0.975))
    power = float((residuals**2).mean())
    skewness = float((residuals**3).mean()) / power**1.5 / np.sqrt(batches) if power > 1e-24 else 0.0
    low, high = value - error * _skewed(most, skewness), value - error * _skewed(-most, skewness)
    settled = variance == 0 or (freedom >= FEWEST_FREEDOM and abs(skewness) <= MOST_SKEWED)
    return Estimate(value, max(0.0, low), high), settled


def _skewed(quantile: float, skewness: float) -> float:
    """A quantile of the mean's error over its standard error, where the mean has this skewness (Hall 1992).

    Stalls are rare and long: a run that happened to have few of them has both a high rate and a small spread.
    """
    shift = skewness / 6
    if abs(shift) < 1e-3:
        return quantile
    return float(np.cbrt(1 + 6 * shift * (quantile - shift)) - 1) / (2 * shift)


def without_line(values: Array) -> Array:
    """What is left of the values after the straight line that fits them best."""
    places = np.arange(len(values)) - (len(values) - 1) / 2
    centred = values - values.mean()
    return np.asarray(centred - places * (places @ centred) / (places @ places))


def long_run_variance(residuals: Array, fitted: int) -> tuple[float, float]:
    """Variance of the mean of residuals times their number, and its degrees of freedom, as of a first-order process.

    `fitted` parameters were taken out before; each draws the lag-1 correlation r down by about (1 + 2r) / n. The
    degrees of freedom follow from the variances of the logarithms of the residuals' variance, 2 / n, and of
    (1 + r) / (1 - r), 4 / n times itself. With few residuals the correction would only add noise, and none is trusted
    that says the residuals balance each other out.
    """
    number, power = len(residuals), float(residuals @ residuals)
    if number <= fitted or power <= 1e-24:
        return 0.0, 1.0
    correlation = float(residuals[1:] @ residuals[:-1]) / power
    if number > 4 * fitted:
        correlation = (number * correlation + fitted) / (number - 2 * fitted)
    else:
        correlation = max(0.0, correlation)
    correlation = float(np.clip(correlation, *CORRELATION_RANGE))
    factor = (1 + correlation) / (1 - correlation)
    return power / (number - fitted) * factor, max(1.0, number / (1 + 2 * factor))


def _joined(values: Array, size: int) -> Array:
    """Sums of each `size` consecutive values; the rest at the end is left out."""
    whole = len(values) // size * size
    return np.asarray(values[:whole].reshape(-1, size).sum(axis=1))


def _batches(values: Array, number: int) -> Array:
    """Sums over `number` batches of nearly equal length that use every value."""
    edges = np.linspace(0, len(values), number + 1).astype(int)
    return np.add.reduceat(values, edges[:-1])


# Which epochs a run is measured over: all of it, or the whole epochs after the first.


class Epochs(str, Enum):
    """Which epochs a throughput was measured in."""

    ANY = "any"
    """Steady steps of any epoch, or of any later one where it is not known how long an epoch is."""
    WHOLE = "whole"
    """Whole epochs after the first, as asked for."""
    PART = "part"
    """Part of the second epoch, because the run ended in it."""
    FIRST = "first"
    """The first epoch, because no later one had enough steps."""
    NOT_KNOWN = "not_known"
    """The epoch that a log's lines are counted to, because none of them names another."""


@dataclass(frozen=True)
class Shown:
    """What a run has shown: its steady state, None while there are too few steps, and what that is based on."""

    steady: SteadyState | None
    epochs: Epochs

    @property
    def sufficient(self) -> bool:
        """Whether it is based on what was asked for."""
        return self.epochs in (Epochs.ANY, Epochs.WHOLE, Epochs.NOT_KNOWN)


def measured_from_epoch(workload: Workload) -> int:
    """`natural` gives the rate of the later epochs, when the page cache holds what it can."""
    return 1 if workload.cache == "natural" and workload.input == "disk" else 0


def shown(steps: Sequence[Step], workload: Workload, epoch_samples: int, by_log: bool = False) -> Shown:
    """What these steps show of the workload; `epoch_samples` is the length of an epoch, 0 where it is not known, and
    `by_log` says that they are lines of a log, which may name no epoch."""
    if measured_from_epoch(workload) == 0 or not steps:
        return Shown(steady_state(steps), Epochs.ANY)
    if not epoch_samples:
        later = steady_state(steps, 1)
        first = Epochs.NOT_KNOWN if by_log else Epochs.FIRST
        return Shown(later, Epochs.ANY) if later else Shown(steady_state(steps), first)
    began = steps[0].time
    whole = mean_rate(_later(steps, _last_whole(steps, epoch_samples)), began)
    if whole:
        return Shown(whole, Epochs.WHOLE)
    part = mean_rate(_later(steps, steps[-1].epoch), began)
    return Shown(part, Epochs.PART) if part else Shown(steady_state(steps), Epochs.FIRST)


def two_epochs_seconds(steps: Sequence[Step], epoch_samples: int) -> float:
    """How long two epochs take at the mean rate so far, with what came before the first step's end left out."""
    done = sum(step.samples for step in steps[1:])
    return 2 * epoch_samples * (steps[-1].time - steps[0].time) / done if done else 0.0


def _later(steps: Sequence[Step], last: int) -> Sequence[Step]:
    """Steps of epoch 1 to `last`, behind the step that ends epoch 0 and starts their clock."""
    start = next((index for index, step in enumerate(steps) if step.epoch > 0), len(steps))
    return [step for step in steps[max(0, start - 1) :] if step.epoch <= last]


def _last_whole(steps: Sequence[Step], epoch_samples: int) -> int:
    """The last epoch that is over: a later one has begun, or less than a batch of it is left."""
    last = steps[-1].epoch
    done = [step.samples for step in steps if step.epoch == last]
    return last if sum(done) > epoch_samples - max(done) else last - 1
