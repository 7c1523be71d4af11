"""Where data may lie: files and folders of a disk, which are counted before they are read and come to an end."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from sizer.records.messages import InputError, Message

NO_DISK = frozenset(
    {
        *("proc", "sysfs", "cgroup", "cgroup2", "devpts", "devtmpfs", "mqueue", "bpf", "debugfs", "tracefs"),
        *("securityfs", "selinuxfs", "configfs", "pstore", "efivarfs", "fusectl", "binfmt_misc", "hugetlbfs"),
    }
)
"""File systems in which the kernel shows itself: their files have no end, and making a folder there does something."""

WITHOUT_PERMISSIONS = frozenset({"vfat", "msdos", "exfat", "ntfs", "ntfs3", "fuseblk"})
"""File systems whose files have the owner and the permissions that their mount gives to all."""

MOST_VISITS = 100
"""Times that one folder may be reached by links; links to links can make billions of ways through a few folders."""

Identity = tuple[int, int]


def refuse_no_disk(path: Path, where: str | Message) -> None:
    """Raise InputError, which begins with `where`, for a place such as /proc, where the kernel shows itself."""
    if kind_of_file_system(path) in NO_DISK:
        raise InputError(
            "{where}: {path} is not on a disk: the kernel makes it up. Give a folder on a disk.",
            where=where,
            path=path,
        )


def refuse_no_data(path: Path, where: str | Message) -> None:
    """Raise InputError for what has no end: a device, a pipe or a socket, and a folder that holds such as /proc."""
    if not path.is_file() and not path.is_dir():
        raise InputError(
            "{where}: {path} is neither a file nor a folder; give `data` the path of one.", where=where, path=path
        )
    refuse_no_disk(path, where)
    real = Path(os.path.realpath(path))
    below = next((point for point, kind in _mounts() if kind in NO_DISK and real in point.parents), None)
    if below is not None:
        raise InputError(
            "{where}: {path} contains {below}, which the kernel makes up; give a folder that contains only data.",
            where=where,
            path=path,
            below=below,
        )


def kind_of_file_system(path: Path) -> str:
    """Of the file system that a path leads to, such as `ext4`; empty where nobody knows."""
    real = Path(os.path.realpath(path))
    around = [(len(point.parts), kind) for point, kind in _mounts() if point == real or point in real.parents]
    return max(reversed(around), key=lambda mount: mount[0])[1] if around else ""


def _mounts() -> list[tuple[Path, str]]:
    """Where something is mounted, and its kind; of several at one place, the last one is seen."""
    return [(Path(mount.mountpoint), mount.fstype) for mount in psutil.disk_partitions(all=True)]


def files_below(folder: Path) -> Iterator[Path]:
    """All plain files of a folder in the order of their names, also those behind links to folders, as loaders follow
    them. Raises InputError for links that lead round in a circle."""
    names = sorted(_names(str(folder)), key=lambda name: name.replace(os.sep, "\0"))
    return map(Path, names)


def _names(top: str) -> Iterator[str]:
    """The paths as text: of a million files they take a quarter of the memory."""
    visits: Counter[Identity] = Counter()
    to_do: list[tuple[str, frozenset[Identity]]] = [(top, frozenset())]
    while to_do:
        folder, above = to_do.pop()
        with suppress(OSError):  # Gone since, or not ours to read: what reads the data says so.
            status = os.stat(folder)
            here = (status.st_dev, status.st_ino)
            visits[here] += 1
            if here in above or visits[here] > MOST_VISITS:
                raise InputError(
                    "{folder} is a link back to a folder above it; remove it from the data.", folder=folder
                )
            with os.scandir(folder) as entries:
                for entry in entries:
                    with suppress(OSError):  # A link to itself.
                        if entry.is_file():
                            yield entry.path
                        elif entry.is_dir():
                            to_do.append((entry.path, above | {here}))
