"""Names that show which sizer a thing belongs to, so that what a killed sizer left is recognised.

An owned name is `<world>-<pid>-<start time>-<what>`. The world identifies a boot of one kernel, a pid namespace of it
and a time namespace: only there does a pid mean one process, and with its start time one for ever. So:

- A name of our own world is a dead sizer's exactly when no process has that pid and start time. The kernel uses the
  number of a namespace again only when nobody is left in it, whose names are then dead, too.
- A name of another world (another container, another host on the same file system, the time before a reboot) says
  nothing. Groups, processes, mounts and loop devices of such a name are left alone: a container's end or a reboot takes
  them away. Folders are decided by the lock that lies in them (`storage/held_folders.py`), which the kernel frees on
  death.
"""

from __future__ import annotations

import hashlib
import os
import re
from functools import cache
from pathlib import Path

BASE = "sizer"
"""The directory, in each hierarchy, that holds the groups."""
KILL_SECONDS = 10.0
"""How long a killed process may take to end: one that waits for a throttled disk needs a while."""

_NAME = re.compile(r"(?P<world>[0-9a-f]{10})-(?P<pid>\d{1,9})-(?P<start>\d{1,20})-.+")


def owned_name(what: str) -> str:
    """A name of this process and of no later one: the kernel uses a pid again, with its start time it does not."""
    # Where /proc is another namespace's, its number for us is the one that others who look into it will find.
    pid = int(os.readlink("/proc/self"))
    return f"{world()}-{pid}-{_start_ticks(pid)}-{what}"


def is_owned(name: str) -> bool:
    """Whether this has the form of such a name, dead or alive, of whatever world."""
    return _NAME.fullmatch(name) is not None


def is_of_this_world(name: str) -> bool:
    """Whether this is such a name, and a pid in it means what it means here."""
    match = _NAME.fullmatch(name)
    return match is not None and match["world"] == world()


def owner_is_dead(name: str) -> bool:
    """Whether this is a name of our world and its sizer no longer lives; False for what cannot be known."""
    match = _NAME.fullmatch(name)
    return match is not None and match["world"] == world() and not _lives(int(match["pid"]), int(match["start"]))


@cache
def world() -> str:
    """The boot of this kernel and the namespaces that give pids and start times their meaning, in ten hex digits."""
    parts = [_text(Path("/proc/sys/kernel/random/boot_id")), *(_namespace(kind) for kind in ("pid", "time"))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:10]


def _text(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""


def _namespace(kind: str) -> str:
    try:
        return os.readlink(f"/proc/self/ns/{kind}")
    except OSError:
        return ""


def _lives(pid: int, start: int) -> bool:
    present = _start_ticks(pid)
    if present is not None:
        return present == start
    # Mounted with hidepid, /proc does not show other users' processes to us; a signal does (proc(5), kill(2)).
    return not Path(f"/proc/{pid}/stat").exists() and _answers(pid)


def _answers(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return False


def _start_ticks(pid: int) -> int | None:
    """Field 22 of /proc/PID/stat (proc(5)), counted after the command's name, which may hold spaces and brackets."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = status.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else int(fields[19])
