"""A machine that is looked up: what a run makes follows from its limits, with noise that its id decides."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import replace

from sizer.plan.chooser import Chooser, NextRun, PlanEnd
from sizer.plan.configurations import position
from sizer.records.prediction import Configuration, Estimate
from sizer.records.run import Demand, Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Adaptive, Measure, RunSpec, Study, Workload, WorkloadPlan
from sizer.records.units import GIB
from sizer.study.presets import HostSize
from tests.tables import stored_catalog

HOST = HostSize(16, 64 * GIB)
LADDER = (1.0, 2.0, 4.0, 8.0, 16.0)
SECONDS = 30.0
NOISE = 0.005
UNBOUNDED = Adaptive()

Rate = Callable[[Configuration], float]


def knee(at: float) -> Rate:
    """100 samples/s a vCPU up to so many vCPUs, and no more with more of them."""
    return lambda configuration: 100.0 * min(configuration.vcpus or 1.0, at)


def study_of(*workloads: str, repeats: int = 2, **axes: object) -> Study:
    """Commands over these axes, vCPUs from 1 to 16 unless they say otherwise."""
    plans = tuple(
        WorkloadPlan(Workload(name, "command", cache="cold"), (1,), **{"vcpus": LADDER, **axes})  # type: ignore[arg-type]
        for name in workloads or ("job",)
    )
    return Study("s", plans, measure=Measure(repeats=repeats, seconds=SECONDS))


def made(spec: RunSpec, rate: Rate, outcome: Outcome = Outcome.COMPLETED, drawn: int = 0) -> Run:
    """The run of this spec on a machine where the CPU's time of a sample is known; `drawn` chooses its noise."""
    vcpus, memory, disk, batch, count, label = position(spec, HOST)
    configuration = Configuration(vcpus, memory, disk or "host", batch, gpu_count=count)
    value = rate(replace(configuration, gpu=label)) * math.exp(
        NOISE * random.Random(f"{spec.id}-{drawn}" if drawn else spec.id).gauss(0, 1)
    )
    run = Run(spec, outcome, configuration, "2026-11-21T10:00:00+00:00", SECONDS + 5)
    if outcome is not Outcome.COMPLETED:
        return run
    demand = Demand(core_seconds=0.01)
    half = 2 * NOISE * value
    return replace(run, throughput=Estimate(value, value - half, value + half), demand=demand)


def chooser_of(study: Study, budget: float | None = None, runs: int | None = None) -> Chooser:
    return Chooser(study, HOST, stored_catalog(), Adaptive(budget, runs))


def chosen(
    study: Study, rate: Rate, asked: Adaptive = UNBOUNDED, before: tuple[Run, ...] = (), drawn: int = 0
) -> tuple[list[Run], PlanEnd]:
    """Every run that is made after those that are known, each with why, and how it ended."""
    chooser, runs = Chooser(study, HOST, stored_catalog(), asked), list(before)
    while isinstance(step := chooser.next_run(runs), NextRun):
        runs.append(replace(made(step.spec, rate, drawn=drawn), reason=step.why))
        assert len(runs) <= 100
    return runs, step
