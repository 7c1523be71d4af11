"""Are the shapes of a family the best ones? Simulated fleets, compared with trying all and with 4 GiB a vCPU for all.

    python benchmarks/families/families.py [--fleets 200] [--first 0] [--processes 2]

Each fleet is some jobs whose true rates are known, measured with noise at several vCPUs and on two disks, with a memory
floor each and some with a GPU. `family_of` chooses one, two or three shapes by what was measured; trying all does the
same, by what was measured and by what is true. At the end one fleet of 50 jobs on 200 shapes is timed, and a larger one
whose gap is shown. Exit status 1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

# Before numpy: two processes that compute with two threads each would wait for one another.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

sys.path.append(str(Path(__file__).parents[1] / "shared"))

import numpy as np
from goals import GoalRow, at_most, below, in_processes, printed, share
from numpy.typing import NDArray

from sizer.catalog.catalog import Catalog
from sizer.model.model import Gpus, MeasuredDisk, MeasuredRange, MemoryTrial, WorkloadFacts, WorkloadModel, of_new_run
from sizer.recommend.candidates import Candidate
from sizer.recommend.case import Case, quality_of
from sizer.recommend.family.choice import family_of, least_cost
from sizer.recommend.family.fleet import RATIOS, Fleet, Work, fleet_of
from sizer.recommend.rule import table_of_machines
from sizer.records.device import Device, DiskRates
from sizer.records.prediction import Configuration, Spec
from sizer.records.study import Objective
from sizer.records.units import GIB

Array = NDArray[np.float64]

VCPUS = (1, 2, 4, 8, 16, 32)
DISKS = (
    MeasuredDisk("slow", DiskRates(3000, 1.25e8), "standard"),
    MeasuredDisk("fast", DiskRates(40_000, 1e9), "nvme"),
)
NOISE = 0.02
NEAR = 0.01
"""No family may be dearer than the best by more."""
MOST_SECONDS = 30.0
MANY_RATIOS = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0)


@dataclass(frozen=True)
class Job:
    """A job: the rate of one core, its parallel part and on how many vCPUs `most`, what disk and GPU allow."""

    name: str
    core: float
    parallel: float
    most: int
    memory_bytes: int
    bytes_per_sample: float
    gpu_rate: float | None

    def rate(self, vcpus: int, disk: MeasuredDisk) -> float:
        cores = min(vcpus, self.most)
        rate = self.core / ((1 - self.parallel) + self.parallel / cores)
        limits = [(disk.rates.read_bytes_per_second or math.inf) / self.bytes_per_sample, self.gpu_rate or math.inf]
        return float((rate**-4 + sum(limit**-4 for limit in limits)) ** -0.25)


def drawn_job(random: np.random.Generator, number: int) -> Job:
    core = float(random.lognormal(4, 1))
    gpu = float(core * random.uniform(1, 12)) if random.random() < 0.3 else None
    memory = int(GIB * min(200.0, random.lognormal(1.2, 1.2)))
    size = float(1.25e8 / core / random.lognormal(1.5, 1))
    most = int(random.choice(VCPUS))
    return Job(f"job-{number}", core, float(random.uniform(0.7, 0.999)), most, memory, size, gpu)


def measured_work(job: Job, random: np.random.Generator) -> Work:
    """What sizer holds of a job once it is measured."""
    device = Device("cpu") if job.gpu_rate is None else Device("cuda", gpu="V100")
    kind = Gpus("cpu", 0) if job.gpu_rate is None else Gpus("V100", 1)
    candidates = []
    for disk in DISKS:
        for vcpus in VCPUS:
            place = Configuration(float(vcpus), 512 * GIB, disk.name, 32)
            rate = job.rate(vcpus, disk) * math.exp(NOISE * random.standard_normal())
            spec = Spec(float(vcpus), None, disk.name, None)
            estimate = of_new_run(rate, NOISE, NOISE)
            # A price that no candidate has would be no answer; families have prices of their own.
            candidates.append(
                Candidate(spec, place, estimate, 0.05 * vcpus, accelerators=kind, deviation=NOISE, noise=NOISE)
            )
    trials = tuple(MemoryTrial(float(vcpus), 32, 512 * GIB, True, job.memory_bytes) for vcpus in VCPUS)
    measured = MeasuredRange(tuple(map(float, VCPUS)), (512 * GIB,), (32,), disks=DISKS, trials=trials)
    facts = WorkloadFacts("image_training", device, read_bytes=job.bytes_per_sample, read_ios=1.0)
    model, catalog, objective = WorkloadModel(job.name, "image", facts, measured), Catalog.load(), Objective()
    table = table_of_machines(candidates, objective)
    return Work(job.name, model, Case(model, objective, catalog, quality_of([]), table))


def drawn_fleet(number: int, jobs: int, ratios: Sequence[float] = RATIOS) -> tuple[Fleet, Array]:
    """The fleet of that number, and the true costs (W, S): of what is measured on each shape."""
    random = np.random.default_rng([number, jobs])
    drawn = [drawn_job(random, place) for place in range(jobs)]
    fleet = fleet_of([measured_work(job, random) for job in drawn], Catalog.load(), ratios, prices="aws")
    by_name = {job.name: job for job in drawn}
    rates = np.array(
        [[by_name[work.name].rate(vcpus, disk) for disk in DISKS for vcpus in VCPUS] for work in fleet.works]
    )
    true = np.take_along_axis(rates, np.maximum(fleet.rows, 0), axis=1)
    return fleet, np.where(fleet.rows < 0, np.inf, fleet.usd / true / 3600)


@dataclass(frozen=True)
class Judged:
    """By what shares a family costs more than the best by what was measured, and by what is true; what 4 GiB a vCPU for
    all costs more than it, infinite where that does not serve all; whether it is proven."""

    regret: float
    true_regret: float
    one_ratio: float
    proven: bool


def judge(number: int) -> Judged:
    """One fleet, with a number of shapes and a penalty of its own."""
    random = np.random.default_rng([number, 1])
    jobs, count = int(random.integers(2, 9)), int(random.integers(1, 4))
    fleet, true = drawn_fleet(number, jobs)
    penalty = 99.0 if random.random() < 0.5 else max(0.1, least_penalty(fleet.costs, count))
    family = family_of(fleet, count, penalty)
    columns = [fleet.shapes.index(one.shape) for one in family.shapes]
    places = [columns[served.place] for served in family.served]
    paid = true[np.arange(len(places)), places]
    four, _true = drawn_fleet(number, jobs, (4.0,))
    alike = family_of(four, count, 99.0) if len(four.works) == len(fleet.works) else None
    bill = math.inf
    if alike is not None:
        ratios = four.costs.min(axis=1) / fleet.costs.min(axis=1)
        bill = float(np.mean(ratios * [1 + served.penalty for served in alike.served]))
    return Judged(
        (1 + family.more) / best_of_all(fleet.costs, count, penalty) - 1,
        float(np.mean(paid / true.min(axis=1))) / best_of_all(true, count, 99.0) - 1,
        bill / (1 + family.more) - 1,
        family.gap == 0,
    )


def all_choices(ratios: Array, count: int) -> Iterator[Array]:
    """What jobs pay (W, S) with all but one of so many shapes, for each choice of these, and with any as the last."""
    for some in combinations(range(ratios.shape[1]), count - 1):
        yield np.minimum(ratios[:, list(some)].min(axis=1, initial=np.inf, keepdims=True), ratios)


def best_of_all(costs: Array, count: int, penalty: float) -> float:
    """The least mean cost over each workload's own best of so many shapes, by trying all."""
    ratios = costs / costs.min(axis=1, keepdims=True)
    ratios = np.where(ratios <= 1 + penalty + 1e-9, ratios, np.inf)
    return min(float(paid.mean(axis=0).min()) for paid in all_choices(ratios, count))


