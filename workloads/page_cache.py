"""The page cache: put files into it, take them out of it, and keep the state that a run asks for."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

READ_BYTES = 4 << 20
"""At once: two seconds on a disk of 2 MB/s, so that what is told of it is never old."""

Tell = Callable[[int, int], None]
"""Hears how many bytes were read, and of how many."""


def evict(paths: Sequence[Path], sync: bool = True) -> None:
    """Take the files' pages out of the page cache; mapped ones stay. `sync` writes dirty ones first; else they stay.

    A sync costs a flush of the device for each file, even where nothing is dirty: up to 1.5 s for 400 files.
    """
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            if sync:
                os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)


def preload(paths: Sequence[Path], tell: Tell) -> None:
    """Read the files once from end to end, which leaves them in the page cache if memory holds them."""
    buffer = bytearray(READ_BYTES)
    done, whole = 0, sum(path.stat().st_size for path in paths)
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            while read := os.readv(descriptor, [buffer]):
                done += read
                tell(done, whole)
        finally:
            os.close(descriptor)


@dataclass(frozen=True)
class CacheState:
    """What is done to `files` before the first epoch and between epochs; `cached` input is `warm`."""

    files: tuple[Path, ...]
    state: str

    def before_run(self, tell: Tell) -> None:
        """`warm` reads the files once, telling how far; `cold` and `natural` begin with none of them in memory."""
        if self.state == "warm":
            preload(self.files, tell)
        else:
            evict(self.files)

    def between_epochs(self) -> None:
        """`cold` is as for data much larger than memory: what an epoch has read is gone for the next."""
        if self.state == "cold":
            evict(self.files, sync=False)
