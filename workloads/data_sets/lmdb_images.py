"""Images of a Caffe LMDB, read in the order of their keys by one thread ahead of the step, as Caffe does."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import cv2
import lmdb
import numpy as np

from ..faults import InputFault
from . import datum
from .image_codecs import OpenCV

BATCHES_AHEAD = 4
"""Caffe's DataLayer prefetches 3 to 4 batches; so does ImageRecordIter."""
MEAN_BGR = np.array([103.939, 116.779, 123.68], np.float32).reshape(3, 1, 1)
DEVIATION_BGR = np.array([57.375, 57.12, 58.393], np.float32).reshape(3, 1, 1)
"""ImageNet's, on the scale of 0 to 255."""

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Batch:
    """float32 images of batch x 3 x side x side, and float32 labels of batch."""

    images: Array
    labels: Array


def measure(folder: Path) -> tuple[int, int]:
    """Bytes in use and number of images. Raises InputFault if this is no LMDB or an empty one."""
    with opened(folder) as environment:
        pages = environment.info()["last_pgno"] + 1
        statistics = environment.stat()
    if not statistics["entries"]:
        raise InputFault(f"the LMDB {folder} is empty: give --data one with images")
    size, there = pages * statistics["psize"], (folder / "data.mdb").stat().st_size
    if there < size:
        # Its pages are mapped, and reading behind the end of a mapped file is a bus error.
        raise InputFault(f"{folder}/data.mdb is cut off at byte {there} of {size}: copy it again")
    return size, statistics["entries"]


def keys_of(folder: Path) -> list[bytes]:
    """All keys in their order. Raises InputFault if it cannot be read."""
    with reading(folder) as (count, messages):
        return [bytes(key) for key, _ in islice(messages, count)]


def opened(folder: Path, readahead: bool = True) -> Any:
    """The environment, to be read only; `readahead`: the kernel reads on behind each page. Raises InputFault."""
    try:
        return lmdb.open(str(folder), readonly=True, lock=False, create=False, readahead=readahead)
    except lmdb.Error as error:
        raise InputFault(
            f"{folder} cannot be read as an LMDB ({error}): give --data the folder that holds data.mdb"
        ) from None


@contextmanager
def reading(folder: Path) -> Iterator[tuple[int, Iterator[tuple[memoryview, memoryview]]]]:
    """The number of images of an LMDB, and key and message of each in the order of the keys, over and over.

    Raises InputFault, in its block as well, if it cannot be read.
    """
    try:
        with opened(folder) as environment, environment.begin(buffers=True) as transaction:
            yield environment.stat()["entries"], _over_and_over(transaction)
    except lmdb.Error as error:
        raise InputFault(f"the LMDB {folder} cannot be read ({error}): make it again") from None


def _over_and_over(transaction: Any) -> Iterator[tuple[memoryview, memoryview]]:
    while True:
        yield from transaction.cursor()


def raw_pixels(record: datum.Datum) -> Array:
    """uint8 of channels x height x width, BGR where there are three. Raises DatumError for other numbers of them."""
    if record.channels not in (1, 3):
        raise datum.DatumError(f"the image has {record.channels} channels")
    return np.frombuffer(record.data, np.uint8).reshape(record.channels, record.height, record.width)


class LmdbBatches:
    """Batches of one LMDB. Training crops and mirrors at random; inference takes the centre."""

    def __init__(self, folder: Path, side: int, batch_size: int, training: bool, seed: int) -> None:
        self._folder = folder
        self._side = side
        self._batch_size = batch_size
        self._training = training
        self._random, self._codec = np.random.default_rng(seed), OpenCV()

    def epoch(self) -> Generator[Batch, None, None]:
        """Each batch of one, the last filled up with the first images, as MXNet does."""
        batches, thread = self._batches(), ThreadPoolExecutor(1)
        try:
            ahead = deque(thread.submit(next, batches, None) for _ in range(BATCHES_AHEAD))
            while (batch := ahead.popleft().result()) is not None:
                ahead.append(thread.submit(next, batches, None))
                yield batch
        finally:
            thread.shutdown(cancel_futures=True)
            batches.close()

    def _batches(self) -> Generator[Batch, None, None]:
        with reading(self._folder) as (count, messages):
            for _ in range(-(-count // self._batch_size)):
                images = np.empty((self._batch_size, 3, self._side, self._side), np.float32)
                labels = np.empty(self._batch_size, np.float32)
                for row in range(self._batch_size):
                    labels[row] = self._fill(images[row], *next(messages))
                yield Batch(images, labels)

    def _fill(self, row: Array, key: memoryview, message: memoryview) -> int:
        """Crop, mirror and normalise one image into `row`; returns its label."""
        try:
            record = datum.decode(message)
            pixels = self._pixels(record)
        except datum.DatumError as error:
            raise InputFault(
                f"record {bytes(key)!r} of {self._folder} is no Caffe Datum ({error}): make the LMDB again without it"
            ) from None
        rooms = [extent - self._side for extent in pixels.shape[1:]]
        top, left = (int(self._random.integers(room + 1)) if self._training else room // 2 for room in rooms)
        crop = pixels[:, top : top + self._side, left : left + self._side]
        if self._training and self._random.random() < 0.5:
            crop = crop[:, :, ::-1]
        np.subtract(crop, MEAN_BGR, out=row)
        np.divide(row, DEVIATION_BGR, out=row)
        return record.label

    def _pixels(self, record: datum.Datum) -> Array:
        """uint8 of 3 x height x width, at least `side` each way."""
        if record.encoded:
            decoded = self._codec.decode(memoryview(record.data))
            if decoded is None:
                raise datum.DatumError("the encoded image is not readable")
            pixels: Array = decoded.transpose(2, 0, 1)
        else:
            pixels = raw_pixels(record)
        if min(pixels.shape[1:]) < self._side:
            image = cv2.resize(pixels.transpose(1, 2, 0), (self._side, self._side))
            pixels = np.atleast_3d(image).transpose(2, 0, 1)
        return pixels
