"""The search for a workload's memory floor: which cap to try next, until the floor is known to within a tenth. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sizer.configurations import configurations, standing
from sizer.model.memory import FLOOR_SEARCH
from sizer.records import Outcome, Run, RunSpec, Study
from sizer.study import Facts
from sizer.units import format_bytes

WITHIN = 1.10
"""The floor is found when the smallest cap that held is this much above the largest that did not."""
STEP = 1.18
"""A step from a cap near the floor: one bisection of it is within WITHIN, with room for whole MiB."""
WIDE = 1.5
"""Bounds further apart than this are narrowed by what the runs needed before they are bisected."""
BLIND_STEP = 2.0
"""The first step where no run tells how much memory is needed; each step after it is the square of the one before."""
MOST_RUNS = 16
"""Runs of one search. With an anonymous peak to start from it takes 3 or 4, without one about 10."""
TYPICAL_RUNS = 4
MIB = 2**20
LEAST_BYTES = 8 * MIB
"""No interpreter starts below it, so there is no use in looking there."""
SECONDS = 5.0
"""A cap holds if the run completes, which a short steady state shows."""
PRECISION = 0.1
FAILED = (Outcome.CRASHED, Outcome.TIMEOUT)
"""What tells nothing of the cap, and would not be otherwise if it were tried again."""


@dataclass(frozen=True)
class Bounds:
    """The largest cap in bytes that ran out of memory and the smallest above it that completed; None if none did."""

    too_small: int | None
    held: int | None

    @property
    def close(self) -> bool:
        """Whether they are within a tenth of each other, or next to the least that is looked at."""
        return self.held is not None and self.held <= max(WITHIN * (self.too_small or 0), LEAST_BYTES)


@dataclass(frozen=True)
class Search:
    """The search of one workload: its runs are `base` with a cap, and no cap is above `most_bytes`."""

    base: RunSpec
    most_bytes: int

    def at(self, cap: int) -> RunSpec:
        """The run that tries a cap."""
        return replace(self.base, limits=replace(self.base.limits, memory_bytes=cap))

    def includes(self, spec: RunSpec) -> bool:
        """Whether a run is one of this search."""
        return replace(spec, limits=replace(spec.limits, memory_bytes=None)) == self.base

    def next_run(self, runs: Iterable[Run]) -> RunSpec | None:
        """The run that would tell most; None when the floor is found, or cannot be found: see `ended`."""
        known = list(runs)
        if self.ended(known):
            return None
        trials = [run for run in known if self._tells(run)]
        cap = next_cap(_caps(trials, True), _caps(trials, False), _expected(trials), self.most_bytes)
        return self.at(cap) if cap is not None else None

    def bounds(self, runs: Iterable[Run]) -> Bounds:
        """What is known of the floor."""
        trials = [run for run in runs if self._tells(run)]
        return bounds(_caps(trials, True), _caps(trials, False))

    def ended(self, runs: Iterable[Run]) -> str | None:
        """The sentence that says why the search was given up, None while it goes on."""
        own = [run for run in runs if self.includes(run.spec)]
        failed = next((run for run in own if run.outcome in FAILED), None)
        if failed is not None:
            cap = format_bytes(failed.spec.limits.memory_bytes or 0)
            return f"given up: the run with {cap} ended as {failed.outcome.value}, which tells nothing of the cap"
        return f"given up after {len(own)} runs" if len(own) >= MOST_RUNS else None

    def result(self, runs: Iterable[Run]) -> str:
        """One sentence: `the memory floor of `train` is between 212 MiB and 228 MiB`, or why it was not found."""
        known = list(runs)
        found, name = self.bounds(known), self.base.workload.name
        if found.held is None:
            text = f"the memory floor of `{name}` was not found: no cap held"
        elif found.too_small is None:
            text = f"the memory floor of `{name}` is no higher than {format_bytes(found.held)}"
        else:
            between = f"{format_bytes(found.too_small)} and {format_bytes(found.held)}"
            text = f"the memory floor of `{name}` is between {between}"
        why = self.ended(known) if not found.close else None
        return f"{text}; {why}" if why else text

    def _tells(self, run: Run) -> bool:
        """Whether a run says of a cap that it holds: any that ended with this workload, batch, and share of vCPUs."""
        spec, base = run.spec, self.base
        same = (spec.workload, spec.batch_size, spec.limits.vcpus) == (
            base.workload,
            base.batch_size,
            base.limits.vcpus,
        )
        return same and run.outcome in (Outcome.COMPLETED, Outcome.OUT_OF_MEMORY)


def searches(study: Study, host: Facts) -> tuple[Search, ...]:
    """The searches that a study asks for: each at the workload's point, or else its most vCPUs; short runs, once."""
    found = []
    for each in study.workloads:
        if each.memory_floor:
            stand = standing(configurations(each, study, host), study, host)
            measure = replace(
                study.measure, repeats=1, seconds=min(study.measure.seconds, SECONDS), precision=PRECISION
            )
            base = replace(stand, limits=replace(stand.limits, memory_bytes=None), measure=measure)
            found.append(Search(base, host.memory_bytes // MIB * MIB))
    return tuple(found)


def marked(run: Run) -> Run:
    """A run of a search with the warning that its rate is not that of a run which was to show one."""
    return run if FLOOR_SEARCH in run.warnings else replace(run, warnings=(*run.warnings, FLOOR_SEARCH))


def bounds(held: Iterable[int], too_small: Iterable[int]) -> Bounds:
    """The bounds of the floor by all caps that were tried: one that held once and was killed once is too small."""
    failed = max(too_small, default=None)
    return Bounds(failed, min((cap for cap in held if failed is None or cap > failed), default=None))


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


def _caps(trials: Iterable[Run], completed: bool) -> list[int]:
    """The memory of the runs that completed, or of those that were killed; a run without a cap had the host's."""
    return [run.configuration.memory_bytes for run in trials if (run.outcome is Outcome.COMPLETED) is completed]


def _expected(trials: Iterable[Run]) -> int | None:
    """The most memory that cannot be dropped, as completed runs show it; None where it was not accounted."""
    peaks = [
        run.peak_anonymous_bytes + (run.peak_kernel_bytes or 0)
        for run in trials
        if run.outcome is Outcome.COMPLETED and run.peak_anonymous_bytes
    ]
    return max(peaks, default=None)
