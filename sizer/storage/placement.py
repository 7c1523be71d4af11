"""Where each run's data and output lie: on the host's own disk, on a real mount, or on the emulated volume."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from secrets import token_hex
from types import TracebackType

from sizer.limits.users import RunUser, run_user
from sizer.records.messages import HostError, Interrupted
from sizer.records.run import DataSet
from sizer.records.study import DiskTier, RunSpec, Study, Workload
from sizer.storage.announcements import Announce, Announcement, AnnouncementKind
from sizer.storage.data_sets import describe, size_of
from sizer.storage.disks import Volume, emulated_volume, real_volume
from sizer.storage.held_folders import held_folder, remove_left
from sizer.storage.page_cache import evict, files_of
from sizer.storage.removal import remove_tree
from sizer.storage.subprograms import never

LMDB_BYTES_PER_IMAGE = 60 * 4096
"""A raw image of 256 x 256 x 3 bytes takes 49 pages of LMDB, the tree some more."""

JPEG_BYTES_PER_IMAGE = 120_000
"""More than nearly every JPEG of quality 95 with a shorter side of 256."""

FASTEST_WRITING = 10**9
"""Bytes a second that a run is taken to write at most where its tier does not say."""


SCRATCH_PREFIX = "sizer-"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder for us alone where temporary files lie, removed at the end, or by the next sizer if this one is killed.

    Raises OSError where it cannot be made.
    """
    with held_folder(Path(tempfile.gettempdir()), SCRATCH_PREFIX) as folder:
        yield folder


def remove_leftovers() -> tuple[Path, ...]:
    """Temporary folders of sizers that were killed; those of a living one stay, and for all but root other users'."""
    return remove_left(Path(tempfile.gettempdir()), SCRATCH_PREFIX)


class Placement:
    """Volumes and copies, made when they are first asked for and removed with the context.

    Making them raises Interrupted when `stop` says so. `user` is the one by whom runs are made, by default `me`.
    """

    def __init__(
        self,
        cache: Path,
        emulated_bytes: int,
        announce: Announce,
        stop: Callable[[], bool] = never,
        user: RunUser | None = None,
    ) -> None:
        self._cache = cache
        self.user = user or run_user()
        self._emulated_bytes = emulated_bytes
        self._announce = announce
        self._stop = stop
        self._stack = ExitStack()
        self._emulated: Volume | None = None
        self._real: dict[str, Volume] = {}
        self._copies: dict[tuple[Path, str], DataSet] = {}

    def __enter__(self) -> Placement:
        self._scratch = self._stack.enter_context(temporary_folder())
        self.user.let_in(self._scratch)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, traceback)

    def volume(self, tier: DiskTier) -> Volume:
        """The volume of the tier. Raises HostError or InputError when it cannot be had."""
        if tier.emulated is not None:
            if self._emulated is None:
                folder = self._cache / "disks"
                self._announce(Announcement(AnnouncementKind.EMULATED_DISK, str(folder)))
                volume = emulated_volume(folder, self._emulated_bytes, self._stop)
                self._emulated = self._stack.enter_context(volume)
                self.user.let_in(self._emulated.folder.parent)
                self.user.check_enters(self._emulated.folder)
            return self._emulated
        if tier.name not in self._real:
            self._real[tier.name] = self._stack.enter_context(real_volume(tier))
            self.user.let_in(self._real[tier.name].folder)
            self.user.check_enters(self._real[tier.name].folder)
        return self._real[tier.name]

    def data(self, data_set: DataSet | None, tier: DiskTier | None) -> DataSet | None:
        """The data set as a run finds it: where it lies, or a copy on the tier's volume. Raises HostError."""
        if data_set is None or tier is None:
            return data_set
        volume = self.volume(tier)
        key = (volume.folder, data_set.path)
        if key not in self._copies:
            self._announce(Announcement(AnnouncementKind.COPY, name=tier.name, bytes=data_set.bytes))
            name = hashlib.sha256(data_set.path.encode()).hexdigest()[:12]
            copy = _copied(Path(data_set.path), volume.folder / name, self._stop)
            # What kept others from the data may have been a folder above them.
            (volume.folder / name).chmod(0o700)
            self.user.own(volume.folder / name)
            self._copies[key] = describe(copy, data_set.format, data_set.embedded)
        return self._copies[key]

    @contextmanager
    def folders(self, tier: DiskTier | None) -> Iterator[tuple[Path, Path]]:
        """Fresh folders of one run, its user's: its scratch, and one for its output on the tier's volume.

        They are removed after it. What cannot be, the end of the placement meets again and names.
        """
        base = self.volume(tier).folder if tier else self._scratch
        made = [self._scratch / token_hex(4), base / f"output-{token_hex(4)}"]
        try:
            for folder in made:
                folder.mkdir(mode=0o700)
                self.user.own(folder)
            yield made[0], made[1]
        finally:
            for folder in made:
                remove_tree(folder)


def room_on_emulated(study: Study, specs: Sequence[RunSpec], data: Mapping[Workload, DataSet | None]) -> int:
    """Bytes that the emulated volume must hold: each data set read from it once, and the largest output. Pure."""
    sets: dict[str, int] = {}
    largest_output = 0
    for spec in specs:
        tier = study.disk(spec.limits.disk) if spec.limits.disk is not None else None
        data_set = data[spec.workload]
        if tier is None or tier.emulated is None:
            continue
        if data_set is not None:
            sets[data_set.path] = data_set.bytes
        if spec.workload.kind == "imagenet_preprocessing":
            largest_output = max(largest_output, _output_bytes(spec, tier, data_set))
    return sum(sets.values()) + largest_output


def _output_bytes(spec: RunSpec, tier: DiskTier, data_set: DataSet | None) -> int:
    """One pass over the data set, or what the tier can take in the time of a run, whichever is less."""
    image_bytes = LMDB_BYTES_PER_IMAGE if spec.workload.format == "lmdb" else JPEG_BYTES_PER_IMAGE
    images = data_set.samples if data_set is not None else 2000
    rate = (tier.emulated.write_bytes_per_second if tier.emulated else None) or FASTEST_WRITING
    return int(min(images * image_bytes, rate * (2 * spec.measure.seconds + 60)))


def _copied(source: Path, folder: Path, stop: Callable[[], bool]) -> Path:
    """A copy of a file (with its index) or of a folder, synced and out of the page cache. Raises HostError."""

    def copy(item: str | os.PathLike[str], target: str | os.PathLike[str]) -> object:
        if stop():
            raise Interrupted("Interrupted while {source} was copied.", source=source)
        return shutil.copy2(item, target)

    needed = size_of(source)
    if shutil.disk_usage(folder.parent).free < needed * 1.02:
        raise HostError(
            "{folder} has no room for {needed} MB of {source}; free some space there.",
            folder=folder.parent,
            needed=f"{needed / 1e6:.0f}",
            source=source,
        )
    try:
        if source.is_dir():
            target = Path(shutil.copytree(source, folder, copy_function=copy))
        else:
            folder.mkdir()
            target = folder / source.name
            for item in files_of(source):
                copy(item, folder / item.name)
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise HostError(
            "Copying {source} to {folder} failed: {error}", source=source, folder=folder.parent, error=error
        ) from error
    evict(files_of(target))
    return target
