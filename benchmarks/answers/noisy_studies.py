"""Studies of two jobs on a host that others use, in the order of `sizer run`; and the same without noise. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone

import numpy as np
from accuracy_draws import Case, draw_case
from accuracy_machines import Faster, Question
from accuracy_runs import Measuring, checked_disks, measured_questions, one_run

from sizer.plan.configurations import repeated
from sizer.plan.run_order import changed_marks, woven
from sizer.records.prediction import Configuration
from sizer.records.run import Run
from sizer.records.study import RunSpec

KINDS = ("steps", "ramps", "spells")
DRIFT = -math.log(0.8)
"""In ln: at the slowest, what the CPU binds makes 20 % less than at the fastest."""

SEED = 1607
JOBS = 2
MOST_CONFIGURATIONS = 12
SLOWER = (0.0, DRIFT / 2, DRIFT)
"""In ln, by how much slower CPUs each configuration is simulated; between them ln rate is interpolated."""
BEGAN = datetime(2026, 11, 21, tzinfo=timezone.utc)
BETWEEN = timedelta(seconds=60)
QUIET = 1e-3
"""Standard deviation of what is left of noise in the twin of a study."""


@dataclass(frozen=True)
class NoisyHost:
    """Ln of how much slower the CPUs are at a time, from 0 to 1 through the study.

    `everywhere`: all workloads feel it; else the one of this number alone, as when only it needs what others take.
    `seen`: a sample costs more core-seconds, as under memory traffic; else the CPU's time goes to others, unseen.
    """

    kind: str
    everywhere: bool
    only: int
    seen: bool
    path: Callable[[float], float]

    def slower(self, workload: int, time: float) -> float:
        return self.path(time) if self.everywhere or workload == self.only else 0.0


def drawn_host(number: int, workloads: int, seed: int) -> NoisyHost:
    """The host of this number; every kind with every way of being felt in turn."""
    random = np.random.default_rng([seed, number, 7])
    kind = KINDS[number % 3]
    path = {"steps": _steps, "ramps": _ramp, "spells": _spells}[kind](random)
    return NoisyHost(kind, number // 3 % 2 == 0, int(random.integers(workloads)), number // 6 % 2 == 0, path)


def _steps(random: np.random.Generator) -> Callable[[float], float]:
    count = int(random.integers(2, 5))
    levels = random.permutation(np.linspace(0.0, DRIFT, count))
    ends = np.sort(random.uniform(0.1, 0.9, count - 1))
    return lambda time: float(levels[int(np.searchsorted(ends, time))])


def _ramp(random: np.random.Generator) -> Callable[[float], float]:
    """Up, down, or there and back."""
    turn = float(random.choice([0.0, 1.0, random.uniform(0.3, 0.7)]))
    return lambda time: DRIFT * float(np.interp(time, [0.0, turn, 1.0], [float(turn == 0), 1.0, float(turn == 1)]))


def _spells(random: np.random.Generator) -> Callable[[float], float]:
    """Three to six, together about a quarter of the time."""
    begins = random.uniform(0.0, 1.0, int(random.integers(3, 7)))
    lasts = random.uniform(0.03, 0.1, begins.size)
    return lambda time: DRIFT * float(((begins <= time) & (time < begins + lasts)).any())


@dataclass(frozen=True)
class NoisyStudy:
    """Two jobs, each on a machine of its own design, and the host that they are measured on."""

    number: int
    cases: tuple[Case, ...]
    host: NoisyHost

    @property
    def repeats(self) -> int:
        return self.cases[0].repeats

    def runs(self, noisy: bool) -> list[Run]:
        """What is stored of it; `noisy` False is its twin, whose host is quiet and whose counters are right."""
        truths = [case.machine.truth(_questions(case)) for case in self.cases]
        return _measured(self, truths, noisy)


def drawn_study(number: int, seed: int = SEED) -> NoisyStudy:
    """The study of this number: jobs that sizer itself measures, two or three repeats, noise of 0.3 to 2 % a run."""
    random = np.random.default_rng([seed, number])
    repeats, noise = int(random.integers(2, 4)), float(math.exp(random.uniform(math.log(0.003), math.log(0.02))))
    cases = []
    for job in range(JOBS):
        case = next(case for case in _drawn(2 * JOBS * (10_000 * number + 1000 * job), seed) if _is_small(case))
        cases.append(replace(case, repeats=repeats, noise=noise))
    return NoisyStudy(number, tuple(cases), drawn_host(number, JOBS, seed))


def _drawn(first: int, seed: int) -> Iterator[Case]:
    """Of even numbers: those are accounted."""
    return (draw_case(first + 2 * index, seed) for index in range(1000))


def _is_small(case: Case) -> bool:
    return len(case.measured) <= MOST_CONFIGURATIONS


def _questions(case: Case) -> list[Question]:
    places = [configuration for configuration, _ in measured_questions(case)]
    return [(place, slower_cpus(by)) for place in places for by in SLOWER]


def slower_cpus(by: float) -> Faster:
    """Cores and what holds a lock, slower by so much in ln."""
    return Faster(cpu=math.exp(-by), lock=math.exp(-by))


def _measured(study: NoisyStudy, truths: Sequence[Mapping[Question, float]], noisy: bool) -> list[Run]:
    random = np.random.default_rng([SEED, study.number, 1])
    measurings = []
    for case in study.cases:
        quiet = case if noisy else replace(case, noise=QUIET)
        measuring = Measuring(quiet, checked_disks(case.machine, random), random)
        measurings.append(measuring if noisy else replace(measuring, accounting=QUIET))
    planned = _order(study, measurings)
    runs = []
    for index, (job, configuration, spec) in enumerate(planned):
        slower = study.host.slower(job, index / len(planned)) if noisy else 0.0
        rate = rate_at(truths[job], configuration, slower)
        if rate is not None:
            rate *= math.exp(measurings[job].case.noise * random.standard_normal())
        dearer = math.exp(slower) if study.host.seen else 1.0
        run = one_run(measurings[job], configuration, spec.repeat, rate, dearer)
        runs.append(replace(run, spec=spec, started_at=(BEGAN + index * BETWEEN).isoformat()))
    return with_marks(runs, planned[0][2])


def with_marks(runs: Sequence[Run], reference: RunSpec) -> list[Run]:
    """With what the runs of the reference say of the others."""
    marked = {run.id: run for run in changed_marks(runs, reference)}
    return [marked.get(run.id, run) for run in runs]


def rate_at(truth: Mapping[Question, float], configuration: Configuration, slower: float) -> float | None:
    """The rate on CPUs that are slower by so much in ln, between SLOWER; None where its memory is too little."""
    return rate_between(truth, configuration, {by: slower_cpus(by) for by in SLOWER}, slower)


def rate_between(
    truth: Mapping[Question, float], configuration: Configuration, changes: Mapping[float, Faster], at: float
) -> float | None:
    """The rate under a change of this size, by ln rate between those that were simulated, in rising order."""
    rates = [truth.get((configuration, change)) for change in changes.values()]
    logs = [math.log(rate) for rate in rates if rate is not None]
    return math.exp(float(np.interp(at, list(changes), logs))) if logs else None


def _order(study: NoisyStudy, measurings: list[Measuring]) -> list[tuple[int, Configuration, RunSpec]]:
    """Each repeat in an order of its own, and the reference between: the first job with the most vCPUs."""
    random = np.random.default_rng([SEED, study.number, 2])
    place: dict[str, tuple[int, Configuration]] = {}
    specs = []
    for job, (case, measuring) in enumerate(zip(study.cases, measurings, strict=True)):
        for configuration in case.measured:
            asked = one_run(replace(measuring, random=np.random.default_rng(0)), configuration, 0, None).spec
            spec = replace(asked, workload=replace(asked.workload, name=f"job{job}"))
            place[spec.id] = job, configuration
            specs.append(spec)
    holding = [spec for spec in specs if _holds(study, *place[spec.id])]
    reference = max(holding, key=lambda spec: (-place[spec.id][0], spec.limits.vcpus or 0.0))
    return [(*place[replace(spec, repeat=0).id], spec) for spec in in_blocks(specs, study.repeats, reference, random)]


def in_blocks(
    specs: Sequence[RunSpec], repeats: int, reference: RunSpec, random: np.random.Generator
) -> tuple[RunSpec, ...]:
    """Each repeat in an order of its own, and the reference between."""
    blocks = [[repeated(specs[i], repeat) for i in random.permutation(len(specs))] for repeat in range(repeats)]
    return woven(blocks, reference)


def _holds(study: NoisyStudy, job: int, configuration: Configuration) -> bool:
    return study.cases[job].machine.holds(configuration)
