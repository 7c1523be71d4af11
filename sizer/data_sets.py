"""The data of a study: the user's own, or the embedded data set made once and kept outside of the repository.

Photographs and text become data sets through the workloads package, in the workloads' own interpreter, because the
decoders live there.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sizer.errors import HostError, InputError
from sizer.page_cache import files_of
from sizer.records import DataSet, Workload

EMBEDDED_VERSION = 1
"""Part of the cache's folder names: raised whenever the same seed would give other bytes."""

EMBEDDED_SEED = 1

Announce = Callable[[str], None]


@dataclass(frozen=True)
class DataSets:
    """Finds, makes and packs data sets; `embedded_images` is how many photographs the embedded one has."""

    cache: Path
    interpreter: Path
    packages: Path
    embedded_images: int
    announce: Announce

    def prepare(self, workload: Workload) -> DataSet | None:
        """What the workload reads, in the form it reads; None when it reads nothing or is a user's own command.

        Raises InputError when the user's data is not there or has another form than the workload needs.
        """
        if workload.kind == "command" or workload.input == "synthetic":
            return self._users_own(workload) if workload.data else None
        source = self._users_own(workload) if workload.data else self._embedded(workload)
        wanted = "folder" if workload.kind == "imagenet_preprocessing" else workload.format
        if source.format == "folder" and wanted in ("recordio", "lmdb"):
            return self._packed(source, wanted)
        if wanted != source.format:
            raise InputError(
                f"workload `{workload.name}`: {source.path} looks like {source.format}, and {workload.kind} "
                f"was told to read {wanted}; set `format: {source.format}` or give other data"
            )
        return source

    def _users_own(self, workload: Workload) -> DataSet:
        assert workload.data is not None
        path = Path(workload.data).expanduser().resolve()
        if not path.exists():
            raise InputError(f"workload `{workload.name}`: {workload.data} does not exist; give data: a path that does")
        return describe(path, embedded=False)

    def _embedded(self, workload: Workload) -> DataSet:
        if workload.kind == "lstm_training":
            folder = self.cache / f"text-v{EMBEDDED_VERSION}"
            words = ["text", "--out", str(folder)]
        else:
            name = f"images-v{EMBEDDED_VERSION}-seed{EMBEDDED_SEED}-{self.embedded_images}"
            folder = self.cache / name
            words = ["images", "--count", str(self.embedded_images), "--seed", str(EMBEDDED_SEED)]
            words += ["--workers", str(len(os.sched_getaffinity(0))), "--out", str(folder)]
        if not folder.exists():
            self.announce(f"making the embedded data set in {folder}")
            self._workload_program("embedded_data", *words)
            self.announce(f"the embedded data set takes {_size(folder) / 1e6:.0f} MB in {folder}")
        return describe(folder, embedded=True)

    def _packed(self, source: DataSet, wanted: str) -> DataSet:
        """The folder as RecordIO or LMDB, packed once and kept; a changed folder is packed again."""
        folder = self.cache / f"{wanted}-{_fingerprint(Path(source.path))}"
        path = folder / ("train.rec" if wanted == "recordio" else "train.lmdb")
        if not path.exists():
            self.announce(f"packing {source.path} as {wanted} in {folder}")
            aside = folder.with_name(f"{folder.name}.{os.getpid()}.tmp")
            workers = str(len(os.sched_getaffinity(0)))
            options = ["--data", source.path, "--output", str(aside), "--format", wanted, "--passes", "1"]
            self._workload_program("imagenet_preprocessing", *options, "--workers", workers)
            aside.rename(folder)
            self.announce(f"{wanted} takes {_size(path) / 1e6:.0f} MB in {folder}")
        return describe(path, embedded=source.embedded)

    def _workload_program(self, name: str, *options: str) -> None:
        self.cache.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            [str(self.interpreter), "-m", f"workloads.{name}", *options],
            cwd=self.cache,
            env={**os.environ, "PYTHONPATH": str(self.packages)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 2:
            raise InputError(done.stderr.strip()[-500:])
        if done.returncode != 0:
            raise HostError(f"workloads.{name} failed: {(done.stderr or done.stdout).strip()[-500:]}")


def cache_folder(environment: dict[str, str] | os._Environ[str]) -> Path:
    """Where data sets and emulated volumes lie: SIZER_CACHE, or the user's cache folder (XDG base directories)."""
    if environment.get("SIZER_CACHE"):
        return Path(environment["SIZER_CACHE"]).expanduser().resolve()
    base = environment.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "sizer"


def describe(path: Path, embedded: bool) -> DataSet:
    """Form and size of a data set. The count of samples is left to the workload, which knows it when it has read it."""
    return DataSet(str(path), _format(path), _size(path), samples=0, embedded=embedded)


def _format(path: Path) -> str:
    """An LMDB is a folder with data.mdb, a text one with a train file, images one of class folders."""
    if path.is_file():
        return {".rec": "recordio", ".mdb": "lmdb"}.get(path.suffix, "text")
    if (path / "data.mdb").exists():
        return "lmdb"
    if any((path / name).exists() for name in ("train.txt", "ptb.train.txt")):
        return "text"
    return "folder"


def _size(path: Path) -> int:
    return sum(item.stat().st_size for item in files_of(path))


def _fingerprint(folder: Path) -> str:
    """Changes with any file's name, size or time."""
    digest = hashlib.sha256()
    for item in files_of(folder):
        facts = item.stat()
        digest.update(json.dumps([str(item.relative_to(folder)), facts.st_size, facts.st_mtime_ns]).encode())
    return digest.hexdigest()[:12]
