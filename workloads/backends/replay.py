"""Reads a data set as its loader does, in the same order, by requests of the same size, and makes nothing of it."""

from __future__ import annotations

import ctypes
import os
import random
from collections.abc import Generator, Iterator
from pathlib import Path

from ..data_sets import recordio
from ..data_sets.data_set import DataSet
from ..faults import InputFault, unreadable_file
from .interface import Input, Settings


def replayed(framework: str, data_set: DataSet, side: int, training: bool, settings: Settings) -> Input:
    """The reads of the framework's loader of this data set, a batch at a time."""
    if framework == "pytorch":
        from .pytorch_input import LoadedImages

        return LoadedImages(data_set, side, training, settings, read_only=True)
    if data_set.format == "lmdb":
        return ReplayedLmdb(data_set.files[0].parent, settings.batch_size)
    assert data_set.index is not None, "open_images gives records an index"
    offsets = recordio.read_index(data_set.index)
    return ReplayedRecords(data_set.files[0], offsets, settings.batch_size, training, settings.seed)


class ReplayedRecords:
    """The reads of MXNet's ImageRecordIter, which one thread makes by the C library's buffered files.

    Shuffled it seeks to each record of a batch; in order it reads a batch at once (dmlc-core,
    src/io/indexed_recordio_split.cc, `NextBatchEx`). The C library turns that into a page up to the seek, whole pages,
    and a last one, so its own calls are made here. The last batch is filled up with the first records.
    """

    def __init__(self, path: Path, offsets: list[int], batch_size: int, shuffled: bool, seed: int) -> None:
        ends = [*offsets[1:], path.stat().st_size]
        self._path = path
        self._records = [(begin, end - begin) for begin, end in zip(offsets, ends, strict=True)]
        self._batch_size = batch_size
        self._shuffled = shuffled
        self._random = random.Random(seed)
        self._file = _CFile(path, batch_size * max(size for _, size in self._records))
        self._batches = self._epoch()

    def next_batch(self) -> int | None:
        """Read the next batch; its bytes, or None at the end of an epoch."""
        return next(self._batches, None)

    def restart(self) -> None:
        """Begin the next epoch."""
        self._batches = self._epoch()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _epoch(self) -> Iterator[int]:
        order = list(self._records)
        if self._shuffled:
            self._random.shuffle(order)
        order += (order * self._batch_size)[: -len(order) % self._batch_size]
        for begin in range(0, len(order), self._batch_size):
            yield sum(self._file.read(*piece) for piece in self._pieces(order[begin : begin + self._batch_size]))

    def _pieces(self, records: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """What is read at once: a record, or the records that follow each other."""
        begin, size = records[0]
        for offset, length in records[1:]:
            if not self._shuffled and offset == begin + size:
                size += length
            else:
                yield begin, size
                begin, size = offset, length
        yield begin, size


class _CFile:
    """A file of the C library, which buffers a page of it."""

    def __init__(self, path: Path, most_bytes: int) -> None:
        self._path = path
        self._library = ctypes.CDLL(None, use_errno=True)
        self._library.fopen.restype = ctypes.c_void_p
        self._library.fread.restype = ctypes.c_size_t
        self._buffer = ctypes.create_string_buffer(most_bytes)
        self._file = ctypes.c_void_p(self._library.fopen(os.fsencode(path), b"rb"))
        if not self._file:
            raise self._fault()
        self._at = 0

    def read(self, offset: int, size: int) -> int:
        """Read there; the bytes read. Raises InputFault where there are fewer."""
        if offset != self._at and self._library.fseek(self._file, ctypes.c_long(offset), os.SEEK_SET) != 0:
            raise self._fault()
        self._at = offset + size
        ctypes.set_errno(0)  # a read that ends early leaves what an earlier call put there
        got = int(self._library.fread(self._buffer, ctypes.c_size_t(1), ctypes.c_size_t(size), self._file))
        if got != size:
            raise self._fault()
        return got

    def close(self) -> None:
        self._library.fclose(self._file)

    def _fault(self) -> InputFault:
        number = ctypes.get_errno()
        if number:
            return InputFault(unreadable_file(self._path, OSError(number, os.strerror(number))))
        return InputFault(f"{self._path} ends before its index does: copy it again")


class ReplayedLmdb:
    """The reads of LmdbBatches: one thread goes through the map in the order of the keys and touches every page."""

    def __init__(self, folder: Path, batch_size: int) -> None:
        self._folder = folder
        self._batch_size = batch_size
        self._batches = self._epoch()

    def next_batch(self) -> int | None:
        """Read the next batch; its bytes, or None at the end of an epoch."""
        batch = next(self._batches, None)
        if batch is None:
            self.close()
        return batch

    def restart(self) -> None:
        """Begin the next epoch."""
        self.close()
        self._batches = self._epoch()

    def close(self) -> None:
        """End the map: mapped pages cannot be evicted."""
        self._batches.close()

    def _epoch(self) -> Generator[int, None, None]:
        from ..data_sets.lmdb_images import reading

        with reading(self._folder) as (count, messages):
            for _ in range(-(-count // self._batch_size)):
                yield sum(len(bytes(next(messages)[1])) for _ in range(self._batch_size))
