"""Memory: below which cap a workload does not run, and what the page cache keeps of its reads."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sizer.model.coordinates import fills_accelerators, memory_of, needs_no_less, no_more
from sizer.model.feeds import HOST_ALONE
from sizer.model.floor_runs import is_batch_search, is_search
from sizer.model.isolation import as_asked
from sizer.model.model import MeasuredRange, MemoryFloor, MemoryTrial, WorkloadFacts
from sizer.records.configuration import Configuration
from sizer.records.run_kinds import FINDINGS, MemoryPlace, Outcome

if TYPE_CHECKING:
    from sizer.records.run import Run


def overfilled_accelerators(runs: Iterable[Run]) -> tuple[Configuration, ...]:
    """The configurations that ran out of the memory of their accelerators, as far as the runs show.

    Where the record does not say whose memory it was, so did a run on accelerators whose host's memory was not
    accounted for, unless one completed with as large a batch on as many of them or fewer: then it was the host's.
    """
    runs = list(runs)
    held = dict.fromkeys(run.configuration for run in runs if run.outcome is Outcome.COMPLETED)
    told = dict.fromkeys(run.configuration for run in runs if run.ran_out_of is MemoryPlace.GPU)
    killed = dict.fromkeys(
        run.configuration
        for run in runs
        if run.outcome is Outcome.OUT_OF_MEMORY
        and run.ran_out_of is None
        and run.spec.workload.computes_on.kind not in HOST_ALONE
        and run.peak_anonymous_bytes is None
    )
    guessed = [each for each in killed if not any(fills_accelerators(other, each) for other in held)]
    return tuple(dict.fromkeys([*told, *guessed]))


def trials(runs: Iterable[Run]) -> tuple[MemoryTrial, ...]:
    """Every run that shows whether its memory cap held: one that timed out was not out of memory, so it is none.

    Nor is one whose memory is not known, or that ran out of its accelerators' instead, nor what a search for the
    largest batch completed: it says nothing of a smaller cap.
    """
    runs = list(runs)
    elsewhere = set(overfilled_accelerators(runs))
    found = {
        MemoryTrial(
            run.configuration.vcpus,
            run.configuration.batch_size,
            run.configuration.memory_bytes,
            run.outcome is Outcome.COMPLETED,
            run.peak_anonymous_bytes,
            run.peak_kernel_bytes,
            is_search(run),
            run.spec.limits.memory_bytes is not None and not run.imported and bool(as_asked([run])),
        ): None
        for run in runs
        if run.outcome in FINDINGS
        and run.configuration.memory_bytes is not None
        and not (run.outcome is Outcome.COMPLETED and is_batch_search(run))
        and not (_out_unseen(run) and run.configuration in elsewhere)
    }
    return tuple(found)


def _out_unseen(run: Run) -> bool:
    """Whether a run was out of memory, and not surely the host's."""
    return run.outcome is Outcome.OUT_OF_MEMORY and run.ran_out_of is not MemoryPlace.HOST


def memory_floor(runs: Sequence[Run]) -> MemoryFloor | None:
    """The bounds of the memory floor over all runs; None if no memory cap was set and none was hit.

    A cap at which one run completed and another was killed counts as too small. What a search for the largest batch
    was killed with is too small for that batch, and not for the workload's own.
    """
    runs = [run for run in runs if not is_batch_search(run)]
    limited = any(run.spec.limits.memory_bytes is not None for run in runs)
    known = trials(runs)
    return _bounds(known) if known and (limited or not all(trial.completed for trial in known)) else None


def floor_at(measured: MeasuredRange, vcpus: float | None, batch_size: int | None) -> MemoryFloor:
    """The bounds for one configuration: anonymous memory grows with workers and with the batch, never shrinks.

    So a kill with fewer vCPUs and a smaller batch is a kill here, and what held with more of both holds here.
    """
    asked = "floor", vcpus, batch_size
    if asked not in measured.kept:
        measured.kept[asked] = _found_floor(measured, vcpus, batch_size)
    found: MemoryFloor = measured.kept[asked]
    return found


def _found_floor(measured: MeasuredRange, vcpus: float | None, batch_size: int | None) -> MemoryFloor:
    fail = [
        t for t in measured.trials if not t.completed and no_more(t.vcpus, vcpus) and no_more(t.batch_size, batch_size)
    ]
    hold = [t for t in measured.trials if t.completed and no_more(vcpus, t.vcpus) and no_more(batch_size, t.batch_size)]
    if not hold:
        hold = [t for t in measured.trials if t.completed]
    return _bounds([*fail, *hold])


def does_not_fit(measured: MeasuredRange, configuration: Configuration) -> bool:
    """Whether it would run out of the host's memory or the accelerators', as what did, and what held, shows."""
    if any(needs_no_less(configuration, each) for each in measured.did_not_fit):
        return True
    if any(fills_accelerators(configuration, each) for each in measured.overfilled):
        return True
    floor = floor_at(measured, configuration.vcpus, configuration.batch_size)
    if floor.completed_bytes is not None and memory_of(configuration) >= floor.completed_bytes:
        return False
    if floor.out_of_memory_bytes is not None and memory_of(configuration) <= floor.out_of_memory_bytes:
        return True
    anonymous = anonymous_bytes(measured, configuration.vcpus, configuration.batch_size)
    return anonymous is not None and memory_of(configuration) < anonymous


