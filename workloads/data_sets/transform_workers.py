"""Worker processes that make records of images in memory that they share; the records come in the images' order.

The memory is a ring of slots, and image `i` of a pass has slot `i % slots`. A ticket in a pipe gives a worker the next
few images, and is there only once their slots are free, so that no worker runs further ahead than the ring is long.
What a worker tells of an image is where its record ends: nothing is copied between processes, and whoever writes wakes
once for several images.
"""

from __future__ import annotations

import multiprocessing
import os
import selectors
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from mmap import mmap
from multiprocessing.connection import Connection
from types import TracebackType

import cv2

from ..faults import Fault, InputFault, unreadable_file
from ..page_cache import ask_for
from ..process import leave_to_parent
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
        self._task = task
        self._codec = codec
        self._prepared = codec.picture(synthetic_image(task.seed)) if task.synthetic else None

    def transform(self, index: int) -> Transformed:
        """Image `index`. Raises OSError as reading does."""
        begin = time.perf_counter()
        encoded = b"" if self._task.synthetic else _read(self._task.images[index].path)
        read_seconds = time.perf_counter() - begin
        if self._task.read_only:
            return Transformed(index, b"", read_seconds)
        picture = self._prepared if self._task.synthetic else self._codec.decode(encoded)
        return Transformed(index, None if picture is None else self._record(index, picture), read_seconds)

    def _record(self, index: int, picture: object) -> bytes | None:
        """As it lies in the output; None for an image that cannot be written at a shorter side of 256."""
        small = self._codec.resize(picture)
        if small is None:
            return None
        label = self._task.images[index].label
        if self._task.format == "lmdb":
            return as_datum(self._codec.pixels(small), label)
        return recordio.framed(recordio.image_record(float(label), index, self._codec.as_jpeg(small)))


def _read(path: os.PathLike[str]) -> bytes:
    with open(path, "rb", buffering=0) as file:
        return file.read()


TICKET = struct.Struct("<II")
"""The first image, and how many."""
IMAGES_A_TICKET = 8
"""So many are handed on at once: waking the writer for each cost 3 % of the CPU time."""
REPORT_SECONDS = 0.1
"""After so long a worker tells what it has done of its ticket."""

REPORTED = struct.Struct("<IBId")
"""Image, kind, bytes of its record, seconds of its reading."""
UNREADABLE, IN_SLOT, FOLLOWS, REFUSED = range(4)
"""Where a record is: nowhere, in its slot, or right behind, as is the reason why the system lets no file be read."""

SLOT_BYTES = 256 << 10
"""A raw image of 256 x 256 takes 193 KiB, a JPEG of a shorter side of 256 mostly 20 to 60 kB. Of the ring only what is
used takes memory; a record that is larger goes through a pipe."""
SLOTS = 64
"""At least: records enough to go on through a sync of 4 MiB, little for a small cap."""


