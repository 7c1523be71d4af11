"""Memory: below which cap a workload does not run, what the page cache keeps of its reads, how two caps differ."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from statistics import NormalDist, mean
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from sizer.model.model import (
    MARGIN,
    Bounds,
    MeasuredRange,
    MeasuredRate,
    MemoryTrial,
    WorkloadFacts,
    fills_accelerators,
    memory_of,
    needs_no_less,
    no_more,
)
from sizer.model.runs import HOST_ALONE, as_asked, bounds, is_batch_search, is_search
from sizer.records.prediction import NORMAL_95, Configuration
from sizer.records.run_kinds import FINDINGS, MemoryPlace, Outcome

if TYPE_CHECKING:
    from sizer.records.run import Run

SURE = 0.95
"""How sure it must be that a difference between two caps is none of chance."""
ONE_RUN = 0.02
"""Standard deviation of ln rate between two processes of one configuration that is believed where a single run shows
none: with half of it, one in five studies of two caps called 2 % of noise a difference."""
REPEATS = 0.01
"""The same at the least where several runs show what they span."""

Given = ParamSpec("Given")
Result = TypeVar("Result")


def _kept(
    find: Callable[Concatenate[MeasuredRange, Given], Result],
) -> Callable[Concatenate[MeasuredRange, Given], Result]:
    """The function; what it finds is kept with the measured range."""

    @wraps(find)
    def once(measured: MeasuredRange, /, *given: Given.args, **named: Given.kwargs) -> Result:
        key = (find.__name__, given, *named.items())
        if key not in measured.kept:
            measured.kept[key] = find(measured, *given, **named)
        kept: Result = measured.kept[key]
        return kept

    return once


def overfilled_accelerators(runs: Iterable[Run]) -> tuple[Configuration, ...]:
    """The configurations that ran out of the memory of their accelerators, as far as the runs show.

    Where the record does not say whose memory it was, so did a run on accelerators whose host's memory was not
    accounted for, unless one completed with as large a batch on as many of them or fewer: then it was the host's.
    """
    runs = list(runs)
    held = dict.fromkeys(run.configuration for run in runs if run.outcome is Outcome.COMPLETED)
    refused = dict.fromkeys(run.configuration for run in runs if run.ran_out_of is MemoryPlace.GPU)
    killed = dict.fromkeys(
        run.configuration
        for run in runs
        if run.outcome is Outcome.OUT_OF_MEMORY
        and run.ran_out_of is None
        and run.spec.workload.computes_on.kind not in HOST_ALONE
        and run.memory.peak_anonymous_bytes is None
    )
    guessed = [
        configuration for configuration in killed if not any(fills_accelerators(other, configuration) for other in held)
    ]
    return tuple(dict.fromkeys([*refused, *guessed]))


def trials(runs: Iterable[Run]) -> tuple[MemoryTrial, ...]:
    """Every run that shows whether its memory cap held: one that timed out was not out of memory, so it is none.

    Nor is one whose memory is not known, or that ran out of its accelerators' instead, nor what a search for the
    largest batch completed: it says nothing of a smaller cap.
    """
    runs = list(runs)
    elsewhere = set(overfilled_accelerators(runs))
    attempts = {
        MemoryTrial(
            run.configuration.vcpus,
            run.configuration.batch_size,
            run.configuration.memory_bytes,
            run.outcome is Outcome.COMPLETED,
            run.memory.peak_anonymous_bytes,
            run.memory.peak_kernel_bytes,
            is_search(run),
            run.spec.limits.memory_bytes is not None and not run.imported and bool(as_asked([run])),
        ): None
        for run in runs
        if run.outcome in FINDINGS
        and run.configuration.memory_bytes is not None
        and not (
            is_batch_search(run)
            if run.outcome is Outcome.COMPLETED
            else run.ran_out_of is not MemoryPlace.HOST and run.configuration in elsewhere
        )
    }
    return tuple(attempts)


def memory_floor(runs: Sequence[Run]) -> Bounds | None:
    """The bounds of the memory floor over all runs; None if no memory cap was set and none was hit.

    A cap at which one run completed and another was killed counts as too small. What a search for the largest batch
    was killed with is too small for that batch, and not for the workload's own.
    """
    runs = [run for run in runs if not is_batch_search(run)]
    limited = any(run.spec.limits.memory_bytes is not None for run in runs)
    attempts = trials(runs)
    return _bounds(attempts) if attempts and (limited or not all(trial.completed for trial in attempts)) else None


@_kept
def floor_at(measured: MeasuredRange, vcpus: float | None, batch_size: int | None) -> Bounds:
    """The bounds for one configuration: anonymous memory grows with workers and with the batch, never shrinks.

    So a kill with fewer vCPUs and a smaller batch is a kill here, and what held with more of both holds here.
    """
    held = [trial for trial in measured.trials if trial.completed]
    hold = [t for t in held if no_more(vcpus, t.vcpus) and no_more(batch_size, t.batch_size)]
    killed = [trial for trial in measured.trials if not trial.completed]
    return _bounds(
        [*(t for t in killed if no_more(t.vcpus, vcpus) and no_more(t.batch_size, batch_size)), *(hold or held)]
    )


def does_not_fit(measured: MeasuredRange, configuration: Configuration) -> bool:
    """Whether it would run out of the host's memory or the accelerators', as what did, and what held, shows."""
    if any(needs_no_less(configuration, failed) for failed in measured.did_not_fit):
        return True
    if any(fills_accelerators(configuration, filled) for filled in measured.overfilled):
        return True
    floor = floor_at(measured, configuration.vcpus, configuration.batch_size)
    if floor.held is not None and memory_of(configuration) >= floor.held:
        return False
    if floor.too_small is not None and memory_of(configuration) <= floor.too_small:
        return True
    anonymous = anonymous_bytes(measured, configuration.vcpus, configuration.batch_size)
    return anonymous is not None and memory_of(configuration) < anonymous


@_kept
def needed_bytes(measured: MeasuredRange, vcpus: float | None, batch_size: int | None) -> int | None:
    """The smallest memory in which this configuration is known to keep the rate that was measured; None if none is.

    A cap at which an ordinary run held, here or with more vCPUs and a larger batch; or one that held anywhere and
    leaves MARGIN above what could not be dropped here: a study that varies memory at one vCPU limit knows the
    others, too. A cap that a search found to hold counts from that margin up: nearer the floor a run may crawl.
    """
    shown = ordinary_bytes(measured, vcpus, batch_size)
    held = [] if shown is None else [shown]
    peak = undroppable_bytes(measured, vcpus, batch_size)
    if peak is not None:
        killed = floor_at(measured, vcpus, batch_size).too_small or 0
        least = max(math.ceil(MARGIN * peak), killed + 1)
        completed = [trial for trial in measured.trials if trial.completed]
        held += [t.memory_bytes for t in completed if not t.searched and t.memory_bytes >= least]
        held += [max(t.memory_bytes, least) for t in completed if t.searched]
    return min(held, default=None)


@_kept
def ordinary_bytes(measured: MeasuredRange, vcpus: float | None, batch_size: int | None) -> int | None:
    """The smallest memory above the floor at which a run that shows its rate held, as `floor_at` counts."""
    killed = floor_at(measured, vcpus, batch_size).too_small or 0
    held = [t for t in measured.trials if t.completed and not t.searched and t.memory_bytes > killed]
    near = [t for t in held if no_more(vcpus, t.vcpus) and no_more(batch_size, t.batch_size)]
    return min((t.memory_bytes for t in near or held), default=None)


def only_completed(measured: MeasuredRange, vcpus: float | None, batch_size: int | None) -> tuple[int, int] | None:
    """The caps in bytes from which a search saw runs complete, and from which a rate was measured; None if as low."""
    low = floor_at(measured, vcpus, batch_size).held
    high = ordinary_bytes(measured, vcpus, batch_size)
    return (low, high) if low is not None and high is not None and low < high else None


def _bounds(attempts: Sequence[MemoryTrial]) -> Bounds:
    killed = (trial.memory_bytes for trial in attempts if not trial.completed)
    return bounds((trial.memory_bytes for trial in attempts if trial.completed), killed)


def anonymous_bytes(measured: MeasuredRange, vcpus: float | None, batch_size: int | None) -> int | None:
    """The largest anonymous memory seen at no more vCPUs and no larger batch; else the smallest seen at all."""
    return _peak(measured, vcpus, batch_size, False)


def undroppable_bytes(measured: MeasuredRange, vcpus: float | None, batch_size: int | None) -> int | None:
    """The same of anonymous memory with the kernel's own, where that is known: none of it can be dropped."""
    return _peak(measured, vcpus, batch_size, True)


