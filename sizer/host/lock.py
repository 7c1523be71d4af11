"""One sizer measures a host at a time: two would each measure the other.

A measuring stops only whom its user could stop anyway: root's stops everybody's, an ordinary user's stops that user's
other ones. So nobody keeps root, or somebody else, from measuring; who measures beside another user is told.

Root's lock is a POSIX lock on a file in /run, where nobody but root can make or open it (in /run/lock everybody could
be there first). The kernel frees it with the process, also on kill -9, a child does not inherit it, and /proc/locks
shows it to everybody. An ordinary user's lock is the name of an abstract unix socket (unix(7)) with the user's number:
the kernel takes it back with the process, and says who really has it. So does a root whose /run is read-only, as in
some containers.

Both are one for each network namespace: a container that has its own is not seen, and what runs there shows as other
load.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from sizer.records.messages import HostError

NAME = "\0sizer-measures-this-host-"
"""Of a user's socket, before the user's number."""

FOLDER = Path("/run/sizer")
"""Where root's lock lies."""
FILE = "measuring"

SOCKETS = Path("/proc/net/unix")
"""The kernel's list of unix sockets, as in proc_net(5); it shows the zero byte of an abstract name as `@`."""

LOCKS = Path("/proc/locks")
"""The kernel's list of file locks, as in proc_locks(5)."""

LONGEST_COMMAND = 120
"""Characters of the other sizer's command line that are shown."""

MOST_OTHERS = 5
"""Other users that are named: anybody can hold any number of names."""

_CREDENTIALS = struct.Struct("3i")
"""`struct ucred`: pid, uid and gid of who listens (SO_PEERCRED, unix(7))."""

_in_this_process = threading.Lock()
"""A POSIX lock is the whole process's, whoever asks for it a second time."""


@dataclass(frozen=True)
class MeasuringProcess:
    """A process that holds a lock: its pid, 0 where it cannot be known, as from another pid namespace; the user that it
    runs as, None where that cannot be known, and its command line, empty where /proc does not show it."""

    pid: int
    user: int | None
    command: str


@contextmanager
def measuring_alone(name: str = NAME, folder: Path = FOLDER) -> Iterator[tuple[MeasuringProcess, ...]]:
    """Hold this host for measuring; who of other users measures on it beside us, whom that does not stop.

    Raises HostError, which says who does, when a sizer of root or of this user holds it.
    """
    with ExitStack() as stack:
        if not _in_this_process.acquire(blocking=False):
            raise _held(_process(os.getpid(), os.geteuid()))
        stack.callback(_in_this_process.release)
        own, ours = f"{name}{os.geteuid()}", set[str]()
        if os.geteuid() == 0 and _is_roots(folder):
            stack.callback(os.close, _taken(folder / FILE))
        else:
            # First ours, then a look at root's, which does it the other way round: one of the two sees the other.
            if stack.enter_context(_bound(own)):
                ours.add(own)
            holder = _roots(folder)
            if holder is not None:
                raise _held(holder)
        others = islice((other for other in _names(name) if other not in ours), MOST_OTHERS)
        yield tuple(dict.fromkeys(_process(*_credentials(other)) for other in others))


def is_host_measured(name: str = NAME, sockets: Path = SOCKETS, folder: Path = FOLDER) -> bool:
    """Whether a sizer, anybody's, measures this host now; False where the kernel does not say.

    For whoever asks often: each try to connect would stay in the queue of the one that listens.
    """
    return bool(_names(name, sockets)) or _roots(folder) is not None


def _is_roots(folder: Path) -> bool:
    """Whether root's folder is there, made where it can be, and nobody else may write to it."""
    with suppress(OSError):
        with suppress(FileExistsError):
            folder.mkdir()
            folder.chmod(0o755)  # Whatever the umask: others look into it.
        facts = folder.lstat()
        return facts.st_uid == 0 and not facts.st_mode & 0o022 and os.access(folder, os.W_OK)
    return False


