"""demo, run and resume."""

from __future__ import annotations

import argparse
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from sizer.catalog import Catalog
from sizer.cli.measuring import DEMO_IMAGES, Bench, measure, refuse_what_cannot_be_limited
from sizer.cli.wording import run_in_words
from sizer.disk_check import Fio
from sizer.errors import HostError, SizerError
from sizer.host import facts
from sizer.limits import Control, LimitsBackend, detect
from sizer.plan import estimate_seconds, plan, remaining
from sizer.records import Limits, Run, RunSpec, Study, WorkloadPlan
from sizer.store import StudyFolder
from sizer.study import Facts, parse_study, read_study
from sizer.units import format_seconds

DEMO_FIO = Fio(seconds=1.0, figures=("read_bytes_per_second", "read_iops", "write_bytes_per_second"))


def demo(arguments: argparse.Namespace) -> int:
    backend = detect()
    host = facts(backend)
    text = files("sizer.cli").joinpath("demo.yaml").read_text()
    study = parse_study(text, "demo.yaml", None, Facts(host.cpus, host.memory_bytes), Catalog.load())
    study, notes = within_reach(study, backend, host.cpus)
    bench = Bench(host, backend, DEMO_IMAGES, DEMO_FIO)
    specs = plan(study, Facts(host.cpus, host.memory_bytes))
    refuse_what_cannot_be_limited(specs, study, backend)
    with StudyFolder.create(Path(arguments.out), study, host, notes) as folder:
        return measure(study, specs, folder, bench)


def run(arguments: argparse.Namespace) -> int:
    backend = detect()
    host = facts(backend)
    here = Facts(host.cpus, host.memory_bytes)
    study = read_study(Path(arguments.study), arguments.preset, here, Catalog.load())
    specs = plan(study, here)
    path = Path(arguments.out or study.name)
    if arguments.dry_run:
        _list_runs(specs, study, path, backend)
        return 0
    refuse_what_cannot_be_limited(specs, study, backend)
    with StudyFolder.create(path, study, host) as folder:
        return measure(study, specs, folder, Bench(host, backend))


def resume(arguments: argparse.Namespace) -> int:
    backend = detect()
    host = facts(backend)
    with StudyFolder.open(Path(arguments.folder)).locked() as folder:
        folder.check_host(host)
        specs = plan(folder.study, Facts(host.cpus, host.memory_bytes))
        return measure(folder.study, specs, folder, Bench(host, backend))


def within_reach(study: Study, backend: LimitsBackend, host_vcpus: int) -> tuple[Study, tuple[str, ...]]:
    """The demo with only the axes that this host lets us limit, and what was left out, in words."""
    lacking = {each.control: each for each in backend.capabilities() if not each.available}
    notes = []
    vcpus = tuple(value for value in (0.25, 0.5, 1.0, 2.0) if value <= host_vcpus)
    if Control.FRACTIONAL_VCPUS in lacking:
        vcpus = tuple(value for value in (1.0, 2.0, 4.0, 8.0) if value <= host_vcpus)
        notes.append(_left_out("fractions of a vCPU", lacking[Control.FRACTIONAL_VCPUS].fix))
    if Control.VCPUS in lacking:
        raise HostError(
            f"this host cannot limit vCPUs, and the demo shows little without; type: {lacking[Control.VCPUS].fix}"
        )
    if Control.MEMORY in lacking:
        notes.append(_left_out("the memory axis", lacking[Control.MEMORY].fix))
    if Control.DISK in lacking:
        notes.append(_left_out("the disk axis", lacking[Control.DISK].fix))

    def reduced(planned: WorkloadPlan) -> WorkloadPlan:
        chosen = (
            tuple(value for value in planned.vcpus if value in vcpus)
            if Control.FRACTIONAL_VCPUS not in lacking
            else vcpus
        )
        return replace(
            planned,
            vcpus=chosen,
            memory_bytes=() if Control.MEMORY in lacking else planned.memory_bytes,
            disk=() if Control.DISK in lacking else planned.disk,
        )

    around = study.around or Limits()
    around = replace(
        around,
        vcpus=float(min(around.vcpus or host_vcpus, host_vcpus)),
        memory_bytes=None if Control.MEMORY in lacking else around.memory_bytes,
        disk=None if Control.DISK in lacking else around.disk,
    )
    disks = () if Control.DISK in lacking else study.disks
    workloads = tuple(reduced(planned) for planned in study.workloads)
    return replace(study, workloads=workloads, around=around, disks=disks), tuple(notes)


def _left_out(what: str, fix: str | None) -> str:
    return f"This host did not allow {what}, so it was left out. To have it, type: {fix or 'the command again as root'}"


def _list_runs(specs: tuple[RunSpec, ...], study: Study, path: Path, backend: LimitsBackend) -> None:
    """The plan on stdout: each run, what it executes if it is a user's own command, the time, and what is missing."""
    finished: tuple[Run, ...] = ()
    if path.exists():
        finished = StudyFolder.open(path).runs()
    todo = remaining(specs, finished)
    for spec in todo:
        command = f": {' '.join(spec.workload.command)}" if spec.workload.command else ""
        print(f"{spec.id}  {run_in_words(spec)}, repeat {spec.repeat + 1}{command}")
    print(
        f"{len(todo)} runs, about {format_seconds(estimate_seconds(todo, finished))}; {len(specs) - len(todo)} finished"
    )
    needs = sorted(_needs_root(specs, study))
    print(f"needs root or a delegated cgroup: {', '.join(needs) if needs else 'nothing'}")
    try:
        refuse_what_cannot_be_limited(specs, study, backend)
        print("this host can set every limit that these runs ask for")
    except SizerError as error:
        print(f"this host cannot run it yet: {error}")


def _needs_root(specs: tuple[RunSpec, ...], study: Study) -> set[str]:
    """Everything but whole vCPUs and real mounts."""
    needs = set()
    for spec in specs:
        limits = spec.limits
        if limits.vcpus is not None and not float(limits.vcpus).is_integer():
            needs.add("fractions of a vCPU")
        if limits.memory_bytes is not None:
            needs.add("memory caps")
        if limits.disk is not None and study.disk(limits.disk).emulated is not None:
            needs.add("emulated disks")
    return needs
