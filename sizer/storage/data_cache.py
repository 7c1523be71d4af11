"""The cache: the folder where data sets and emulated volumes lie, and how a folder is made in it once and whole."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sizer.files.own_folder import make_folder, open_lock
from sizer.records.messages import HostError, Interrupted, Message
from sizer.storage.announcements import Announce, Announcement, AnnouncementKind
from sizer.storage.held_folders import held_folder, remove_left
from sizer.storage.manifest import damage, write_manifest
from sizer.storage.subprograms import complete

MAKING_PREFIX = "making-"
"""Of the folder that holds another one while it is made."""

SYNC_SECONDS = 300.0
"""For a disk to write a data set out."""

POLL_SECONDS = 0.2
"""Between two looks whether another sizer has made what it makes."""


def is_writable(cache: Path) -> bool:
    """Whether something can be made in a cache that is there."""
    return os.access(cache, os.W_OK | os.X_OK)


def check_writable(cache: Path) -> None:
    """Raises HostError when nothing can be made in `cache`, which needs not be there yet."""
    place = next(path for path in (cache, *cache.parents) if os.path.lexists(path))
    if place != cache and not is_writable(place):
        raise _unwritable(cache, Message("{folder} is not yours", folder=place))


@contextmanager
def made_once(
    folder: Path, making: Announcement, announce: Announce, stop: Callable[[], bool]
) -> Iterator[Path | None]:
    """A path to make `folder` of a cache at, or None if it is there and whole; two sizers do not make it at once.

    One that is damaged is made anew. `making` is announced before it is made. Raises Interrupted when `stop` says so
    before another sizer lets the cache go, HostError when it cannot be written.
    """
    wrong = damage(folder, stop) if folder.exists() else None
    if wrong is None and folder.exists():
        yield None  # Also from a cache that this user may only read.
        return
    if wrong is not None and not is_writable(folder.parent):
        raise HostError(
            "The data set in {folder} is not as it was made ({why}), and you may not make it anew there; remove it, or "
            "set SIZER_CACHE to a folder that you may write to.",
            folder=folder,
            why=wrong,
        )
    with _locked(folder.parent, announce, stop):
        wrong = damage(folder, stop) if folder.exists() else None
        if wrong is None and folder.exists():
            yield None
            return
        if wrong is not None:
            announce(Announcement(AnnouncementKind.DAMAGED_DATA, str(folder), why=wrong))
        announce(making)
        with held_folder(folder.parent, MAKING_PREFIX) as home:
            yield home / folder.name
            # A machine that loses power after the renaming must not keep a folder of empty files.
            complete(["sync", "--file-system", str(home)], stop=stop, patience=SYNC_SECONDS)
            write_manifest(home / folder.name, folder, stop)
            # Killed between these, sizer leaves a folder that is not there, or one that does not agree with its list.
            if folder.exists():
                folder.rename(home / "damaged")
            (home / folder.name).rename(folder)


def remove_leftovers(cache: Path) -> tuple[Path, ...]:
    """What killed sizers were making; what a living one makes stays."""
    return remove_left(cache, MAKING_PREFIX)


@contextmanager
def _locked(cache: Path, announce: Announce, stop: Callable[[], bool]) -> Iterator[None]:
    lock = _lock_file(cache)
    try:
        waiting = False
        while not _taken(lock, cache):
            if not waiting:
                announce(Announcement(AnnouncementKind.OTHER_SIZER, folder=str(cache)))
                waiting = True
            if stop():
                raise Interrupted("Interrupted while another sizer was making data in {cache}.", cache=cache)
            time.sleep(POLL_SECONDS)
        yield
    finally:
        os.close(lock)


def _lock_file(cache: Path) -> int:
    try:
        make_folder(cache)
        return open_lock(cache / ".lock")
    except OSError as error:
        raise _unwritable(cache, error.strerror) from error


def _unwritable(cache: Path, reason: str | Message | None) -> HostError:
    return HostError(
        "Data sets are made in {cache}, which cannot be written ({reason}); set SIZER_CACHE to a folder that you may "
        "write to.",
        cache=cache,
        reason=reason,
    )


def _taken(descriptor: int, cache: Path) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise HostError(
            "{cache} does not support locks ({reason}); set SIZER_CACHE to a folder that does.",
            cache=cache,
            reason=error.strerror,
        ) from error
    return True
