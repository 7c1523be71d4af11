"""A study as sizer would have left it: four workloads around one centre, with every way of failing that matters."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from sizer.bundled.reports.subject import Material
from sizer.model.fitting import fit
from sizer.records.answer import Answer, Event, InstanceOffer, Recommendation, Rejection
from sizer.records.device import Device, DiskRates
from sizer.records.notes import Note, NoteKind
from sizer.records.prediction import Action, Bottleneck, Configuration, Estimate, ReasonCode, Spec, Suggestion, reason
from sizer.records.run import (
    Cause,
    CauseKind,
    DataSet,
    Demand,
    DiskCheck,
    Evidence,
    EvidenceKind,
    Failure,
    LimitedBy,
    LimitedByKind,
    MemoryGrowth,
    RateChange,
    Run,
    RunWarning,
    WarningKind,
)
from sizer.records.run_kinds import Outcome, Purpose
from sizer.records.study import DiskTier, Limits, Measure, Objective, RunSpec, Study, Workload, WorkloadPlan
from sizer.records.units import GIB, MIB

MEASURE = Measure(repeats=2, seconds=6.0, precision=0.02, seed=1)
PUBLISHED = "TensorFlow performance benchmarks (synthetic data; DGX-1)"
HOSTILE = "<script>alert(1)</script>"


def _tier(name: str, mbps: float, iops: float, disk_class: str) -> DiskTier:
    return DiskTier(name, emulated=DiskRates(iops, mbps * 1e6, iops, mbps * 1e6), disk_class=disk_class)


TIERS = (
    _tier("slow", 20, 300, "standard"),
    _tier("medium", 100, 2000, "ssd"),
    _tier("fast", 400, 20000, "nvme"),
)
CHECKS = (
    DiskCheck(TIERS[0], DiskRates(301, 20.1e6, 300, 19.9e6)),
    DiskCheck(TIERS[1], DiskRates(1996, 99.8e6, 1990, 99.1e6)),
    DiskCheck(TIERS[2], DiskRates(19800, 338e6, 19000, 330e6), deviates=True),
)
IMAGES = DataSet("/root/.cache/sizer/images.rec", "recordio", 45_200_000, 400, embedded=True)
FOLDER = replace(IMAGES, path="/root/.cache/sizer/images", format="folder")
TEXT = DataSet("/root/.cache/sizer/text.txt", "text", 5_100_000, 929_000, embedded=True)

TRAIN = Workload(
    "train-resnet50-p100",
    "image_training",
    network="resnet50",
    format="recordio",
    device=Device("emulated", gpu="P100", samples_per_second=219.0, source=PUBLISHED),
)
INFER = Workload("infer-squeezenet", "image_inference", network="squeezenet", format="recordio")
WORDS = Workload("lstm-small", "lstm_training", network="small", format="text", cache="warm")
PREPARE = Workload("preprocess", "imagenet_preprocessing", format="recordio")
WORKLOADS = (TRAIN, INFER, WORDS, PREPARE)

DATA = {TRAIN.name: IMAGES, INFER.name: IMAGES, WORDS.name: TEXT, PREPARE.name: FOLDER}
UNIT = {TRAIN.name: "image", INFER.name: "image", WORDS.name: "word", PREPARE.name: "image"}
CORE_SECONDS = {TRAIN.name: 1 / 140, INFER.name: 1 / 92, WORDS.name: 1 / 4300, PREPARE.name: 1 / 410}
READ_BYTES = {TRAIN.name: 113_000.0, INFER.name: 113_000.0, WORDS.name: 6.0, PREPARE.name: 113_000.0}
BATCH = {TRAIN.name: 32, INFER.name: 16, WORDS.name: 20, PREPARE.name: 32}
FLOOR = {TRAIN.name: 600 * MIB, INFER.name: 300 * MIB, WORDS.name: 300 * MIB, PREPARE.name: 200 * MIB}
CENTRE = Limits(vcpus=2.0, memory_bytes=4 * GIB, disk="fast")


def _limits() -> Iterator[Limits]:
    for vcpus in (0.5, 1.0, 2.0):
        yield replace(CENTRE, vcpus=vcpus)
    for memory in (384 * MIB, 1 * GIB):
        yield replace(CENTRE, memory_bytes=memory)
    for disk in ("slow", "medium"):
        yield replace(CENTRE, disk=disk)


def _rate(workload: Workload, limits: Limits) -> tuple[float, Bottleneck, dict[str, float]]:
    """The rate by the three resources' ceilings, softly combined, what binds, and the busy shares."""
    tier = next(tier for tier in TIERS if tier.name == limits.disk)
    assert tier.emulated.read_bytes_per_second is not None
    assert limits.vcpus is not None
    ceilings = {
        Bottleneck.CPU: limits.vcpus / CORE_SECONDS[workload.name],
        Bottleneck.DISK_BANDWIDTH: tier.emulated.read_bytes_per_second / READ_BYTES[workload.name],
    }
    if workload.device.samples_per_second is not None:
        ceilings[Bottleneck.ACCELERATOR] = workload.device.samples_per_second
    rate = sum(ceiling**-12 for ceiling in ceilings.values()) ** (-1 / 12)
    return (
        rate,
        min(ceilings, key=lambda bottleneck: ceilings[bottleneck]),
        {k.value: rate / v for k, v in ceilings.items()},
    )


