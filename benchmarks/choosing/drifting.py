"""Simulated machines whose host drifts while the runs are made, one after another: what a run gives depends on when."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta, timezone

import numpy as np
from accuracy_draws import Case
from accuracy_machines import Faster, Question
from accuracy_runs import NAME, Measuring, checked_disks, noise, one_run
from noisy_hosts import KINDS, NoisyHost, drawn_host
from noisy_studies import SLOWER, rate_at, slower_cpus
from replayed import ReplayCase, as_replayed, case_of, few_axes, machine_case, timed

from sizer.records import Run, RunSpec

JOBS = 3
MOST = 24
"""Configurations of a job: each is simulated with CPUs of three speeds."""
SPAN = 12
"""Runs of each job, of the mean length, in which the host goes through its path: a study sees a third of it or all."""
BEGAN = datetime(2026, 11, 21, tzinfo=timezone.utc)
SEED = 1123


@dataclass(frozen=True)
class Job:
    """How runs of one job are made, and its rate at each configuration with CPUs of each speed."""

    measuring: Measuring
    truths: Mapping[Question, float]

    def run(self, known: Run, spec: RunSpec, slower: float, seen: bool) -> Run:
        """As a quiet host made it, on CPUs that are slower by so much in ln, `seen` by accounting."""
        random = np.random.default_rng([SEED, *spec.id.encode()])
        rate = rate_at(self.truths, known.configuration, slower)
        if rate is not None:
            rate *= noise(self.measuring.case, random)
        dearer = math.exp(slower) if seen else 1.0
        run = one_run(replace(self.measuring, random=random), known.configuration, spec.repeat, rate, dearer)
        return replace(as_replayed(timed(run)), spec=spec)


@dataclass(frozen=True)
class DriftingCase(ReplayCase):
    """A study of JOBS jobs whose whole grid was made on a quiet host, and a host that others use."""

    jobs: Mapping[str, Job] = field(default_factory=dict)
    number: int = 0

    @property
    def path(self) -> NoisyHost:
        return drawn_host(self.number, JOBS, SEED)

    def run(self, spec: RunSpec, before: Sequence[Run] = ()) -> Run:
        """The run of this spec after these, on the host as it is then."""
        passed, path = sum(run.wall_seconds for run in before), self.path
        mean = self.seconds / len(self.all_runs)
        name = spec.workload.name
        slower = path.slower(list(self.jobs).index(name), min(1.0, passed / (SPAN * JOBS * mean)))
        run = self.jobs[name].run(super().run(spec), spec, slower, path.seen)
        return replace(run, started_at=(BEGAN + timedelta(seconds=passed)).isoformat())


def drifting_cases(count: int) -> list[ReplayCase]:
    """So many studies, of jobs of few enough configurations on one disk; their hosts are of every kind in turn."""
    cases = _small_cases()
    return [_drifting([next(cases) for _ in range(JOBS)], number) for number in range(count)]


def _small_cases() -> Iterator[Case]:
    """Of even numbers: those are accounted. On one disk, as the names of disks are a study's."""
    for number in itertools.count(0, 2):
        case = few_axes(number, SEED, MOST)
        if case is not None and len(case.axes.disks) == 1:
            yield case


def _drifting(cases: Sequence[Case], number: int) -> DriftingCase:
    jobs, parts = {}, []
    for job, case in enumerate(cases):
        name = f"job{job}"
        asked = [(each, slower_cpus(by)) for each in case.measured if case.machine.holds(each) for by in SLOWER]
        truths = case.machine.truth(asked)
        random = np.random.default_rng([SEED, number, job])
        jobs[name] = Job(Measuring(case, checked_disks(case.machine, random), random), truths)
        quiet = machine_case(case, {question: rate for question, rate in truths.items() if question[1] == Faster()})
        parts.append((name, quiet))
    runs = [_called(run, name) for name, quiet in parts for run in quiet.all_runs]
    whole = case_of(
        f"drifting {number} {KINDS[number % len(KINDS)]}",
        "drifting",
        runs,
        parts[0][1].study.disks,
        {name: quiet.truth[NAME] for name, quiet in parts},
    )
    given = {each.name: getattr(whole, each.name) for each in fields(whole)}
    return DriftingCase(**given, jobs=jobs, number=number)


def _called(run: Run, name: str) -> Run:
    return replace(run, spec=replace(run.spec, workload=replace(run.spec.workload, name=name)))
