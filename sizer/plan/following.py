"""What comes after the runs of a plan, each next run of which depends on runs before it: the search for a workload's
memory floor, that for its largest batch, each until it is known to within a tenth, and the two-epoch pass. Pure.

A two-epoch pass is one run under a memory cap that holds half of the data, which shows what the page cache serves; its
cap follows from runs before it, for nobody knows how much memory a program needs until it has run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import ClassVar

from sizer.model import runs as model_runs
from sizer.model.model import LEAST_BYTES, Bounds, SearchedFloor
from sizer.plan.configurations import configurations, reads_its_data, representative
from sizer.plan.run_order import UNFINISHED
from sizer.records.run import Run
from sizer.records.run_kinds import LargestBatch, Outcome, Purpose
from sizer.records.study import RunSpec, Study
from sizer.records.units import MIB
from sizer.study.presets import HostSize

STEP = 1.18
"""A step from a cap near the floor: one bisection of it is within a tenth, with room for whole MiB."""
WIDE = 1.5
"""Bounds further apart than this are narrowed by what the runs needed before they are bisected."""
BLIND_STEP = 2.0
"""The first step where no run shows how much memory is needed; each step after it is the square of the one before."""
FLOOR_SECONDS, BATCH_SECONDS = 5.0, 2.0
"""A cap holds if the run completes, which a short steady state shows, and a batch if a few steps of it are made."""
PRECISION = 0.1
TIMEOUT = 300.0
"""Seconds of a run with a batch to try that is not told otherwise: one of which not even five steps are made in five
minutes is none that is worth what a search with it costs."""
SHARE_OF_HOST = 0.9
"""Share of the host's memory that is the cap where the study sets none: past it the host itself would be out of it."""
FINEST = 16
"""Halves are rounded to a whole number of so many parts of the power of two below them: 96, 104, 112."""
FEWEST_BYTES = 64 * MIB
"""Of a smaller data set, half is no more than what differs between two runs of one program."""
BETWEEN = (0.2, 0.8)
"""Share of the data in memory at which LRU and the cached fraction lie far enough apart to be distinguished."""
MOST_TIMES = 20
"""Times the seconds of a run that two epochs may take: ten minutes in a standard study."""


@dataclass(frozen=True)
class CappedRuns:
    """`base` under one memory cap or another, none of which is above `most_bytes`."""

    base: RunSpec
    most_bytes: int

    def at(self, cap: int) -> RunSpec:
        """The run with this cap."""
        return replace(self.base, limits=replace(self.base.limits, memory_bytes=cap))

    def includes(self, spec: RunSpec) -> bool:
        """Whether a run is one of these, under whatever cap."""
        alike = replace(spec, limits=replace(spec.limits, memory_bytes=None), purpose=self.base.purpose)
        return alike == self.base and spec.stage == self.base.stage


@dataclass(frozen=True)
class Search(CappedRuns):
    """The search for the memory floor of one workload."""

    most_runs: ClassVar[int] = model_runs.MOST_RUNS
    usual_runs: ClassVar[int] = 4

    def next_run(self, runs: Iterable[Run]) -> RunSpec | None:
        """The run that would show most; None when the floor is found, or cannot be found: see `result`."""
        here = [run for run in runs if model_runs.same_floor(run.spec, self.base)]
        if self.result(here).given_up:
            return None
        own = [run for run in here if self.includes(run.spec)]
        too_small = [*model_runs.caps(here, Outcome.OUT_OF_MEMORY), *model_runs.too_slow(here, own)]
        expected = max(map(_own_bytes, (run for run in here if run.outcome is Outcome.COMPLETED)), default=0)
        cap = next_cap(model_runs.caps(here, Outcome.COMPLETED), too_small, expected or None, self.most_bytes)
        return self.at(cap) if cap is not None else None

    def result(self, runs: Iterable[Run]) -> SearchedFloor:
        """What is known of the floor, and why the search was given up if it was: by the runs with this workload, batch,
        and share of vCPUs."""
        here = [run for run in runs if model_runs.same_floor(run.spec, self.base)]
        return model_runs.floor_from(here, [run for run in here if self.includes(run.spec)])


@dataclass(frozen=True)
class BatchSearch:
    """The search for the largest batch of one workload: `base` with one batch or another, none above `most`."""

    most_runs: ClassVar[int] = model_runs.MOST_RUNS
    usual_runs: ClassVar[int] = 6
    """Three doublings and three halves, from the largest batch of the study."""

    base: RunSpec
    most: int

    def at(self, batch: int) -> RunSpec:
        """The run with this batch."""
        return replace(self.base, batch_size=batch)

    def includes(self, spec: RunSpec) -> bool:
        """Whether a run is one of these, with whatever batch."""
        return replace(spec, batch_size=self.base.batch_size) == self.base

    def next_run(self, runs: Iterable[Run]) -> RunSpec | None:
        """The run that would show most; None when the largest batch is known, or cannot be found: see `result`."""
        own = self._own(runs)
        seen = model_runs.tried(own, self.base)
        if model_runs.unfinished_end(seen, own, self.most) is not None:
            return None
        batch = next_batch(seen, self.base.batch_size, min(self.most, model_runs.whole_data(own) or self.most))
        return None if batch is None else self.at(batch)

    def result(self, runs: Iterable[Run]) -> LargestBatch | None:
        """What is known of the largest batch, and why the search ended; None where no run of it was made."""
        own = self._own(runs)
        return model_runs.largest_batch(own, self.most, unfinished=self.next_run(own) is not None)

    def _own(self, runs: Iterable[Run]) -> list[Run]:
        return [run for run in runs if run.spec.workload == self.base.workload]


