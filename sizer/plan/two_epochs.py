"""The two-epoch pass: one run under a memory cap that holds half of the data, which shows what the page cache serves.

Its cap follows from runs before it, for nobody knows how much memory a program needs until it has run. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import ClassVar

from sizer.model.runs import as_asked
from sizer.plan.configurations import configurations, representative
from sizer.plan.floor_search import CappedRuns
from sizer.plan.isolating_runs import reads_its_data
from sizer.plan.run_order import UNFINISHED
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome, Purpose
from sizer.records.study import Limits, RunSpec, Study
from sizer.records.units import MIB
from sizer.study.presets import HostSize

FEWEST_BYTES = 64 * MIB
"""Of a smaller data set, half is no more than what differs between two runs of one program."""

BETWEEN = (0.2, 0.8)
"""Share of the data in memory at which LRU and the cached fraction lie far enough apart to be distinguished."""

MOST_TIMES = 20
"""Times the seconds of a run that two epochs may take: ten minutes in a standard study."""


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
class Obstacle:
    """Why a pass was not made, with the bytes or seconds of its kind."""

    kind: ObstacleKind
    figure: float = 0.0


@dataclass(frozen=True)
class PassResult:
    """How the pass ended and its hit rate; where it was not made, why, or nothing if another run shows the same."""

    outcome: Outcome | None = None
    hit_rate: float | None = None
    obstacle: Obstacle | None = None


@dataclass(frozen=True)
class TwoEpochs(CappedRuns):
    """The pass of one workload."""

    most_runs: ClassVar[int] = 1
    usual_runs: ClassVar[int] = 1

    def next_run(self, runs: Iterable[Run]) -> RunSpec | None:
        """The pass; None where it is there, is not needed, or cannot be made: see `result`."""
        known = list(runs)
        if self.is_done(known) or self._obstacle(known):
            return None
        whole = self._whole_job(known)
        return self.at(_rounded(_needed(whole) + _data_bytes(whole) / 2))

    def is_done(self, runs: Iterable[Run]) -> bool:
        """Whether a run has shown it: the pass itself however it ended, or one as asked for under such a cap."""
        known = list(runs)
        if any(self.includes(run.spec) and run.outcome not in UNFINISHED for run in known):
            return True
        whole = self._whole_job(known)
        return any(run.spec.workload.cache == "natural" and _holds_a_part(run) for run in whole)

    def result(self, runs: Iterable[Run]) -> PassResult:
        """What was measured, or why nothing was."""
        known = list(runs)
        own = [run for run in known if self.includes(run.spec) and run.outcome not in UNFINISHED]
        if own:
            return PassResult(own[-1].outcome, own[-1].conditions.hit_rate)
        if self.is_done(known):
            return PassResult()
        return PassResult(obstacle=self._obstacle(known) or Obstacle(ObstacleKind.NOT_MADE))

    def least_seconds(self, runs: Iterable[Run]) -> float:
        """How long its two epochs take at the lowest rate that was seen; 0 where that is not known."""
        return _seconds(self._whole_job(list(runs)))

    def _whole_job(self, runs: Sequence[Run]) -> list[Run]:
        """Completed runs of the workload as asked for; of these, if any, those with the limits of the pass."""
        base = self.base
        whole = [
            run
            for run in as_asked(runs)
            if run.spec.workload.name == base.workload.name and run.outcome is Outcome.COMPLETED
        ]
        return [run for run in whole if _limits_and_batch(run.spec) == _limits_and_batch(base)] or whole

    def _obstacle(self, runs: Sequence[Run]) -> Obstacle | None:
        """Why the pass cannot be made from what is known; None where it can."""
        whole = self._whole_job(runs)
        if not _needed(whole):
            return Obstacle(ObstacleKind.MEMORY_UNKNOWN)
        data = _data_bytes(whole)
        if data < FEWEST_BYTES:
            return Obstacle(ObstacleKind.SMALL_DATA, data)
        if _needed(whole) + data / 2 > self.most_bytes:
            return Obstacle(ObstacleKind.SMALL_HOST, data)
        seconds = _seconds(whole)
        return Obstacle(ObstacleKind.LONG, seconds) if seconds > MOST_TIMES * self.base.measure.seconds else None


def two_epoch_passes(study: Study, host: HostSize) -> tuple[TwoEpochs, ...]:
    """The passes that a study asks for: of workloads that read their data in a new order each epoch.

    What is read in one order each time is served by the page cache if all of it fits, and not at all if it does not.
    """
    found = []
    for each in study.workloads:
        spec = representative(configurations(each, study, host), study, host)
        shuffled = each.workload.kind == "image_training" and each.workload.shuffles
        if each.isolate and shuffled and reads_its_data(spec):
            base = replace(
                spec,
                workload=replace(each.workload, cache="natural"),
                limits=Limits(spec.limits.vcpus, None, spec.limits.disk),
                purpose=Purpose.TWO_EPOCHS,
            )
            found.append(TwoEpochs(base, host.memory_bytes))
    return tuple(found)


def _limits_and_batch(spec: RunSpec) -> tuple[float | None, str | None, int, int]:
    return spec.limits.vcpus, spec.limits.disk, spec.batch_size, spec.gpu_count


def _needed(whole: Sequence[Run]) -> int:
    """The most memory in bytes that a run needed and that cannot be dropped; 0 where it was not accounted."""
    return max((_own_bytes(run) for run in whole), default=0)


def _own_bytes(run: Run) -> int:
    anonymous = run.memory.peak_anonymous_bytes
    return anonymous + (run.memory.peak_kernel_bytes or 0) if anonymous else 0


def _data_bytes(whole: Sequence[Run]) -> int:
    return max((run.data_set.bytes for run in whole if run.data_set is not None), default=0)


def _seconds(whole: Sequence[Run]) -> float:
    """How long two epochs take at the lowest rate; 0 where it is not known how many samples one has."""
    samples = max((run.data_set.samples for run in whole if run.data_set is not None), default=0)
    slowest = min((run.throughput.value for run in whole if run.throughput is not None), default=0.0)
    return 2 * samples / slowest if slowest > 0 else 0.0


def _holds_a_part(run: Run) -> bool:
    """Whether a run had memory for a part of its data, neither nearly none nor nearly all."""
    cap, data = run.spec.limits.memory_bytes, run.data_set.bytes if run.data_set is not None else 0
    own = _own_bytes(run)
    return bool(cap and data and own) and BETWEEN[0] <= ((cap or 0) - own) / data <= BETWEEN[1]


def _rounded(cap: float) -> int:
    return round(cap / MIB) * MIB
