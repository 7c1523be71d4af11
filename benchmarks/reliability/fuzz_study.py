"""A small study folder as sizer leaves it, for the fuzzer to spoil: its rates are computed, and nothing is measured."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path

from sizer.cli import main
from sizer.model.coordinates import vcpus_of
from sizer.records.configuration import Bottleneck, Configuration, Estimate
from sizer.records.device import DiskRates
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
    Sample,
    Step,
    WarningKind,
)
from sizer.records.run_kinds import Outcome
from sizer.records.study import Limits, Note, NoteKind, RunSpec, Study, WorkloadPlan
from sizer.records.units import GIB
from sizer.store.study_folder import StudyFolder
from sizer.study.parse import parse_study
from sizer.study.presets import HostSize

WRITTEN = """\
# What is to be measured, as a person writes it.
name: fuzzed
workloads:
  - name: train
    kind: image_training
    network: resnet50
    batch_size: [16, 32]
    device: {emulate: {samples_per_second: 219, gpu: P100, source: a benchmark}}
  - {name: infer, kind: image_inference, network: squeezenet, cache: natural, memory_floor: true}
  - name: own
    kind: command
    command: [python3, train.py, --epochs, 2, --name, "a b"]
    pattern: 'rate (?P<rate>[\\d.]+)'
    sample_unit: word
    axes: {vcpus: [0.5, 1, 2], memory: [], disk: []}
axes:
  vcpus: [0.5, 1, 2]
  memory: [512MiB, 4GiB]
  disk: [slow, fast]
disks:
  slow: {emulate: {class: standard, read_iops: 300, read_mbps: 20.5}}
  fast: {emulate: {class: nvme, read_iops: 20000, read_mbps: 400, write_iops: 9000, write_mbps: 350}, size: 500GiB}
