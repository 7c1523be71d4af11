"""Worker processes that read, decode, resize and encode images; their results come back in order."""

from __future__ import annotations

import multiprocessing
import os
import struct
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fcntl import F_SETPIPE_SZ, fcntl
from multiprocessing.connection import Connection, wait
from multiprocessing.sharedctypes import Synchronized
from types import TracebackType

import cv2

from . import image_transform as transform
from .faults import Fault, InputFault, unreadable_file
from .image_folder import LabelledImage
from .stop import leave_to_parent

HEADER = struct.Struct("<IBd")
UNREADABLE, GOOD, REFUSED = range(3)
"""What comes after a result's header: nothing, the payload, or why the system does not let the file be read."""

PIPE_BYTES = 1 << 20
"""Some sixteen images of 60 kB: a worker goes on while the writer waits for the disk. Linux's limit without root."""


@dataclass(frozen=True)
class TransformedImage:
    """What became of image `index`: `payload` None if it is no image; `read_seconds` its reading alone."""

    index: int
    payload: bytes | None
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

    def run(self, index: int, prepared: transform.Image | None) -> TransformedImage:
        """Transform image `index`; `prepared` stands in for reading and decoding. Raises OSError as reading does."""
        begin = time.perf_counter()
        encoded = b"" if self.synthetic else _read(self.images[index].path)
        read_seconds = time.perf_counter() - begin
        if self.read_only:
            return TransformedImage(index, b"", read_seconds)
        image = prepared if self.synthetic else transform.decode(encoded)
        return TransformedImage(index, None if image is None else self._stored(index, image), read_seconds)

    def _stored(self, index: int, image: transform.Image) -> bytes | None:
        """What is written for an image; None for one that cannot be written at a shorter side of 256."""
        small = transform.resize(image)
        if small is None:
            return None
        if self.format == "lmdb":
            return transform.as_datum(small, self.images[index].label)
        return transform.as_jpeg(small)


def _read(path: os.PathLike[str]) -> bytes:
    with open(path, "rb", buffering=0) as file:
        return file.read()


class TransformWorkers:
    """`count` processes over one pass of a task. Processes are forked, so that none imports anything again."""

    def __init__(self, task: Task, count: int) -> None:
        context = multiprocessing.get_context("fork")
        # Before the fork: OpenCV would wait for ever in a worker for the threads of its pool, which are not forked.
        cv2.setNumThreads(1)
        self._task = task
        self._next_index: Synchronized[int] = context.Value("L", 0)
        self._receivers: list[Connection] = []
        self._processes = []
        for _ in range(count):
            receiver, sender = context.Pipe(duplex=False)
            fcntl(sender.fileno(), F_SETPIPE_SZ, PIPE_BYTES)
            self._receivers.append(receiver)
            process = context.Process(target=self._work, args=(sender,), daemon=True)
            process.start()
            sender.close()
            self._processes.append(process)

    def __enter__(self) -> TransformWorkers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """End the processes at once; what they were working on is lost."""
        for process in self._processes:
            process.kill()
            process.join()

    def results(self) -> Iterator[TransformedImage]:
        """One result for each image, in the images' order.

        Raises Fault if a worker dies, InputFault for a file that is gone or may not be read.
        """
        waiting: dict[int, TransformedImage] = {}
        open_receivers = list(self._receivers)
        for index in range(len(self._task.images)):
            while index not in waiting:
                for receiver in wait(open_receivers):
                    assert isinstance(receiver, Connection)
                    result = self._receive(receiver)
                    if result is None:
                        open_receivers.remove(receiver)
                    else:
                        waiting[result.index] = result
                if not open_receivers and index not in waiting:
                    raise Fault("the worker processes have ended before their work")
            yield waiting.pop(index)

    def _receive(self, receiver: Connection) -> TransformedImage | None:
        try:
            message = receiver.recv_bytes()
        except EOFError:
            process = self._processes[self._receivers.index(receiver)]
            process.join()
            if process.exitcode != 0:
                raise Fault(
                    f"a worker process died (exit status {process.exitcode}; -9 is mostly too little memory): "
                    "give it more memory or fewer --workers"
                ) from None
            return None
        index, kind, read_seconds = HEADER.unpack_from(message)
        if kind == REFUSED:
            raise InputFault(message[HEADER.size :].decode())
        return TransformedImage(index, message[HEADER.size :] if kind == GOOD else None, read_seconds)

    def _work(self, sender: Connection) -> None:
        leave_to_parent()
        # The parent's pipe ends must not live on here, or its death would go unnoticed.
        for receiver in self._receivers:
            receiver.close()
        prepared = transform.synthetic_image(self._task.seed) if self._task.synthetic else None
        while (index := self._take()) < len(self._task.images):
            try:
                sender.send_bytes(self._message(index, prepared))
            except BrokenPipeError:
                return

    def _message(self, index: int, prepared: transform.Image | None) -> bytes:
        try:
            result = self._task.run(index, prepared)
        except OSError as error:
            return HEADER.pack(index, REFUSED, 0.0) + unreadable_file(self._task.images[index].path, error).encode()
        kind = UNREADABLE if result.payload is None else GOOD
        return HEADER.pack(index, kind, result.read_seconds) + (result.payload or b"")

    def _take(self) -> int:
        with self._next_index.get_lock():
            index = int(self._next_index.value)
            self._next_index.value = index + 1
        return index
