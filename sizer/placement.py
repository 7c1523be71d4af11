"""Where each run's data and output lie: on the host's own disk, on a real mount, or on the emulated volume."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from sizer.disks import Volume, emulated_volume, real_volume
from sizer.errors import HostError
from sizer.page_cache import evict, files_of
from sizer.records import DataSet, DiskTier


class Placement:
    """Volumes and copies, made when they are first asked for and removed with the context."""

    def __init__(self, cache: Path, emulated_bytes: int, announce: Callable[[str], None]) -> None:
        self._cache = cache
        self._emulated_bytes = emulated_bytes
        self._announce = announce
        self._stack = ExitStack()
        self._emulated: Volume | None = None
        self._real: dict[str, Volume] = {}
        self._copies: dict[tuple[Path, str], DataSet] = {}

    def __enter__(self) -> Placement:
        self._scratch = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="sizer-")))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def volume(self, tier: DiskTier) -> Volume:
        """The volume that stands for the tier. Raises HostError or InputError when it cannot be had."""
        if tier.emulated is not None:
            if self._emulated is None:
                self._announce("making the emulated disk")
                self._emulated = self._stack.enter_context(emulated_volume(self._cache / "disks", self._emulated_bytes))
            return self._emulated
        if tier.name not in self._real:
            self._real[tier.name] = self._stack.enter_context(real_volume(tier))
        return self._real[tier.name]

    def data(self, data_set: DataSet | None, tier: DiskTier | None) -> DataSet | None:
        """The data set as the run finds it: where it lies, or a copy on the tier's volume."""
        if data_set is None or tier is None:
            return data_set
        source, volume = Path(data_set.path), self.volume(tier)
        if (volume.folder, data_set.path) not in self._copies:
            self._announce(f"copying {data_set.bytes / 1e6:.0f} MB to disk `{tier.name}`")
            copy = _copied(source, volume.folder / hashlib.sha256(data_set.path.encode()).hexdigest()[:12])
            self._copies[volume.folder, data_set.path] = replace(data_set, path=str(copy))
        return self._copies[volume.folder, data_set.path]

    def output(self, tier: DiskTier | None) -> Path:
        """A folder for what the workload writes, on the tier's volume if it has one."""
        folder = (self.volume(tier).folder if tier else self._scratch) / "output"
        folder.mkdir(exist_ok=True)
        return folder

    def scratch(self) -> Path:
        """A fresh empty folder for one run."""
        return Path(tempfile.mkdtemp(dir=self._scratch))


def _copied(source: Path, folder: Path) -> Path:
    """A copy of a file (with its index) or of a folder, synced and out of the page cache. Raises HostError."""
    needed = sum(item.stat().st_size for item in files_of(source))
    if shutil.disk_usage(folder.parent).free < needed * 1.02:
        raise HostError(f"{folder.parent} has no room for {needed / 1e6:.0f} MB of {source}; free some space there")
    try:
        if source.is_dir():
            target = Path(shutil.copytree(source, folder))
        else:
            folder.mkdir()
            target = folder / source.name
            for item in files_of(source):
                shutil.copyfile(item, folder / item.name)
    except OSError as error:
        raise HostError(f"copying {source} to {folder.parent} failed: {error}") from error
    evict(files_of(target))
    return target


def emulated_bytes(data_sets: Iterable[DataSet | None]) -> int:
    """Bytes of distinct data sets."""
    return sum({each.path: each.bytes for each in data_sets if each is not None}.values())
