"""Models of every kind that `predict` knows, each fitted to made-up runs, and random questions to ask of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sizer.model.fitting import fit
from sizer.model.model import CPU_LABEL, WhatIf, WorkloadModel
from sizer.records.device import Device, DiskRates
from sizer.records.prediction import Bottleneck, Configuration
from sizer.records.run import (
    DataSet,
    Demand,
    Evidence,
    EvidenceKind,
    LimitedBy,
    LimitedByKind,
    Run,
    RunWarning,
    WarningKind,
)
from sizer.records.run_kinds import Outcome
from sizer.records.units import GIB
from tests.shared import made_once
from tests.tables import WHOLE_MACHINES, runs_of

MakeRun = Callable[..., Run]

DISKS = {"slow": DiskRates(300, 2e7, 300, 2e7), "fast": DiskRates(20_000, 4e8, 20_000, 4e8)}
CUDA = Device("cuda")
P100 = Device("emulated", gpu="P100", samples_per_second=219.0)
NATURAL = DataSet("/data", "recordio", 4 * GIB, 4 * GIB // 100_000, embedded=True)

SATURATING = "\n".join(
    ["workload,disk,gpu,gpu_count,throughput"]
    + [
        f"unet,{disk},H100,{count},{100 * count / (1 + (count / knee) ** 6) ** (1 / 6):.6g}"
        for disk, knee in (("local", 18), ("network", 4))
        for count in (1, 2, 4, 8, 12, 16, 24)
    ]
)


def fed(run: Run, given: str) -> Run:
    """The same run with another input."""
    return replace(run, spec=replace(run.spec, workload=replace(run.spec.workload, input=given)))


def fitted(runs: list[Run] | tuple[Run, ...]) -> WorkloadModel:
    return fit(runs).workloads[0]


def contended(run: Run, cores: float) -> Run:
    """The same run while something else on the host used so many cores."""
    return replace(
        run,
        conditions=replace(run.conditions, other_cores=cores),
        warnings=(RunWarning(WarningKind.CONTENDED, {"cores": cores}),),
    )


def _curves() -> Mapping[str, tuple[Callable[[float], float], list[float]]]:
    """Rates alone, by vCPUs."""
    return {
        "power": (lambda c: 100 * c**0.7, [1, 2, 4, 8, 16, 32, 64]),
        "knee": (lambda c: 50 * (min(c, 16) + 0.33 * max(0.0, c - 16)), [1, 2, 4, 8, 16, 20, 24, 28, 32]),
        "capped": (lambda c: min(100 * c, 420), [1, 2, 4, 8, 16]),
        "quota": (lambda c: 100 * c * (0.8 if c % 1 else 1), [0.25, 0.5, 1, 1.5, 2, 2.5, 4]),
        "rising": (lambda c: 100 * c**0.9, [1, 2, 4]),
    }


@pytest.fixture(scope="session")
def models(make_run: MakeRun, tmp_path_factory: pytest.TempPathFactory) -> dict[str, WorkloadModel]:
    """By what is special in each."""
    return made_once(tmp_path_factory, "models", lambda: dict(_models(make_run, tmp_path_factory.mktemp("tables"))))


def _in_pairs(make_run: MakeRun, vcpus: int) -> Run:
    """On a host that says that every second vCPU is the other half of a core."""
    cores, pairs = -(-vcpus // 2), vcpus // 2
    limited = LimitedBy(LimitedByKind.SIZER, "cgroup v2", cpus=f"0-{vcpus}", cores=cores, paired_cores=pairs)
    return replace(make_run(100.0 * (cores + 0.3 * pairs), float(vcpus)), limited_by=limited)


def _models(make_run: MakeRun, folder: Path) -> Iterator[tuple[str, WorkloadModel]]:
    for name, (rate, vcpus) in _curves().items():
        yield name, fitted([make_run(rate(c), float(c)) for c in vcpus])
    yield "paired", fitted([_in_pairs(make_run, vcpus) for vcpus in (1, 2, 3, 4, 5, 6, 7, 8)])
    yield from _stages(make_run)
    yield from _memory(make_run)
    yield from _tables(folder)


def _stages(make_run: MakeRun) -> Iterator[tuple[str, WorkloadModel]]:
    """Runs whose stages are accounted for."""
    demand = Demand(core_seconds=0.01, read_bytes=1e5, read_ios=1.0, written_bytes=3e4, write_ios=0.5)
    accounted = [
        make_run(
            ((100 * c) ** -8 + (rates.read_bytes_per_second / 1e5) ** -8 + 219**-8) ** (-1 / 8),  # type: ignore[operator]
            c,
            disk=disk,
            rates=rates,
            demand=demand,
            device=P100,
        )
        for c in (0.5, 1.0, 2.0, 4.0)
        for disk, rates in DISKS.items()
    ]
    yield "accelerator and disks", fitted(accounted)
    own = [make_run(c / 0.03, c, demand=Demand(core_seconds=0.03)) for c in (1, 2, 4)]
    alone = fed(make_run(4 / 0.01, 4, demand=Demand(core_seconds=0.01)), "synthetic")
    yield "step apart", fitted([*own, alone])
    busy = Evidence(Bottleneck.CPU, {"cpu": 0.99}, EvidenceKind.BUSIEST, {"cpu": 0.99})
    yield "evidence", fitted([replace(run, evidence=busy) for run in own])
    yield (
        "batches on an accelerator",
        fitted(
            [
                make_run(
                    1 / (0.002 + 0.064 / b),
                    c,
                    batch=b,
                    device=CUDA,
                    demand=Demand(core_seconds=1e-4, accelerator_seconds=0.002 + 0.064 / b),
                )
                for c, b in ((1, 32), (2, 32), (4, 32), (4, 8), (4, 128))
            ]
        ),
    )
    yield (
        "batches on the CPU",
        fitted([make_run(rate * c, c, batch=b) for b, rate in ((8, 40), (16, 70), (32, 110)) for c in (1, 2, 4)]),
    )

    def counted(count: int) -> Run:
        made = make_run(100 * count / (1 + 0.05 * (count - 1)), 16, device=CUDA)
        return replace(made, configuration=replace(made.configuration, gpu_count=count))

    def emulated(count: int, vcpus: float) -> Run:
        device = replace(P100, scaling_loss=0.05, scaling_source="a test")
        ceiling = 219 * (device.speed_up(count) or 0.0)
        used = Demand(core_seconds=0.004, accelerator_seconds=count / ceiling)
        made = make_run(((250 * vcpus) ** -8 + ceiling**-8) ** (-1 / 8), vcpus, device=device, demand=used)
        several = replace(made, spec=replace(made.spec, gpu_count=count))
        return replace(several, configuration=replace(made.configuration, gpu_count=count))

    yield "stated speed-up", fitted([emulated(count, c) for count in (1, 2, 4) for c in (1, 2, 4)])
    yield "several accelerators", fitted([counted(count) for count in (1, 2, 8)])
    kinds = [
        make_run(
            ((100 * c) ** -8 + limit**-8) ** (-1 / 8),
            c,
            device=Device("emulated", gpu=gpu, samples_per_second=limit),
            demand=Demand(core_seconds=0.01),
        )
        for c in (1, 2, 4)
        for gpu, limit in (("K80", 52), ("P100", 219))
    ]
    yield "kinds of accelerator", fitted(kinds)
    without = [make_run(12 * c, c, demand=Demand(core_seconds=1 / 12)) for c in (1, 2, 4)]
    yield "with and without", fitted([*kinds, *without])
    yield "two vCPU values", fitted([make_run(100 * c, c, disk=disk) for c in (1, 2) for disk in ("slow", "fast")])


def _memory(make_run: MakeRun) -> Iterator[tuple[str, WorkloadModel]]:
    """Runs under memory caps."""

    def unseen(memory: int) -> float:
        left = 1 - (memory - GIB) / (4 * GIB)
        return left - left * math.log(left) if left > 0 else 0.0

    cached = [
        make_run(
            min(400 * c, 200 / unseen(memory)),
            c,
            memory=memory,
            capped=True,
            cache="natural",
            data=NATURAL,
            anonymous=GIB,
            rates=DiskRates(1e6, 2e7),
            disk="d",
            demand=Demand(core_seconds=0.0025, read_bytes=1e5 * unseen(memory), read_ios=1.0),
        )
        for memory in (2 * GIB, 3 * GIB, 4 * GIB)
        for c in (1, 2, 4)
    ]
    yield "page cache", fitted(cached)
    yield (
        "reads miss",
        fitted(
            [
                make_run(1 / (1 / (200 * c) + missed / rate), c, memory=size * GIB, capped=True, disk=disk)
                for disk, rate in (("slow", 50.0), ("fast", 500.0))
                for size, missed in ((2, 1.0), (4, 0.5), (16, 0.01))
                for c in (1.0, 2.0, 4.0)
            ]
        ),
    )
    yield (
        "two memory sizes",
        fitted(
            [
                make_run(rate * c, c, memory=size * GIB, capped=True)
                for size, rate in ((2, 20.0), (8, 100.0))
                for c in (1.0, 2.0, 4.0)
            ]
        ),
    )
    killed = make_run(None, 1, memory=GIB // 2, capped=True, outcome=Outcome.OUT_OF_MEMORY)
    held = [make_run(100 * c, c, memory=size * GIB, capped=True, anonymous=GIB) for c in (1, 2, 4) for size in (2, 8)]
    yield "memory floor", fitted([*held, killed])


def _tables(folder: Path) -> Iterator[tuple[str, WorkloadModel]]:
    """Tables of rates alone, without accounting."""
    yield "whole machines", fitted(runs_of(folder, WHOLE_MACHINES))
    yield "disks that saturate", fitted(runs_of(folder, SATURATING))
    yield "memory alone", fitted(runs_of(folder, "workload,memory_gib,throughput\nread,8,50\nread,16,80\nread,32,120"))
    crossed = [
        f"job,{disk},{c},{m},{100 * c / (1 + 0.1 * c) * (1 if m > 8 else 0.7):.5g}"
        for disk in ("a", "b")
        for c in (2, 4, 8)
        for m in (4, 8, 16)
        if disk == "a" or c < 8
    ]
    yield "crossed", fitted(runs_of(folder, "\n".join(["workload,disk,vcpus,memory_gib,throughput", *crossed])))


def questions(model: WorkloadModel, random: np.random.Generator, count: int) -> Iterator[tuple[Configuration, WhatIf]]:
    """Places within and around what was measured, on its own values and between them; half of them with a what-if.

    Most are of a kind that has an answer, so that not all is refused.
    """
    measured, facts = model.measured, model.facts
    disks = [disk.name for disk in measured.disks] or [None]
    kinds = [gpus.gpu for gpus in measured.gpus] or [None]
    counts = tuple(sorted({gpus.count for gpus in measured.gpus if gpus.count}))

    def likely() -> bool:
        return random.random() < 0.95

    def number(values: tuple[float, ...]) -> float | None:
        if not values:
            return None if likely() else 4.0
        if random.random() < 0.4 or (len(values) < 3 and likely()):
            return values[random.integers(len(values))]
        drawn = math.exp(random.uniform(math.log(values[0] / 2), math.log(values[-1] * 4)))
        return round(drawn * 4) / 4 if drawn > 0.5 and random.random() < 0.5 else drawn

    def factor(sensible: bool) -> float:
        return math.exp(random.uniform(-1.5, 1.5)) if sensible == likely() and random.random() < 0.7 else 1.0

    apart = facts.step_core_seconds is not None or facts.kind == "imagenet_preprocessing"
    accelerated = facts.accelerator not in (None, CPU_LABEL)
    for _ in range(count):
        memory, batch, gpus = number(measured.memory_bytes), number(measured.batch_size), number(counts)
        place = Configuration(
            vcpus=number(measured.vcpus),
            memory_bytes=None if memory is None else int(memory),
            disk=disks[random.integers(len(disks))],
            batch_size=None if batch is None else max(1, round(batch)),
            gpu=kinds[random.integers(len(kinds))],
            gpu_count=max(1, round(gpus)) if gpus is not None and counts else 0,
        )
        what_if = WhatIf()
        if random.random() < 0.6:
            rates = None
            if (facts.read_bytes is not None) == likely() and random.random() < 0.5:
                rates = DiskRates(math.exp(random.uniform(3, 11)), math.exp(random.uniform(14, 21)))
                place = replace(place, disk="supposed")
            what_if = WhatIf(factor(accelerated), rates, factor(facts.natural), factor(accelerated or apart))
        yield place, what_if
