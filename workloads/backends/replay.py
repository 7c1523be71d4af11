"""Reads a data set as its loader does, in the same order, by requests of the same size, and makes nothing of it."""

from __future__ import annotations

import ctypes
import os
import random
from collections.abc import Generator, Iterator
from contextlib import closing
from functools import partial
from itertools import pairwise
from pathlib import Path

from ..data_sets import recordio
from ..data_sets.data_set import DataSet
from ..faults import InputFault, unreadable_file
from .interface import Epochs, Input, Settings


def replayed(framework: str, data_set: DataSet, side: int, training: bool, settings: Settings) -> Input:
    """The reads of the framework's loader of this data set, a batch at a time."""
    if framework == "pytorch":
        from .pytorch_input import LoadedImages

        return LoadedImages(data_set, side, training, settings, read_only=True)
    if data_set.format == "lmdb":
        return Epochs(partial(_lmdb, data_set.files[0].parent, settings.batch_size))
    assert data_set.index is not None, "open_images gives records an index"
    path, offsets = data_set.files[0], recordio.read_index(data_set.index)
    records = [(begin, end - begin) for begin, end in pairwise([*offsets, path.stat().st_size])]
    order = random.Random(settings.seed) if training else None
    return Epochs(partial(_records, path, records, settings.batch_size, order))


def _records(
    path: Path, records: list[tuple[int, int]], batch_size: int, order: random.Random | None
) -> Generator[int, None, None]:
    """The bytes of each batch of an epoch, read as MXNet's ImageRecordIter does, whose one thread uses the C library's
    buffered files; `records` are the offset and the size of each, `order` shuffles them.

    Shuffled it seeks to each record of a batch; in order it reads a batch at once (dmlc-core,
    src/io/indexed_recordio_split.cc, `NextBatchEx`). The C library turns that into a page up to the seek, whole pages,
    and a last one, so its own calls are made here. The last batch is filled up with the first records.
    """
    records = list(records)
    if order is not None:
        order.shuffle(records)
    records += (records * batch_size)[: -len(records) % batch_size]
    with closing(_CFile(path, batch_size * max(size for _, size in records))) as file:
        for begin in range(0, len(records), batch_size):
            batch = records[begin : begin + batch_size]
            yield sum(file.read(*piece) for piece in (_together(batch) if order is None else batch))


def _together(records: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The records that follow each other, as one."""
    begin, size = records[0]
    for offset, length in records[1:]:
        if offset == begin + size:
            size += length
        else:
            yield begin, size
            begin, size = offset, length
    yield begin, size


def _lmdb(folder: Path, batch_size: int) -> Generator[int, None, None]:
    """The same of LmdbBatches: one thread goes through the map in the order of the keys and touches every page."""
    from ..data_sets.lmdb_images import reading

    with reading(folder) as (count, messages):
        for _ in range(-(-count // batch_size)):
            yield sum(len(bytes(next(messages)[1])) for _ in range(batch_size))


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
