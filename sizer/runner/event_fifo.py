"""The FIFO that a run's processes find by its path: those that inherit no descriptor, such as the ranks of a job."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from sizer.limits.users import RunUser
from sizer.storage.placement import temporary_folder

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
def event_fifo(user: RunUser) -> Iterator[EventFifo]:
    """A FIFO that the user of the run alone can find and open, removed at the end.

    What is written into it becomes the rate of the run. So it lies in a folder that is this user's, and its name cannot
    be guessed; nor does a program that reads its own folder come upon it. Raises OSError where there is no room for it.
    """
    with temporary_folder() as home:
        user.let_in(home)
        folder = home / token_hex(16)
        folder.mkdir(mode=0o700)
        path = folder / token_hex(16)
        os.mkfifo(path, 0o600)
        user.own(folder)
        # Open for writing, too, it has no end each time that the last writer leaves.
        descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            with suppress(OSError):
                fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, FIFO_BYTES)
            yield EventFifo(path, descriptor)
        finally:
            os.close(descriptor)
