"""One pass of preprocessing: images through worker processes into a writer."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..faults import Fault, InputFault
from .record_writers import SYNC_BYTES, Record, RecordWriter, open_writer
from .transform_workers import Task, Transformed, TransformWorkers

NAMED_FAULTS = 10
"""Unreadable images that are named; the rest is counted."""

MOST_UNREADABLE = 0.01
"""Share of a folder's images, but at least one image, that may be unreadable: ImageNet itself holds a few odd ones.
With more of them it is not the data set that was to be measured."""


def run_pass(
    workers: TransformWorkers, output: Path, done: Callable[[Transformed], None], over: Callable[[], bool]
) -> tuple[tuple[Path, ...], int]:
    """Write all images of the workers' task, telling `done` of each; the files, and the bytes of their records.

    Stops and leaves nothing when `over` says so.

    Raises InputFault if an image is gone or too many are not readable, Fault if the disk is full or a worker dies.
    """
    task, skipped, written = workers.task, 0, 0
    with _writer(output, task) as writer:
        for results in workers.results():
            records = []
            for result in results:
                if result.record is None:
                    skipped += 1
                    _name(task, result.index, skipped)
                else:
                    records.append(Record(result.index, task.images[result.index].path.name, result.record))
            writer.write(records)
            for result in results:
                if result.record is not None and not over():
                    done(result)
                    written += 1
            if over() and written + skipped < len(task.images):
                writer.discard()
                return (), writer.bytes_written
        if not written:
            raise InputFault(f"none of the {skipped} images is readable: give --data a folder with JPEGs")
        if skipped:
            print(f"skipped {skipped} of {len(task.images)} images that are not readable", file=sys.stderr)
        return writer.finish(), writer.bytes_written


def read_pass(workers: TransformWorkers, done: Callable[[Transformed], None], over: Callable[[], bool]) -> None:
    """The reads of a pass, and nothing else; raises as `run_pass` does."""
    for results in workers.results():
        for result in results:
            if over():
                return
            done(result)


@contextmanager
def _writer(output: Path, task: Task) -> Iterator[RecordWriter]:
    writer = open_writer(output, task.format, len(task.images))
    try:
        yield writer
    except BaseException as error:
        reason = os.strerror(errno.ENOSPC) if _is_full(output) else str(error)
        # A full disk may refuse the writer's last bytes, too.
        with suppress(OSError):
            writer.discard()
        if isinstance(error, OSError) or type(error).__module__ == "lmdb":
            raise Fault(f"writing to {output} failed ({reason}): make room or give another --output") from error
        raise


def _is_full(folder: Path) -> bool:
    """Whether what is written between two syncs no longer fits: LMDB calls that an input/output error."""
    room = os.statvfs(folder)
    return room.f_bavail * room.f_frsize < SYNC_BYTES


def _name(task: Task, index: int, count: int) -> None:
    """Name an unreadable image. Raises InputFault if it is one too many, and not the last of nothing else."""
    path, images = task.images[index].path, len(task.images)
    if 1 < count < images and count > MOST_UNREADABLE * images:
        raise InputFault(
            f"{count} of {images} images are not readable so far, the last one {path}: remove them or replace them"
        )
    if count <= NAMED_FAULTS:
        print(f"skipped {path}: not a readable image", file=sys.stderr, flush=True)


class StepAccount:
    """Gathers images into steps of `size`; a step's input wait is the workers' reading, spread over the workers."""

    def __init__(self, size: int, workers: int, step: Callable[[int, float], None]) -> None:
        self._size = size
        self._workers = workers
        self._step = step
        self._images = 0
        self._read_seconds = 0.0

    def add(self, result: Transformed) -> None:
        """One more image is written."""
        self._images += 1
        self._read_seconds += result.read_seconds
        if self._images == self._size:
            self.flush()

    def flush(self) -> None:
        """End the step that has begun, if one has."""
        if self._images:
            self._step(self._images, self._read_seconds / self._workers)
        self._images, self._read_seconds = 0, 0.0
