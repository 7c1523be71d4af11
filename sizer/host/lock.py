"""One sizer measures a host at a time: two would each measure the other.

The lock is the name of an abstract unix socket (unix(7)). The kernel takes it back with the process that bound it, also
from kill -9; root and ordinary users share it, there is no file that could be stale, forbidden or removed, and whoever
finds it taken can ask the kernel who holds it. It is one for each network namespace: a container that has its own is
not seen, and what runs there shows as other load.
"""

from __future__ import annotations

import errno
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sizer.records import HostError

NAME = "\0sizer-measures-this-host"

SOCKETS = Path("/proc/net/unix")
"""The kernel's list of unix sockets, as in proc_net(5); it shows the zero byte of an abstract name as `@`."""

LONGEST_COMMAND = 120
"""Characters of the other sizer's command line that are shown."""

_CREDENTIALS = struct.Struct("3i")
"""`struct ucred`: pid, uid and gid of who listens (SO_PEERCRED, unix(7))."""


@contextmanager
def measuring_alone(name: str = NAME) -> Iterator[None]:
    """Hold this host for measuring. Raises HostError, which says who does, when another sizer holds it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as lock:
        try:
            lock.bind(name)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise HostError(
                    "This host cannot be locked for measuring ({reason}).", reason=error.strerror
                ) from error
            raise _held(_holder(name)) from None
        lock.listen(socket.SOMAXCONN)
        yield


def is_host_measured(name: str = NAME, sockets: Path = SOCKETS) -> bool:
    """Whether a sizer measures this host now; False where the kernel does not say.

    For whoever asks often: each try to connect would stay in the queue of the one that listens.
    """
    try:
        listed = sockets.read_text("utf-8", "replace")
    except OSError:
        return False
    return any(line.endswith(f" @{name[1:]}") for line in listed.splitlines())


def _holder(name: str) -> int:
    """The pid of the process that listens; 0 where it cannot be known, as from another pid namespace."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as question:
        question.setblocking(False)
        try:
            question.connect(name)
            pid, _, _ = _CREDENTIALS.unpack(
                question.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
            )
        except OSError:
            return 0
        return int(pid)


def _held(pid: int) -> HostError:
    if pid == 0:
        return HostError("Another sizer is measuring on this host, and two would disturb each other; wait for it.")
    return HostError(
        "Another sizer is measuring on this host (process {pid}{command}), and two would disturb each other; wait for "
        "it, or end it with: kill {pid}",
        pid=pid,
        command=_command(pid),
    )


def _command(pid: int) -> str:
    """`: sizer run study.yaml`, as /proc shows it to everybody; empty where it does not."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").rstrip("\0").split("\0")
    except OSError:
        return ""
    shown = "".join(each if each.isprintable() else "?" for each in " ".join(words))
    return f": {shown[:LONGEST_COMMAND]}{'...' if len(shown) > LONGEST_COMMAND else ''}" if shown else ""
