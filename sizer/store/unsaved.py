"""Runs that their study folder would not take: kept in the cache until the study is gone on with.

A disk can become read-only, a network mount can go away, a folder can be removed while a run of an hour is measured.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from sizer.files.codec import write_json
from sizer.files.own_folder import Place, make_folder, open_folder
from sizer.files.writing import ASIDE_SUFFIX, writing_to
from sizer.records.messages import HostError, InputError
from sizer.records.run import Run
from sizer.store.continuing import SAME_MACHINE
from sizer.store.stored_runs import read_run


def keep_unsaved(run: Run, study: Path, host: Mapping[str, Any], cache: Path) -> Path:
    """Store the run in the cache, and return the file. Raises HostError when it cannot be written there either."""
    folder = unsaved_folder(study, host, cache)
    with writing_to(folder):
        make_folder(folder)
    path = folder / f"{run.id}.json"
    write_json(path, run)
    return path


def take_back(study: Path, host: Mapping[str, Any], cache: Path, store: Callable[[Run], bool]) -> int:
    """Hand each run that the cache holds of this study folder to `store`, and remove there what it took. How many.

    Files that are no runs are left where they are.
    """
    folder, taken = unsaved_folder(study, host, cache), 0
    for path in sorted(folder.glob("*.json")):
        with suppress(InputError, HostError):
            if store(read_run(path)):
                path.unlink(missing_ok=True)
                taken += 1
    with suppress(OSError):
        for path in folder.glob(f".*{ASIDE_SUFFIX}"):
            path.unlink()
        folder.rmdir()
    return taken


def unsaved_folder(study: Path, host: Mapping[str, Any], cache: Path) -> Path:
    """Where the cache keeps the runs of a study, whose folder's path is without links.

    By that path and the machine: a cache may lie on a network mount that several machines share.
    """
    facts = [str(study), *(host.get(fact) for fact in SAME_MACHINE)]
    return cache / "unsaved" / hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:12]


RESERVED_BYTES = 32 * 2**20
"""The record of a run of ten minutes is 0.1 to 2 MB, a study's report 1 MB: room for all that is written at its end."""

RESERVE = f".reserve{ASIDE_SUFFIX}"
"""The file that takes up the room: by this name a killed sizer's is found and removed."""


class Reserve:
    """A file in `folder` that takes up room until the room is needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def take(self, place: Place | None = None) -> None:
        """Take up the room, if it is not taken already; OSError where the disk has not as much, HostError where with
        `place` another folder is there."""
        folder = open_folder(self._folder, place)
        try:
            _allocate(folder)
        except OSError:
            self.give_up(place)
            raise
        finally:
            os.close(folder)

    def give_up(self, place: Place | None = None) -> bool:
        """Free the room; whether there was any to free."""
        with suppress(OSError, HostError):
            folder = open_folder(self._folder, place)
            try:
                os.unlink(RESERVE, dir_fd=folder)
            finally:
                os.close(folder)
            return True
        return False


def _allocate(folder: int) -> None:
    # To be read as well: where a file system does not allocate, the C library writes into each block, and reads before
    # whether something is there (posix_fallocate(3)).
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(RESERVE, flags, 0o600, dir_fd=folder)
    try:
        facts = os.fstat(descriptor)
        # Written once more before each run, it would keep the disk busy in that run.
        if not stat.S_ISREG(facts.st_mode) or facts.st_size < RESERVED_BYTES:
            os.posix_fallocate(descriptor, 0, RESERVED_BYTES)
    finally:
        os.close(descriptor)
