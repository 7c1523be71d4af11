"""A folder that is its maker's as long as he lives: recognised as a leftover, wherever it lies and whoever shares it.

The maker holds a lock on a file in it for all his life, and the kernel frees that on his death. A POSIX lock, because
of all kinds it is the one that another container, an NFS client and the NFS server see alike (fcntl(2), nfs(5)). It is
asked where the folder's name is not enough, and only on file systems whose locks everybody sees who sees the files.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from sizer.limits.device import mount_of, parse_mounts
from sizer.limits.process_tree import is_of_this_world, is_owned, owned_name, owner_is_dead
from sizer.records.messages import AllOf, HostError, Message
from sizer.storage.removal import owner_of, remove_tree

LOCK = ".lock"

LOCKS_EVERYBODY_SEES = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "tmpfs", "overlay"})
"""File systems of one kernel. NFS is added where its mount does not keep locks to itself; others do not say."""

TRIES = 10


@contextmanager
def held_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """A fresh folder for us alone in `parent`, removed at the end.

    Raises OSError where it cannot be made, and at a good end HostError that names what of it could not be removed.
    """
    folder, lock = _make(parent, prefix)
    stays: Message | None = None
    try:
        yield folder
    finally:
        stays = remove_tree(folder, LOCK)
        if lock is not None:
            os.close(lock)
        # NFS keeps a removed file under another name in its folder until it is closed.
        with suppress(OSError):
            folder.rmdir()
    if stays is not None and os.path.lexists(folder):
        raise HostError("What a run left could not be removed: {what}; remove it by hand.", what=stays)


def remove_left(parent: Path, prefix: str) -> tuple[Path, ...]:
    """Remove the folders of dead sizers in `parent` and name them. Those of the living, and other users', stay.

    For root the others' go, too, if they are of this world. Raises HostError that names those that cannot be removed,
    after the others.
    """
    removed: list[Path] = []
    kept: list[Message] = []
    for folder in _named(parent, prefix):
        with claimed(folder, prefix) as is_left:
            stays = remove_tree(folder, LOCK) if is_left else None
            if stays is not None:
                kept.append(stays)
            elif is_left:
                removed.append(folder)
    if kept:
        raise HostError("{folders}", folders=AllOf(*kept))
    return tuple(removed)


@contextmanager
def claimed(folder: Path, prefix: str) -> Iterator[bool]:
    """Whether this is a dead sizer's folder that we may remove, which until the end nobody else can come to hold."""
    name = folder.name.removeprefix(prefix)
    owner = owner_of(folder)
    # Another user's folder is his to remove, and a lock in it not to be trusted. Root sees by the name who is dead.
    ours, here = owner == os.geteuid(), is_of_this_world(name)
    if owner is None or not is_owned(name) or not (ours or (here and os.geteuid() == 0)):
        yield False
    elif here:
        yield owner_is_dead(name)
    else:
        # A maker locks before he puts anything in: without a lock a folder is empty, or none that a sizer made.
        if not os.path.lexists(folder / LOCK):
            with suppress(OSError):
                folder.rmdir()
        lock = _locked(folder / LOCK) if _locks_can_be_trusted(folder) else None
        try:
            yield lock is not None
        finally:
            if lock is not None:
                os.close(lock)


def _named(parent: Path, prefix: str) -> list[Path]:
    try:
        return sorted(path for path in parent.iterdir() if path.name.startswith(prefix))
    except OSError:
        return []


def _make(parent: Path, prefix: str) -> tuple[Path, int | None]:
    """The folder and its lock. Between the two steps another world's sizer may take it for a leftover: then again."""
    for _ in range(TRIES):
        folder = parent / f"{prefix}{owned_name(token_hex(4))}"
        folder.mkdir(mode=0o700)
        try:
            descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:
            continue
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            os.close(descriptor)
            continue
        except OSError:  # No locks on this file system: then nobody else can take it either.
            os.close(descriptor)
            return folder, None
        if _is_at(descriptor, folder / LOCK):
            return folder, descriptor
        os.close(descriptor)
    raise FileExistsError(f"no folder can be kept in {parent}")


def _is_at(descriptor: int, path: Path) -> bool:
    with suppress(OSError):
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    return False


def _locks_can_be_trusted(folder: Path) -> bool:
    mount = mount_of(folder.resolve(), parse_mounts(Path("/proc/self/mountinfo").read_text()))
    if mount is None:
        return False
    seen_by_the_server = mount.kind in ("nfs", "nfs4") and "local_lock=none" in mount.options
    return mount.kind in LOCKS_EVERYBODY_SEES or seen_by_the_server


def _locked(lock: Path) -> int | None:
    """The lock, if nobody holds it."""
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
