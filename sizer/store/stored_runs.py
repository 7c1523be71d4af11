"""The runs of a study folder as they are read: each file once, and again only when it has changed."""

from __future__ import annotations

import os
from pathlib import Path

from sizer.files.codec import FormatError, from_json, load_json
from sizer.records.messages import HostError, InputError, Lines, Message
from sizer.records.run import Run

Version = tuple[int, int, int]
"""Time of the last change in ns, inode and bytes: a file that is replaced changes at least one of them."""

Problem = Message | Lines
"""What is wrong with a file."""


class StoredRuns:
    """The files of one folder, one a run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen: dict[Path, tuple[Version, Run | Problem]] = {}

    def read(self) -> tuple[tuple[Run, ...], tuple[Problem, ...]]:
        """Runs by their start, and a sentence for each file that is none. Of a run that lies there twice the later."""
        runs: dict[str, Run] = {}
        problems: list[Problem] = []
        for path in sorted(self._folder.glob("*.json")):
            run = self._read(path)
            if not isinstance(run, Run):
                problems.append(run)
                continue
            other = runs.get(run.id)
            if other is None or (other.started_at or "") < (run.started_at or ""):
                runs[run.id] = run
        return tuple(sorted(runs.values(), key=_start)), tuple(problems)

    def know(self, path: Path, run: Run) -> None:
        """This run was just written there, so the file need not be read to know it."""
        self._seen[path] = _version(path.lstat()), run

    def _read(self, path: Path) -> Run | Problem:
        """The run in a file, or what is wrong with it."""
        try:
            status = path.lstat()
        except OSError as error:
            return Message("{path}: cannot be read ({reason})", path=path, reason=error.strerror)
        version = _version(status)
        entry = self._seen.get(path)
        if entry is None or entry[0] != version:
            entry = version, _run(path)
            self._seen[path] = entry
        return entry[1]


def _version(status: os.stat_result) -> Version:
    return status.st_mtime_ns, status.st_ino, status.st_size


def _run(path: Path) -> Run | Problem:
    try:
        return read_run(path)
    except (InputError, HostError) as error:
        return error.content


def read_run(path: Path) -> Run:
    """The run in a file; FormatError where it is none."""
    return run_from_json(load_json(path), str(path))


def run_from_json(form: object, where: str) -> Run:
    """The run that sizer wrote as JSON; FormatError, which names `where`, for anything else."""
    if isinstance(form, dict) and (form.get("schema_version") == 1 or isinstance(form.get("limited_by"), str)):
        raise FormatError(
            "{where} was stored by an older sizer. Convert its study folder once with script/convert_study.py of "
            "sizer's source: python convert_study.py FOLDER",
            where=where,
        )
    return from_json(Run, form, where)


def _start(run: Run) -> tuple[str, float, int, str]:
    """A run's place in the order: of two that began in one second, their first samplings decide, which are finer.

    Imported runs that began in one second, or of which nobody knows when, stay as in their file.
    """
    return run.started_at or "", run.samples[0].time if run.samples else 0.0, run.spec.line, run.id
