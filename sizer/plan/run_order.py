"""Which runs a study asks for, in which order, and which of them are left."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable
from itertools import chain

from sizer.plan.configurations import MOST_RUNS, configurations, repeated, size, start_up_seconds
from sizer.plan.isolating_runs import isolating_runs
from sizer.plan.reference_runs import reference, woven
from sizer.plan.seen_times import SeenTimes
from sizer.records.messages import InputError
from sizer.records.run import Run
from sizer.records.run_kinds import SEARCHES, Outcome, Purpose
from sizer.records.study import RunSpec, Study
from sizer.study.presets import HostSize

UNFINISHED = frozenset({Outcome.INTERRUPTED, Outcome.UNSUPPORTED, Outcome.REFUSED})
"""Nothing was measured: the run was stopped, or the host lacked something that it may have now."""

FAILED = frozenset({Outcome.CRASHED, Outcome.TIMEOUT})
"""Outcomes that come again unless somebody mends their cause, so such runs are measured again on demand only."""

FOLLOWING = SEARCHES | {Purpose.TWO_EPOCHS}
"""Of runs that follow from those before them, and that no study asks for by themselves."""

AROUND_SECONDS = 1.5
"""Eviction from the page cache before a run, and stopping and removing its limits after it."""


def plan(study: Study, host: HostSize) -> tuple[RunSpec, ...]:
    """Every run of the study. Inside each repeat the order is shuffled by the study's seed, so that a drift of the
    host does not look like an axis; with a point to vary around, that point comes first in each repeat. The reference
    configuration is measured first, last, and again between. Runs that isolate a stage are among those of the first
    repeat, once each.

    Two limits that come to the same on this host, like its own vCPUs and no limit, are measured once. Raises
    InputError for a study of more runs than anyone waits for.
    """
    points: list[RunSpec] = []
    others: list[RunSpec] = []
    count = sum(size(workload, study.around) for workload in study.workloads) * study.measure.repeats
    if count > MOST_RUNS:
        raise InputError(
            "This study asks for {count} runs; shorten its axes, or vary one axis at a time with `around`.",
            count=f"{count:,}",
        )
    for workload in study.workloads:
        first, *rest = configurations(workload, study, host)
        (points if study.around is not None else others).append(first)
        others += rest
    isolated = [spec for workload in study.workloads for spec in isolating_runs(workload, study, host)]
    blocks = [
        _block(points, [*others, *isolated] if repeat == 0 else others, study.measure.seed, repeat)
        for repeat in range(study.measure.repeats)
    ]
    again = reference(study, host)
    return tuple(chain.from_iterable(blocks)) if again is None else woven(blocks, again)


def remaining(
    specs: Iterable[RunSpec], runs: Iterable[Run], unfinished: Collection[Outcome] = UNFINISHED
) -> tuple[RunSpec, ...]:
    """The specs that have no finished run, in their order; one that ended in an outcome of `unfinished` is not."""
    finished = {run.id for run in runs if run.outcome not in unfinished}
    return tuple(spec for spec in specs if spec.id not in finished)


def of_older_form(specs: Iterable[RunSpec], runs: Iterable[Run]) -> tuple[Run, ...]:
    """The stored runs that the study would not make as it now stands, so that its file was changed after them.

    Searches and passes are not among the specs, as they follow from other runs, and are left aside.
    """
    asked = {spec.id for spec in specs}
    return tuple(run for run in runs if run.id not in asked and run.spec.purpose not in FOLLOWING)


def estimate_seconds(specs: Iterable[RunSpec], runs: Iterable[Run] = ()) -> float:
    """How long these runs take, by what finished runs of their workloads took, or else an allowance."""
    return sum(seconds_of_each(specs, runs))


def seconds_of_each(specs: Iterable[RunSpec], runs: Iterable[Run] = ()) -> list[float]:
    """The same of each of them, in their order."""
    seen = SeenTimes(runs)
    return [_seconds(spec, seen.seconds(spec)) for spec in specs]


def guessed_workloads(specs: Iterable[RunSpec], runs: Iterable[Run] = ()) -> tuple[str, ...]:
    """The workloads of these runs of which none has been seen yet, so that their time is an allowance."""
    seen = SeenTimes(runs)
    return tuple(dict.fromkeys(spec.workload.name for spec in specs if seen.seconds(spec) is None))


def _block(points: list[RunSpec], others: list[RunSpec], seed: int, repeat: int) -> list[RunSpec]:
    """One repeat of everything, the same order for the same seed on every machine."""
    shuffled = random.Random(f"{seed}/{repeat}")
    block = [*shuffled.sample(points, len(points)), *shuffled.sample(others, len(others))]
    return [repeated(spec, repeat) for spec in block]


def _seconds(spec: RunSpec, seen: float | None) -> float:
    total = AROUND_SECONDS + (start_up_seconds(spec) + spec.measure.seconds if seen is None else seen)
    return total if spec.measure.timeout is None else min(total, spec.measure.timeout + AROUND_SECONDS)
