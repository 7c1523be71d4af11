"""A study folder: the study, its host, one JSON file for each run, and what was concluded from them."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

from sizer.files.codec import from_json, load_json, to_json, write_json
from sizer.files.given_files import refuse_no_disk
from sizer.files.own_folder import Place, check_folder, make_folder, open_folder, open_lock, place_of
from sizer.files.writing import write_text, writing_to, written_aside
from sizer.records.device import HostSpeed
from sizer.records.domains import SCHEMA_VERSION
from sizer.records.messages import HostError, InputError, Message, typed_path
from sizer.records.notes import Note, NoteKind
from sizer.records.run import Run
from sizer.records.study import Study
from sizer.store.content import FILES, FOLDERS, refuse_what_leads_elsewhere
from sizer.store.continuing import (
    measured,
    refuse_other_machine,
    refuse_other_meaning,
    refuse_other_study,
    refuse_other_versions,
)
from sizer.store.stored_runs import Problem, StoredRuns
from sizer.store.unsaved import RESERVE, RESERVED_BYTES, Reserve
from sizer.study.parse import read_stored_study
from sizer.study.resolved import to_yaml

COUNTS = ("cpus", "memory_bytes")
"""Facts of a host that runs are planned with."""
LARGEST_COUNT = 2**60
SPEED = "speed"
"""What host.json calls the probes of the host."""


class StudyFolder:
    """The files of one study; nothing outside `path` is written."""

    def __init__(self, path: Path, study: Study, host: Mapping[str, Any]) -> None:
        self.path = path
        self.real_path = path.resolve()
        self.study_path, self.host_path, self.model_path = path / "study.yaml", path / "host.json", path / "model.json"
        self.recommendation_path, self.measurements_path = path / "recommendation.json", path / "measurements.csv"
        self.report_path = path / "report.html"
        self.study = study
        self.host = host
        self._places: dict[Path, Place] = {}
        self._reserve = Reserve(path)
        self._runs = StoredRuns(path / "runs")

    @classmethod
    @contextmanager
    def create(cls, path: Path, study: Study, host: Any, notes: Sequence[Note] = ()) -> Iterator[StudyFolder]:
        """The folder of this study, new or gone on with, locked until the context ends.

        `host` is a record or a mapping; `notes` are for a reader of the report. Raises InputError when
        `path` holds something else, or runs that do not belong to this study; HostError when it cannot be written.
        """
        facts = to_json(host) if is_dataclass(host) else dict(host)
        path = Path(path)
        refuse_unusable(path)
        with writing_to(path):
            make_folder(path)
            check_folder(path)
        folder = cls(
            path, study, {"schema_version": SCHEMA_VERSION, **facts, "notes": [to_json(note) for note in notes]}
        )
        with folder.locked():
            folder._check_same_study()
            folder.write_json(folder.host_path, folder.host)
            folder.write_text(folder.study_path, to_yaml(study))
            yield folder

    @classmethod
    def open(cls, path: Path) -> StudyFolder:
        """The study folder at `path`; raises InputError where it is none, or not this user's own."""
        path = Path(path)
        try:
            refuse_what_leads_elsewhere(path)
            is_study = _is_study_folder(path)
        except OSError as error:
            reason = error.strerror or error
            raise HostError(
                "{path} cannot be read ({reason}); choose another folder.", path=path, reason=reason
            ) from error
        if not is_study:
            raise _no_study_folder(path)
        host = _checked_host(load_json(path / "host.json"), path / "host.json")
        return cls(path, read_stored_study(path / "study.yaml"), host)

    @contextmanager
    def locked(self) -> Iterator[StudyFolder]:
        """Hold the folder, so that no second sizer writes it; HostError when one does already.

        What a killed sizer left half written is removed; folders in it that somebody removed are made again. Until the
        end, whatever is put in the place of the folder or of one in it is not written to.
        """
        with ExitStack() as stack:
            with writing_to(self.path):
                descriptor = open_lock(self.path / ".lock")
                stack.callback(os.close, descriptor)
                _take(descriptor, self.path)
                # `current_run` distinguishes an old log from that of a run that goes on now by when this was.
                os.utime(descriptor)
                for name in FOLDERS:
                    make_folder(self.path / name)
                self._remove_leftovers()
                stack.callback(self._places.clear)
                for folder in (self.path, *(self.path / name for name in FOLDERS)):
                    # Open until the end: some file systems give a folder that nobody has open another number.
                    opened = open_folder(folder)
                    stack.callback(os.close, opened)
                    self._places[folder] = place_of(opened)
            yield self

    def write_text(self, path: Path, text: str) -> None:
        """Write a file whole or not at all; HostError where it cannot be written, or what is at `path` is no longer the
        folder that is locked."""
        write_text(path, text, self._places.get(path.parent))

    def write_json(self, path: Path, record: Any) -> None:
        """Write a record, or a plain dict, in the same way."""
        write_json(path, record, self._places.get(path.parent))

    def check_in_place(self) -> None:
        """Raise HostError where something else was put in the place of what is locked. What is gone passes: nothing can
        be written to that."""
        for folder, place in self._places.items():
            with suppress(OSError):
                os.close(open_folder(folder, place))

    def go_on_with(self, study: Study) -> None:
        """Take a study of the same workloads with other axes in the place of the one before, while it is locked.

        Raises InputError for another study, HostError when it cannot be written.
        """
        refuse_other_study(str(self.path), self.study, study)
        refuse_other_meaning(str(self.path), measured(self.runs()), study)
        self.study = study
        self.write_text(self.study_path, to_yaml(study))

    @property
    def going_on(self) -> Message | str:
        """The command that goes on with this study here, whatever of the folder was removed in the meantime."""
        with suppress(OSError):
            if _is_study_folder(self.path):
                return f"sizer resume {typed_path(self.path)}"
        command = f"sizer run STUDY.yaml --out {typed_path(self.path)}"
        return Message("{command} (with the file of this same study)", command=command)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader of the report must know of the whole study."""
        return _notes(self.host, self.host_path)

    def log_path(self, run_id: str) -> Path:
        """Where the output of a run goes."""
        return self.path / "logs" / f"{_checked(run_id)}.log"

    def log_of(self, run: Run) -> Path | None:
        """The log of a stored run, None where it has none."""
        path = self.log_path(run.id)
        return path if path.exists() else None

    def run_path(self, run_id: str) -> Path:
        """Where a run is stored."""
        return self.path / "runs" / f"{_checked(run_id)}.json"

    def add(self, run: Run) -> None:
        """Store a run whole; the same run again takes the place of the one before.

        On a full disk the room held by `hold_room` is used. Raises HostError when the run cannot be written even so.
        """
        try:
            self.write_json(self.run_path(run.id), run)
        except HostError:
            if not self._reserve.give_up(self._places.get(self.path)):
                raise
            self.write_json(self.run_path(run.id), run)

    def know(self, runs: Iterable[Run]) -> None:
        """Runs that were just written here by somebody else than `add`, so that thousands need not be read again."""
        for run in runs:
            self._runs.know(self.run_path(run.id), run)

    def hold_room(self) -> None:
        """Hold room for what is still to be written; HostError when the disk has not as much, or something else was
        put in the place of the folder."""
        self.check_in_place()
        try:
            self._reserve.take(self._places.get(self.path))
        except OSError as error:
            raise HostError(
                "{path} cannot store more runs ({reason}). Make sure {size} MiB can be written there, then type: "
                "{command}",
                path=self.path,
                reason=error.strerror,
                size=RESERVED_BYTES >> 20,
                command=self.going_on,
            ) from error

    @property
    def speed(self) -> HostSpeed | None:
        """What was probed of the host beside the runs; None where nothing was. Raises InputError."""
        form = self.host.get(SPEED)
        speed = None if form is None else from_json(HostSpeed, form, str(self.host_path))
        return speed if speed is not None and speed.probes and speed.processor.rates else None

    def keep_speed(self, speed: HostSpeed) -> None:
        """Store it with the other facts of the host. Raises HostError when it cannot be written."""
        self.host = {**self.host, SPEED: to_json(speed)}
        self.write_json(self.host_path, self.host)

    def free_room(self) -> None:
        """Give the held room back: what is written from now on is the last."""
        self._reserve.give_up(self._places.get(self.path))

    def runs(self) -> tuple[Run, ...]:
        """Every run that can be read, in the order in which they were measured."""
        return self._runs.read()[0]

    def problems(self) -> tuple[Problem, ...]:
        """A sentence for each file among the runs that cannot be read as one."""
        return self._runs.read()[1]

    def is_stale(self, path: Path) -> bool:
        """Whether `path`, concluded from the runs, is missing or older than the last change among them or the study."""
        runs = self.path / "runs"
        try:
            concluded = path.stat().st_mtime_ns
            sources = (self.study_path, runs, *runs.glob("*.json"))
            return any(source.lstat().st_mtime_ns > concluded for source in sources)
        except FileNotFoundError:
            return True

    def check_host(self, host: Any) -> None:
        """Raise InputError when the runs here come from another machine than `host`, a record or a mapping."""
        if self.study.imported:
            raise InputError(
                "{path} contains imported measurements, which cannot be resumed; `sizer init` writes a study file to "
                "measure here.",
                path=self.path,
            )
        refuse_other_machine(str(self.path), self.host, to_json(host) if is_dataclass(host) else host)

    def go_on_with_versions(self, host: Any) -> None:
        """Store on which versions the programs run now, as `host`, a record, says, while the folder is locked.

        Raises InputError when a framework of runs that are here has another version by now.
        """
        now = {**self.host, **{name: to_json(host)[name] for name in ("python", "packages", "frameworks", "sizer")}}
        refuse_other_versions(str(self.path), measured(self.runs()), self.host, now)
        self.host = now
        self.write_json(self.host_path, self.host)

    def _check_same_study(self) -> None:
        """Refuse to mix what was measured here with another study, machine, workload or disk."""
        if not self.study_path.exists():
            return
        before, where = StudyFolder.open(self.path), str(self.path)
        if before.study.imported:
            raise InputError("{where} contains imported measurements; choose another folder with --out.", where=where)
        refuse_other_study(where, before.study, self.study)
        runs = measured(before.runs())
        if runs:
            refuse_other_machine(where, before.host, self.host)
            refuse_other_versions(where, runs, before.host, self.host)
            refuse_other_meaning(where, runs, self.study)
            if SPEED in before.host:
                self.host = {**self.host, SPEED: before.host[SPEED]}

    def _remove_leftovers(self) -> None:
        """Files that a killed sizer was writing; the lock says that none is writing now."""
        ours = [path for path in self.path.iterdir() if _is_half_written(path.name)]
        ours += [path for path in (self.path / "runs").iterdir() if _is_half_a_run(path.name)]
        for path in ours:
            if path.is_symlink() or not path.is_dir():
                path.unlink(missing_ok=True)


def _checked_host(host: object, path: Path) -> Mapping[str, Any]:
    """The facts of a host, those that are computed with in form; raises InputError otherwise."""
    if not isinstance(host, dict):
        raise _not_ours(path, Message("it is not an object"))
    if host.get("schema_version") == 1:
        raise InputError(
            "{folder} was made by an older sizer. Convert it once with script/convert_study.py of sizer's source: "
            "python convert_study.py {typed}",
            folder=path.parent,
            typed=typed_path(path.parent),
        )
    for fact in COUNTS:
        value = host.get(fact, 1)
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= LARGEST_COUNT:
            raise _not_ours(
                path,
                Message("{fact} is {value} and must be a whole number above 0", fact=fact, value=repr(value)[:40]),
            )
    if not isinstance(host.get("notes", []), list):
        raise _not_ours(path, Message("notes is not a list"))
    _notes(host, path)
    return host


def _notes(host: Mapping[str, Any], path: Path) -> tuple[Note, ...]:
    """The notes on a study, without those of a kind that sizer does not make any more. Raises InputError."""
    kinds = {kind.value for kind in NoteKind}
    notes = (note for note in host.get("notes", ()) if not isinstance(note, dict) or note.get("kind", "other") in kinds)
    return tuple(from_json(Note, note, str(path)) for note in notes)


def _not_ours(path: Path, why: Message) -> InputError:
    return InputError(
        "{path} has changed since sizer wrote it: {why}. Correct it, or measure into another folder with --out.",
        path=path,
        why=why,
    )


def _is_study_folder(path: Path) -> bool:
    """Also one whose runs somebody removed: then its host.json distinguishes it from a folder of somebody's own."""
    if not all((path / name).exists() for name in ("study.yaml", "host.json")):
        return False
    if (path / "runs").exists():
        return True
    with suppress(InputError, HostError):
        host = load_json(path / "host.json")
        return isinstance(host, dict) and "schema_version" in host
    return False


