"""Files and folders that a person names: where data may lie, counted before it is read, and texts read as a whole,
no larger than any of their kind.
"""

from __future__ import annotations

import os
import select
import stat
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

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


LARGEST_FILE = 64 * 2**20
"""Bytes. A pipe or a device may be named, too, and some of these never end."""

PART_BYTES = 2**20

PIPE_SECONDS = 5.0
"""For somebody to open a pipe that has a name, to write into it."""

SILENT_WAITS = 12
"""Times as long may a writer that has a pipe open write nothing: `<(curl ...)` begins late, and may pause."""


def read_given(path: Path, kind: Message, advice: Message | None = None, patience: float = PIPE_SECONDS) -> str:
    """The text of a file; `kind` says what it should be (`a study file`), `advice` how to get one.

    Raises InputError, which names the file, where there is none, it cannot be read, is too large or is not UTF-8, or is
    a pipe that nobody writes into for `patience` seconds.
    """
    try:
        with open(path, "rb", buffering=0, opener=_open_without_waiting) as file:
            piped = stat.S_ISFIFO(os.fstat(file.fileno()).st_mode)
            content = _from_pipe(file, path, patience) if piped else _from_file(file)
    except FileNotFoundError:
        if advice is None:
            raise InputError("{path}: there is no such file.", path=path) from None
        raise InputError("{path}: there is no such file; {advice}.", path=path, advice=advice) from None
    except (OSError, ValueError) as error:
        raise InputError(
            "{path} cannot be read ({reason}).", path=path, reason=getattr(error, "strerror", None) or error
        ) from None
    if len(content) > LARGEST_FILE:
        raise InputError(
            "{path} is larger than {largest} MiB, too large for {kind}.",
            path=path,
            largest=LARGEST_FILE // 2**20,
            kind=kind,
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError("{path} line {line} is not UTF-8; save the file as UTF-8.", path=path, line=line) from None


def _open_without_waiting(path: str, flags: int) -> int:
    """A pipe with a name is otherwise opened when somebody opens its other end, which may be never."""
    return os.open(path, flags | os.O_NONBLOCK)


def _from_file(file: IO[bytes]) -> bytes:
    os.set_blocking(file.fileno(), True)
    content = bytearray()
    while len(content) <= LARGEST_FILE and (part := file.read(PART_BYTES)):
        content += part
    return bytes(content)


def _from_pipe(file: IO[bytes], path: Path, patience: float) -> bytes:
    """All that is written into a pipe until its last writer closes it."""
    poll = select.poll()
    poll.register(file, select.POLLIN)
    content, silent = bytearray(), 0
    while len(content) <= LARGEST_FILE:
        ended = poll.poll(patience * 1000)
        part: bytes | None = file.read(PART_BYTES)
        if part:
            content += part
            silent = 0
        elif part is None and silent < SILENT_WAITS:
            silent += 1  # A writer has it open, and has written nothing yet.
        elif ended and part is not None:
            break
        else:
            raise InputError(
                "{path} is a pipe that nobody writes to; give a file, or first start the program that writes it.",
                path=path,
            )
    return bytes(content)
