"""Measurements made elsewhere become a study folder."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sizer.api.conclusions import conclude
from sizer.api.elsewhere import MEASURED_ON, checked_type, refuse_other_types
from sizer.api.events import OnEvent, TableImported, ignore
from sizer.api.fitted_model import Stage, StepBegun
from sizer.catalog.catalog import Catalog
from sizer.exchange.imported import Imported, read_measurements
from sizer.files.codec import to_json
from sizer.files.writing import writing_to
from sizer.records.domains import SCHEMA_VERSION
from sizer.records.messages import InputError
from sizer.records.run import Run
from sizer.store.content import FOLDERS
from sizer.store.study_folder import StudyFolder, refuse_unusable


@dataclass(frozen=True)
class ImportedStudy:
    """A table of measurements, and the study folder made of it."""

    folder: StudyFolder
    table: Imported


def import_table(
    source: str | Path,
    folder: str | Path,
    on_event: OnEvent = ignore,
    job_by: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    measured_on: str | None = None,
) -> ImportedStudy:
    """Measurements made elsewhere become a study folder, new or empty before, with its conclusion.

    `job_by` are columns whose values are different jobs; `columns` says of headers what each is to be read as, such as
    `{"Threads": "vcpus", "Time": "step time (ms)"}`, and leaves one unread that it maps to nothing; `measured_on` names
    the instance type that all rows were measured on, or on some of whose vCPUs.
    Nothing is written before every row is understood; what cannot be written as a whole is taken away again. Raises
    InputError for a table or folder that cannot be used, HostError where nothing can be written.
    """
    source, path = Path(source), Path(folder)
    refuse_taken(path)
    on_event(StepBegun(Stage.READING))
    catalog = Catalog.load(keep=True)
    machine = None if measured_on is None else checked_type(measured_on, catalog)
    table = read_measurements(source, catalog, job_by, columns)
    if machine is not None:
        refuse_other_types(table.runs, machine, source, catalog)
    refuse_unusable(path)
    on_event(TableImported(source, table))
    on_event(StepBegun(Stage.STORING))
    written = write_study(path, table, source, None if machine is None else machine.name)
    on_event(TableImported(source, table, path))
    on_event(conclude(written, on_event))
    return ImportedStudy(written, table)


def refuse_taken(path: Path) -> None:
    """Raise InputError where something lies in the folder already."""
    with suppress(OSError):
        if path.is_dir() and os.listdir(path):
            raise InputError(
                "{path} is not empty; choose a new folder with --out, or remove this one first.", path=path
            )


def write_study(path: Path, imported: Imported, source: Path, measured_on: str | None = None) -> StudyFolder:
    """The study folder: study.yaml last, which alone makes it one. Raises HostError, and leaves nothing behind."""
    was_there = path.is_dir()
    try:
        _write_runs(path, imported.runs)
        with StudyFolder.create(path, imported.study, _host(imported, source, measured_on), imported.notes) as folder:
            folder.know(imported.runs)
            return folder
    except BaseException:
        _take_away(path, was_there)
        raise


def _write_runs(path: Path, runs: tuple[Run, ...]) -> None:
    """All runs, synced at once: one by one, thousands would take minutes. ValueError of two that have one id."""
    if len({run.id for run in runs}) < len(runs):
        raise ValueError("two runs have one id")
    with writing_to(path):
        for name in FOLDERS:
            (path / name).mkdir(mode=0o775, parents=True)
        for run in runs:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            with open(os.open(path / "runs" / f"{run.id}.json", flags, 0o664), "w", encoding="utf-8") as file:
                file.write(json.dumps(to_json(run), allow_nan=False))
        os.sync()


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


def _host(imported: Imported, source: Path, measured_on: str | None) -> dict[str, object]:
    """No machine: no more is known of the one that it was measured on, and this one has no part in it."""
    facts: dict[str, object] = {} if measured_on is None else {MEASURED_ON: measured_on}
    return {"schema_version": SCHEMA_VERSION, "imported": source.name, "runs": len(imported.runs), **facts}