def _run(workload: Workload, limits: Limits, repeat: int) -> Run:
    assert limits.vcpus is not None
    assert limits.memory_bytes is not None
    assert limits.disk is not None
    batch = BATCH[workload.name]
    spec = RunSpec(workload, batch, limits, MEASURE, repeat)
    configuration = Configuration(limits.vcpus, limits.memory_bytes, limits.disk, batch)
    run = Run(
        spec,
        Outcome.COMPLETED,
        configuration,
        f"2026-11-21T09:{repeat:02d}:00+00:00",
        9.5,
        sample_unit=UNIT[workload.name],
        data_set=DATA[workload.name],
        disk=next(check for check in CHECKS if check.tier.name == limits.disk),
        limited_by=LimitedBy(
            LimitedByKind.SIZER,
            "cgroup v1",
            f"0-{math.ceil(limits.vcpus) - 1}",
            by_cpuset=True,
            memory_bytes=limits.memory_bytes,
            device="7:0",
            rates=next(tier for tier in TIERS if tier.name == limits.disk).emulated,
        ),
    )
    if limits.memory_bytes < FLOOR[workload.name]:
        return replace(run, outcome=Outcome.OUT_OF_MEMORY, error=Failure(Cause(CauseKind.MEMORY_CAP)))
    return _measured(run)


def _measured(run: Run) -> Run:
    workload, limits = run.spec.workload, run.spec.limits
    rate, bottleneck, busy = _rate(workload, limits)
    noise = random.Random(run.id)
    rate *= 1 + noise.gauss(0, 0.008)
    latency = BATCH[workload.name] / rate if workload.kind == "image_inference" else None
    return replace(
        run,
        throughput=Estimate(rate, rate * 0.985, rate * 1.015),
        rate=replace(
            run.rate,
            warm_up_seconds=round(noise.uniform(0.4, 2.1), 2),
            measured_seconds=6.0,
            stopped="precision",
            latency_p50=latency,
            latency_p99=latency * 1.4 if latency is not None else None,
        ),
        demand=Demand(
            core_seconds=CORE_SECONDS[workload.name],
            read_bytes=READ_BYTES[workload.name],
            read_ios=READ_BYTES[workload.name] / 131072,
            written_bytes=62_000.0 if workload.kind == "imagenet_preprocessing" else 0.0,
            input_wait=0.001,
        ),
        memory=replace(
            run.memory,
            peak_memory_bytes=int(FLOOR[workload.name] * 1.05),
            peak_anonymous_bytes=int(FLOOR[workload.name] * 0.95),
        ),
        evidence=Evidence(bottleneck, busy, EvidenceKind.BUSIEST, {bottleneck.value: busy[bottleneck.value]}),
        warnings=(RunWarning(WarningKind.CONTENDED, {"cores": 0.31}),) if noise.random() < 0.1 else (),
    )


def accounted(run: Run) -> Run:
    """The run with everything that a host may account for beside what every run of this study has."""
    rate = run.throughput.value
    return replace(
        run,
        demand=replace(
            run.demand,
            asked_bytes=READ_BYTES[run.spec.workload.name] * 1.64,
            cpu_stall=0.2 / rate,
            memory_stall=0.0,
            io_stall=0.31 / rate,
            input_wait=0.12 / rate,
        ),
        rate=replace(
            run.rate,
            first_epoch_throughput=rate * 0.93,
            rate_change=RateChange(
                12.3, Estimate(rate * 1.2, rate * 1.18, rate * 1.22), Estimate(rate * 0.9, rate * 0.88, rate * 0.92)
            ),
        ),
        memory=replace(
            run.memory,
            peak_page_cache_bytes=300 * MIB,
            peak_kernel_bytes=14 * MIB,
            peak_swap_bytes=0,
            memory_growth=MemoryGrowth(Estimate(1200.0, 900.0, 1500.0), 30_000.0, 1234, rising=True),
        ),
        conditions=replace(
            run.conditions,
            resident_bytes=0,
            resident_after_bytes=20 * MIB,
            hit_rate=0.392,
            throttled=0.0,
            other_cores=0.041,
            overhead=0.0034,
        ),
    )


def drifted(run: Run) -> list[Run]:
    """The same configuration twelve times more, an hour later each, on a host that slows down."""
    later_runs = []
    for hour in range(12):
        rate = run.throughput.value * (1 - 0.006 * hour)
        later_runs.append(
            replace(
                run,
                spec=replace(run.spec, repeat=MEASURE.repeats + hour, purpose=Purpose.REFERENCE),
                started_at=f"2026-11-21T{10 + hour}:00:00+00:00",
                throughput=Estimate(rate, rate * 0.985, rate * 1.015),
            )
        )
    return later_runs