MARGIN = 1.25
"""Memory kept free above the anonymous peak: libraries are charged elsewhere on the measuring host, and peaks vary."""


def needed_bytes(measured: MeasuredRange, vcpus: float | None, batch_size: int | None) -> int | None:
    """The smallest memory in which this configuration is known to keep the rate that was measured; None if none is.

    A cap at which an ordinary run held, here or with more vCPUs and a larger batch; or one that held anywhere and
    leaves MARGIN above what could not be dropped here: a study that varies memory at one vCPU limit knows the
    others, too. A cap that a search found to hold counts from that margin up: nearer the floor a run may crawl.
    """
    asked = "needed", vcpus, batch_size
    if asked not in measured.kept:
        measured.kept[asked] = _found_needed(measured, vcpus, batch_size)
    found: int | None = measured.kept[asked]
    return found


def _found_needed(measured: MeasuredRange, vcpus: float | None, batch_size: int | None) -> int | None:
    floor = floor_at(measured, vcpus, batch_size)
    shown = ordinary_bytes(measured, vcpus, batch_size)
    held = [shown] if shown is not None else []
    peak = undroppable_bytes(measured, vcpus, batch_size)
    if peak is not None:
        least = max(math.ceil(MARGIN * peak), (floor.out_of_memory_bytes or 0) + 1)
        completed = [trial for trial in measured.trials if trial.completed]
        held += [t.memory_bytes for t in completed if not t.searched and t.memory_bytes >= least]
        held += [max(t.memory_bytes, least) for t in completed if t.searched]
    return min(held, default=None)


def ordinary_bytes(measured: MeasuredRange, vcpus: float | None, batch_size: int | None) -> int | None:
    """The smallest memory above the floor at which a run that shows its rate held, as `floor_at` counts."""
    asked = "ordinary", vcpus, batch_size
    if asked not in measured.kept:
        measured.kept[asked] = _found_ordinary(measured, vcpus, batch_size)
    found: int | None = measured.kept[asked]
    return found


def _found_ordinary(measured: MeasuredRange, vcpus: float | None, batch_size: int | None) -> int | None:
    killed = floor_at(measured, vcpus, batch_size).out_of_memory_bytes or 0
    held = [t for t in measured.trials if t.completed and not t.searched and t.memory_bytes > killed]
    near = [t for t in held if no_more(vcpus, t.vcpus) and no_more(batch_size, t.batch_size)]
    return min((t.memory_bytes for t in near or held), default=None)


def only_completed(measured: MeasuredRange, vcpus: float | None, batch_size: int | None) -> tuple[int, int] | None:
    """The caps in bytes from which a search saw runs complete, and from which a rate was measured; None if as low."""
    low = floor_at(measured, vcpus, batch_size).completed_bytes
    high = ordinary_bytes(measured, vcpus, batch_size)
    return (low, high) if low is not None and high is not None and low < high else None


def _bounds(known: Sequence[MemoryTrial]) -> MemoryFloor:
    failed = max((trial.memory_bytes for trial in known if not trial.completed), default=None)
    held = [t.memory_bytes for t in known if t.completed and (failed is None or t.memory_bytes > failed)]
    return MemoryFloor(failed, min(held, default=None))


def anonymous_bytes(measured: MeasuredRange, vcpus: float | None, batch_size: int | None) -> int | None:
    """The largest anonymous memory seen at no more vCPUs and no larger batch; else the smallest seen at all."""
    return _peak(measured, vcpus, batch_size, kernel=False)


def undroppable_bytes(measured: MeasuredRange, vcpus: float | None, batch_size: int | None) -> int | None:
    """The same of anonymous memory with the kernel's own, where that is known: none of it can be dropped."""
    return _peak(measured, vcpus, batch_size, kernel=True)


def _peak(measured: MeasuredRange, vcpus: float | None, batch_size: int | None, kernel: bool) -> int | None:
    asked = "peak", vcpus, batch_size, kernel
    if asked not in measured.kept:
        measured.kept[asked] = _found_peak(measured, vcpus, batch_size, kernel)
    found: int | None = measured.kept[asked]
    return found


def _found_peak(measured: MeasuredRange, vcpus: float | None, batch_size: int | None, kernel: bool) -> int | None:
    """The runs of a search are short, so their peaks count only where no other was accounted."""
    known = [trial for trial in measured.trials if trial.completed and trial.anonymous_bytes]
    seen = [
        (trial, (trial.anonymous_bytes or 0) + ((trial.kernel_bytes or 0) if kernel else 0))
        for trial in [trial for trial in known if not trial.searched] or known
    ]
    near = [peak for trial, peak in seen if no_more(trial.vcpus, vcpus) and no_more(trial.batch_size, batch_size)]
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
