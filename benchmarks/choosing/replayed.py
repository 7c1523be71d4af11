"""Studies whose every run is known, so that a run is looked up and not measured: the measured grid, simulated machines
and curves over vCPUs. Each run costs the seconds that it took, or that one of its size takes."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import fmean

import numpy as np
from accuracy_curves import SHAPES, Curve, drawn
from accuracy_draws import Case, draw_case
from accuracy_machines import Faster, Question
from accuracy_runs import NAME, measured_runs
from accuracy_shapes import PUBLISHED_CURVES
from grid_data import load_grid

from sizer.model import WorkloadModel, batch_of, disk_of, fit, gpus_of, memory_of, name_of_disk, predict_rates, vcpus_of
from sizer.records import (
    GIB,
    HOST_DISK,
    Configuration,
    DiskTier,
    Estimate,
    Limits,
    Measure,
    Outcome,
    Run,
    RunSpec,
    Study,
    Workload,
    WorkloadPlan,
)
from sizer.study import HostSize

MOST_CONFIGURATIONS = 60
"""Of a simulated machine: whole grids of more than these are simulated for minutes, ticket by ticket."""
START_UP, STEADY = 8.0, 30.0
"""Seconds of a run that nobody measured: of its start on a whole vCPU, a fraction starts slower, and of its steady
state, which is what `sizer run` takes by default."""
LEAST_VALUES = 4
"""vCPU values of a curve: of three there is nothing to choose."""
MOST_VALUES = 12
BATCH, MEMORY = 32, 64 * GIB
"""Of every run of a curve."""
CURVE = "curve"
"""The workload of a curve."""
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

    def run(self, spec: RunSpec, _before: Sequence[Run] = ()) -> Run:
        """The run of this spec, whatever was made before it; a repeat beyond those that were measured is one of them
        again, in their order."""
        runs = self.known[key_of(spec)]
        return replace(runs[spec.repeat % len(runs)], spec=spec)

    @cached_property
    def all_runs(self) -> tuple[Run, ...]:
        """The whole grid: as many repeats of each configuration as the study asks for."""
        repeats = self.study.measure.repeats
        return tuple(
            run for number in range(repeats) for runs in self.known.values() for run in runs[number : number + 1]
        )

    @property
    def seconds(self) -> float:
        """What the whole grid took."""
        return sum(run.wall_seconds for run in self.all_runs)


def case_of(
    name: str,
    family: str,
    runs: Sequence[Run],
    disks: Sequence[DiskTier] = (),
    truth: Mapping[str, Mapping[Configuration, float]] | None = None,
) -> ReplayCase:
    """The study that these runs are the whole of."""
    known: dict[Key, tuple[Run, ...]] = {}
    for run in runs:
        known[key_of(run.spec)] = (*known.get(key_of(run.spec), ()), as_replayed(run))
    repeats = min(3, max(1, round(fmean(map(len, known.values())))))
    measure = replace(runs[0].spec.measure, repeats=repeats)
    plans = tuple(_plan_of([run for run in runs if run.spec.workload.name == each]) for each in _names(runs))
    most = max(vcpus_of(run.configuration) for run in runs)
    host = HostSize(math.ceil(most), max(memory_of(run.configuration) for run in runs))
    return ReplayCase(name, family, Study("replayed", plans, tuple(disks), measure=measure), host, known, truth or {})


def as_replayed(run: Run) -> Run:
    """Without warnings: most are of the order in which runs were made, or say that a rate is imprecise, and the rates
    show that themselves."""
    return replace(run, warnings=())


def _names(runs: Iterable[Run]) -> list[str]:
    return list(dict.fromkeys(run.spec.workload.name for run in runs))


def _plan_of(runs: Sequence[Run]) -> WorkloadPlan:
    specs = [run.spec for run in runs]
    vcpus = {spec.limits.vcpus for spec in specs}
    memory = {spec.limits.memory_bytes for spec in specs}
    disks = dict.fromkeys(spec.limits.disk for spec in specs)
    counts = {spec.gpu_count for spec in specs}
    return WorkloadPlan(
        specs[0].workload,
        tuple(sorted({spec.batch_size for spec in specs})),
        tuple(sorted(each for each in vcpus if each is not None)),
        tuple(sorted(each for each in memory if each is not None)),
        tuple(each for each in disks if each is not None),
        gpu_count=tuple(sorted(counts)) if counts != {0} else (),
    )


def grid_cases(measured: Sequence[Run] | None = None) -> list[ReplayCase]:
    """Each workload of a measured grid by itself, and all of them as one study; without runs those of the first."""
    runs = [run for run in (load_grid() if measured is None else measured) if run.outcome is Outcome.COMPLETED]
    disks = tuple({run.disk.tier.name: run.disk.tier for run in runs if run.disk is not None}.values())
    alone = [
        case_of(name, "grid", [run for run in runs if run.spec.workload.name == name], disks) for name in _names(runs)
    ]
    return [*alone, case_of("all five", "grid", runs, disks)]


def machine_cases(count: int, first: int = 0, seed: int = SEED) -> list[ReplayCase]:
    """So many simulated machines with accounting, as sizer's own runs have it, whose study crosses few enough axes."""
    found: list[ReplayCase] = []
    number = first
    while len(found) < count:
        case = few_axes(number, seed, MOST_CONFIGURATIONS)
        number += 2  # those between have rates alone
        if case is not None:
            truth = case.machine.truth([(each, Faster()) for each in case.measured if case.machine.holds(each)])
            found.append(machine_case(case, truth))
    return found