class ObstacleKind(str, Enum):
    """Why a pass cannot be made."""

    MEMORY_UNKNOWN = "memory_unknown"
    """No run shows how much memory it needs."""
    SMALL_DATA = "small_data"
    """Its data set has so many bytes."""
    SMALL_HOST = "small_host"
    """The host has too little memory for half of so many bytes."""
    LONG = "long"
    """It would take so many seconds."""
    NOT_MADE = "not_made"
    """The run was not made, whatever stopped it."""


@dataclass(frozen=True)
class PassResult:
    """How the pass ended and its hit rate; where it was not made, why, with the bytes or seconds of that kind, or
    nothing if another run shows the same."""

    outcome: Outcome | None = None
    hit_rate: float | None = None
    obstacle: ObstacleKind | None = None
    figure: float = 0.0


@dataclass(frozen=True)
class TwoEpochs(CappedRuns):
    """The pass of one workload."""

    most_runs: ClassVar[int] = 1
    usual_runs: ClassVar[int] = 1

    def next_run(self, runs: Iterable[Run]) -> RunSpec | None:
        """The pass; None where it is there, is not needed, or cannot be made: see `result`."""
        made = list(runs)
        if self.is_done(made) or self._obstacle(made) is not None:
            return None
        own, data = _needed(self._whole_job(made))
        return self.at(round((own + data / 2) / MIB) * MIB)

    def is_done(self, runs: Iterable[Run]) -> bool:
        """Whether a run has shown it: the pass itself however it ended, or one as asked for under such a cap."""
        return self.result(runs).obstacle is None

    def result(self, runs: Iterable[Run]) -> PassResult:
        """What was measured, or why nothing was."""
        made = list(runs)
        own = [run for run in made if self.includes(run.spec) and run.outcome not in UNFINISHED]
        if own:
            return PassResult(own[-1].outcome, own[-1].conditions.hit_rate)
        if any(run.spec.workload.cache == "natural" and _holds_a_part(run) for run in self._whole_job(made)):
            return PassResult()
        return self._obstacle(made) or PassResult(obstacle=ObstacleKind.NOT_MADE)

    def least_seconds(self, runs: Iterable[Run]) -> float:
        """How long its two epochs take at the lowest rate that was seen; 0 where that is not known."""
        whole = self._whole_job(list(runs))
        samples = max((run.data_set.samples for run in whole if run.data_set is not None), default=0)
        slowest = min((run.throughput.value for run in whole if run.throughput is not None), default=0.0)
        return 2 * samples / slowest if slowest > 0 else 0.0

    def _whole_job(self, runs: Sequence[Run]) -> list[Run]:
        """Completed runs of the workload as asked for; of these, if any, those with the limits of the pass."""
        name = self.base.workload.name
        whole = [
            run
            for run in model_runs.as_asked(runs)
            if run.spec.workload.name == name and run.outcome is Outcome.COMPLETED
        ]
        return [run for run in whole if _limits_and_batch(run.spec) == _limits_and_batch(self.base)] or whole

    def _obstacle(self, runs: Sequence[Run]) -> PassResult | None:
        """Why the pass cannot be made from what is known; None where it can."""
        own, data = _needed(self._whole_job(runs))
        seconds = self.least_seconds(runs)
        obstacles = (
            (ObstacleKind.MEMORY_UNKNOWN, 0, not own),
            (ObstacleKind.SMALL_DATA, data, data < FEWEST_BYTES),
            (ObstacleKind.SMALL_HOST, data, own + data / 2 > self.most_bytes),
            (ObstacleKind.LONG, seconds, seconds > MOST_TIMES * self.base.measure.seconds),
        )
        return next((PassResult(obstacle=kind, figure=figure) for kind, figure, holds in obstacles if holds), None)


Following = Search | BatchSearch | TwoEpochs


