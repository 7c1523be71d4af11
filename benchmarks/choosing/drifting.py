"""Simulated machines whose host drifts while the runs are made, one after another: what a run gives depends on when."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta, timezone

import numpy as np
from accuracy_draws import Case
from accuracy_machines import Faster, Question
from accuracy_runs import NAME, Measuring, checked_disks, noise, one_run
from noisy_hosts import KINDS, drawn_host
from noisy_studies import SLOWER, rate_at, slower_cpus
from replayed import ReplayCase, as_replayed, case_of, few_axes, machine_case, timed

from sizer.records.run import Run
from sizer.records.study import RunSpec

JOBS = 3
MOST = 24
"""Configurations of a job: each is simulated with CPUs of three speeds."""
SPAN = 12
"""Runs of each job, of the mean length, in which the host goes through its path: a study sees a third of it or all."""
BEGAN = datetime(2026, 11, 21, tzinfo=timezone.utc)
SEED = 1123


@dataclass(frozen=True)
class DriftingCase(ReplayCase):
    """A study of JOBS jobs whose whole grid was made on a quiet host, and a host that others use.

    `jobs` says how runs of each are made, and its rate at each configuration with CPUs of each speed.
    """

    jobs: Mapping[str, tuple[Measuring, Mapping[Question, float]]] = field(default_factory=dict)
    number: int = 0

    def run(self, spec: RunSpec, before: Sequence[Run] = ()) -> Run:
        """The run of this spec after these, on the host as it is then."""
        name, place = spec.workload.name, super().run(spec).configuration
        (measuring, truths), host = self.jobs[name], drawn_host(self.number, JOBS, SEED)
        passed, mean = sum(run.wall_seconds for run in before), self.seconds / len(self.all_runs)
        slower = host.slower(list(self.jobs).index(name), min(1.0, passed / (SPAN * JOBS * mean)))
        random, rate = np.random.default_rng([SEED, *spec.id.encode()]), rate_at(truths, place, slower)
        if rate is not None:
            rate *= noise(measuring.case, random)
        dearer = math.exp(slower) if host.seen else 1.0
        run = one_run(replace(measuring, random=random), place, spec.repeat, rate, dearer)
        began = (BEGAN + timedelta(seconds=passed)).isoformat()
        return replace(as_replayed(timed(run)), spec=spec, started_at=began)


def drifting_cases(count: int) -> list[ReplayCase]:
    """So many studies, of jobs of few enough configurations on one disk; their hosts are of every kind in turn.

    On one disk, as the names of disks are a study's; of even numbers, as those are accounted.
    """
    found = (few_axes(number, SEED, MOST) for number in itertools.count(0, 2))
    cases = (case for case in found if case is not None and len(case.axes.disks) == 1)
    return [_drifting([next(cases) for _ in range(JOBS)], number) for number in range(count)]


def _drifting(cases: Sequence[Case], number: int) -> DriftingCase:
    jobs, runs, rates = {}, [], {}
    for job, case in enumerate(cases):
        name = f"job{job}"
        asked = [(each, slower_cpus(by)) for each in case.measured if case.machine.holds(each) for by in SLOWER]
        truths = case.machine.truth(asked)
        random = np.random.default_rng([SEED, number, job])
        jobs[name] = Measuring(case, checked_disks(case.machine, random), random), truths
        quiet = machine_case(case, {question: rate for question, rate in truths.items() if question[1] == Faster()})
        rates[name] = quiet.truth[NAME]
        for run in quiet.all_runs:
            runs.append(replace(run, spec=replace(run.spec, workload=replace(run.spec.workload, name=name))))
    whole = case_of(f"drifting {number} {KINDS[number % len(KINDS)]}", "drifting", runs, rates)
    given = {each.name: getattr(whole, each.name) for each in fields(whole)}
    return DriftingCase(**given, jobs=jobs, number=number)
