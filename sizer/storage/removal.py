"""Folders are removed with all that is in them: never through a link, never across a mount.

A measured program may mount its data in its scratch folder. So what is mounted there is unmounted first, and the tree
is removed by descriptors, each of which the kernel says the mount of (`mnt_id` of proc_pid_fdinfo(5), since Linux
3.15): a bind mount of the same device has another one, too. openat2(2) with RESOLVE_NO_XDEV would say the same from
Linux 5.6 on, and only where a container's filter of system calls knows it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from sizer.limits.device import mounts_below
from sizer.limits.users import NOBODYS_GROUP
from sizer.records.errors import HostError
from sizer.records.messages import Message
from sizer.storage.subprograms import complete

DEEPEST = 100
"""Levels that are gone down with a descriptor for each; what lies deeper is moved up first."""

MOUNTED = Message("something is mounted there that cannot be unmounted")

UNMOUNT_SECONDS = 20.0

SEARCH = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
"""Where system programs lie, also for a shell whose path has no /sbin."""


def remove_tree(folder: Path, last: str | None = None) -> Message | None:
    """Remove the folder, its file `last` after all others; what stays, with the system's reason, or None.

    Root removes another user's files with that user's rights: he cannot make it remove what he could not himself.
    """
    owner = owner_of(folder)
    if owner is None:
        return Message("{path} (it is no folder)", path=folder) if os.path.lexists(folder) else None
    for mount in reversed(mounts_below(folder)):
        unmount(mount.point)
    stays: Message | None
    try:
        with rights_of(owner):
            stays = _emptied(folder, last)
            if stays is None and last is not None:
                (folder / last).unlink(missing_ok=True)
        if stays is None:
            folder.rmdir()
    except FileNotFoundError:
        return None
    except OSError as error:
        stays = Message("{path} ({reason})", path=error.filename or folder, reason=error.strerror or str(error))
    return stays


def unmount(point: str) -> None:
    """Unmount what is mounted there, as far as this user may: at once, else as soon as nothing uses it."""
    for command in (["umount"], ["umount", "--lazy"], ["fusermount3", "-uz"], ["fusermount", "-uz"]):
        with suppress(OSError, HostError):
            if complete([*command, point], system_environment(), patience=UNMOUNT_SECONDS).returncode == 0:
                return


def system_environment() -> dict[str, str]:
    """Ours for a system command: found where these lie, and in English."""
    return {**os.environ, "PATH": SEARCH, "LC_ALL": "C"}


def owner_of(folder: Path) -> int | None:
    """The user whose folder this is; None where it is none, or a link."""
    try:
        status = folder.lstat()
    except OSError:
        return None
    return status.st_uid if stat.S_ISDIR(status.st_mode) else None


@contextmanager
def rights_of(owner: int) -> Iterator[None]:
    """Root does this with another user's rights; others keep their own."""
    if os.geteuid() != 0 or owner == 0:
        yield
        return
    user, group, groups = os.geteuid(), os.getegid(), os.getgroups()
    try:
        os.setgroups([])
        os.setegid(NOBODYS_GROUP)
        os.seteuid(owner)
        yield
    finally:
        os.seteuid(user)
        os.setegid(group)
        os.setgroups(groups)


def _emptied(folder: Path, last: str | None) -> Message | None:
    """Remove what is in the folder, but for `last`; the first thing that stays, and why."""
    parent = os.open(folder.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        top = _opened(folder.name, parent)
        try:
            if _mount_id(top) != _mount_id(parent):
                return Message("{path} ({reason})", path=folder, reason=MOUNTED)
            return _Emptying(folder, top).all_but(last)
        finally:
            os.close(top)
    finally:
        os.close(parent)


class _Emptying:
    """Of one folder, which is open as `top`."""

    def __init__(self, folder: Path, top: int) -> None:
        self._folder = folder
        self._top = top
        self._mount = _mount_id(top)
        self._stays: dict[str, str | Message] = {}

    def all_but(self, last: str | None) -> Message | None:
        """The first thing that stays, and why."""
        tried: set[str | None] = {last}
        # What lay too deep has been moved up here meanwhile.
        while names := set(os.listdir(self._top)) - tried:
            tried |= names
            for name in sorted(names):
                self._remove(name, self._top, name, 1)
        if not self._stays:
            return None
        path, reason = next(iter(self._stays.items()))
        return Message("{path} ({reason})", path=self._folder / path, reason=reason)

    def _remove(self, name: str, parent: int, path: str, depth: int) -> None:
        try:
            try:
                os.unlink(name, dir_fd=parent)
            except IsADirectoryError:
                self._remove_folder(name, parent, path, depth)
        except FileNotFoundError:
            return
        except OSError as error:
            self._stays[path] = error.strerror or str(error)

    def _remove_folder(self, name: str, parent: int, path: str, depth: int) -> None:
        if depth > DEEPEST:
            os.rename(name, token_hex(16), src_dir_fd=parent, dst_dir_fd=self._top)
            return
        folder = _opened(name, parent)
        try:
            if _mount_id(folder) != self._mount:
                self._stays[path] = MOUNTED
                return
            for inner in sorted(os.listdir(folder)):
                self._remove(inner, folder, f"{path}/{inner}", depth + 1)
        finally:
            os.close(folder)
        if not any(stays.startswith(f"{path}/") for stays in self._stays):
            os.rmdir(name, dir_fd=parent)


def _opened(name: str | Path, parent: int | None) -> int:
    """A descriptor of the folder, into which its owner is let again: a program may have taken his rights from it.

    By a descriptor of the place alone first, so that nothing outside is changed by a link that is put there meanwhile.
    """
    place = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        status = os.fstat(place)
        if status.st_uid == os.geteuid() and status.st_mode & stat.S_IRWXU != stat.S_IRWXU:
            os.chmod(f"/proc/self/fd/{place}", stat.S_IMODE(status.st_mode) | stat.S_IRWXU)
        return os.open(f"/proc/self/fd/{place}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    finally:
        os.close(place)


def _mount_id(descriptor: int) -> str:
    """The kernel's number of the mount that an open file lies on; OSError where it does not say."""
    for line in Path(f"/proc/self/fdinfo/{descriptor}").read_text().splitlines():
        if line.startswith("mnt_id:"):
            return line.split()[1]
    raise OSError(f"/proc/self/fdinfo/{descriptor} does not say which mount the file lies on")
