"""Worker processes that make records of images; the records come in the images' order."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from mmap import mmap
from multiprocessing import active_children, get_context

import cv2

from ..faults import Fault, InputFault, unreadable_file
from ..page_cache import ask_for
from ..process import die_with_parent, leave_to_parent
from . import recordio
from .image_codecs import Codec, as_datum, fastest, open_codec, synthetic_image
from .image_folder import LabelledImage


@dataclass(frozen=True)
class Transformed:
    """What became of image `index`: `record` None if it is no image; `read_seconds` its reading alone."""

    index: int
    record: bytes | memoryview | None
    read_seconds: float


@dataclass(frozen=True)
class Task:
    """What workers do: to each of `images`, unless `synthetic`, then to the same image as often.

    `read_only`: the images are read, and nothing is made of them.
    """

    images: Sequence[LabelledImage]
    format: str
    synthetic: bool
    seed: int
    read_only: bool = False
    decoder: str | None = None

    def opened(self) -> Transformer:
        """With its library loaded. Raises Unavailable."""
        return Transformer(self, open_codec(self.decoder or fastest()))


class Transformer:
    """Does a task, image by image, by one library."""

    def __init__(self, task: Task, codec: Codec) -> None:
        self.task = task
        self._codec = codec
        self._prepared = codec.picture(synthetic_image(task.seed)) if task.synthetic else None

    def transform(self, index: int) -> Transformed:
        """Image `index`. Raises OSError as reading does."""
        begin = time.perf_counter()
        encoded = b"" if self.task.synthetic else _read(self.task.images[index].path)
        read_seconds = time.perf_counter() - begin
        if self.task.read_only:
            return Transformed(index, b"", read_seconds)
        picture = self._prepared if self.task.synthetic else self._codec.decode(encoded)
        return Transformed(index, None if picture is None else self._record(index, picture), read_seconds)

    def _record(self, index: int, picture: object) -> bytes | None:
        """As it lies in the output; None for an image that cannot be written at a shorter side of 256."""
        small = self._codec.resize(picture)
        if small is None:
            return None
        label = self.task.images[index].label
        if self.task.format == "lmdb":
            return as_datum(self._codec.pixels(small), label)
        return recordio.framed(recordio.image_record(float(label), index, self._codec.as_jpeg(small)))


def _read(path: os.PathLike[str]) -> bytes:
    with open(path, "rb", buffering=0) as file:
        return file.read()


IMAGES_AT_ONCE = 16
"""So many are handed on together: waking the writer for each cost 3 % of the CPU time."""
AHEAD = 4
"""Such hands that are asked for before they are written, at least: enough to go on through a sync of 4 MiB, little for
a small cap."""


SLOT_BYTES = 256 << 10
"""A raw image of 256 x 256 takes 193 KiB, a JPEG of a shorter side of 256 mostly 20 to 60 kB. Of the slots only what is
used takes memory; a record that is larger goes through a pipe, which costs a tenth of making it."""


class Slots:
    """Memory that the workers share, in which each image that is asked for has a slot of its own."""

    def __init__(self, count: int) -> None:
        self._count, self._memory = count, memoryview(mmap(-1, count * SLOT_BYTES))

    def __getitem__(self, image: int) -> memoryview:
        begin = image % self._count * SLOT_BYTES
        return self._memory[begin : begin + SLOT_BYTES]


Made = tuple[int, int | bytes | memoryview | None, float]
"""An image, its record or how many bytes of its slot that takes, and the seconds of its reading."""


class TransformWorkers:
    """`count` processes for the passes of a task."""

    def __init__(self, task: Task, count: int) -> None:
        # Before the fork: OpenCV would wait for ever in a worker for the threads of its pool, which are not forked.
        cv2.setNumThreads(1)
        self.task = task
        self._count = count
        self._ahead = max(AHEAD, 2 * count)
        self._slots = Slots(self._ahead * IMAGES_AT_ONCE)
        given = task.opened(), self._slots
        self._pool = ProcessPoolExecutor(count, get_context("fork"), _begin_worker, given)

    def __enter__(self) -> TransformWorkers:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def results(self) -> Iterator[list[Transformed]]:
        """One pass: a result for each image, in the images' order, several at once.

        A record is valid until the next ones are asked for. Raises Fault if a worker dies, InputFault for a file that
        is gone or may not be read.
        """
        waiting: deque[Future[list[Made]]] = deque()
        first, total = 0, len(self.task.images)
        try:
            while waiting or first < total:
                while first < total and len(waiting) < self._ahead:
                    # At the end of a pass less at once, so that no worker has much left to do when the others are done.
                    end = first + max(1, min(IMAGES_AT_ONCE, (total - first) // (2 * self._count)))
                    waiting.append(self._pool.submit(_transformed, first, end))
                    first = end
                made = waiting.popleft().result()
                yield [
                    Transformed(image, self._slots[image][:record] if isinstance(record, int) else record, seconds)
                    for image, record, seconds in made
                ]
        except BrokenProcessPool:
            # Asked to end by the pool, which waits for them, the others would leave that to us.
            for process in active_children():
                process.kill()
            raise Fault(
                "a worker process died, mostly of too little memory: give it more memory or fewer --workers"
            ) from None


_own: list[tuple[Transformer, Slots]] = []
"""What this worker process was given."""


def _begin_worker(transformer: Transformer, slots: Slots) -> None:
    """The parent alone decides when to stop, and none outlives it."""
    leave_to_parent()
    die_with_parent()
    _own.append((transformer, slots))


def _transformed(first: int, end: int) -> list[Made]:
    """These images; the disk reads the next ones while one is made."""
    ((transformer, slots),) = _own
    task = transformer.task
    if not task.synthetic:
        ask_for(image.path for image in task.images[first + 1 : end])
    made: list[Made] = []
    for index in range(first, end):
        try:
            result = transformer.transform(index)
        except OSError as error:
            raise InputFault(unreadable_file(task.images[index].path, error)) from None
        record = result.record
        if record is not None and len(record) <= SLOT_BYTES:
            slots[index][: len(record)] = record
            made.append((index, len(record), result.read_seconds))
        else:
            made.append((index, record, result.read_seconds))
    return made
