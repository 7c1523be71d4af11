"""import: measurements made elsewhere become a study folder, with the answer that they carry."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path

from sizer.catalog import Catalog
from sizer.cli.answering import answer
from sizer.exchange import Imported, read_measurements
from sizer.files import named, to_json
from sizer.records import SCHEMA_VERSION, HostError, InputError, Run
from sizer.store import FOLDERS, StudyFolder, refuse_unusable


def import_table(arguments: argparse.Namespace) -> int:
    """Nothing is written before every row is understood; what cannot be written as a whole is taken away again."""
    source, path = Path(arguments.file), Path(arguments.out)
    refuse_taken(path)
    found = read_measurements(source, Catalog.load())
    refuse_unusable(path)
    if found.unknown:
        _say(f"warning: {source}: sizer knows nothing of {named(found.unknown)}; kept in each run and by export")
    for note in found.notes[1:]:
        _say(f"note: {note}")
    folder = write_study(path, found, source)
    names = dict.fromkeys(run.spec.workload.name for run in found.runs)
    _say(f"{_counted(len(found.runs), 'run')} of {_counted(len(names), 'workload')} imported into {path}")
    answer(folder, say=_say)
    _say(f"report: {folder.report_path}")
    if arguments.json:
        print(json.dumps(_form(folder, found, list(names)), indent=1))
    return 0


def refuse_taken(path: Path) -> None:
    """Raise InputError where something lies in the folder already."""
    with suppress(OSError):
        if path.is_dir() and os.listdir(path):
            raise InputError(f"{path}: is not empty; choose a new folder with --out, or remove this one first")


def write_study(path: Path, found: Imported, source: Path) -> StudyFolder:
    """The study folder: study.yaml last, which alone makes it one. Raises HostError, and leaves nothing behind."""
    was_there = path.is_dir()
    try:
        _write_runs(path, found.runs)
        with StudyFolder.create(path, found.study, _host(found, source), found.notes) as folder:
            folder.know(found.runs)
            return folder
    except BaseException:
        _take_away(path, was_there)
        raise


def _write_runs(path: Path, runs: tuple[Run, ...]) -> None:
    """All runs, synced at once: one by one, thousands would take minutes."""
    try:
        for name in FOLDERS:
            (path / name).mkdir(mode=0o775, parents=True)
        for run in runs:
            target = path / "runs" / f"{run.id}.json"
            with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o664), "w", encoding="utf-8") as file:
                file.write(json.dumps(to_json(run), allow_nan=False))
        os.sync()
    except OSError as error:
        raise HostError(
            f"{path}: cannot be written ({error.strerror or error}); make room there or choose another folder"
        ) from error


def _take_away(path: Path, was_there: bool) -> None:
    """The folder was empty or not there, so all that lies in it is ours."""
    with suppress(OSError):
        for entry in list(path.iterdir()):
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink()
        if not was_there:
            path.rmdir()


def _host(found: Imported, source: Path) -> dict[str, object]:
    """No machine: nothing is known of the one that it was measured on, and this one has no part in it."""
    return {"schema_version": SCHEMA_VERSION, "imported": source.name, "runs": len(found.runs)}


def _form(folder: StudyFolder, found: Imported, names: list[str]) -> dict[str, object]:
    return {
        "folder": str(folder.path),
        "runs": len(found.runs),
        "workloads": names,
        "unknown_columns": list(found.unknown),
        "notes": list(found.notes),
        "report": str(folder.report_path),
    }


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
