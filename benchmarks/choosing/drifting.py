"""Simulated machines whose host drifts while the runs are made, one after another: what a run gives depends on when."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone

import numpy as np
from accuracy_draws import Case
from accuracy_machines import Faster, Question
from accuracy_runs import Measuring, checked_disks, one_run
from noisy_hosts import KINDS, NoisyHost, drawn_host
from noisy_studies import SLOWER, rate_at, slower_cpus
from replayed import MOST_CONFIGURATIONS, ReplayCase, as_replayed, few_axes, machine_case, timed

from sizer.records import Run, RunSpec

MOST = 24
"""Configurations: each is simulated with CPUs of three speeds."""
SPAN = 12
"""Runs, of the mean length, in which the host goes through its whole path: an adaptive study sees half of it or all."""
BEGAN = datetime(2026, 11, 21, tzinfo=timezone.utc)
SEED = 1123


@dataclass(frozen=True)
class DriftingCase(ReplayCase):
    """A study whose whole grid was made on the host at its fastest, and a host that others use."""

    measuring: Measuring = field(kw_only=True)
    truths: Mapping[Question, float] = field(kw_only=True)
    number: int = field(kw_only=True)

    @property
    def path(self) -> NoisyHost:
        return replace(drawn_host(self.number, 1, SEED), everywhere=True)

    def run(self, spec: RunSpec, before: Sequence[Run] = ()) -> Run:
        """The run of this spec after these, on the host as it is then."""
        known = super().run(spec)
        passed, host = sum(run.wall_seconds for run in before), self.path
        mean = self.seconds / len(self.all_runs)
        slower = host.slower(0, min(1.0, passed / (SPAN * mean)))
        random = np.random.default_rng([SEED, *spec.id.encode()])
        rate = rate_at(self.truths, known.configuration, slower)
        if rate is not None:
            rate *= math.exp(self.measuring.case.noise * random.standard_normal())
        dearer = math.exp(slower) if host.seen else 1.0
        run = one_run(replace(self.measuring, random=random), known.configuration, spec.repeat, rate, dearer)
        started = (BEGAN + timedelta(seconds=passed)).isoformat()
        return replace(as_replayed(timed(run)), spec=spec, started_at=started)


def drifting_cases(count: int) -> list[ReplayCase]:
    """So many studies of one job each, of few enough configurations; their hosts are of every kind in turn."""
    found: list[ReplayCase] = []
    number = 0
    while len(found) < count:
        case = few_axes(number, SEED, min(MOST, MOST_CONFIGURATIONS))
        number += 2
        if case is not None:
            found.append(_drifting(case, len(found)))
    return found


def _drifting(case: Case, number: int) -> DriftingCase:
    asked = [(each, slower_cpus(by)) for each in case.measured if case.machine.holds(each) for by in SLOWER]
    truths = case.machine.truth(asked)
    alone = machine_case(case, {question: rate for question, rate in truths.items() if question[1] == Faster()})
    random = np.random.default_rng([SEED, number])
    measuring = Measuring(case, checked_disks(case.machine, random), random)
    fields = {name: getattr(alone, name) for name in ("study", "host", "known", "truth")}
    name = f"drifting {case.number} {KINDS[number % len(KINDS)]}"
    return DriftingCase(name, "drifting", **fields, measuring=measuring, truths=truths, number=number)