@pytest.fixture(scope="session")
def runs() -> tuple[Run, ...]:
    """Two repeats of every configuration, one of them crashed with HTML in its log."""
    measured = [_run(workload, limits, repeat) for workload in WORKLOADS for limits in _limits() for repeat in range(2)]
    crashed = next(
        i for i, run in enumerate(measured) if run.spec.workload is INFER and run.spec.limits.disk == "medium"
    )
    measured[crashed] = replace(
        measured[crashed],
        outcome=Outcome.CRASHED,
        error=Failure(
            Cause(CauseKind.EXIT_STATUS, {"status": 1}),
            last_lines=f"Traceback\n{HOSTILE}<b>bold</b> MXNetError: could not decode",
        ),
        throughput=None,
        evidence=None,
        demand=None,
    )
    return tuple(accounted(run) if run.spec.workload is TRAIN and run.demand else run for run in measured)


@pytest.fixture(scope="session")
def reference(runs: tuple[Run, ...]) -> tuple[Run, ...]:
    """Further measurements of one configuration through the study."""
    return tuple(drifted(next(run for run in runs if run.spec.limits == CENTRE)))


@pytest.fixture(scope="session")
def study() -> Study:
    plans = tuple(
        WorkloadPlan(
            workload, (BATCH[workload.name],), (0.5, 1.0, 2.0), (384 * MIB, GIB, 4 * GIB), ("slow", "medium", "fast")
        )
        for workload in WORKLOADS
    )
    return Study("demo", plans, TIERS, CENTRE, MEASURE, Objective())


def _offer(name: str, vcpus: float, gib: int, price: float | None, million: float | None) -> InstanceOffer:
    source = "https://karpenter.sh/docs/reference/instance-types/" if price else "Alibaba Cloud ECS docs: shapes only"
    provider = "aws" if price else "alibaba"
    return InstanceOffer(provider, name, vcpus, gib * GIB, None, 0, price, million, "2026-07-20", source)


@pytest.fixture(scope="session")
def recommendation() -> Recommendation:
    """One answer of each status, and one more that was recommended."""
    offers = (
        _offer("c7i.large", 2, 4, 0.0893, 0.113),
        _offer("m7i.large", 2, 8, 0.1008, 0.128),
        _offer("g6.large", 2, 8, None, None),
    )
    train = Answer(
        TRAIN.name,
        "recommended",
        Spec(2.0, GIB, "medium", 32),
        Estimate(214.0, 207.0, 221.0),
        "image",
        0.97,
        Bottleneck.ACCELERATOR,
        Bottleneck.CPU,
        (reason(ReasonCode.FEWER_NOT_MEASURED, vcpus=2.0),),
        (
            Rejection(Spec(1.0, GIB, "medium", 32), (reason(ReasonCode.GIVES, of_target=0.64, bottleneck="cpu"),)),
            Rejection(Spec(2.0, 384 * MIB, "medium", 32), (reason(ReasonCode.OUT_OF_MEMORY),)),
        ),
        Spec(2.0, GIB, "fast", 32),
        instances=offers,
        probability_of=Event.REACHES_TARGET,
    )
    infer = Answer(
        INFER.name,
        "at_least",
        Spec(2.0, GIB, "medium"),
        Estimate(183.0, 178.0, 188.0),
        "image",
        0.91,
        Bottleneck.CPU,
        Bottleneck.DISK_BANDWIDTH,
        (reason(ReasonCode.RISES, vcpus=2.0, gain=0.99),),
        next_run=Suggestion(Action.MEASURE, vcpus=(4.0,), needs_larger_host=True, host_vcpus=2.0),
        instances=offers,
        probability_of=Event.LESS_TOO_LITTLE,
    )
    words = Answer(
        WORDS.name, "refused", sample_unit="word", next_run=Suggestion(Action.MEASURE, vcpus=(0.5, 1.0, 2.0))
    )
    prepare = replace(train, workload=PREPARE.name, throughput=Estimate(812.0, 790.0, 833.0), bottleneck=Bottleneck.CPU)
    return Recommendation(Objective(), (train, infer, words, prepare))


@pytest.fixture(scope="session")
def material(
    study: Study,
    runs: tuple[Run, ...],
    recommendation: Recommendation,
) -> Material:
    return Material(
        study=study,
        host={
            "schema_version": 1,
            "cpu_model": "AMD EPYC 9B45",
            "cpus": 2,
            "topology": "2 CPUs, no hyperthreads seen",
            "hyperthreads": False,
            "memory_bytes": 24 * GIB,
            "swap_bytes": 0,
            "kernel": "6.18.0",
            "limits": "cgroup v1",
            "gpus": [],
            "fio": "fio-3.33",
            "packages": {"mxnet": "1.9.1", "numpy": "1.26.4"},
        },
        runs=runs,
        model=fit(runs),
        recommendation=recommendation,
        disk_checks=CHECKS,
        notes=(Note(NoteKind.NO_MEMORY_AXIS, fix="sudo sizer demo"),),
        created_at="2026-11-21 09:30 UTC",
        version="0.1.0",
    )


def plainly(values: dict[str, Any]) -> Any:
    """Values of a section with their names as attributes."""
    return SimpleNamespace(**{key: plainly(own) if isinstance(own, dict) else own for key, own in values.items()})
