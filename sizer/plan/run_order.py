"""Which runs a study asks for, in which order, which of them are left, and where the reference configuration is
measured again to see the host drift. Pure.
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from statistics import median

from sizer.plan.configurations import (
    MOST_RUNS,
    configurations,
    fewest_vcpus,
    isolating_runs,
    repeated,
    representative,
    size,
    start_up_seconds,
)
from sizer.plan.seen_times import SeenTimes
from sizer.records.messages import InputError
from sizer.records.run import Run, RunWarning, WarningKind
from sizer.records.run_kinds import SEARCHES, Outcome, Purpose
from sizer.records.study import RunSpec, Study
from sizer.study.presets import HostSize

# The reference configuration: which one it is, and where a study measures it again to see the host drift.

MOST_BETWEEN = 8
"""Runs between two measurements of the reference: a few minutes, and one run in eight at the most for a long study."""
FEWEST_RUNS = 4
"""A study of fewer runs is over before the host drifts."""
HIDES_DRIFT = ("cpu", "cuda", "emulated")
"""Devices by how little of a slower host their rate shows: an emulated accelerator waits the same on any."""


def reference(study: Study, host: HostSize) -> RunSpec | None:
    """The configuration that is measured again through the study, its first repeat; None for a study of a few runs.

    A workload whose rate shows a slower host, and that starts quickly: its point, or else its most vCPUs and memory.
    Where every accelerator is emulated, the fewest vCPUs, which are the likeliest to be what binds.
    """
    if sum(size(workload, study.around) for workload in study.workloads) > MOST_RUNS:
        return None
    measured = [configurations(workload, study, host) for workload in study.workloads]
    isolated = sum(len(isolating_runs(plan, study, host)) for plan in study.workloads)
    if sum(map(len, measured)) * study.measure.repeats + isolated < FEWEST_RUNS:
        return None
    specs = min(measured, key=lambda specs: _rank(representative(specs, study, host)))
    emulated = specs[0].workload.computes_on.kind == "emulated"
    return fewest_vcpus(specs, host) if emulated else representative(specs, study, host)


def is_measurement(spec: RunSpec, of: RunSpec) -> bool:
    """Whether a run is a repeat of that configuration, measured in the same way."""
    if spec.limits != of.limits or spec.workload.name != of.workload.name:  # as of most runs, without their digests
        return False
    return replace(spec, repeat=0).id == replace(of, repeat=0).id


def woven(blocks: Sequence[Sequence[RunSpec]], of: RunSpec) -> tuple[RunSpec, ...]:
    """The blocks, one for each repeat, with the reference first in each, at even places inside it, and at the end.

    Its own repeat begins a block; the measurements beside these are further repeats of the same configuration.
    """
    specs: list[RunSpec] = []
    number = len(blocks)
    for repeat, block in enumerate(blocks):
        own = repeated(of, repeat)
        others = [spec for spec in block if spec != own]
        for part, stretch in enumerate(_stretches(others)):
            specs += [own if part == 0 else replace(of, repeat=number, purpose=Purpose.REFERENCE), *stretch]
            number += part > 0
    return (*specs, replace(of, repeat=number, purpose=Purpose.REFERENCE))


def _rank(spec: RunSpec) -> tuple[int, float]:
    return HIDES_DRIFT.index(spec.workload.computes_on.kind), start_up_seconds(spec)


def _stretches(specs: Sequence[RunSpec]) -> list[Sequence[RunSpec]]:
    """The runs in even parts of MOST_BETWEEN at most; one empty part of none."""
    count = max(1, math.ceil(len(specs) / MOST_BETWEEN))
    return [specs[len(specs) * part // count : len(specs) * (part + 1) // count] for part in range(count)]


DRIFT_SHARE = 0.05
"""A host whose reference changes by more has drifted; on a quiet one fresh processes differ by 0.3 to 2 %."""


@dataclass(frozen=True)
class Spread:
    """The reference configuration through a study: how often it completed, its lowest and its highest samples/s."""

    count: int
    low: float
    high: float
    unit: str

    @property
    def share(self) -> float:
        """By how much the highest exceeds the lowest."""
        return self.high / self.low - 1


def spread(runs: Sequence[Run], reference: RunSpec | None) -> Spread | None:
    """How far the reference spread over the whole study; None where it did not complete twice."""
    measured = [] if reference is None else [run for run in runs if _is_reference(run, reference)]
    if len(measured) < 2:
        return None
    rates = [_rate(run) for run in measured]
    return Spread(len(rates), min(rates), max(rates), measured[0].sample_unit)


def changed_marks(runs: Sequence[Run], reference: RunSpec | None) -> tuple[Run, ...]:
    """The runs whose mark is not what these runs say, with the mark that it should be; `runs` as they started.

    Marked are the runs between two measurements of the reference that differ by more than DRIFT_SHARE, and those with
    the reference around them outside the band of that width that holds most of its measurements: a host that creeps
    is found, too. So is a measurement of the reference outside that band, if two others agree. Runs before the first
    and after the last measurement are not judged.
    """
    marks = {} if reference is None else _marks(runs, reference)
    changed = []
    for index, run in enumerate(runs):
        others = [warning for warning in run.warnings if warning.kind is not WarningKind.DRIFTING]
        new = replace(run, warnings=(*others, *([marks[index]] if index in marks else [])))
        changed += [new] if new != run else []
    return tuple(changed)


def _marks(runs: Sequence[Run], reference: RunSpec) -> dict[int, RunWarning]:
    """The warning of each run, by its place, where it has one."""
    measured = [index for index, run in enumerate(runs) if _is_reference(run, reference)]
    rates = {index: _rate(runs[index]) for index in measured}
    if len(measured) < 2:
        return {}
    band, unit = usual_band(list(rates.values())), runs[measured[0]].sample_unit
    agree = sum(_inside(rate, band) for rate in rates.values()) > 1
    marks = {
        index: _drifting(unit, rate=rate, low=band[0], high=band[1])
        for index, rate in rates.items()
        if agree and not _inside(rate, band)
    }
    for before, after in pairwise(measured):
        mark = _between(rates[before], rates[after], band, unit)
        if mark:
            marks |= {index: mark for index in range(before + 1, after) if _has_rate(runs[index])}
    return marks


def _between(before: float, after: float, band: tuple[float, float], unit: str) -> RunWarning | None:
    """The mark of the runs between two measurements of the reference."""
    change, level = after / before - 1, (before + after) / 2
    if abs(change) > DRIFT_SHARE:
        return _drifting(unit, before=before, after=after)
    return None if _inside(level, band) else _drifting(unit, level=level, low=band[0], high=band[1])


def _drifting(unit: str, **rates: float) -> RunWarning:
    return RunWarning(WarningKind.DRIFTING, rates, unit)


def usual_band(rates: Sequence[float]) -> tuple[float, float]:
    """The band, DRIFT_SHARE wide, that holds most of the rates; of several the one nearest to their median."""
    centre = median(rates)
    bands = [(low, low * (1 + DRIFT_SHARE)) for low in rates]
    return max(bands, key=lambda band: (sum(_inside(rate, band) for rate in rates), -abs(sum(band) / 2 - centre)))


def _inside(rate: float, band: tuple[float, float]) -> bool:
    return band[0] <= rate <= band[1]


def _is_reference(run: Run, reference: RunSpec) -> bool:
    return _has_rate(run) and is_measurement(run.spec, reference)


def _has_rate(run: Run) -> bool:
    return run.outcome is Outcome.COMPLETED and run.throughput is not None and 0 < _rate(run) < math.inf


def _rate(run: Run) -> float:
    return run.throughput.value if run.throughput else 0.0


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
    blocks = []
    for repeat in range(study.measure.repeats):
        # The same order for the same seed on every machine.
        shuffled = random.Random(f"{study.measure.seed}/{repeat}")
        block = [*others, *isolated] if repeat == 0 else others
        specs = [*shuffled.sample(points, len(points)), *shuffled.sample(block, len(block))]
        blocks.append([repeated(spec, repeat) for spec in specs])
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
    return sum(seconds_by_run(specs, runs))


def seconds_by_run(specs: Iterable[RunSpec], runs: Iterable[Run] = ()) -> list[float]:
    """The same of each of them, in their order."""
    seen = SeenTimes(runs)
    return [_seconds(spec, seen.seconds(spec)) for spec in specs]


def guessed_workloads(specs: Iterable[RunSpec], runs: Iterable[Run] = ()) -> tuple[str, ...]:
    """The workloads of these runs of which none has been seen yet, so that their time is an allowance."""
    seen = SeenTimes(runs)
    return tuple(dict.fromkeys(spec.workload.name for spec in specs if seen.seconds(spec) is None))


def _seconds(spec: RunSpec, seen: float | None) -> float:
    total = AROUND_SECONDS + (start_up_seconds(spec) + spec.measure.seconds if seen is None else seen)
    return total if spec.measure.timeout is None else min(total, spec.measure.timeout + AROUND_SECONDS)
