"""What a reader must know of a run's figures: a rate that fell and stayed down, memory that grows, and more. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import stdtrit

from sizer.analysis.accounting import CONTENDED_CORES, grown, other_cores
from sizer.analysis.monitor import Stop
from sizer.analysis.steady_state import (
    Array,
    Epochs,
    SteadyState,
    long_run_variance,
    mean_rate,
    measured_from_epoch,
    without_line,
)
from sizer.records.prediction import Estimate
from sizer.records.run import MemoryGrowth, RateChange, Run, RunWarning, Sample, Step, WarningKind

STOLEN_CORES = 0.05
"""Cores withheld by the hypervisor from which a run is marked."""

RESIDENT_SHARE = 0.02
"""Share of the data set still in the page cache before a run from which it is marked."""

THROTTLED_SHARE = 0.05
"""Share of throttled periods, and of the time in which a GPU's clocks were held back, from which a run is marked."""

FULL_GPU = 0.97
"""Share of a GPU's memory from which it counts as full: some hundred MB more are asked for in one piece."""

AMPLIFIED = 1.1
"""Device bytes over bytes asked for from which a run is marked: less is rounding to pages."""

UNWRITTEN_BYTES = 16 << 20
"""Bytes that wait to be written past a throttle from which a run is marked; preprocessing syncs every 4 MiB."""

OVERHEAD = 0.01
"""sizer's own core-seconds over the workload's from which a run is marked."""


EPOCHS = {
    Epochs.FIRST: WarningKind.FIRST_EPOCH,
    Epochs.NOT_KNOWN: WarningKind.NO_EPOCHS,
    Epochs.PART: WarningKind.PART_OF_EPOCH,
}
"""What a rate is of where it is not of the whole later epochs that were asked for."""


def run_warnings(run: Run, epochs: Epochs, settled: bool = True, calls: int = 1) -> tuple[RunWarning, ...]:
    """The warnings of a completed run, from what its record holds, the epochs that its rate is of, whether its
    interval can be trusted, and how many of the program's steps each kept one represents."""
    warnings = [warning for part in (_host, _gpus, _memory, _disk, _length) for warning in part(run)]
    if not settled:
        warnings.append(RunWarning(WarningKind.UNSETTLED))
    if calls > 1:
        warnings.append(RunWarning(WarningKind.STEPS_JOINED, {"steps": calls}))
    if epochs in EPOCHS:
        warnings.append(RunWarning(EPOCHS[epochs]))
    return tuple(warnings)


def _host(run: Run) -> Iterator[RunWarning]:
    """What the host did beside the run, and its quota, which only a fraction of a vCPU has and which holds it back."""
    for kind, figure, value, most in (
        (WarningKind.CONTENDED, "cores", run.conditions.other_cores, CONTENDED_CORES),
        (WarningKind.STOLEN, "cores", run.conditions.stolen_cores, STOLEN_CORES),
        (WarningKind.OVERHEAD, "share", run.conditions.overhead, OVERHEAD),
        (WarningKind.THROTTLED, "share", run.conditions.throttled, THROTTLED_SHARE),
    ):
        if value is not None and value > most:
            vcpus = {"vcpus": run.configuration.vcpus or 0.0} if kind is WarningKind.THROTTLED else {}
            yield RunWarning(kind, {figure: value} | vcpus)


def _gpus(run: Run) -> Iterator[RunWarning]:
    """Of several GPUs the one that it holds for most: a step waits for the slowest."""
    reasons = dict.fromkeys(reason for gpu in run.conditions.gpus for reason in gpu.held_back)
    for reason in reasons:
        share = max(gpu.held_back.get(reason, 0.0) for gpu in run.conditions.gpus)
        if share > THROTTLED_SHARE:
            yield RunWarning(WarningKind.GPU_THROTTLED, {"share": share}, reason)
    others = dict.fromkeys(name for gpu in run.conditions.gpus for name in gpu.others)
    if others:
        shared = max(gpu.shared for gpu in run.conditions.gpus)
        yield RunWarning(WarningKind.GPU_SHARED, {"share": shared}, ", ".join(others))
    for gpu in run.conditions.gpus:
        if gpu.memory_bytes and gpu.peak_memory_bytes and gpu.peak_memory_bytes > FULL_GPU * gpu.memory_bytes:
            yield RunWarning(WarningKind.GPU_MEMORY_FULL, {"bytes": gpu.peak_memory_bytes, "whole": gpu.memory_bytes})


def _memory(run: Run) -> Iterator[RunWarning]:
    if (
        run.data_set
        and run.conditions.resident_bytes
        and run.conditions.resident_bytes > RESIDENT_SHARE * run.data_set.bytes
    ):
        share = run.conditions.resident_bytes / run.data_set.bytes if run.data_set.bytes else 1.0
        yield RunWarning(WarningKind.PAGE_CACHE_WARM, {"share": share})
    if run.memory.peak_swap_bytes:
        yield RunWarning(WarningKind.SWAPPED, {"bytes": run.memory.peak_swap_bytes})
    growth = run.memory.memory_growth
    if growth is not None and growth.rising:
        more = growth.anonymous_bytes_per_step.value * 1000
        yield RunWarning(WarningKind.MEMORY_RISING, {"bytes": max(0.0, more)})


def _disk(run: Run) -> Iterator[RunWarning]:
    used = run.demand
    if used and used.asked_bytes and used.read_bytes and used.read_bytes > AMPLIFIED * used.asked_bytes:
        yield RunWarning(WarningKind.READ_AMPLIFIED, {"ratio": used.read_bytes / used.asked_bytes})
    if run.conditions.limits_buffered_writes is False and (run.conditions.unwritten_bytes or 0) > UNWRITTEN_BYTES:
        yield RunWarning(WarningKind.WRITES_UNLIMITED, {"bytes": run.conditions.unwritten_bytes or 0})
    change = run.rate.rate_change
    if change is not None:
        figures = {"before": change.before.value, "seconds": change.seconds, "after": change.after.value}
        yield RunWarning(WarningKind.TWO_RATES, figures)


def _length(run: Run) -> Iterator[RunWarning]:
    throughput, seconds = run.throughput, run.rate.measured_seconds or 0.0
    if throughput is not None and throughput.value > 0:
        half, asked = throughput.relative_half_width, run.spec.measure.precision
        if half > asked:
            # An interval of no end has no half-width, which no figure of a record may be.
            width = {"half_width": half} if math.isfinite(half) else {}
            yield RunWarning(WarningKind.IMPRECISE, {**width, "seconds": seconds, "asked": asked})
    if run.rate.stopped == Stop.DEADLINE.value:
        yield RunWarning(WarningKind.SHORT, {"seconds": seconds})


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


BINS = 60
"""Equal parts of the time in which the rate is looked at; fewer where there are fewer steps."""

START_UP = 0.03
"""Share of the time left out at the start: the first steps fill queues that were empty."""

SHORTEST_PART = 0.08
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
    if len(rates) < 2 / SHORTEST_PART:
        return None
    split = _best_split(rates)
    if not SHORTEST_PART * len(rates) <= split <= (1 - SHORTEST_PART) * len(rates) or not _fell(rates, split):
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
