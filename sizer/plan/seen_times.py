"""How long the runs of a workload take, by what was seen of its other runs. Pure.

A run is a start-up until its first step, measuring, and its end. CPU work takes as much longer as there are fewer vCPUs
than it used; waiting, for a disk or a network or asleep, takes as long as before. A run's counters tell the two apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median

from sizer.analysis.monitor import Stop
from sizer.analysis.steady_state import measured_from_epoch
from sizer.records.run import Run, Sample
from sizer.records.run_kinds import Outcome
from sizer.records.study import RunSpec

FEWEST_STEPS = 4
"""Steps that a rate needs, however slow they are: three intervals."""

FULLY_USED = 0.85
"""Share of the vCPUs from which on the work was held back by them, so that with more of them it is done sooner."""

OTHER_AXIS = 0.3
"""Another memory cap, disk or input makes a run as unlike as a third more vCPUs."""

MOST_ENDING = 10.0
"""Seconds after which a step that is asked to end is ended."""

MOST_ALIKE = 5
"""Runs of one configuration that are looked at: the latest."""

MOST_COMPARED = 200
"""Configurations among which the nearest is looked for: a study may have thousands, and is asked before each run."""

ENDED_BY_ITSELF = frozenset({Outcome.OUT_OF_MEMORY, Outcome.TIMEOUT, Outcome.CRASHED})
"""Outcomes that most likely come again with the same limits, after as long."""


class SeenTimes:
    """The times of finished runs, by workload; what failed says something of its own configuration alone."""

    def __init__(self, runs: Iterable[Run]) -> None:
        self._shown: dict[str, dict[tuple[object, ...], list[Run]]] = {}
        self._failed: dict[tuple[object, ...], list[Run]] = {}
        for run in runs:
            if run.outcome is Outcome.COMPLETED:
                of_workload = self._shown.setdefault(run.spec.workload.name, {})
                of_workload.setdefault(_position(run.spec), []).append(run)
            elif run.outcome in ENDED_BY_ITSELF:
                self._failed.setdefault(_position(run.spec), []).append(run)
        self._estimates: dict[tuple[object, ...], float | None] = {}

    def start_up_seconds(self, spec: RunSpec) -> float | None:
        """From the start of this run to its first step; None where no run of the workload has shown one."""
        shown = [seconds for run in self._alike(spec) if (seconds := _start_up(run, spec)) is not None]
        return median(shown) if shown else None

    def seconds(self, spec: RunSpec) -> float | None:
        """From the start of this run to its end; None where no run says it."""
        position = _position(spec)
        if position not in self._estimates:
            self._estimates[position] = self._seconds(spec)
        return self._estimates[position]

    def _seconds(self, spec: RunSpec) -> float | None:
        position, alike = _position(spec), self._alike(spec)
        failed = self._failed.get(position, [])
        if failed and position not in self._shown.get(spec.workload.name, {}):
            return median(run.wall_seconds for run in failed[-MOST_ALIKE:])
        return median(_run_seconds(run, spec) for run in alike) if alike else None

    def _alike(self, spec: RunSpec) -> list[Run]:
        """The runs that are most like this one: of its own configuration, else of those that are nearest."""
        shown = self._shown.get(spec.workload.name, {})
        own = shown.get(_position(spec))
        if own is not None:
            return own[-MOST_ALIKE:]
        latest = [(_unlike(runs[0].spec, spec), runs) for runs in list(shown.values())[-MOST_COMPARED:]]
        least = min((unlike for unlike, _ in latest), default=0.0)
        nearest = [run for unlike, runs in latest if unlike <= least + 1e-9 for run in runs[-MOST_ALIKE:]]
        return nearest[-MOST_ALIKE:]


def _position(spec: RunSpec) -> tuple[object, ...]:
    workload = spec.workload
    program = workload.name, workload.input, workload.computes_on.label
    return *program, spec.limits, spec.batch_size, spec.gpu_count, spec.measure.seconds


def _unlike(one: RunSpec, other: RunSpec) -> float:
    """How different the times of two runs may be: e-folds of vCPUs and of batch size count most."""
    if one.limits.vcpus is None or other.limits.vcpus is None:
        vcpus = 0.0 if one.limits.vcpus == other.limits.vcpus else 1.0
    else:
        vcpus = abs(math.log(one.limits.vcpus / other.limits.vcpus))
    others = (
        one.limits.memory_bytes != other.limits.memory_bytes,
        one.limits.disk != other.limits.disk,
        one.workload.input != other.workload.input,
        one.measure.seconds != other.measure.seconds,
        one.gpu_count != other.gpu_count,
        one.workload.computes_on.label != other.workload.computes_on.label,
    )
    return vcpus + abs(math.log(one.batch_size / other.batch_size)) + OTHER_AXIS * sum(others)


def _taking(samples: Sequence[Sample], since: float, until: float, had: float | None, has: float | None) -> float:
    """Seconds that what was done from one moment to another on `had` vCPUs takes on `has`."""
    total = 0.0
    for before, after in pairwise(samples):
        begun, ended = max(before.time, since), min(after.time, until)
        if ended > begun:
            seconds, used = ended - begun, max(0.0, after.core_seconds - before.core_seconds)
            used *= seconds / (after.time - before.time)
            total += seconds + used * _more_seconds(used / seconds, had, has)
    return total


def _more_seconds(cores: float, had: float | None, has: float | None) -> float:
    """By how much a core-second takes longer, in seconds, where `cores` were busy on average.

    What a program computes in turn with waiting is done by as many cores as were busy, and by a whole one at the
    least where it could have one.
    """
    if has is None or cores <= 0:
        return 0.0
    at_once = max(cores, min(1.0, had if had is not None else 1.0))
    if has < at_once:
        return 1 / has - 1 / at_once
    if had is not None and had < min(1.0, has) and cores >= FULLY_USED * had:
        return 1 / min(1.0, has) - 1 / had
    return 0.0


def _phases(run: Run) -> tuple[float, float, float, float] | None:
    """When a run started, made its first step and its last one, and ended; None where that was not stored."""
    if not run.steps or len(run.samples) < 2:
        return None
    first, last = run.steps[0].time, run.steps[-1].time
    return min(run.samples[0].time, first), first, last, max(run.samples[-1].time, last)


def _start_up(run: Run, spec: RunSpec) -> float | None:
    phases = _phases(run)
    return phases and _taking(run.samples, *phases[:2], run.configuration.vcpus, spec.limits.vcpus)


def _run_seconds(run: Run, spec: RunSpec) -> float:
    """What `run` took, with what this one has and measures."""
    phases, start_up = _phases(run), _start_up(run, spec)
    if phases is None or start_up is None:
        return run.wall_seconds
    start, first, last, end = phases
    had, has = run.configuration.vcpus, spec.limits.vcpus
    around = max(0.0, run.wall_seconds - (end - start))
    # Steps are alike, so that the first and the last counters of them say what there is to know.
    within = [sample for sample in run.samples if first <= sample.time <= last]
    ends = within[:1] + within[-1:]
    slower = _taking(ends, first, last, had, has) / (ends[1].time - ends[0].time) if len(within) > 1 else 1.0
    ending = min(slower * (end - last), max(MOST_ENDING, end - last))
    return around + start_up + _measuring(run, spec, last - first, slower) + ending


def _measuring(run: Run, spec: RunSpec, span: float, slower: float) -> float:
    """From the first step to the last one, `span` seconds in `run`, where each takes `slower` times as long."""
    if (
        measured_from_epoch(spec.workload)
        or run.rate.measured_seconds is None
        or run.rate.stopped == Stop.DEADLINE.value
    ):
        return span * slower
    step = slower * span / max(1, len(run.steps) - 1)
    warm_up = slower * min(span, run.rate.warm_up_seconds or 0.0)
    share = 1.0
    if run.rate.stopped == Stop.PRECISION.value:
        share = min(1.0, max(1.0, slower) * run.rate.measured_seconds / run.spec.measure.seconds)
    # The step in which the time is up is ended.
    wanted = warm_up + max(share * spec.measure.seconds, max(FEWEST_STEPS, spec.measure.steps) * step) + step / 2
    return min(span * slower, wanted) if run.rate.stopped == Stop.ENDED.value else wanted