around: {vcpus: 2, memory: 4GiB, disk: fast}
embedded_images: 400
measure: {repeats: 2, seconds: 6, precision: 0.02, seed: 1, timeout: 600}
objective: {prefer: cheapest, target: 0.95}
"""

HOST = {
    "cpu_model": "AMD EPYC 9B45",
    "cpus": 2,
    "topology": "2 CPUs, no hyperthreads seen",
    "hyperthreads": False,
    "memory_bytes": 24 * GIB,
    "swap_bytes": 0,
    "kernel": "6.1.0",
    "limits": "cgroup v1",
    "gpus": [],
    "fio": "fio-3.33",
    "packages": {"mxnet": "1.9.1", "numpy": "1.26.4"},
}

CORE_SECONDS = {"train": 1 / 140, "infer": 1 / 92, "own": 1 / 410}
READ_BYTES = 113_000.0


def write_study(folder: Path) -> None:
    """A finished study in `folder`: three workloads, with model, recommendation, table and page."""
    study = parse_study(WRITTEN, str(folder / "study.yaml"), None, HostSize(2, 24 * GIB), None)
    with StudyFolder.create(folder, study, HOST, [Note(NoteKind.NO_MEMORY_AXIS, fix="sudo sizer demo")]) as made:
        for run in _runs(study):
            made.add(run)
            made.log_path(run.id).write_text("one line\n")
    with redirect_stdout(StringIO()):
        for words in (["recommend"], ["report"], ["fit"]):
            code = main([*words, str(folder)])
            if code:
                raise RuntimeError(f"sizer {words[0]} ends with {code} on the study that nothing has spoiled")
        table = StringIO()
        with redirect_stdout(table):
            main(["export", str(folder)])
        (folder / "measurements.csv").write_text(table.getvalue())


def _runs(study: Study) -> Iterator[Run]:
    for plan in study.workloads:
        for number, limits in enumerate(_limits(plan)):
            run = _run(study, plan, limits, number)
            yield _failed(run) if limits.memory_bytes == GIB // 2 else _measured(run)


def _limits(plan: WorkloadPlan) -> Iterator[Limits]:
    if not plan.disk:
        yield from (Limits(vcpus=vcpus) for vcpus in plan.vcpus)
        return
    centre = Limits(2.0, 4 * GIB, "fast")
    yield from (replace(centre, vcpus=vcpus) for vcpus in plan.vcpus)
    yield replace(centre, memory_bytes=GIB // 2)
    yield replace(centre, disk="slow")


def _run(study: Study, plan: WorkloadPlan, limits: Limits, number: int) -> Run:
    tier = study.disk(limits.disk) if limits.disk else None
    batch = plan.batch_size[0]
    return Run(
        RunSpec(plan.workload, batch, limits, study.measure),
        Outcome.COMPLETED,
        Configuration(limits.vcpus or 2.0, limits.memory_bytes or 24 * GIB, limits.disk or "host", batch),
        f"2026-11-21T09:{number:02d}:00+00:00",
        9.5,
        sample_unit="word" if plan.workload.kind == "command" else "image",
        data_set=DataSet("/cache/images.rec", "recordio", 45_200_000, 400, embedded=True) if tier else None,
        disk=DiskCheck(tier, replace(tier.emulated or DiskRates(), read_iops=301.0), True) if tier else None,
        limited_by=LimitedBy(LimitedByKind.SIZER, "cgroup v1", "0-1", by_cpuset=True),
    )


def _failed(run: Run) -> Run:
    return replace(run, outcome=Outcome.OUT_OF_MEMORY, error=Failure(Cause(CauseKind.MEMORY_CAP), last_lines="Killed"))


def _measured(run: Run) -> Run:
    """Bound by the vCPUs, the disk or the emulated accelerator, softly combined, with all that can be accounted."""
    name, vcpus = run.spec.workload.name, vcpus_of(run.configuration)
    rates = run.disk.rates if run.disk else DiskRates()
    ceilings = [vcpus / CORE_SECONDS[name], run.spec.workload.computes_on.samples_per_second or 1e6]
    ceilings.append((rates.read_bytes_per_second or 1e12) / READ_BYTES)
    rate = sum(ceiling**-12 for ceiling in ceilings) ** (-1 / 12)
    return replace(
        run,
        throughput=Estimate(rate, rate * 0.985, rate * 1.015),
        first_epoch_throughput=rate * 0.93,
        warm_up_seconds=1.25,
        measured_seconds=6.0,
        stopped="precision",
        demand=Demand(CORE_SECONDS[name], READ_BYTES, 0.9, 0.0, 0.0, 0.001, None, 1.6 * READ_BYTES, 1e-4, 0.0, 1e-4),
        latency_p50=0.2,
        latency_p99=0.31,
        peak_memory_bytes=900 * 2**20,
        peak_anonymous_bytes=700 * 2**20,
        peak_kernel_bytes=14 * 2**20,
        memory_growth=MemoryGrowth(Estimate(1200.0, 900.0, 1500.0), 30_000.0, 1234, rising=True),
        resident_bytes=0,
        hit_rate=0.392,
        rate_change=RateChange(2.3, Estimate(rate * 1.2, rate, rate * 1.3), Estimate(rate, rate * 0.9, rate * 1.1)),
        throttled=0.01,
        other_cores=0.041,
        overhead=0.0034,
        stolen_cores=0.0,
        evidence=Evidence(Bottleneck.CPU, {"cpu": 0.97, "disk_bandwidth": 0.3}, EvidenceKind.BUSIEST, {"cpu": 0.97}),
        warnings=(RunWarning(WarningKind.CONTENDED, {"cores": 0.31}),),
        steps=tuple(Step(100.0 + 0.1 * number, 32, 0.01, 0, 0.09) for number in range(6)),
        samples=tuple(Sample(100.0 + 0.5 * number, 0.4 * number, 2**29, 2**28, 2**28) for number in range(4)),
    )