@_kept
def _peak(measured: MeasuredRange, vcpus: float | None, batch_size: int | None, kernel: bool) -> int | None:
    """The runs of a search are short, so their peaks count only where no other was accounted."""
    completed = [trial for trial in measured.trials if trial.completed and trial.anonymous_bytes]
    seen = [
        (
            no_more(t.vcpus, vcpus) and no_more(t.batch_size, batch_size),
            t.anonymous_bytes + (t.kernel_bytes or 0) * kernel,
        )
        for t in [trial for trial in completed if not trial.searched] or completed
        if t.anonymous_bytes
    ]
    near = [peak for is_near, peak in seen if is_near]
    return max(near) if near else min((peak for _, peak in seen), default=None)


def hit_rate(cached: float, sequential: bool, blend: float) -> float:
    """The share of reads that the page cache serves when `cached` (0 to 1) of the data set fits.

    Read in order, nothing is kept until everything fits. Shuffled anew each epoch, the second epoch hits
    1 - u + u ln u with u = 1 - cached (LRU; measured to 0.003), later ones a little more: the blend towards `cached`.
    """
    if cached >= 1:
        return 1.0
    if sequential or cached <= 0:
        return 0.0
    unseen = 1 - cached
    lru = cached + unseen * math.log(unseen)
    return (1 - blend) * lru + blend * cached


