"""Where preprocessing writes: a RecordIO file or an LMDB, aside first, synced as it grows, renamed when whole."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ..faults import Fault

SYNC_BYTES = 4 << 20
"""Bytes between two syncs. cgroup v1 throttles synced writes alone, and a disk's figure must not be the memory's."""


MOST_AT_ONCE = 512
"""Half of Linux's IOV_MAX: what one writev takes."""


@dataclass(frozen=True)
class Record:
    """What is stored for the image that is number `index` of a pass: its file's name, and the bytes."""

    index: int
    name: str
    content: bytes | memoryview


class RecordWriter(Protocol):
    """Takes one pass of images. Exactly one of `finish` and `discard` ends it."""

    bytes_written: int

    def write(self, records: Sequence[Record]) -> None:
        """Add them, in the order of their numbers."""

    def finish(self) -> tuple[Path, ...]:
        """Sync, put the output in its place, and return the files of it."""

    def discard(self) -> None:
        """Leave nothing."""


class RecordIOWriter:
    """FOLDER/train.rec and FOLDER/train.idx, as im2rec makes them."""

    def __init__(self, folder: Path) -> None:
        self.bytes_written = 0
        self._records, self._index = folder / "train.rec", folder / "train.idx"
        self._records_aside, self._index_aside = folder / "train.rec.part", folder / "train.idx.part"
        self._descriptor = os.open(self._records_aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        self._index_file = self._index_aside.open("w")
        self._unsynced = 0

    def write(self, records: Sequence[Record]) -> None:
        lines = []
        begin = self.bytes_written
        for record in records:
            lines.append(f"{record.index}\t{self.bytes_written}\n")
            self.bytes_written += len(record.content)
        self._index_file.write("".join(lines))
        _write_all(self._descriptor, [record.content for record in records])
        self._unsynced += self.bytes_written - begin
        if self._unsynced >= SYNC_BYTES:
            os.fdatasync(self._descriptor)
            self._unsynced = 0

    def finish(self) -> tuple[Path, ...]:
        os.fdatasync(self._descriptor)
        os.close(self._descriptor)
        self._index_file.flush()
        os.fdatasync(self._index_file.fileno())
        self._index_file.close()
        # Whenever this ends, no index is beside records that it does not belong to.
        self._index.unlink(missing_ok=True)
        self._records_aside.replace(self._records)
        self._index_aside.replace(self._index)
        return self._records, self._index

    def discard(self) -> None:
        self._records_aside.unlink(missing_ok=True)
        self._index_aside.unlink(missing_ok=True)
        os.close(self._descriptor)
        self._index_file.close()


def _write_all(descriptor: int, contents: Sequence[bytes | memoryview]) -> None:
    """At once as many as a call takes; what it leaves, as on a disk that fills up, by further ones."""
    for first in range(0, len(contents), MOST_AT_ONCE):
        some = contents[first : first + MOST_AT_ONCE]
        written = os.writev(descriptor, some)
        if written < sum(map(len, some)):
            rest = memoryview(b"".join(some))[written:]
            while rest:
                rest = rest[os.write(descriptor, rest) :]


class LmdbWriter:
    """FOLDER/train.lmdb, one Caffe Datum an image, with Caffe's ascending keys."""

    def __init__(self, folder: Path, images: int) -> None:
        import lmdb

        self.bytes_written = 0
        self._database, self._aside = folder / "train.lmdb", folder / "train.lmdb.part"
        shutil.rmtree(self._aside, ignore_errors=True)
        # A raw image takes 49 pages of 4 KiB; the map is address space and a sparse file, so it may be generous.
        self._environment: Any = lmdb.open(str(self._aside), map_size=images * 60 * 4096 + (64 << 20))
        self._transaction: Any = self._environment.begin(write=True)
        self._unsynced = 0

    def write(self, records: Sequence[Record]) -> None:
        for record in records:
            self._transaction.put(f"{record.index:08d}_{record.name}".encode(), record.content, append=True)
            self.bytes_written += len(record.content)
            self._unsynced += len(record.content)
        if self._unsynced >= SYNC_BYTES:
            self._transaction.commit()
            self._transaction = self._environment.begin(write=True)
            self._unsynced = 0

    def finish(self) -> tuple[Path, ...]:
        self._transaction.commit()
        self._environment.sync(True)
        self._environment.close()
        shutil.rmtree(self._database, ignore_errors=True)
        self._aside.replace(self._database)
        return (self._database,)

    def discard(self) -> None:
        shutil.rmtree(self._aside, ignore_errors=True)
        self._transaction.abort()
        self._environment.close()


def open_writer(folder: Path, format_name: str, images: int) -> RecordWriter:
    """The writer for `recordio` or `lmdb`. Raises Fault if the folder cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return LmdbWriter(folder, images) if format_name == "lmdb" else RecordIOWriter(folder)
    except OSError as error:
        raise Fault(f"cannot write into {folder} ({error.strerror}): give another --output") from None


def remove_output(paths: tuple[Path, ...]) -> None:
    """Remove what a writer has finished."""
    for path in paths:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