def few_axes(number: int, seed: int, most: int) -> Case | None:
    """The machine of this number with every configuration of its axes, where these are no more than `most`."""
    case = draw_case(number, seed)
    grid = _crossed(case)
    return replace(case, measured=grid) if len(grid) <= most and len(case.axes.gpu_counts) == 1 else None


def _crossed(case: Case) -> tuple[Configuration, ...]:
    axes = case.axes
    crossed = itertools.product(axes.vcpus, axes.memory, axes.disks, axes.batches, axes.gpu_counts)
    return tuple(Configuration(c, m, d, b, axes.gpu, n) for c, m, d, b, n in crossed)


def machine_case(case: Case, truth: Mapping[Question, float]) -> ReplayCase:
    """The study of one machine, of which the rate of each configuration that fits into its memory is known."""
    runs = [timed(run) for run in measured_runs(case, truth)]
    tiers = tuple({run.disk.tier.name: run.disk.tier for run in runs if run.disk is not None}.values())
    rates = {configuration: rate for (configuration, _), rate in truth.items()}
    return case_of(f"machine {case.number}", "machine", runs, tiers, {NAME: rates})


def curve_cases(each: int, seed: int = SEED) -> list[ReplayCase]:
    """Curves over vCPUs from rates alone: so many of each drawn shape, thinned out to what a study would cross, with
    two repeats; and the published ones, of which one measurement is all that is known."""
    curves = [
        drawn(shape, number, seed) for shape, (axis, _) in SHAPES.items() if axis == "vcpus" for number in range(each)
    ]
    curves += [curve for curve in PUBLISHED_CURVES if curve.axis == "vcpus"]
    return [
        curve_case(curve, number, seed)
        for number, curve in enumerate(map(_thinned, curves))
        if len(curve.places) >= LEAST_VALUES
    ]


def _thinned(curve: Curve) -> Curve:
    """At most MOST_VALUES values, evenly by their ratio, the first and the last among them."""
    count = len(curve.places)
    if count <= MOST_VALUES:
        return curve
    ideal = np.geomspace(curve.places[0], curve.places[-1], MOST_VALUES)
    kept = sorted({int(np.abs(np.log(np.array(curve.places) / at)).argmin()) for at in ideal})
    return replace(curve, places=tuple(curve.places[i] for i in kept), truth=tuple(curve.truth[i] for i in kept))


def curve_case(curve: Curve, number: int, seed: int) -> ReplayCase:
    """A study of one curve, its rates with noise."""
    random = np.random.default_rng([seed, number])
    repeats = 2 if curve.noise else 1
    runs = []
    for repeat in range(repeats):
        for place, rate in zip(curve.places, curve.truth, strict=True):
            seen = rate * math.exp(curve.noise * random.standard_normal())
            half = 1.96 * max(curve.noise, 0.01) * 0.5
            spec = RunSpec(Workload(CURVE, "command"), BATCH, Limits(place), Measure(repeats), repeat)
            estimate = Estimate(seen, seen * (1 - half), seen * (1 + half))
            place_of = Configuration(place, MEMORY, HOST_DISK, BATCH)
            runs.append(timed(Run(spec, Outcome.COMPLETED, place_of, STARTED, 0.0, throughput=estimate)))
    truth = {run.configuration: rate for run, rate in zip(runs, curve.truth, strict=False)} if curve.noise else {}
    return case_of(f"{curve.shape} {number}", "curve", runs, truth={CURVE: truth})


def timed(run: Run) -> Run:
    """With the seconds that a run of this size usually takes."""
    vcpus = vcpus_of(run.configuration)
    steady = STEADY if run.outcome is Outcome.COMPLETED else 0.0
    return replace(run, wall_seconds=START_UP / min(vcpus, 1.0) + steady)


@dataclass(frozen=True)
class Truth:
    """The rates that an answer is judged by: true ones, or those of the whole grid, with its model between them."""

    model: WorkloadModel
    truth: Mapping[Configuration, float]

    def log_rates(self, places: Sequence[Configuration]) -> list[float]:
        """Ln samples per second at each place."""
        fitted = predict_rates(self.model, places).mean
        known = {_plain(place): rate for place, rate in self.truth.items()}
        measured = {_plain(rate.configuration): rate.throughput.value for rate in self.model.measured.rates}
        found = []
        for place, log_rate in zip(places, fitted, strict=True):
            rate = known.get(_plain(place)) or measured.get(_plain(place))
            found.append(float(log_rate) if rate is None else math.log(rate))
        return found


def _plain(place: Configuration) -> tuple[object, ...]:
    return vcpus_of(place), memory_of(place), name_of_disk(disk_of(place)), batch_of(place), gpus_of(place)


def truth_of(case: ReplayCase, runs: Sequence[Run]) -> Truth:
    """Of one workload, whose whole grid these runs are."""
    return Truth(fit(runs).workloads[0], case.truth.get(runs[0].spec.workload.name, {}))


def by_workload(runs: Iterable[Run]) -> dict[str, list[Run]]:
    """The runs of each workload, in their order."""
    found: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        found[run.spec.workload.name].append(run)
    return dict(found)
