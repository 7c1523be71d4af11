"""A folder is removed with the rights of its owner, and whatever rights its owner has taken from himself in it."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_NOBODYS_GROUP = 65_534
"""A group without members (its name is nogroup): what is done for another user has the rights of none."""


def owner_of(folder: Path) -> int | None:
    """The user whose folder this is; None where it is none, or a link."""
    try:
        status = folder.lstat()
    except OSError:
        return None
    return status.st_uid if stat.S_ISDIR(status.st_mode) else None


def remove(folder: Path, last: str) -> bool:
    """Remove the folder, its file `last` after all others. False if it is still there."""
    with suppress(OSError), _rights_of(owner_of(folder)):
        _let_in(folder, None)
        _remove_content(folder, last)
        if not _is_bare(folder, last):
            _open_up(folder)
            _remove_content(folder, last)
        if _is_bare(folder, last):
            (folder / last).unlink(missing_ok=True)
            folder.rmdir()
    return not os.path.lexists(folder)


def why_it_stays(folder: Path, last: str) -> str:
    """What the system says to the first thing in a folder that it does not remove."""
    try:
        with _rights_of(owner_of(folder)):
            for path in sorted(folder.iterdir()):
                if path.name != last:
                    _remove_one(path, ignore_errors=False)
            folder.rmdir()
    except OSError as error:
        return error.strerror or str(error)
    except RecursionError:
        return "its folders lie too deep in each other"
    return "it was in use"


def _remove_content(folder: Path, last: str) -> None:
    """All but the last, as far as it goes."""
    for path in sorted(folder.iterdir()):
        # RecursionError is what a tree of a thousand levels ends in.
        with suppress(OSError, RecursionError):
            if path.name != last:
                _remove_one(path, ignore_errors=True)


def _remove_one(path: Path, ignore_errors: bool) -> None:
    """Never through a link: see shutil.rmtree.avoids_symlink_attacks."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=ignore_errors)
    else:
        path.unlink()


def _is_bare(folder: Path, last: str) -> bool:
    return {path.name for path in folder.iterdir()} <= {last}


def _open_up(folder: Path) -> None:
    """Let the owner into all of his folders in here again: a program may have taken his rights from its own.

    By descriptors, so that nothing outside is changed by a link that somebody puts in a folder's place meanwhile.
    """
    with suppress(RecursionError):
        for _, names, _, descriptor in os.fwalk(folder):
            for name in names:
                _let_in(name, descriptor)


def _let_in(name: str | Path, parent: int | None) -> None:
    with suppress(OSError):
        folder = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
        try:
            status = os.fstat(folder)
            if status.st_uid == os.geteuid():
                os.chmod(f"/proc/self/fd/{folder}", stat.S_IMODE(status.st_mode) | stat.S_IRWXU)
        finally:
            os.close(folder)


@contextmanager
def _rights_of(owner: int | None) -> Iterator[None]:
    """Root removes another user's folder with his rights only: he cannot make it remove what he could not himself."""
    if owner is None or owner == os.geteuid():
        yield
        return
    user, group, groups = os.geteuid(), os.getegid(), os.getgroups()
    try:
        os.setgroups([])
        os.setegid(_NOBODYS_GROUP)
        os.seteuid(owner)
        yield
    finally:
        os.seteuid(user)
        os.setegid(group)
        os.setgroups(groups)
