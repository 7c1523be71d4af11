"""Memory: below which cap a workload does not run, and what the page cache keeps of its reads."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from sizer.model.model import Facts, Measured, MemoryFloor, MemoryTrial
from sizer.records import Outcome, Run

FLOOR_SEARCH = "memory floor: measured for a few seconds to see whether this cap holds, so the rate counts for nothing"
"""The warning of a run of a search for the memory floor. Near the floor the kernel drops and reads again what it can,
so such a run may be slow: it tells whether its cap holds, not how fast the workload is."""


def trials(runs: Iterable[Run]) -> tuple[MemoryTrial, ...]:
    """Every run that tells whether its memory cap held."""
    telling = (Outcome.COMPLETED, Outcome.OUT_OF_MEMORY)
    found = {
        MemoryTrial(
            run.configuration.vcpus,
            run.configuration.batch_size,
            run.configuration.memory_bytes,
            run.outcome is Outcome.COMPLETED,
            run.peak_anonymous_bytes,
        ): None
        for run in runs
        if run.outcome in telling
    }
    return tuple(found)


def memory_floor(runs: Sequence[Run]) -> MemoryFloor | None:
    """The bounds of the memory floor over all runs; None if no memory cap was set and none was hit.

    A cap at which one run completed and another was killed counts as too small.
    """
    limited = any(run.spec.limits.memory_bytes is not None for run in runs)
    known = trials(runs)
    return _bounds(known) if known and (limited or not all(trial.completed for trial in known)) else None


def floor_at(measured: Measured, vcpus: float, batch_size: int) -> MemoryFloor:
    """The bounds for one configuration: anonymous memory grows with workers and with the batch, never shrinks.

    So a kill with fewer vCPUs and a smaller batch is a kill here, and what held with more of both holds here.
    """
    fail = [t for t in measured.trials if not t.completed and t.vcpus <= vcpus and t.batch_size <= batch_size]
    hold = [t for t in measured.trials if t.completed and t.vcpus >= vcpus and t.batch_size >= batch_size]
    if not hold:
        hold = [t for t in measured.trials if t.completed]
    return _bounds([*fail, *hold])


MARGIN = 1.25
"""Memory kept free above the anonymous peak: libraries are charged elsewhere on the measuring host, and peaks vary."""


def needed_bytes(measured: Measured, vcpus: float, batch_size: int) -> int | None:
    """The smallest memory that this configuration is known to run in; None if nothing completed.

    A cap that held here, or with more vCPUs and a larger batch; or one that held anywhere and leaves MARGIN above the
    anonymous memory seen here: a study that varies memory at one vCPU limit tells of the others, too.
    """
    floor = floor_at(measured, vcpus, batch_size)
    anonymous = anonymous_bytes(measured, vcpus, batch_size)
    if anonymous is None or floor.completed_bytes is None:
        return floor.completed_bytes
    least = max(MARGIN * anonymous, (floor.out_of_memory_bytes or 0) + 1)
    elsewhere = [t.memory_bytes for t in measured.trials if t.completed and t.memory_bytes >= least]
    return min([floor.completed_bytes, *elsewhere])


def _bounds(known: Sequence[MemoryTrial]) -> MemoryFloor:
    failed = max((trial.memory_bytes for trial in known if not trial.completed), default=None)
    held = [t.memory_bytes for t in known if t.completed and (failed is None or t.memory_bytes > failed)]
    return MemoryFloor(failed, min(held, default=None))


def anonymous_bytes(measured: Measured, vcpus: float, batch_size: int) -> int | None:
    """The largest anonymous memory seen at no more vCPUs and no larger batch; else the smallest seen at all."""
    seen = [trial for trial in measured.trials if trial.completed and trial.anonymous_bytes]
    near = [t.anonymous_bytes or 0 for t in seen if t.vcpus <= vcpus and t.batch_size <= batch_size]
    return max(near) if near else min((t.anonymous_bytes or 0 for t in seen), default=None)


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


def cached_fraction(facts: Facts, memory_bytes: float, anonymous: float | None, data_factor: float = 1.0) -> float:
    """The share of the data set that fits beside the anonymous memory; 0 where the cache is not kept between epochs."""
    if not facts.natural or not facts.data_bytes:
        return 0.0
    return min(1.0, max(0.0, memory_bytes - (anonymous or 0)) / (facts.data_bytes * data_factor))
