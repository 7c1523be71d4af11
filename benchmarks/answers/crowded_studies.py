"""Studies of one job on a small host whose CPUs other programs use, too; and the same on one of its own. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone

import numpy as np
from accuracy_draws import SMALL_LADDERS, Case, draw_case
from accuracy_machines import Faster, Question
from accuracy_runs import Measuring, checked_disks, measured_questions, one_run
from noisy_studies import in_blocks, rate_between, with_marks

from sizer.analysis.accounting import CONTENDED_CORES
from sizer.model.model import vcpus_of
from sizer.records.prediction import Configuration
from sizer.records.run import Run, RunWarning, WarningKind
from sizer.records.study import RunSpec

SEED = 1611
MOST_CONFIGURATIONS = 12
ONE_THREAD = 0.25
"""Of the jobs so many compute in one thread, as a loop without workers does: a second vCPU is of no use to them."""
LEFT = (0.5, 0.6, 0.7, 0.85, 1.0)
"""Parts of its vCPUs that a run may be left with, at which its rate is simulated; between them ln rate is interpolated.
Others that want all CPUs leave half of them to a job with as many threads."""
CROWDED = 0.6
"""Of its time the host is crowded for so much, in spells."""
STAYS = 0.7
"""From one run to the next others stay, or stay away, with this probability, and else it is drawn anew."""
BEGAN = datetime(2026, 11, 24, tzinfo=timezone.utc)
BETWEEN = timedelta(seconds=60)


@dataclass(frozen=True)
class CrowdedStudy:
    """A job on a machine that is the host, too: its most vCPUs are all CPUs there are."""

    number: int
    case: Case

    @property
    def cpus(self) -> float:
        return self.case.axes.vcpus[-1]

    def runs(self, crowded: bool) -> list[Run]:
        """What is stored of it; `crowded` False is its twin, which has the host for itself."""
        random = np.random.default_rng([SEED, self.number, 1])
        measuring = Measuring(self.case, checked_disks(self.case.machine, random), random)
        truth = self.case.machine.truth(_questions(self.case))
        planned = _order(self, measuring)
        runs = []
        for index, ((configuration, spec), others) in enumerate(zip(planned, self._others(len(planned)), strict=True)):
            run = self._run(measuring, truth, configuration, spec, others if crowded else 0.0)
            runs.append(replace(run, spec=spec, started_at=(BEGAN + index * BETWEEN).isoformat()))
        return with_marks(runs, planned[0][1])

    def _others(self, count: int) -> list[float]:
        """Threads of other programs that want a CPU beside each run: none, or some through a spell."""
        random = np.random.default_rng([SEED, self.number, 3])
        threads: list[float] = []
        for _ in range(count):
            anew = not threads or random.random() > STAYS
            drawn = float(random.uniform(0.25, 1.0) * self.cpus) if random.random() < CROWDED else 0.0
            threads.append(drawn if anew else threads[-1])
        return threads

    def _run(
        self, measuring: Measuring, truth: Mapping[Question, float], place: Configuration, spec: RunSpec, others: float
    ) -> Run:
        """What is left to a job is shared out in fair parts among its threads and theirs."""
        vcpus, threads = vcpus_of(place), math.ceil(vcpus_of(place))
        left = min(vcpus, max(self.cpus - others, self.cpus * threads / (threads + others)))
        rate = _rate(truth, place, left / vcpus)
        if rate is not None:
            rate *= math.exp(measuring.case.noise * measuring.random.standard_normal())
        run = one_run(measuring, place, spec.repeat, rate)
        if rate is None or run.demand is None:
            return run
        seen = min(others, self.cpus - min(left, rate * (run.demand.core_seconds or 0.0)))
        mark = (RunWarning(WarningKind.CONTENDED, {"cores": seen}),) if seen > CONTENDED_CORES else ()
        return replace(run, conditions=replace(run.conditions, other_cores=seen), warnings=(*run.warnings, *mark))


def drawn_study(number: int, seed: int = SEED) -> CrowdedStudy:
    """The study of this number: an accounted job, one or two repeats, noise of 0.3 to 3 % a run."""
    random = np.random.default_rng([seed, number])
    repeats, noise = int(random.integers(1, 3)), float(math.exp(random.uniform(math.log(0.003), math.log(0.03))))
    case = next(case for case in _drawn(1000 * number, seed) if len(case.measured) <= MOST_CONFIGURATIONS)
    job = case.machine.job
    if random.random() < ONE_THREAD:
        job = replace(job, lock=0.98 * job.cpu, cpu=0.02 * job.cpu)
    return CrowdedStudy(number, replace(case, machine=replace(case.machine, job=job), repeats=repeats, noise=noise))


def _drawn(first: int, seed: int) -> Iterator[Case]:
    """Of even numbers: those are accounted."""
    return (draw_case(first + 2 * index, seed, SMALL_LADDERS) for index in range(500))


def _questions(case: Case) -> list[Question]:
    places = [configuration for configuration, _ in measured_questions(case)]
    return [(place, Faster(vcpus=part)) for place in places for part in LEFT]


def _rate(truth: Mapping[Question, float], place: Configuration, part: float) -> float | None:
    return rate_between(truth, place, {vcpus: Faster(vcpus=vcpus) for vcpus in LEFT}, part)


def _order(study: CrowdedStudy, measuring: Measuring) -> list[tuple[Configuration, RunSpec]]:
    """Each repeat in an order of its own, and the reference between: the most vCPUs."""
    random = np.random.default_rng([SEED, study.number, 2])
    asked = replace(measuring, random=np.random.default_rng(0))
    place = {}
    specs = []
    for configuration in study.case.measured:
        spec = one_run(asked, configuration, 0, None).spec
        place[spec.id] = configuration
        specs.append(spec)
    holding = [spec for spec in specs if study.case.machine.holds(place[spec.id])]
    reference = max(holding, key=lambda spec: spec.limits.vcpus or 0.0)
    planned = in_blocks(specs, study.case.repeats, reference, random)
    return [(place[replace(spec, repeat=0).id], spec) for spec in planned]