class TransformWorkers:
    """`count` processes for the passes of a task. Processes are forked, so that none imports anything again."""

    def __init__(self, task: Task, count: int) -> None:
        context = multiprocessing.get_context("fork")
        # Before the fork: OpenCV would wait for ever in a worker for the threads of its pool, which are not forked.
        cv2.setNumThreads(1)
        self._task = task
        self._count = count
        self._slots = max(SLOTS, 2 * IMAGES_A_TICKET * count)
        self._ring = mmap(-1, self._slots * SLOT_BYTES)
        self._memory = memoryview(self._ring)
        self._tickets_out, self._tickets = os.pipe()
        self._receivers: dict[Connection, multiprocessing.process.BaseProcess] = {}
        self._selector = selectors.DefaultSelector()
        transformer = task.opened()
        for _ in range(count):
            receiver, sender = context.Pipe(duplex=False)
            process = context.Process(target=self._work, args=(transformer, sender), daemon=True)
            self._receivers[receiver] = process
            process.start()
            sender.close()
            self._selector.register(receiver, selectors.EVENT_READ)
        os.close(self._tickets_out)

    @property
    def task(self) -> Task:
        """What they do."""
        return self._task

    def __enter__(self) -> TransformWorkers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """End the processes at once; what they were working on is lost."""
        for process in self._receivers.values():
            process.kill()
            process.join()
        self._selector.close()
        os.close(self._tickets)

    def results(self) -> Iterator[list[Transformed]]:
        """One pass: a result for each image, in the images' order, as many at once as are there.

        A record is valid until the next ones are asked for. Raises Fault if a worker dies, InputFault for a file that
        is gone or may not be read.
        """
        waiting: dict[int, Transformed] = {}
        total, issued, done = len(self._task.images), 0, 0
        while done < total:
            issued = self._issue(issued, min(total, done + self._slots), total)
            self._receive(waiting)
            finished = []
            while done in waiting:
                finished.append(waiting.pop(done))
                done += 1
            if finished:
                yield finished

    def _issue(self, first: int, end: int, total: int) -> int:
        """Tickets for what has a free slot, up to `end`; returns the first image without one."""
        while first < end:
            # At the end of a pass less at once, so that no worker has much left to do when the others are done.
            count = max(1, min(IMAGES_A_TICKET, (total - first) // (2 * self._count)))
            if first + count > end:
                break
            # With all workers gone nobody reads it, which their pipes tell.
            with suppress(BrokenPipeError):
                os.write(self._tickets, TICKET.pack(first, count))
            first += count
        return first

    def _receive(self, waiting: dict[int, Transformed]) -> None:
        """Wait for a report, and take all that are there."""
        for key, _ in self._selector.select():
            receiver = key.fileobj
            assert isinstance(receiver, Connection)
            try:
                report = receiver.recv_bytes()
            except EOFError:
                raise self._ended(receiver) from None
            for at in range(0, len(report), REPORTED.size):
                index, kind, size, read_seconds = REPORTED.unpack_from(report, at)
                if kind == REFUSED:
                    raise InputFault(receiver.recv_bytes().decode())
                record: bytes | memoryview | None = None
                if kind == FOLLOWS:
                    record = receiver.recv_bytes()
                elif kind == IN_SLOT:
                    record = self._slot(index)[:size]
                waiting[index] = Transformed(index, record, read_seconds)

    def _ended(self, receiver: Connection) -> Fault:
        process = self._receivers[receiver]
        process.join()
        return Fault(
            f"a worker process died (exit status {process.exitcode}; -9 is mostly too little memory): "
            "give it more memory or fewer --workers"
        )

    def _slot(self, index: int) -> memoryview:
        begin = index % self._slots * SLOT_BYTES
        return self._memory[begin : begin + SLOT_BYTES]

    def _work(self, transformer: Transformer, sender: Connection) -> None:
        leave_to_parent()
        # The parent's pipe ends must not live on here, or its death would go unnoticed.
        os.close(self._tickets)
        for receiver in self._receivers:
            receiver.close()
        try:
            while ticket := os.read(self._tickets_out, TICKET.size):
                first, count = TICKET.unpack(ticket)
                self._do(transformer, first, count, sender)
        except BrokenPipeError:
            return

    def _do(self, transformer: Transformer, first: int, count: int, sender: Connection) -> None:
        """The images of a ticket, reported together where they do not take long; the disk reads while they are made."""
        report, begin = bytearray(), time.monotonic()
        if not self._task.synthetic:
            ask_for(image.path for image in self._task.images[first + 1 : first + count])
        for index in range(first, first + count):
            follows = b""
            try:
                result = transformer.transform(index)
            except OSError as error:
                follows = unreadable_file(self._task.images[index].path, error).encode()
                report += REPORTED.pack(index, REFUSED, 0, 0.0)
            else:
                record = result.record
                kind = UNREADABLE if record is None else IN_SLOT if len(record) <= SLOT_BYTES else FOLLOWS
                size = 0 if record is None else len(record)
                if kind == IN_SLOT and record is not None:
                    self._slot(index)[:size] = record
                elif kind == FOLLOWS:
                    follows = bytes(record or b"")
                report += REPORTED.pack(index, kind, size, result.read_seconds)
            if follows or index == first + count - 1 or time.monotonic() - begin >= REPORT_SECONDS:
                sender.send_bytes(report)
                report, begin = bytearray(), time.monotonic()
            if follows:
                sender.send_bytes(follows)