def _taken(path: Path) -> int:
    """A descriptor whose file is locked for our network namespace: by the byte that has its number."""
    # Nobody else may open it: who can open a file can lock it.
    with ExitStack() as stack:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            stack.callback(os.close, descriptor)
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _namespace())
        except BlockingIOError:
            raise _held(_roots(path.parent) or _process(0, 0)) from None
        except OSError as error:
            raise HostError("This host cannot be locked for measuring ({reason}).", reason=error.strerror) from error
        stack.pop_all()
    return descriptor


def _roots(folder: Path) -> MeasuringProcess | None:
    """Who holds root's lock; None where nobody does, or the kernel does not say."""
    with suppress(OSError):
        inode, byte = (folder / FILE).stat().st_ino, str(_namespace())
        for line in LOCKS.read_text().splitlines():
            # `1: POSIX  ADVISORY  WRITE 708 00:13:11 4026531840 4026531840`; with `->` it only waits for the one above.
            row = line.split()
            # The device is left out, as that of an overlay is not the one of stat(2): no other file has such a byte.
            if len(row) == 8 and row[1] == "POSIX" and row[5].endswith(f":{inode}") and row[6] == row[7] == byte:
                return _process(int(row[4]), 0)
    return None


def _namespace() -> int:
    """The number of our network namespace; 0 where the kernel has none."""
    with suppress(OSError):
        return Path("/proc/self/ns/net").stat().st_ino
    return 0


@contextmanager
def _bound(name: str) -> Iterator[bool]:
    """Hold a name; False where another user's process, or one that does not say whose it is, was there first.

    Raises HostError where another process of this user, or root's, has it.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as lock:
        try:
            lock.bind(name)
            lock.listen(socket.SOMAXCONN)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise HostError(
                    "This host cannot be locked for measuring ({reason}).", reason=error.strerror
                ) from error
            pid, user = _credentials(name)
            if user in (0, os.geteuid()):
                raise _held(_process(pid, user)) from None
            yield False
        else:
            yield True


def _names(name: str, sockets: Path = SOCKETS) -> list[str]:
    """The names of users' locks that somebody holds."""
    try:
        listed = sockets.read_text("utf-8", "replace")
    except OSError:
        return []
    words = {line.rpartition(" ")[2] for line in listed.splitlines()}
    begin = f"@{name[1:]}"
    return sorted(f"\0{word[1:]}" for word in words if word.startswith(begin) and word[len(begin) :].isdecimal())


def _credentials(name: str) -> tuple[int, int | None]:
    """The pid and the user of the process that listens by a name, as the kernel knows them; 0 and None where it does
    not say, as of one that does not listen."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as question:
        question.setblocking(False)
        try:
            question.connect(name)
            asked = question.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        except OSError:
            return 0, None
        pid, user, _ = _CREDENTIALS.unpack(asked)
        return int(pid), int(user)


def _process(pid: int, user: int | None) -> MeasuringProcess:
    return MeasuringProcess(pid, user, _command(pid) if pid else "")


def _held(by: MeasuringProcess) -> HostError:
    if by.pid == 0:
        return HostError("Another sizer is measuring on this host, and two would disturb each other; wait for it.")
    return HostError(
        "Another sizer is measuring on this host (process {pid}{command}), and two would disturb each other; wait for "
        "it, or end it with: kill {pid}",
        pid=by.pid,
        command=f": {by.command}" if by.command else "",
    )


def _command(pid: int) -> str:
    """`sizer run study.yaml`, as /proc shows it to everybody; empty where it does not."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").rstrip("\0").split("\0")
    except OSError:
        return ""
    shown = "".join(character if character.isprintable() else "?" for character in " ".join(words))
    return f"{shown[:LONGEST_COMMAND]}{'...' if len(shown) > LONGEST_COMMAND else ''}"