def _no_study_folder(path: Path) -> InputError:
    """A folder that holds other things is none that `run` would take, so that is not proposed."""
    if not path.exists():
        return InputError("{path}: there is no such folder; give a study folder, which `sizer run` makes.", path=path)
    if _foreign(path):
        return InputError(
            "{path} is not a study folder and contains other files; give one that `sizer run` has made.", path=path
        )
    return InputError(
        "{path} is not a study folder; `sizer run STUDY.yaml --out {typed}` makes one.",
        path=path,
        typed=typed_path(path),
    )


def _foreign(path: Path) -> list[str]:
    """What is in a folder that is no study folder, beside what a making that was cut short leaves."""
    ours = (".lock", "runs", "logs", "host.json")
    return [name for name in os.listdir(path) if name not in ours and not _is_half_written(name)]


def _is_half_written(name: str) -> bool:
    """Whether a file of this name in a study folder is one that a killed sizer was writing: any other is a person's."""
    return name == RESERVE or written_aside(name) in FILES


def _is_half_a_run(name: str) -> bool:
    """The same for the folder of the runs."""
    return re.fullmatch(r"[0-9a-f]{12}\.json", written_aside(name) or "") is not None


def refuse_unusable(path: Path) -> None:
    """Raise InputError unless a study can be made at `path`, or gone on with; nothing is written."""
    with writing_to(path):
        refuse_what_leads_elsewhere(path)
        _check_free(path)
    above = next(place for place in (path, *path.absolute().parents) if place.exists())
    try:
        refuse_no_disk(above, str(path))
    except InputError as error:
        raise HostError(
            "{path} cannot be written: {above} is not on a disk. Choose another folder.", path=path, above=above
        ) from error
    if not os.access(above, os.W_OK | os.X_OK):
        raise HostError(
            "{path} cannot be written: you may not write to {above}. Choose another folder.", path=path, above=above
        )


