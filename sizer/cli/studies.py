"""run and resume."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path

from sizer.catalog import Catalog
from sizer.cli import preconditions
from sizer.cli.measuring import Bench, measure
from sizer.cli.progress import AGAIN
from sizer.cli.wording import emulated_disks, run_in_words
from sizer.continuing import measured, refuse_other_meaning, refuse_other_study
from sizer.duration import estimate_seconds
from sizer.epochs import measured_from_epoch
from sizer.floor_search import MOST_RUNS, TYPICAL_RUNS, Search, searches
from sizer.host import facts
from sizer.limits import detect
from sizer.plan import plan, remaining
from sizer.records import Run, RunSpec, Study
from sizer.reference import is_extra
from sizer.store import StudyFolder
from sizer.study import Facts, read_study
from sizer.units import format_seconds


def run(arguments: argparse.Namespace) -> int:
    backend = detect()
    host = facts(backend)
    here = Facts(host.cpus, host.memory_bytes)
    study = read_study(Path(arguments.study), arguments.preset, here, Catalog.load())
    specs = plan(study, here)
    hunted = searches(study, here)
    path = Path(arguments.out or study.name)
    if arguments.dry_run:
        _refuse_to_mix(path, study)
        _list_runs(specs, hunted, study, path)
        preconditions.check(_all(specs, hunted), study, backend)
        print("this host can set every limit that these runs ask for")
        for doubt in preconditions.doubts(specs):
            print(f"but {doubt}")
        return 0
    preconditions.check(_all(specs, hunted), study, backend)
    with StudyFolder.create(path, study, host) as folder:
        return measure(study, specs, folder, Bench(host, backend))


def resume(arguments: argparse.Namespace) -> int:
    backend = detect()
    host = facts(backend)
    with StudyFolder.open(Path(arguments.folder)).locked() as folder:
        folder.check_host(host)
        here = Facts(host.cpus, host.memory_bytes)
        specs = plan(folder.study, here)
        preconditions.check(_all(specs, searches(folder.study, here)), folder.study, backend)
        return measure(folder.study, specs, folder, Bench(host, backend))


def _refuse_to_mix(path: Path, study: Study) -> None:
    """Raises InputError as the run itself would, if the folder holds runs of something else."""
    if (path / "study.yaml").exists():
        folder = StudyFolder.open(path)
        refuse_other_study(str(path), folder.study, study)
        refuse_other_meaning(str(path), measured(folder.runs()), study)


def _all(specs: Sequence[RunSpec], hunted: Sequence[Search]) -> list[RunSpec]:
    """The runs of the plan, and of each search for a memory floor the one with the largest cap."""
    return [*specs, *(search.at(search.most_bytes) for search in hunted)]


def _list_runs(specs: Sequence[RunSpec], hunted: Sequence[Search], study: Study, path: Path) -> None:
    """The plan on stdout: each run, what it executes if it is a user's own command, the time, and what needs root."""
    finished: tuple[Run, ...] = ()
    if (path / "study.yaml").exists():
        finished = StudyFolder.open(path).runs()
    todo = remaining(specs, finished)
    for spec in todo:
        command = f": {shlex.join(spec.workload.command)}" if spec.workload.command else ""
        again = AGAIN if is_extra(spec) else ""
        print(f"{spec.id}  {run_in_words(spec, emulated_disks(study))}, repeat {spec.repeat + 1}{again}{command}")
    time = format_seconds(estimate_seconds(todo, finished))
    print(f"{len(todo)} runs, about {time} beside making data and checking disks; {len(specs) - len(todo)} finished")
    if any(measured_from_epoch(spec.workload) for spec in todo) and not finished:
        print("runs with cache natural last two epochs of their data at least, which is not in this time")
    for search in hunted:
        _tell_search(search, finished)
    needs = sorted(_needs_root(_all(specs, hunted), study))
    print(f"needs root or a delegated cgroup: {', '.join(needs) if needs else 'nothing'}")


def _tell_search(search: Search, finished: Sequence[Run]) -> None:
    """How many runs more a search for a memory floor may take, and how long each."""
    spec, name = search.next_run(finished), search.base.workload.name
    if spec is not None:
        time = format_seconds(estimate_seconds([spec], finished))
        print(
            f"then up to {MOST_RUNS} runs of about {time} to find the memory floor of `{name}`, mostly {TYPICAL_RUNS}"
        )


def _needs_root(specs: Sequence[RunSpec], study: Study) -> set[str]:
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
