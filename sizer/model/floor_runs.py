"""What a search for a workload's memory floor found, and why it ended, from its runs. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from sizer.model.coordinates import memory_of
from sizer.records.run_kinds import SEARCHES, Outcome, Purpose
from sizer.records.units import MIB

if TYPE_CHECKING:
    from sizer.records.run import Run
    from sizer.records.study import RunSpec

WITHIN = 1.10
"""The floor is found when the smallest cap that held is this much above the largest that did not."""
LEAST_BYTES = 8 * MIB
"""No interpreter starts below it, so there is no use in looking there."""
MOST_RUNS = 16
"""Runs of one search. With an anonymous peak to start from it takes 3 or 4, without one about 10."""


@dataclass(frozen=True)
class Bounds:
    """The largest cap in bytes that was too small and the smallest above it that completed; None if none did."""

    too_small: int | None
    held: int | None

    @property
    def close(self) -> bool:
        """Whether they are within a tenth or a MiB of each other, or next to the least that is looked at."""
        low = self.too_small or 0
        return self.held is not None and self.held <= max(WITHIN * low, low + MIB, LEAST_BYTES)


class GivenUpKind(str, Enum):
    """Why a search ended before its bounds were close."""

    CRASHED = "crashed"
    """The run with so many bytes crashed, which says nothing of the cap."""
    TIMED_OUT = "timed_out"
    """The run with so many bytes timed out, and no larger cap completed."""
    MOST_RUNS = "most_runs"
    """So many runs were made."""


@dataclass(frozen=True)
class GivenUp:
    """Why a search was given up, with the bytes or the runs of its kind."""

    kind: GivenUpKind
    figure: int


@dataclass(frozen=True)
class SearchedFloor:
    """The bounds after a search; `timed_out` if the lower one is of a run that was too slow and not killed.

    `given_up` says why the search ended before the bounds were close, None if it did not. `pipeline_alone` where the
    accelerator was emulated.
    """

    bounds: Bounds
    timed_out: bool = False
    given_up: GivenUp | None = None
    pipeline_alone: bool = False


def is_search(run: Run) -> bool:
    """Whether a run was made to see whether it fits into memory, and not how fast it is."""
    return run.spec.purpose in SEARCHES


def is_batch_search(run: Run) -> bool:
    """Whether a run was made to see whether its batch fits."""
    return run.spec.purpose is Purpose.BATCH_SEARCH


def is_floor_search(run: Run) -> bool:
    """Whether a run was made by a search for the memory floor."""
    return run.spec.purpose is Purpose.FLOOR_SEARCH


def ordinary(runs: Iterable[Run]) -> tuple[Run, ...]:
    """The runs that were made to show a rate."""
    return tuple(run for run in runs if not is_search(run))


def same_floor(spec: RunSpec, other: RunSpec) -> bool:
    """Whether a cap that holds for one run holds for the other: workload, batch and share of vCPUs are the same."""
    mine, its = ((each.workload, each.batch_size, each.gpu_count, each.limits.vcpus) for each in (spec, other))
    return mine == its


def searched_floor(runs: Sequence[Run]) -> SearchedFloor | None:
    """What the latest search among the stored runs of a workload found; None if there was none."""
    latest = max(filter(is_floor_search, runs), key=lambda run: run.started_at or "", default=None)
    if latest is None:
        return None
    here = [run for run in runs if same_floor(run.spec, latest.spec)]
    return floor_from(here, [run for run in here if is_floor_search(run)])


def floor_from(here: Sequence[Run], own: Sequence[Run]) -> SearchedFloor:
    """What all runs `here`, at the place of a search, and its `own` among them say.

    Without swap a cap near the floor makes a run slow before it is killed: a run of the search that timed out was too
    small if a larger cap completed; else nothing shows that its cap was the reason.
    """
    held = caps(here, Outcome.COMPLETED)
    slow = too_slow(here, own)
    killed = caps(here, Outcome.OUT_OF_MEMORY)
    found = bounds(held, [*killed, *slow])
    return SearchedFloor(
        found,
        timed_out=found.too_small is not None and found.too_small > max(killed, default=0),
        given_up=None if found.close else _given_up(own, slow),
        pipeline_alone=any(run.spec.workload.computes_on.kind == "emulated" for run in here),
    )


def too_slow(here: Sequence[Run], own: Sequence[Run]) -> list[int]:
    """The caps in bytes at which a run of the search timed out and above which a run completed."""
    most = max(caps(here, Outcome.COMPLETED), default=0)
    return [cap for cap in caps(own, Outcome.TIMEOUT) if cap < most]


def _given_up(own: Sequence[Run], slow: Sequence[int]) -> GivenUp | None:
    for run in own:
        cap = memory_of(run.configuration)
        if run.outcome is Outcome.CRASHED:
            return GivenUp(GivenUpKind.CRASHED, cap)
        if run.outcome is Outcome.TIMEOUT and cap not in slow:
            return GivenUp(GivenUpKind.TIMED_OUT, cap)
    return GivenUp(GivenUpKind.MOST_RUNS, len(own)) if len(own) >= MOST_RUNS else None


def bounds(held: Iterable[int], too_small: Iterable[int]) -> Bounds:
    """The bounds of the floor by all caps that were tried: one that held once and was killed once is too small."""
    failed = max(too_small, default=None)
    return Bounds(failed, min((cap for cap in held if failed is None or cap > failed), default=None))


def caps(runs: Iterable[Run], outcome: Outcome) -> list[int]:
    """The memory in bytes of the runs that ended so; a run without a cap had the host's."""
    return [memory_of(run.configuration) for run in runs if run.outcome is outcome]
