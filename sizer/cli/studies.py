"""run and resume."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from sizer.catalog import Catalog
from sizer.cli import preconditions
from sizer.cli.measuring import Bench, measure
from sizer.cli.wording import emulated_disks, run_in_words
from sizer.continuing import measured, refuse_other_meaning, refuse_other_study
from sizer.host import facts
from sizer.limits import detect
from sizer.plan import estimate_seconds, plan, remaining
from sizer.records import Run, RunSpec, Study
from sizer.store import StudyFolder
from sizer.study import Facts, read_study
from sizer.units import format_seconds


def run(arguments: argparse.Namespace) -> int:
    backend = detect()
    host = facts(backend)
    here = Facts(host.cpus, host.memory_bytes)
    study = read_study(Path(arguments.study), arguments.preset, here, Catalog.load())
    specs = plan(study, here)
    path = Path(arguments.out or study.name)
    if arguments.dry_run:
        _refuse_to_mix(path, study)
        _list_runs(specs, study, path)
        preconditions.check(specs, study, backend)
        print("this host can set every limit that these runs ask for")
        for doubt in preconditions.doubts(specs):
            print(f"but {doubt}")
        return 0
    preconditions.check(specs, study, backend)
    with StudyFolder.create(path, study, host) as folder:
        return measure(study, specs, folder, Bench(host, backend))


def resume(arguments: argparse.Namespace) -> int:
    backend = detect()
    host = facts(backend)
    with StudyFolder.open(Path(arguments.folder)).locked() as folder:
        folder.check_host(host)
        specs = plan(folder.study, Facts(host.cpus, host.memory_bytes))
        preconditions.check(specs, folder.study, backend)
        return measure(folder.study, specs, folder, Bench(host, backend))


def _refuse_to_mix(path: Path, study: Study) -> None:
    """Raises InputError as the run itself would, if the folder holds runs of something else."""
    if (path / "study.yaml").exists():
        folder = StudyFolder.open(path)
        refuse_other_study(str(path), folder.study, study)
        refuse_other_meaning(str(path), measured(folder.runs()), study)


def _list_runs(specs: tuple[RunSpec, ...], study: Study, path: Path) -> None:
    """The plan on stdout: each run, what it executes if it is a user's own command, the time, and what needs root."""
    finished: tuple[Run, ...] = ()
    if (path / "study.yaml").exists():
        finished = StudyFolder.open(path).runs()
    todo = remaining(specs, finished)
    for spec in todo:
        command = f": {shlex.join(spec.workload.command)}" if spec.workload.command else ""
        print(f"{spec.id}  {run_in_words(spec, emulated_disks(study))}, repeat {spec.repeat + 1}{command}")
    time = format_seconds(estimate_seconds(todo, finished))
    print(f"{len(todo)} runs, about {time} beside making data and checking disks; {len(specs) - len(todo)} finished")
    needs = sorted(_needs_root(specs, study))
    print(f"needs root or a delegated cgroup: {', '.join(needs) if needs else 'nothing'}")


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
