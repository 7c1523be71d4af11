"""run and resume."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path

from sizer.catalog import Catalog
from sizer.cli import dry_run, preconditions
from sizer.cli.concluding import opened
from sizer.cli.dry_run import Intent
from sizer.cli.measuring import measure
from sizer.cli.preparing import Bench
from sizer.host import facts, measuring_alone
from sizer.limits import LimitsBackend, detect
from sizer.plan import FAILED, UNFINISHED, plan, searches, two_epoch_passes
from sizer.records import IMPORTED, InputError, Outcome, Run, Study, typed_path
from sizer.storage import cache_folder
from sizer.store import StudyFolder, measured, refuse_other_meaning, refuse_other_study, refuse_unusable
from sizer.study import Facts, read_study


def run(arguments: argparse.Namespace) -> int:
    path = Path(arguments.out) if arguments.out else default_folder(Path(arguments.study))
    refuse_unusable(path)
    backend = detect()
    host = facts(backend)
    here = Facts(host.cpus, host.memory_bytes)
    study = read_study(Path(arguments.study), arguments.preset, here, Catalog.load())
    _refuse_imported(study, arguments.study)
    passes = two_epoch_passes(study, here) if preconditions.caps_memory(backend) else ()
    unfinished = _unfinished(arguments)
    intent = Intent(study, plan(study, here), searches(study, here), path, unfinished=unfinished, passes=passes)
    if arguments.dry_run:
        return _tell(replace(intent, finished=_finished(path, study)), backend)
    preconditions.check(intent.all_specs, study, backend)
    with measuring_alone(), StudyFolder.create(path, study, host) as folder:
        _warn(replace(intent, finished=folder.runs()))
        bench = Bench(host, backend, cache_folder(os.environ))
        return measure(study, intent.specs, folder, bench, intent.unfinished)


def resume(arguments: argparse.Namespace) -> int:
    found = opened(arguments.folder) if arguments.dry_run else StudyFolder.open(Path(arguments.folder))
    backend = detect()
    host = facts(backend)
    here = Facts(host.cpus, host.memory_bytes)
    found.check_host(host)  # before anybody waits for the host to be free
    if arguments.dry_run:
        return _tell(_going_on(found, here, backend, arguments), backend)
    with measuring_alone(), StudyFolder.open(Path(arguments.folder)).locked() as folder:
        folder.check_host(host)
        study = folder.study
        intent = _going_on(folder, here, backend, arguments)
        preconditions.check(intent.all_specs, study, backend)
        _warn(intent)
        bench = Bench(host, backend, cache_folder(os.environ))
        return measure(study, intent.specs, folder, bench, intent.unfinished)


def _refuse_imported(study: Study, path: str) -> None:
    """Raise InputError where the file names what was measured elsewhere: no program belongs to it."""
    for each in study.workloads:
        if each.workload.kind == IMPORTED:
            raise InputError(
                f"{path}: `{each.workload.name}` was measured elsewhere and imported, so it cannot be run; "
                "`sizer init` writes a study file to measure here"
            )


def _going_on(folder: StudyFolder, here: Facts, backend: LimitsBackend, arguments: argparse.Namespace) -> Intent:
    """What is left of a study that its folder holds."""
    study = folder.study
    passes = two_epoch_passes(study, here) if preconditions.caps_memory(backend) else ()
    specs, hunted = plan(study, here), searches(study, here)
    return Intent(study, specs, hunted, folder.path, folder.runs(), _unfinished(arguments), passes)


def _unfinished(arguments: argparse.Namespace) -> frozenset[Outcome]:
    """How a run may have ended that is to be measured again."""
    return UNFINISHED | FAILED if arguments.retry else UNFINISHED


def default_folder(study: Path) -> Path:
    """Where a study goes that is not told where: here, by the name of its file. Nothing in the file has a say in it.

    Raises InputError where there is no such file, or its name has no ending to leave out.
    """
    if not study.exists():
        raise InputError(f"{study}: there is no such file; `sizer init my-study.yaml` writes one to start from")
    if not study.suffix or study.stem.strip(".") == "":
        raise InputError(
            f"{study}: its name without its ending is to be the study folder's, and it has none; "
            f"say which folder: sizer run {typed_path(study)} --out my-study"
        )
    return Path(study.stem)


def _tell(intent: Intent, backend: LimitsBackend) -> int:
    """List everything, then end as the run itself would where this host cannot do it."""
    for line in dry_run.lines(intent, os.environ):
        print(line)
    preconditions.check(intent.all_specs, intent.study, backend)
    print("this host can set every limit that these runs ask for")
    for doubt in preconditions.doubts(intent.left):
        print(f"but {doubt}")
    return 0


def _warn(intent: Intent) -> None:
    """Say before any data is made which runs cannot do well here."""
    for doubt in preconditions.doubts(intent.left):
        print(f"warning: {doubt}", file=sys.stderr, flush=True)


def _finished(path: Path, study: Study) -> tuple[Run, ...]:
    """The runs that are there. Raises InputError, as the run itself would, for a folder that the study cannot use."""
    if not (path / "study.yaml").exists():
        return ()
    folder = opened(path)
    refuse_other_study(str(path), folder.study, study)
    refuse_other_meaning(str(path), measured(folder.runs()), study)
    return folder.runs()
