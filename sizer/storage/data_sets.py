"""The data of a study: the user's own, or the embedded data set made once and kept outside of the repository.

Photographs and text become data sets through the workloads package, in the interpreter that has OpenCV, because the
decoders live there. What is derived from a user's data, a packed folder or an index, is made once before any run.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sizer.files.given_files import refuse_no_data
from sizer.files.own_folder import make_folder
from sizer.limits.users import RunUser, run_user
from sizer.records.kinds import KINDS
from sizer.records.messages import AnyOf, HostError, InputError, Message
from sizer.records.run import DataSet
from sizer.records.study import Workload
from sizer.storage.announcements import Announce, Announcement, AnnouncementKind
from sizer.storage.data_cache import check_writable, is_writable, made_once
from sizer.storage.page_cache import files_of
from sizer.storage.removal import owner_of
from sizer.storage.subprograms import complete, never

EMBEDDED_VERSION = 1
"""Part of the cache's folder names: raised whenever the same seed would give other bytes."""

EMBEDDED_SEED = 1

IN_WORDS = {
    "recordio": Message("a RecordIO file (.rec)"),
    "lmdb": Message("an LMDB"),
    "folder": Message("a folder of class folders of JPEGs"),
    "text": Message("a text of words (a file, or a folder with train.txt)"),
}


@dataclass(frozen=True)
class DataSets:
    """Finds, makes and packs data sets; `embedded_images` is how many photographs the embedded one has."""

    cache: Path
    interpreter: Path
    packages: Path
    embedded_images: int
    announce: Announce
    stop: Callable[[], bool] = never
    whole: set[Path] = field(default_factory=set)
    """Folders of the cache that were found as they were made, so that none is read twice at one start."""
    maker: RunUser | None = None
    """By whose rights the interpreter makes them: the user of the runs, where a study named it. None for ours."""
    reader: RunUser = field(default_factory=run_user)
    """The user of the runs."""

    def prepare(self, workload: Workload) -> DataSet | None:
        """What the workload reads, in the form it reads; None when it reads nothing.

        Raises InputError as `check_data` does, HostError when something cannot be made, Interrupted when `stop` says
        so.
        """
        check_data(workload)
        formats = KINDS[workload.kind].data_formats
        if not workload.data and (not formats or workload.input == "synthetic"):
            return None
        source = self._users_own(Path(workload.data)) if workload.data else self._embedded(workload)
        if "recordio" in formats:
            if source.format == "folder" and not workload.reads_folder:
                return self._packed(source, "lmdb" if workload.format == "lmdb" else "recordio")
            if source.format == "recordio":
                return self._indexed(source)
        return source

    def _users_own(self, given: Path) -> DataSet:
        path = given.expanduser().resolve()
        form = form_of(path)
        return describe(record_files(path)[0] if form == "recordio" else path, form)

    def _embedded(self, workload: Workload) -> DataSet:
        if "text" in KINDS[workload.kind].data_formats:
            folder, form, words = self.cache / f"text-v{EMBEDDED_VERSION}", "text", ["text"]
        else:
            name = f"images-v{EMBEDDED_VERSION}-seed{EMBEDDED_SEED}-{self.embedded_images}"
            folder, form = self.cache / name, "folder"
            words = ["images", "--count", str(self.embedded_images), "--seed", str(EMBEDDED_SEED), *_workers()]
        with self._made_once(Announcement(AnnouncementKind.EMBEDDED_DATA, str(folder))) as aside:
            if aside is not None:
                self._program("embedded_data", *words, "--out", str(aside))
        return describe(folder, form, embedded=True)

    def _packed(self, source: DataSet, form: str) -> DataSet:
        """The folder as RecordIO or LMDB, packed once and kept; a changed folder is packed again."""
        theirs = "" if self.reader.is_ours or source.embedded else f"-{self.reader.uid}"
        folder = self.cache / f"{form}-{_fingerprint(Path(source.path))}{theirs}"
        making = Announcement(AnnouncementKind.PACKED_DATA, str(folder), source.path, form)
        with self._made_once(making, private=not source.embedded) as aside:
            if aside is not None:
                options = ["--data", source.path, "--output", str(aside), "--format", form, "--passes", "1"]
                self._program("imagenet_preprocessing", *options, *_workers())
        return describe(folder / ("train.lmdb" if form == "lmdb" else "train.rec"), form, source.embedded)

    def _indexed(self, source: DataSet) -> DataSet:
        """The records with an index beside them: made once in the cache, next to a link, if the user's have none."""
        records = Path(source.path)
        if records.with_suffix(".idx").is_file():
            return source
        folder = self.cache / f"index-{_fingerprint(records)}"
        with self._made_once(Announcement(AnnouncementKind.INDEX, str(folder), str(records))) as aside:
            if aside is not None:
                make_folder(aside)
                _link(aside / records.name, records)
                if self.maker is not None:
                    self.maker.own(aside)
                self._program("record_index", "--data", str(records), "--out", str(aside / f"{records.stem}.idx"))
        return describe(folder / records.name, source.format)

    @contextmanager
    def _made_once(self, making: Announcement, private: bool = False) -> Iterator[Path | None]:
        """A path to make the folder that is announced at, or None if it is there.

        Into a `private` one only the group of the runs' user is let: its source may lie where nobody else can look.
        """
        folder = Path(making.folder)
        if folder in self.whole:
            yield None
            return
        with made_once(folder, making, self.announce, self.stop) as aside:
            if aside is None or self.maker is None or self.maker.is_ours:
                yield aside
            else:
                with self.maker.lent(aside.parent / "lent") as theirs:
                    yield theirs / aside.name
                if owner_of(theirs / aside.name) is None:
                    raise HostError("{python} made no folder.", python=self.interpreter)
                (theirs / aside.name).rename(aside)
            if aside is not None and private:
                os.chown(aside, -1, self.reader.gid)
                aside.chmod(0o700 if self.reader.is_ours else 0o750)
        self.whole.add(folder)
        if aside is not None:
            self.announce(Announcement(AnnouncementKind.DATA_MADE, making.folder, bytes=size_of(folder)))

    def _program(self, name: str, *options: str) -> None:
        becoming, ours = (self.maker.becoming, self.maker.environment(os.environ)) if self.maker else ((), os.environ)
        argv = [*becoming, str(self.interpreter), "-m", f"workloads.{name}", *options]
        environment = {**ours, "PYTHONPATH": str(self.packages)}
        done = complete(argv, environment, self.cache, self.stop)
        if done.returncode == 2:
            problem = done.stderr.strip().splitlines()[-1][-500:]
            raise InputError("`workloads.{name}` cannot use this data: {problem}", name=name, problem=problem)
        if done.returncode != 0:
            raise HostError(
                "`workloads.{name}` failed: {output}", name=name, output=(done.stderr or done.stdout).strip()[-500:]
            )
        for line in done.stderr.splitlines():
            self.announce(Announcement(AnnouncementKind.PROGRAM, name=line))


