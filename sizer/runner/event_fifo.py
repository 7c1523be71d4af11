"""The FIFO that a run's processes find by its path: those that inherit no descriptor, such as the ranks of a job."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sizer.storage import temporary_folder

FIFO_BYTES = 1 << 20
"""Asked for, so that nothing is lost while nobody reads: 1 MiB is what Linux grants to anybody."""

MOST_BYTES = 1 << 24
"""Read at once; a program that fills the FIFO faster than this is read does not keep us."""


class EventFifo:
    """The reading end. Nobody has to write, and a writer never waits."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    def read(self) -> bytes:
        """What has been written since the last time."""
        parts: list[bytes] = []
        with suppress(BlockingIOError):
            while sum(map(len, parts)) < MOST_BYTES:
                parts.append(os.read(self._descriptor, FIFO_BYTES))
        return b"".join(parts)


@contextmanager
def event_fifo() -> Iterator[EventFifo]:
    """A FIFO in a folder of its own, where no program that reads its own folder comes upon it; removed at the end.

    Raises OSError where there is no room for it.
    """
    with temporary_folder() as folder:
        # A program may give up its rights before its first step.
        os.chmod(folder, 0o711)
        path = folder / "events"
        os.mkfifo(path)
        os.chmod(path, 0o622)
        # Open for writing, too, it has no end each time that the last writer leaves.
        descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            with suppress(OSError):
                fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, FIFO_BYTES)
            yield EventFifo(path, descriptor)
        finally:
            os.close(descriptor)
