"""The search for a workload's memory floor: which cap to try next, until the floor is known to within a tenth. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from sizer.model.model import LEAST_BYTES, WITHIN, Bounds, SearchedFloor
from sizer.model.runs import MOST_RUNS, bounds, caps, floor_from, same_floor, too_slow
from sizer.plan.configurations import configurations, representative
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome, Purpose
from sizer.records.study import RunSpec, Study
from sizer.records.units import MIB
from sizer.study.presets import HostSize

__all__ = ["MOST_RUNS", "WITHIN", "Search", "next_cap", "searches"]

STEP = 1.18
"""A step from a cap near the floor: one bisection of it is within WITHIN, with room for whole MiB."""
WIDE = 1.5
"""Bounds further apart than this are narrowed by what the runs needed before they are bisected."""
BLIND_STEP = 2.0
"""The first step where no run shows how much memory is needed; each step after it is the square of the one before."""
TYPICAL_RUNS = 4
SECONDS = 5.0
"""A cap holds if the run completes, which a short steady state shows."""
PRECISION = 0.1


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
    """The search of one workload."""

    most_runs: ClassVar[int] = MOST_RUNS
    usual_runs: ClassVar[int] = TYPICAL_RUNS

    def next_run(self, runs: Iterable[Run]) -> RunSpec | None:
        """The run that would show most; None when the floor is found, or cannot be found: see `found`."""
        here = self._here(runs)
        if self.found(here).given_up:
            return None
        too_small = [*caps(here, Outcome.OUT_OF_MEMORY), *too_slow(here, self._own(here))]
        cap = next_cap(caps(here, Outcome.COMPLETED), too_small, _expected(here), self.most_bytes)
        return self.at(cap) if cap is not None else None

    def found(self, runs: Iterable[Run]) -> SearchedFloor:
        """What is known of the floor, and why the search was given up if it was."""
        here = self._here(runs)
        return floor_from(here, self._own(here))

    def _own(self, runs: Iterable[Run]) -> list[Run]:
        return [run for run in runs if self.includes(run.spec)]

    def _here(self, runs: Iterable[Run]) -> list[Run]:
        """The runs that say of a cap whether it holds: with this workload, batch, and share of vCPUs."""
        return [run for run in runs if same_floor(run.spec, self.base)]


def searches(study: Study, host: HostSize) -> tuple[Search, ...]:
    """The searches that a study asks for: each at the workload's point, or else its most vCPUs; short runs, once."""
    found = []
    for each in study.workloads:
        if each.memory_floor:
            spec = representative(configurations(each, study, host), study, host)
            measure = replace(
                study.measure, repeats=1, seconds=min(study.measure.seconds, SECONDS), precision=PRECISION
            )
            uncapped = replace(spec.limits, memory_bytes=None)
            base = replace(spec, limits=uncapped, measure=measure, purpose=Purpose.FLOOR_SEARCH)
            found.append(Search(base, host.memory_bytes // MIB * MIB))
    return tuple(found)


def next_cap(held: Sequence[int], too_small: Sequence[int], expected: int | None, most_bytes: int) -> int | None:
    """The next cap in bytes, a whole MiB; None when the bounds are close, or nothing is left to try.

    `expected` is the memory that completed runs needed. Bounds far apart are narrowed there first; then steps that
    grow lead to a cap on the other side, and bisection of the ratio between.
    """
    known = bounds(held, too_small)
    if known.close:
        return None
    low, high = known.too_small, known.held
    if low is not None and high is not None and (expected is None or high <= WIDE * low):
        return _whole(math.sqrt(low * high), known)
    if low is not None and (expected is None or low >= expected / STEP):
        return _whole(min(low * _step(too_small, expected), most_bytes), known)
    if high is not None and (expected is None or high <= expected * STEP):
        return _whole(high / _step(held, expected), known)
    return _whole(min(expected or most_bytes, most_bytes), known)


def _step(tried: Sequence[int], expected: int | None) -> float:
    """A factor that grows with the caps tried near `expected` in vain."""
    if expected is None:
        return float(BLIND_STEP**2 ** min(len(set(tried)) - 1, 3))
    near = sum(expected / BLIND_STEP < cap < expected * BLIND_STEP for cap in set(tried))
    return float(STEP ** max(near, 1))


def _whole(cap: float, known: Bounds) -> int | None:
    """The cap in whole MiB, strictly between the bounds, or the middle between them; None if none is."""
    low, high = known.too_small or 0, known.held or math.inf
    choices = (cap, math.sqrt(low * high) if low and known.held else cap)
    whole = (max(round(choice / MIB) * MIB, LEAST_BYTES) for choice in choices)
    return next((choice for choice in whole if low < choice < high), None)


def _expected(trials: Iterable[Run]) -> int | None:
    """The most memory that cannot be dropped, as completed runs show it; None where it was not accounted."""
    peaks = [
        run.memory.peak_anonymous_bytes + (run.memory.peak_kernel_bytes or 0)
        for run in trials
        if run.outcome is Outcome.COMPLETED and run.memory.peak_anonymous_bytes
    ]
    return max(peaks, default=None)