def cached_fraction(
    facts: WorkloadFacts, memory_bytes: float, anonymous: float | None, data_factor: float = 1.0
) -> float:
    """The share of the data set that fits beside the anonymous memory; 0 where its size is not known."""
    if not facts.data_bytes:
        return 0.0
    return min(1.0, max(0.0, memory_bytes - (anonymous or 0)) / (facts.data_bytes * data_factor))


@dataclass(frozen=True)
class MemoryCompared:
    """The rates in two sizes of memory: by which share the larger gains, and whether that is `clear`.

    `pairs` are the rates with less memory and with more, where all else is alike.
    """

    low: int
    high: int
    gain: float
    clear: bool
    pairs: tuple[tuple[MeasuredRate, MeasuredRate], ...]


def asked_sizes(measured: MeasuredRange) -> tuple[int, ...]:
    """The memory caps that the study asks for and that were tried, rising."""
    return tuple(sorted({trial.memory_bytes for trial in measured.trials if trial.asked}))


@_kept
def memory_compared(measured: MeasuredRange, configuration: Configuration | None = None) -> MemoryCompared | None:
    """Of two caps, where the study asks for no more and both have rates: over all that was measured with both, or at
    this configuration alone if it was. A form of the model with a parameter for memory must pay for it in all that it
    explains; of two caps it is enough to hold the runs that differ in nothing else against one another."""
    sizes = asked_sizes(measured)
    if len(sizes) != 2 or measured.memory_bytes != sizes:
        return None
    rates = {rate.configuration: rate for rate in measured.rates}
    pairs = tuple(
        (less, more)
        for at, more in rates.items()
        if at.memory_bytes == sizes[1] and (less := rates.get(replace(at, memory_bytes=sizes[0]))) is not None
    )
    if configuration is not None:
        asked = replace(configuration, memory_bytes=sizes[1])
        pairs = tuple(pair for pair in pairs if pair[1].configuration == asked) or pairs
    gains = [
        (math.log(more.throughput.value / less.throughput.value), math.hypot(_deviation(less), _deviation(more)))
        for less, more in pairs
    ]
    if not gains:
        return None
    return MemoryCompared(*sizes, math.expm1(mean(gain for gain, _ in gains)), _more_than_chance(gains), pairs)


def _more_than_chance(gains: Sequence[tuple[float, float]]) -> bool:
    """Whether more gains in all together, or in one by so much that as many show it by chance in few cases only
    (Bonferroni), by differences in ln rate and their standard deviations. More memory makes nothing slower: where it
    seems to, something on the host did."""
    together = mean(gain for gain, _ in gains), math.hypot(*(deviation for _, deviation in gains)) / len(gains)
    return any(
        gain > NormalDist().inv_cdf(1 - (1 - SURE) / 2 / comparisons) * deviation
        for comparisons, some in ((1, [together]), (len(gains), gains))
        for gain, deviation in some
    )


def _deviation(rate: MeasuredRate) -> float:
    """Of the ln of a rate over its runs. What they span does not become narrower with their number, since those that
    something on the host disturbed are no draws of one kind."""
    low, high = rate.throughput.low, rate.throughput.high
    own = math.log(high / low) / (2 * NORMAL_95) if low > 0 else 1.0
    return max(ONE_RUN if rate.runs == 1 else REPEATS, own)