def _link(path: Path, target: Path) -> None:
    try:
        path.symlink_to(target)
    except OSError as error:
        raise HostError(
            "An index of {records} is made beside a link to it, which cannot be made in {folder} ({reason}); set "
            "SIZER_CACHE to a folder on a disk with links, such as ext4.",
            records=target,
            folder=path.parent,
            reason=error.strerror,
        ) from error


def check_data(workload: Workload) -> None:
    """Raises InputError when the user's data is not there or has a form that the workload cannot read."""
    if workload.data is None:
        return
    where, path = Message("workload `{name}`", name=workload.name), Path(workload.data).expanduser()
    if not path.exists():
        raise InputError("{where}: {data} does not exist; correct `data`.", where=where, data=workload.data)
    refuse_no_data(path, where)
    readable = KINDS[workload.kind].data_formats
    if not readable:
        return
    form = form_of(path)
    if form not in readable:
        raise InputError(
            "{where}: {data} looks like {found}, but {kind} reads {wanted}; give `data` the path of one.",
            where=where,
            data=workload.data,
            found=IN_WORDS[form],
            kind=workload.kind,
            wanted=AnyOf(*(IN_WORDS[form] for form in readable)),
        )
    if form == "recordio" and len(record_files(path)) != 1:
        raise InputError(
            "{where}: {data} holds several .rec files; give `data` the path of one of them.",
            where=where,
            data=workload.data,
        )


def check_cache(workload: Workload, cache: Path, embedded_images: int) -> None:
    """Raises HostError when what the workload reads is neither whole in `cache`, which needs not be there yet, nor can
    be made there."""
    if not KINDS[workload.kind].data_formats or workload.input == "synthetic":
        return
    if cache.is_dir() and not is_writable(cache):
        DataSets(cache, Path(), Path(), embedded_images, lambda _: None).prepare(workload)
    elif workload.data is None:
        check_writable(cache)


def describe(path: Path, form: str, embedded: bool = False) -> DataSet:
    """Size of a data set. Samples are the files of a folder; of other forms only the workload knows how many."""
    count, size = 0, 0
    for item in files_of(path):
        count, size = count + 1, size + item.stat().st_size
    return DataSet(str(path), form, size, count if form == "folder" else 0, embedded)


def _workers() -> list[str]:
    return ["--workers", str(len(os.sched_getaffinity(0)))]


def size_of(path: Path) -> int:
    """Bytes of a data set's files."""
    return sum(item.stat().st_size for item in files_of(path))


def _fingerprint(data: Path) -> str:
    """Changes with the path, and with any file's name, size or time."""
    digest = hashlib.sha256(str(data).encode())
    for item in files_of(data):
        facts = item.stat()
        digest.update(json.dumps([str(item), facts.st_size, facts.st_mtime_ns]).encode())
    return digest.hexdigest()[:12]


TEXTS = ("train.txt", "ptb.train.txt")
"""Names under which a text of PennTreeBank's form lies in a folder."""


def form_of(path: Path) -> str:
    """`recordio`, `lmdb`, `text`, or `folder` for one of class folders of images. `path` exists."""
    if path.is_file():
        return {".rec": "recordio", ".mdb": "lmdb"}.get(path.suffix, "text")
    if (path / "data.mdb").is_file():
        return "lmdb"
    if any((path / name).is_file() for name in TEXTS):
        return "text"
    return "recordio" if any(path.glob("*.rec")) else "folder"


def record_files(path: Path) -> list[Path]:
    """The RecordIO files that a path means: itself, or those in a folder as im2rec leaves it."""
    return [path] if path.is_file() else sorted(path.glob("*.rec"))
