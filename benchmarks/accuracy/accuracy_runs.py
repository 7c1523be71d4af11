"""The Run records that a study of a simulated machine would hold, with noise; with accounting or rates alone. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from accuracy_draws import Case
from accuracy_machines import Faster, Question, SimulatedMachine

from sizer.analysis.accounting import busy_shares, name_bottleneck, short_of_memory
from sizer.model.model import batch_of, disk_of, memory_of, vcpus_of
from sizer.records.device import Device, DiskRates
from sizer.records.prediction import Bottleneck, Configuration, Estimate
from sizer.records.run import DataSet, Demand, DiskCheck, Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import DiskTier, Limits, Measure, RunSpec, Workload

NAME = "job"
ACCOUNTING = 0.03
FIO = 0.02
"""Standard deviation of ln of a demand that was accounted, from run to run, and of a disk's figures by fio."""
STARTED = "2026-11-21T00:00:00+00:00"
DATA_SAMPLES = 100_000


@dataclass(frozen=True)
class Measuring:
    """What all runs of a case share."""

    case: Case
    checks: dict[str, DiskCheck]
    random: np.random.Generator
    accounting: float = ACCOUNTING


def measured_questions(case: Case) -> list[Question]:
    """The configurations of the design that fit into their memory."""
    return [(configuration, Faster()) for configuration in case.measured if case.machine.holds(configuration)]


def measured_runs(case: Case, truth: Mapping[Question, float] | None = None) -> list[Run]:
    """Every repeat of every configuration of the design; those that do not fit into their memory end out of memory.

    `truth` is the rate of each, where it was simulated before.
    """
    random = np.random.default_rng([case.machine.seed, 1])
    true = case.machine.truth(measured_questions(case)) if truth is None else truth
    measuring = Measuring(case, checked_disks(case.machine, random), random)
    runs = []
    for repeat in range(case.repeats):
        for configuration in case.measured:
            rate = true[configuration, Faster()] * noise(case, random) if case.machine.holds(configuration) else None
            runs.append(one_run(measuring, configuration, repeat, rate))
    return runs


def noise(case: Case, random: np.random.Generator) -> float:
    """The factor by which one run is off."""
    return math.exp(case.noise * random.standard_normal())


def checked_disks(machine: SimulatedMachine, random: np.random.Generator) -> dict[str, DiskCheck]:
    """What fio would say of each."""

    def seen(value: float | None) -> float | None:
        return value * math.exp(FIO * random.standard_normal()) if value else None

    checks = {}
    for name, true in machine.disks.items():
        read, bandwidth, write = map(seen, (true.read_iops, true.read_bytes_per_second, true.write_bytes_per_second))
        tier = DiskTier(name, emulated=true, disk_class="ssd")
        checks[name] = DiskCheck(tier, DiskRates(read, bandwidth, None, write))
    return checks


def _workload(case: Case) -> Workload:
    job, memory = case.machine.job, case.machine.memory
    cache = "natural" if memory.natural else "cold"
    if not case.accounted:
        return Workload(NAME, "command", cache=cache)
    kind = "imagenet_preprocessing" if job.written_bytes else "image_training" if job.accelerator else "image_inference"
    emulated = Device("emulated", gpu="P100", samples_per_second=job.accelerator)
    device = Device() if not job.accelerator else Device("cuda") if case.number % 4 else emulated
    return Workload(NAME, kind, format="lmdb" if memory.sequential else "recordio", cache=cache, device=device)


def one_run(
    measuring: Measuring, configuration: Configuration, repeat: int, rate: float | None, dearer: float = 1.0
) -> Run:
    """A run with this rate, or out of memory without one; `dearer`: what a sample cost the CPU over the usual."""
    case = measuring.case
    memory_limited = len(case.axes.memory) > 1
    limits = Limits(configuration.vcpus, configuration.memory_bytes if memory_limited else None, configuration.disk)
    half = 1.96 * case.noise * 0.5
    run = Run(
        spec=RunSpec(_workload(case), batch_of(configuration), limits, Measure(case.repeats), repeat),
        outcome=Outcome.COMPLETED if rate else Outcome.OUT_OF_MEMORY,
        configuration=configuration,
        started_at=STARTED,
        wall_seconds=60.0,
        throughput=Estimate(rate, rate * (1 - half), rate * (1 + half)) if rate else None,
    )
    return _accounted(measuring, run, rate, dearer) if case.accounted and rate else run


def _accounted(measuring: Measuring, run: Run, rate: float, dearer: float) -> Run:
    """With what sizer's own accounting would hold, each off by a little; and what that names as bottleneck."""
    machine, configuration = measuring.case.machine, run.configuration
    job, memory = machine.job, machine.memory
    demand = _demand(measuring, configuration, dearer)
    anonymous = round(memory.needed(vcpus_of(configuration), batch_of(configuration)) * 0.98)
    data = check = None
    if job.read_bytes:
        bytes_a_sample, samples = round(job.read_bytes), round(memory.data_bytes / job.read_bytes) or DATA_SAMPLES
        data = DataSet("/data", run.spec.workload.format or "recordio", bytes_a_sample * samples, samples, False)
        check = measuring.checks[disk_of(configuration)]
    device = run.spec.workload.computes_on
    busy = busy_shares(rate, demand, configuration, check.rates if check else None, device)
    starved = memory.natural and short_of_memory(demand, anonymous, data, memory_of(configuration))
    throttled = min(1.0, busy.get(Bottleneck.CPU, 0.0) ** 4) if vcpus_of(configuration) % 1 else None
    return replace(
        run,
        data_set=data,
        demand=demand,
        disk=check,
        memory=replace(run.memory, peak_anonymous_bytes=anonymous),
        evidence=name_bottleneck(busy, vcpus_of(configuration), starved, throttled),
        sample_unit="image",
        conditions=replace(run.conditions, throttled=throttled),
    )


def _demand(measuring: Measuring, configuration: Configuration, dearer: float) -> Demand:
    machine, job = measuring.case.machine, measuring.case.machine.job
    random, missed = measuring.random, machine.memory.missed(configuration)

    def about(value: float) -> float:
        return value * math.exp(measuring.accounting * random.standard_normal())

    # A thread that shares its core or contends is busy for longer; one that the quota stops is not.
    slowed = machine.speed(max(1.0, math.floor(vcpus_of(configuration))))
    core_seconds = dearer * (machine.cpu_seconds(batch_of(configuration)) / slowed + job.lock)
    return Demand(
        core_seconds=about(core_seconds),
        read_bytes=about(job.read_bytes * missed) if job.read_bytes else 0.0,
        read_ios=about(job.read_ios * missed) if job.read_ios else 0.0,
        written_bytes=about(job.written_bytes),
        accelerator_seconds=about(machine.accelerator_seconds(configuration)) if job.accelerator else None,
        asked_bytes=job.read_bytes or None,
    )
