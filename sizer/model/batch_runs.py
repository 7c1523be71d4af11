"""Which batches fit into memory, as the runs of a search and the study's own show it, and why a search ended. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sizer.model.feeds import HOST_ALONE
from sizer.model.floor_runs import is_batch_search, is_search
from sizer.records.batch_sizes import LargestBatch, SearchEnd
from sizer.records.run import Run
from sizer.records.run_kinds import MemoryPlace, Outcome, Purpose
from sizer.records.study import Limits, RunSpec

CLOSE = 1.10
"""The largest batch is found when the smallest that ran out of memory is this much above the largest that held."""
MOST_BATCH_RUNS = 16
"""Runs of one search. From a batch of 32 to one of 96 it takes four, to a batch of some thousands about ten."""
HELD_STEPS = 5
"""Steps after which memory has held although the run's time was up. The first one does not show it: what the optimiser
keeps and the pipeline prepares ahead comes after it. SqueezeNet's training with MXNet under 2 GiB was killed at a batch
of 64 in its second step, and at 60 in its fourth."""
ROOM = 1.25
"""Memory above what a run could not drop from which it would have held under a smaller cap, too, as in `MARGIN`."""


@dataclass(frozen=True)
class Tried:
    """Batches of one accelerator that held and that ran out of memory at one place, and the run of the search that
    showed neither."""

    held: tuple[int, ...] = ()
    too_large: tuple[tuple[int, MemoryPlace | None], ...] = ()
    stopped: Run | None = None
    runs: int = 0

    @property
    def failed(self) -> int | None:
        """The smallest batch that ran out of memory; one that held once and ran out once is too large."""
        return min((batch for batch, _ in self.too_large), default=None)

    @property
    def largest(self) -> int | None:
        """The largest batch below it that held."""
        return max((batch for batch in self.held if self.failed is None or batch < self.failed), default=None)

    @property
    def close(self) -> bool:
        """Whether a batch between the two is not worth a run, or there is none."""
        low, high = self.largest or 0, self.failed
        return high is not None and high <= max(CLOSE * low, low + 1)


def tried(runs: Iterable[Run], base: RunSpec) -> Tried:
    """What the runs say of batches at the place of `base`: its workload, vCPUs and memory cap."""
    alike = [run for run in runs if run.spec.workload == base.workload and _place(run.spec) == _place(base)]
    cap = base.limits.memory_bytes
    whole = [run for run in alike if run.spec.stage is None and run.spec.purpose is not Purpose.FLOOR_SEARCH]
    own = [run for run in alike if is_batch_search(run) and run.spec.limits.memory_bytes == cap]
    held = [run for run in whole if _held(run) and _fits(run, cap)]
    too_large = [run for run in whole if _ran_out(run, cap)]
    other = [run for run in own if not _held(run) and run.outcome in (Outcome.CRASHED, Outcome.TIMEOUT)]
    return Tried(
        tuple(sorted({run.spec.batch_size for run in held})),
        tuple(sorted({run.spec.batch_size: run.ran_out_of for run in too_large}.items())),
        min(other, key=lambda run: run.spec.batch_size, default=None),
        len(own),
    )


def _place(spec: RunSpec) -> tuple[Limits, int]:
    """What must be the same of two runs beside their workload: which disk the data came from fills no memory."""
    return replace(spec.limits, memory_bytes=None, disk=None), spec.gpu_count


def is_bound(run: Run) -> bool:
    """Whether a run was only too slow for the search that made it: that ends the search, and nothing has failed."""
    return is_batch_search(run) and run.outcome is Outcome.TIMEOUT


def whole_data(runs: Sequence[Run]) -> int | None:
    """The largest batch of one accelerator that the data set of these runs can fill; None where no run shows it."""
    shown = [
        int(run.data_set.samples / each) if each == 1 else int(run.data_set.samples / (each + 1))
        for run in runs
        if run.data_set is not None and run.data_set.samples and (each := _samples_each(run))
    ]
    counts = [max(1, run.spec.gpu_count) for run in runs]
    return max(1, min(shown) // max(counts)) if shown else None


def largest_batch(runs: Sequence[Run], most: int = 0, unfinished: bool = False) -> LargestBatch | None:
    """What the latest search of a workload found; without one, what its own runs show. None where neither does.

    `most` is the largest batch that was to be tried, `unfinished` whether the search has a run left to be made.
    """
    latest = max(filter(is_batch_search, runs), key=lambda run: run.started_at or "", default=None)
    if latest is not None:
        found = tried(_on(runs, latest), latest.spec)
        return _largest(found, latest, unfinished_end(found, runs, most) if not unfinished else None)
    killed = [run for run in runs if _ran_out(run, None) and not is_search(run) and run.spec.batch_size > 1]
    # Each place once: a table may have very many rows that ran out of memory.
    shown = {(run.spec.workload, run.spec.limits, _accelerators(run)): run for run in killed}.values()
    together: dict[object, list[Run]] = defaultdict(list)
    for run in runs:
        together[_together(run)].append(run)
    places = [(tried(together[_together(run)], run.spec), run) for run in shown]
    known = [(found, run) for found, run in places if found.largest is not None and found.failed is not None]
    if not known:
        return None
    found, run = max(known, key=lambda each: (each[1].spec.limits.memory_bytes or 0, each[0].largest or 0))
    return _largest(found, run, SearchEnd.NOT_SEARCHED)


def _on(runs: Sequence[Run], at: Run) -> list[Run]:
    """Those with the accelerators of a run: a table may have several kinds of a job."""
    return [run for run in runs if _accelerators(run) == _accelerators(at)]


def _together(run: Run) -> object:
    """What runs have alike that are held against each other: workload, place and accelerators."""
    return run.spec.workload, _place(run.spec), _accelerators(run)


def _accelerators(run: Run) -> tuple[str | None, int | None]:
    return run.configuration.gpu, run.configuration.gpu_count


def unfinished_end(found: Tried, runs: Sequence[Run], most: int) -> SearchEnd | None:
    """Why a search is over; None where another run would show more."""
    if found.failed == 1:
        return SearchEnd.NOTHING_FITS
    if found.close:
        return SearchEnd.CLOSE
    largest, limit = found.largest, whole_data(runs)
    if largest is not None and found.failed is None and limit is not None and limit <= largest and limit < (most or 1):
        return SearchEnd.WHOLE_DATA
    if largest is not None and found.failed is None and most and largest >= most:
        return SearchEnd.MOST_TRIED
    if found.stopped is not None:
        return SearchEnd.CRASHED if found.stopped.outcome is Outcome.CRASHED else SearchEnd.TOO_SLOW
    return SearchEnd.MOST_RUNS if found.runs >= MOST_BATCH_RUNS else None


def _largest(found: Tried, at: Run, ended: SearchEnd | None) -> LargestBatch:
    where = dict(found.too_large).get(found.failed) if found.failed is not None else None
    alone = at.spec.workload.computes_on.kind in HOST_ALONE and at.configuration.gpu is None
    of_gpu = where is MemoryPlace.GPU or (where is None and not alone)
    stopped = ended in (SearchEnd.CRASHED, SearchEnd.TOO_SLOW) and found.stopped is not None
    return LargestBatch(
        found.largest,
        found.failed,
        where,
        None if of_gpu else at.spec.limits.memory_bytes,
        ended or SearchEnd.UNFINISHED,
        gpu=at.configuration.gpu or at.spec.workload.computes_on.gpu if of_gpu else None,
        failed=found.stopped.spec.batch_size if stopped and found.stopped is not None else None,
        pipeline_alone=at.spec.workload.computes_on.kind == "emulated",
    )


def _samples_each(run: Run) -> float:
    return run.steps[-1].samples / run.spec.samples_a_step if run.steps else 0.0


def _held(run: Run) -> bool:
    """A run of the search whose time was up after a few steps held, too: only its rate is not known."""
    slow = is_bound(run) and len(run.steps) >= HELD_STEPS
    return run.outcome is Outcome.COMPLETED or slow


def _fits(run: Run, cap: int | None) -> bool:
    """Whether a run that held shows that its batch does under this cap of the host's memory."""
    own = run.spec.limits.memory_bytes
    if cap is None or (own is not None and own <= cap):
        return True
    needed = (run.peak_anonymous_bytes or 0) + (run.peak_kernel_bytes or 0)
    return bool(run.peak_anonymous_bytes) and ROOM * needed <= cap


def _ran_out(run: Run, cap: int | None) -> bool:
    """Whether its batch does not fit under this cap: it ran out of the accelerator's memory, or of as much or more."""
    if run.outcome is not Outcome.OUT_OF_MEMORY:
        return False
    own = run.spec.limits.memory_bytes
    alone = run.spec.workload.computes_on.kind in HOST_ALONE
    elsewhere = run.ran_out_of is MemoryPlace.GPU or (run.ran_out_of is None and not alone)
    return elsewhere or cap is None or own is None or own >= cap