def following_runs(study: Study, host: HostSize) -> tuple[Following, ...]:
    """The passes, searches for memory floors and searches for largest batches that a study asks for, in this order,
    each at its workload's point, or else its most vCPUs and memory.

    Passes are of workloads that read their data in a new order each epoch: what is read in one order is served by the
    page cache if all of it fits, and not at all if it does not. A largest batch is searched for under the study's own
    cap, or most of the host's memory; of a job on a GPU the GPU's own memory ends it.
    """
    passes: list[Following] = []
    floors: list[Following] = []
    batches: list[Following] = []
    for plan in study.workloads:
        spec = representative(configurations(plan, study, host), study, host)
        uncapped = replace(spec, limits=replace(spec.limits, memory_bytes=None))
        short = replace(study.measure, repeats=1, precision=PRECISION)
        shuffled = plan.workload.kind == "image_training" and plan.workload.shuffles
        if plan.isolate and shuffled and reads_its_data(spec):
            natural = replace(plan.workload, cache="natural")
            passes.append(TwoEpochs(replace(uncapped, workload=natural, purpose=Purpose.TWO_EPOCHS), host.memory_bytes))
        if plan.memory_floor:
            measure = replace(short, seconds=min(short.seconds, FLOOR_SECONDS))
            base = replace(uncapped, measure=measure, purpose=Purpose.FLOOR_SEARCH)
            floors.append(Search(base, host.memory_bytes // MIB * MIB))
        if plan.largest_batch:
            cap = spec.limits.memory_bytes
            if cap is None and plan.workload.computes_on.kind != "cuda":
                cap = int(SHARE_OF_HOST * host.memory_bytes) // MIB * MIB
            base = replace(
                spec,
                batch_size=max(plan.batch_size),
                limits=replace(spec.limits, memory_bytes=cap),
                measure=replace(short, seconds=min(short.seconds, BATCH_SECONDS), timeout=short.timeout or TIMEOUT),
                purpose=Purpose.BATCH_SEARCH,
            )
            batches.append(BatchSearch(base, plan.most_batch))
    return (*passes, *floors, *batches)


def next_cap(held: Sequence[int], too_small: Sequence[int], expected: int | None, most_bytes: int) -> int | None:
    """The next cap in bytes, a whole MiB; None when the bounds are close, or nothing is left to try.

    `expected` is the memory that completed runs needed. Bounds far apart are narrowed there first; then steps that
    grow lead to a cap on the other side, and bisection of the ratio between.
    """
    bounds = model_runs.bounds(held, too_small)
    if bounds.close:
        return None
    low, high = bounds.too_small, bounds.held
    if low is not None and high is not None and (expected is None or high <= WIDE * low):
        return _whole(math.sqrt(low * high), bounds)
    if low is not None and (expected is None or low >= expected / STEP):
        return _whole(min(low * _step(too_small, expected), most_bytes), bounds)
    if high is not None and (expected is None or high <= expected * STEP):
        return _whole(high / _step(held, expected), bounds)
    return _whole(min(expected or most_bytes, most_bytes), bounds)


def _step(tried: Sequence[int], expected: int | None) -> float:
    """A factor that grows with the caps tried near `expected` in vain."""
    if expected is None:
        return float(BLIND_STEP**2 ** min(len(set(tried)) - 1, 3))
    near = sum(expected / BLIND_STEP < cap < expected * BLIND_STEP for cap in set(tried))
    return float(STEP ** max(near, 1))


def _whole(cap: float, bounds: Bounds) -> int | None:
    """The cap in whole MiB, strictly between the bounds, or the middle between them; None if none is."""
    low, high = bounds.too_small or 0, bounds.held or math.inf
    choices = (cap, math.sqrt(low * high) if low and bounds.held else cap)
    whole = (max(round(choice / MIB) * MIB, LEAST_BYTES) for choice in choices)
    return next((choice for choice in whole if low < choice < high), None)


def next_batch(seen: model_runs.Tried, first: int, most: int) -> int | None:
    """Twice the largest that held, half of the smallest that did not, then the middle between the two, as a round
    number; None where they are close, or none is left up to `most`."""
    held, failed = seen.largest, seen.failed
    if seen.close:
        return None
    if held is None:
        return min(first, most) if failed is None else failed // 2 or None
    if failed is None:
        return min(2 * held, most) if held < most else None
    middle = (held + failed) // 2
    part = max(1, 2 ** (middle.bit_length() - 1) // FINEST)
    rounded = round(middle / part) * part
    return rounded if held < rounded < failed else middle


def _limits_and_batch(spec: RunSpec) -> tuple[float | None, str | None, int, int]:
    return spec.limits.vcpus, spec.limits.disk, spec.batch_size, spec.gpu_count


def _own_bytes(run: Run) -> int:
    """The memory that cannot be dropped; 0 where it was not accounted."""
    memory = run.memory
    return memory.peak_anonymous_bytes + (memory.peak_kernel_bytes or 0) if memory.peak_anonymous_bytes else 0


def _needed(whole: Sequence[Run]) -> tuple[int, int]:
    """The most memory in bytes that these runs needed for themselves, and the bytes of their data."""
    own = max(map(_own_bytes, whole), default=0)
    return own, max((run.data_set.bytes for run in whole if run.data_set is not None), default=0)


def _holds_a_part(run: Run) -> bool:
    """Whether a run had memory for a part of its data, neither nearly none nor nearly all."""
    cap, own, data = run.spec.limits.memory_bytes, *_needed([run])
    return bool(cap and data and own) and BETWEEN[0] <= ((cap or 0) - own) / data <= BETWEEN[1]
