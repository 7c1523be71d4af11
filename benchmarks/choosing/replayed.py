"""Studies whose every run is known, so that a run is looked up and not measured: the measured grid, simulated machines
and curves over vCPUs."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import fmean

import numpy as np
from accuracy_draws import Case, crossed, draw_case
from accuracy_machines import Faster, Question
from accuracy_runs import NAME, measured_runs
from curves_data import JPEG, Curve, real_curves

from sizer.model.model import memory_of, vcpus_of
from sizer.records.device import HOST_DISK
from sizer.records.prediction import Configuration, Estimate
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Limits, Measure, RunSpec, Study, Workload, WorkloadPlan
from sizer.records.units import GIB
from sizer.study.presets import HostSize

MOST_CONFIGURATIONS = 60
"""Of a simulated machine: whole grids of more than these are simulated for minutes, ticket by ticket."""
LEAST_VALUES, MOST_VALUES = 4, 12
"""vCPU values of a curve: of three there is nothing to choose."""
BATCH, MEMORY, CURVE = 32, 64 * GIB, "curve"
"""Of every run of a curve, the last its workload."""
HALF = 0.01
"""Of an interval of their rates, as a share."""
STARTED = "2026-11-21T00:00:00+00:00"
SEED = 2018

Key = tuple[str, float | None, int | None, str | None, int, int]


def key_of(spec: RunSpec) -> Key:
    """What a run is looked up by, beside the number of its repeat."""
    limits = spec.limits
    return spec.workload.name, limits.vcpus, limits.memory_bytes, limits.disk, spec.batch_size, spec.gpu_count


@dataclass(frozen=True)
class ReplayCase:
    """A study with every run of it, in the order of its repeats, and by workload true rates where they are known."""

    name: str
    family: str
    study: Study
    host: HostSize
    known: Mapping[Key, tuple[Run, ...]]
    truth: Mapping[str, Mapping[Configuration, float]] = field(default_factory=dict)

    def run(self, spec: RunSpec) -> Run:
        """The run of this spec; a repeat beyond those that were measured is one of them
        again, in their order."""
        runs = self.known[key_of(spec)]
        return replace(runs[spec.repeat % len(runs)], spec=spec)

    @cached_property
    def all_runs(self) -> tuple[Run, ...]:
        """The whole grid: as many repeats of each configuration as the study asks for."""
        repeats = range(self.study.measure.repeats)
        return tuple(run for number in repeats for runs in self.known.values() for run in runs[number : number + 1])


def case_of(
    name: str,
    family: str,
    runs: Sequence[Run],
    truth: Mapping[str, Mapping[Configuration, float]] | None = None,
) -> ReplayCase:
    """The study that these runs are the whole of."""
    by_key: dict[Key, tuple[Run, ...]] = {}
    for run in runs:
        by_key[key_of(run.spec)] = (*by_key.get(key_of(run.spec), ()), as_replayed(run))
    disks = {run.disk.tier.name: run.disk.tier for run in runs if run.disk is not None}
    repeats = min(3, max(1, round(fmean(map(len, by_key.values())))))
    measure = replace(runs[0].spec.measure, repeats=repeats)
    plans = tuple(_plan_of([run.spec for run in own]) for own in by_workload(runs).values())
    most = max(vcpus_of(run.configuration) for run in runs)
    host = HostSize(math.ceil(most), max(memory_of(run.configuration) for run in runs))
    study = Study("replayed", plans, tuple(disks.values()), measure=measure)
    return ReplayCase(name, family, study, host, by_key, truth or {})


def as_replayed(run: Run) -> Run:
    """Without warnings: most are of the order in which runs were made, or say that a rate is imprecise, and the rates
    show that themselves."""
    return replace(run, warnings=())


def by_workload(runs: Iterable[Run]) -> dict[str, list[Run]]:
    """The runs of each workload, in their order."""
    by_name: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        by_name[run.spec.workload.name].append(run)
    return dict(by_name)


def _plan_of(specs: Sequence[RunSpec]) -> WorkloadPlan:
    limits = [spec.limits for spec in specs]
    counts = {spec.gpu_count for spec in specs}
    return WorkloadPlan(
        specs[0].workload,
        tuple(sorted({spec.batch_size for spec in specs})),
        tuple(sorted({limit.vcpus for limit in limits if limit.vcpus is not None})),
        tuple(sorted({limit.memory_bytes for limit in limits if limit.memory_bytes is not None})),
        tuple(dict.fromkeys(limit.disk for limit in limits if limit.disk is not None)),
        gpu_count=tuple(sorted(counts)) if counts != {0} else (),
    )


def grid_cases(measured: Sequence[Run]) -> list[ReplayCase]:
    """Each workload of a measured grid by itself, and all of them as one study."""
    runs = [run for run in measured if run.outcome is Outcome.COMPLETED]
    alone = [case_of(name, "grid", own) for name, own in by_workload(runs).items()]
    return [*alone, case_of("all five", "grid", runs)]


def machine_cases(count: int) -> list[ReplayCase]:
    """So many simulated machines with accounting, as sizer's own runs have it, whose study crosses few enough axes."""
    numbers = itertools.count(0, 2)  # those between have rates alone
    cases = (case for number in numbers if (case := few_axes(number, SEED, MOST_CONFIGURATIONS)) is not None)
    return [
        machine_case(
            case, case.machine.truth([(place, Faster()) for place in case.measured if case.machine.holds(place)])
        )
        for case in itertools.islice(cases, count)
    ]


def few_axes(number: int, seed: int, most: int) -> Case | None:
    """The machine of this number with every configuration of its axes, where these are no more than `most`."""
    case = draw_case(number, seed)
    grid = crossed(case.axes)
    return replace(case, measured=tuple(grid)) if len(grid) <= most and len(case.axes.gpu_counts) == 1 else None


def machine_case(case: Case, truth: Mapping[Question, float]) -> ReplayCase:
    """The study of one machine, of which the rate of each configuration that fits into its memory is known."""
    rates = {configuration: rate for (configuration, _), rate in truth.items()}
    return case_of(f"machine {case.number}", "machine", measured_runs(case, truth), {NAME: rates})


def curve_cases(every: int) -> list[ReplayCase]:
    """One of so many held-out curves over vCPUs of real machines, of which rates alone are known, thinned out to what
    a study would cross."""
    curves = [_thinned(curve) for curve in real_curves() if curve.held_out and curve.kind != JPEG]
    return [curve_case(curve) for curve in curves if len(curve.places) >= LEAST_VALUES][::every]


def _thinned(curve: Curve) -> Curve:
    """At most MOST_VALUES values, evenly by their ratio, the first and the last among them."""
    if len(curve.places) <= MOST_VALUES:
        return curve
    ideal = np.geomspace(curve.places[0], curve.places[-1], MOST_VALUES)
    return curve.at(sorted({int(np.abs(np.log(np.array(curve.places) / at)).argmin()) for at in ideal}))


def curve_case(curve: Curve) -> ReplayCase:
    """A study of one curve, of which one measurement of each value is all that is known."""
    runs = []
    for place, rate in zip(curve.places, curve.rates, strict=True):
        spec = RunSpec(Workload(CURVE, "command"), BATCH, Limits(place), Measure(1))
        estimate = Estimate(rate, rate * (1 - HALF), rate * (1 + HALF))
        configuration = Configuration(place, MEMORY, HOST_DISK, BATCH)
        runs.append(Run(spec, Outcome.COMPLETED, configuration, STARTED, 0.0, throughput=estimate))
    return case_of(curve.name, "curve", runs)
