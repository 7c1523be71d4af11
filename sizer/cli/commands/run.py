"""run: measure a study."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from sizer import api
from sizer.cli import dry_run
from sizer.cli.arguments import _, add_dry_run, add_retry, opened, option, whole
from sizer.cli.measuring import measure
from sizer.cli.progress import EventPrinter
from sizer.records import units
from sizer.records.kinds import IMPORTED
from sizer.records.messages import InputError, Message, typed_path
from sizer.records.run import Run
from sizer.records.study import Adaptive, Study
from sizer.store.continuing import measured, refuse_other_meaning, refuse_other_study
from sizer.store.study_folder import refuse_unusable


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", metavar="STUDY.yaml")
    placed = _("the study folder; default: the study file's name without its ending, here")
    option(parser, "--out", placed, metavar="DIR")
    add_dry_run(parser)
    option(parser, "--preset", _("fills what the file leaves out"), choices=["quick", "standard", "full"])
    chosen = _("choose each next run by what it would tell, and stop when every answer is settled")
    option(parser, "--until", chosen, choices=["settled"])
    bound = parser.add_mutually_exclusive_group()
    option(bound, "--budget", _("with --until: the time that runs may take"), units.parse_seconds, metavar="30m")
    option(
        bound,
        "--runs",
        _("with --until: how many runs may be made"),
        whole(Message("a number of runs"), 20_000, "12"),
        metavar="N",
    )
    add_retry(parser)


def run(arguments: argparse.Namespace) -> int:
    _refuse_folder(Path(arguments.study))
    path = Path(arguments.out) if arguments.out else default_folder(Path(arguments.study))
    refuse_unusable(path)
    host = api.this_host()
    study = api.read_study(arguments.study, arguments.preset, host.size)
    _refuse_imported(study, arguments.study)
    study = replace(study, adaptive=_adaptive(study, arguments))
    plan = replace(api.plan_study(study, path, host, arguments.retry), beside=Path(arguments.study).parent)
    if arguments.dry_run:
        return dry_run.show(replace(plan, finished=_finished(path, study)), host)
    printer = EventPrinter(study.emulated_disks)
    with api.measurement(plan, host, printer) as measurement:
        return measure(measurement, printer)


def _adaptive(study: Study, arguments: argparse.Namespace) -> Adaptive | None:
    """As the study file says, with the bound of the command line in the place of its own. Raises InputError for a bound
    of no such plan."""
    bounds = {name: bound for name in ("budget", "runs") if (bound := getattr(arguments, name)) is not None}
    if study.adaptive is None and arguments.until is None:
        for name in bounds:
            raise InputError("{option} is for runs that are chosen; add --until settled.", option=f"--{name}")
        return None
    return replace(study.adaptive or Adaptive(), **bounds)


def _refuse_imported(study: Study, path: str) -> None:
    """Raise InputError where the file names what was measured elsewhere: no program belongs to it."""
    for workload in study.workloads:
        if workload.workload.kind == IMPORTED:
            raise InputError(
                "{path}: `{workload}` has imported measurements, which cannot be run; `sizer init` writes a study "
                "file to measure here.",
                path=path,
                workload=workload.workload.name,
            )


def _refuse_folder(path: Path) -> None:
    """Raise InputError for a folder in the place of the study file; of a study folder, with its file."""
    file = path / "study.yaml"
    if file.is_file():
        _refuse_imported(opened(path).study, str(path))
        raise InputError(
            "{path} is a folder, and a study file is needed; to go on with the study in it, type: "
            "sizer run {typed} --out {folder}",
            path=path,
            typed=typed_path(file),
            folder=typed_path(path),
        )
    if path.is_dir():
        raise InputError("{path} is a folder, and a study file is needed.", path=path)


def default_folder(study: Path) -> Path:
    """Where a study goes without --out: here, by the name of its file. Nothing in the file changes that.

    Raises InputError where there is no such file, or its name has no ending to leave out.
    """
    if not study.exists():
        raise InputError(
            "{path}: there is no such file; `sizer init my-study.yaml` writes one to start from.", path=study
        )
    if not study.suffix or study.stem.strip(".") == "":
        raise InputError(
            "Cannot derive a folder name from {path}; pass --out: sizer run {typed} --out my-study",
            path=study,
            typed=typed_path(study),
        )
    return Path(study.stem)


def _finished(path: Path, study: Study) -> tuple[Run, ...]:
    """The runs that are there. Raises InputError, as the run itself would, for a folder that the study cannot use."""
    if not (path / "study.yaml").exists():
        return ()
    folder = opened(path)
    refuse_other_study(str(path), folder.study, study)
    refuse_other_meaning(str(path), measured(folder.runs()), study)
    return folder.runs()
