"""Runs that their study folder would not take: kept in the cache until the study is gone on with.

A disk can become read-only, a network mount can go away, a folder can be removed while a run of an hour is measured.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from sizer.files import ASIDE_SUFFIX, write_json
from sizer.records import HostError, InputError, Run
from sizer.store.continuing import SAME_MACHINE
from sizer.store.stored_runs import read_run


def keep_unsaved(run: Run, study: Path, host: Mapping[str, Any], cache: Path) -> Path:
    """Store the run in the cache, and return the file. Raises HostError when it cannot be written there either."""
    folder = unsaved_folder(study, host, cache)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(
            "{folder} cannot be written ({reason}).", folder=folder, reason=error.strerror or error
        ) from error
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
    """Where the cache keeps a study's runs.

    By the study folder's place and the machine: a cache may lie on a network mount that several machines share.
    """
    facts = [str(study.resolve()), *(host.get(fact) for fact in SAME_MACHINE)]
    return cache / "unsaved" / hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:12]


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
