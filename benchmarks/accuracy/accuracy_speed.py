"""How long fitting and recommending take on studies of a thousand and of ten thousand runs, and `sizer --help`."""

from __future__ import annotations

import itertools
import subprocess
import sys
import time
from dataclasses import replace
from statistics import median

import numpy as np
from accuracy_draws import Case, draw_case
from accuracy_runs import measured_runs
from accuracy_scores import GoalRow, below

from sizer.catalog import Catalog
from sizer.model import fit
from sizer.recommend import recommend
from sizer.records.configuration import Configuration
from sizer.records.run import Run
from sizer.records.study import Objective

THOUSAND, TEN_THOUSAND, HELP = 5.0, 30.0, 0.2
"""Seconds that are allowed."""
GROWTH = 12.0
"""Of the time, where the runs grow tenfold: linear, with a fifth for what a clock on a shared machine is off by."""
REFERENCES = 25.0
"""References that fitting and recommending 1,000 runs may take: a busy or a slow machine slows both."""
REPEATS = 3
MOST_VCPUS = 512
SEED = 7


def study(runs: int, workloads: int) -> list[Run]:
    """So many runs of that many workloads over vCPUs, memory and disks, each configuration three times."""
    numbers = (2 * number for number in itertools.count())
    cases = (case for number in numbers if len((case := draw_case(number, SEED)).axes.disks) > 1)
    found: list[Run] = []
    for index, case in enumerate(itertools.islice(cases, workloads)):
        found += _named(f"job{index}", measured_runs(_larger(case, -(-runs // workloads // REPEATS))))
    return found


def _larger(case: Case, configurations: int) -> Case:
    """The same machine with so many configurations: as many vCPU values as the other axes leave open."""
    axes = case.axes
    others = list(itertools.product(axes.memory[-3:], axes.disks, axes.batches[:1], axes.gpu_counts[:1]))
    values = -(-configurations // len(others))
    vcpus = [float(1 + round((MOST_VCPUS - 1) * step / max(1, values - 1))) for step in range(values)]
    measured = [Configuration(c, m, d, b, axes.gpu, n) for c in vcpus for m, d, b, n in others]
    return replace(case, measured=tuple(measured[:configurations]), repeats=REPEATS)


def _named(name: str, runs: list[Run]) -> list[Run]:
    return [replace(run, spec=replace(run.spec, workload=replace(run.spec.workload, name=name))) for run in runs]


def seconds(runs: list[Run]) -> float:
    """Of fitting and recommending, once; the first of a process imports numpy and scipy and is not counted."""
    catalog = Catalog.load()
    started = time.perf_counter()
    recommend(fit(runs), runs, Objective(), catalog)
    return time.perf_counter() - started


def reference_seconds(times: int = 3) -> float:
    """The median wall time of small solutions as fits consist of: 20,000 systems of 24 equations, one after another."""
    random = np.random.default_rng(SEED)
    system, right = random.normal(size=(24, 24)) + 24 * np.eye(24), random.normal(size=24)
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        for _ in range(20_000):
            np.exp(np.linalg.solve(system, right)).sum()
        taken.append(time.perf_counter() - started)
    return median(taken)


def help_seconds(times: int = 5) -> float:
    """The median wall time of `sizer --help`."""
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-m", "sizer", "--help"], check=True, capture_output=True)
        taken.append(time.perf_counter() - started)
    return median(taken)


def scores(quick: bool = False) -> list[GoalRow]:
    """The rows of the table; `quick` leaves out the ten thousand."""
    part = "speed"
    seconds(study(60, 1))
    thousand = seconds(study(1000, 4))
    table = [below(part, "fit and recommend 1,000 runs (4 workloads)", thousand, " s", THOUSAND)]
    table.append(below(part, "the same over the reference", thousand / reference_seconds(), "", REFERENCES))
    if not quick:
        many = seconds(study(10_000, 8))
        table.append(below(part, "fit and recommend 10,000 runs (8 workloads)", many, " s", TEN_THOUSAND))
        table.append(below(part, "10,000 runs over 1,000 (linear: 10)", many / thousand, "", GROWTH))
    return [*table, below(part, "sizer --help", help_seconds(), " s", HELP)]
