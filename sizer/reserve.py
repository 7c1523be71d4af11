"""Room on a study's disk that is held for the record of the run in hand: a full disk costs no measurement."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from sizer.files import ASIDE_SUFFIX

RESERVED_BYTES = 32 * 2**20
"""The record of a run of ten minutes is 0.1 to 2 MB, a study's report 1 MB: room for all that is written at its end."""

RESERVE = f".reserve{ASIDE_SUFFIX}"
"""The file that takes up the room: by this name a killed sizer's is found and removed."""


class Reserve:
    """A file in `folder` that takes up room until the room is needed."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / RESERVE

    def take(self) -> None:
        """Take up the room, if it is not taken already; OSError where the disk has not as much."""
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            # A file system without allocation gets it written by the C library (posix_fallocate(3)).
            os.posix_fallocate(descriptor, 0, RESERVED_BYTES)
        except OSError:
            self.give_up()
            raise
        finally:
            os.close(descriptor)

    def give_up(self) -> bool:
        """Free the room; whether there was any to free."""
        with suppress(OSError):
            self._path.unlink()
            return True
        return False