def _check_free(path: Path) -> None:
    """Raise InputError unless `path` is new, empty, a study folder, or one whose making was cut short."""
    if not path.exists() or _is_study_folder(path):
        return
    if _foreign(path):
        raise InputError(
            "{path} contains other files and is not a study folder; choose an empty one with --out.", path=path
        )


def _checked(run_id: str) -> str:
    """A run's id is part of a path, so it must be nothing else."""
    if not re.fullmatch(r"[0-9a-f]{12}", run_id):
        raise ValueError(f"{run_id!r} is not the id of a run")
    return run_id


def _take(lock: int, path: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise HostError(
            "Another sizer is writing to {path}; wait, or choose another folder with --out.", path=path
        ) from None


LOCKS = Path("/proc/locks")
"""The kernel's list of file locks, as in proc_locks(5): to try the lock itself could refuse a sizer that starts."""


def is_held(folder: StudyFolder, locks: Path = LOCKS) -> bool:
    """Whether a sizer holds the folder now; False where the kernel does not say."""
    with suppress(OSError):
        inode = (folder.path / ".lock").stat().st_ino
        # `1: FLOCK  ADVISORY  WRITE 708 00:13:11 0 EOF`; a line with `->` only waits for the one above.
        rows = [line.split() for line in locks.read_text().splitlines() if "->" not in line]
        return any(row[1] == "FLOCK" and row[5].endswith(f":{inode}") for row in rows if len(row) > 5)
    return False


def current_run(folder: StudyFolder) -> str | None:
    """The id of the run that goes on in a folder that is held; None between two runs.

    It is the one whose log began since the folder is held, and after the last run was stored.
    """
    with suppress(OSError):
        held_since = (folder.path / ".lock").stat().st_mtime_ns
        stored = [path.stat().st_mtime_ns for path in (folder.path / "runs").glob("*.json")]
        logs = {path.stat().st_mtime_ns: path.stem for path in (folder.path / "logs").glob("*.log")}
        latest = max(logs, default=0)
        return logs[latest] if latest >= max([held_since, *stored]) and latest else None
    return None