def least_penalty(costs: Array, count: int) -> float:
    """At which some choice of so many keeps every workload, by trying all."""
    ratios = costs / costs.min(axis=1, keepdims=True)
    return min(float(paid.max(axis=0).min()) for paid in all_choices(ratios, count)) - 1


def timed() -> list[GoalRow]:
    """Fleets of many jobs: how long a proof takes, and how far the heuristic is from its bound."""
    rows = []
    fleet, _true = drawn_fleet(1, 50, MANY_RATIOS)
    kept = np.linspace(0, len(fleet.shapes) - 1, min(200, len(fleet.shapes))).astype(int)
    for count in (3, 5, 10):
        costs = fleet.costs[:, kept] / fleet.costs[:, kept].min(axis=1, keepdims=True) / len(fleet.works)
        served = costs[np.isfinite(costs).any(axis=1)]
        began = time.monotonic()
        chosen = least_cost(served, count)
        seconds = time.monotonic() - began
        assert chosen is not None
        name = f"{served.shape[1]} shapes, {served.shape[0]} jobs, {count} chosen"
        rows.append(below(name, "seconds until it is proven", seconds, " s", MOST_SECONDS))
        rows.append(below(name, "gap", 100 * chosen.gap, " %", 0.0))
    began = time.monotonic()
    family = family_of(fleet, 5, 99.0)
    name = f"{len(fleet.shapes)} shapes, {len(fleet.works)} jobs"
    rows.append(below(name, "seconds of all that is told of 5", time.monotonic() - began, " s", MOST_SECONDS))
    rows.append(GoalRow(name, "gap of 5", 100 * family.gap, " %"))
    return rows


def scores(judged: Sequence[Judged]) -> list[GoalRow]:
    part, served = "fleets", [one.one_ratio for one in judged if math.isfinite(one.one_ratio)]
    return [
        share(part, "at most 1 % dearer than trying all", [one.regret <= NEAR for one in judged], 1.0),
        share(part, "proven", [one.proven for one in judged], 1.0),
        at_most(part, "dearer than trying all, worst", [one.regret for one in judged], 1.0, NEAR),
        at_most(part, "dearer by the true rates, median", [one.true_regret for one in judged], 0.5),
        at_most(part, "dearer by the true rates, 90th percentile", [one.true_regret for one in judged], 0.9),
        at_most(part, "4 GiB a vCPU for all dearer, median", served, 0.5),
        at_most(part, "4 GiB a vCPU for all dearer, 90th percentile", served, 0.9),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fleets", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    numbers = [(number,) for number in range(given.first, given.first + given.fleets)]
    return printed([*scores(in_processes(judge, numbers, given.processes)), *timed()])


if __name__ == "__main__":
    sys.exit(main())
