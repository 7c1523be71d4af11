"""Whose a process, a group or a folder is, and the processes of a run, or of a killed sizer, found by a mark that they
inherit.

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
import signal
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import psutil

from sizer.records.messages import HostError

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


MARK = "SIZER_GROUP"
"""The environment variable, with an owned name, of all that a sizer starts.

A daemon leaves its session and its parent and keeps this."""


Usage = dict[str, Any]
"""What processes and the children that they have waited for used, by the fields of a sample."""

COUNTED = ("core_seconds", "read_bytes", "written_bytes")


class ProcessTree:
    """The processes that carry a mark, those that descend from them, and what the dead among them used."""

    def __init__(self, mark: str) -> None:
        self._carries = f"{MARK}={mark}".encode()
        # A second before: the start times of processes are rounded. Older processes cannot belong to the run.
        self._opened = time.time() - 1.0
        self._members: dict[int, psutil.Process] = {}
        self._last: dict[int, tuple[int, Usage]] = {}
        self._departed: Usage = dict.fromkeys(COUNTED, 0)

    def members(self) -> list[psutil.Process]:
        """The living processes of the run."""
        present: dict[int, psutil.Process] = {}
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.create_time() >= self._opened and self._belongs(process, present):
                    present[process.pid] = process
        self._members = present
        return [process for process in present.values() if not _is_dead(process)]

    def _belongs(self, process: psutil.Process, present: dict[int, psutil.Process]) -> bool:
        return (
            self._members.get(process.pid) == process
            or self._carries in environment(process.pid)
            or process.ppid() in present
        )

    def usage(self) -> Usage:
        """What the run used so far, in steps of 10 ms of CPU time: what /proc counts in."""
        self.members()
        living = {pid: self._measure(process) for pid, process in self._members.items()}
        for pid, (parent, used) in self._last.items():
            # A parent that waited for its child has taken over its figures (getrusage(2), proc(5) on PID/io).
            if pid not in living and parent not in living:
                self._departed = {name: self._departed[name] + used[name] for name in COUNTED}
        self._last = living
        return {name: self._departed[name] + sum(used[name] for _, used in living.values()) for name in COUNTED}

    def _measure(self, process: psutil.Process) -> tuple[int, Usage]:
        parent, used = self._last.get(process.pid, (0, dict.fromkeys(COUNTED, 0)))
        with suppress(psutil.Error):
            parent, times = process.ppid(), process.cpu_times()
            used = {**used, "core_seconds": times.user + times.system + times.children_user + times.children_system}
            disk = process.io_counters()
            used |= {"read_bytes": disk.read_bytes, "written_bytes": disk.write_bytes}
        return parent, used

    def threads(self) -> int:
        """How many threads its living processes have."""
        count = 0
        for process in self._members.values():
            with suppress(psutil.Error):
                count += process.num_threads()
        return count

    def memory(self) -> tuple[int, int]:
        """Resident bytes, in which shared pages count once a process, and the part of them that is not shared."""
        resident = anonymous = 0
        for process in self._members.values():
            with suppress(psutil.Error):
                memory = process.memory_info()
                resident += memory.rss
                anonymous += memory.rss - memory.shared
        return resident, anonymous


def environment(pid: int) -> list[bytes]:
    """The environment that a process started with; empty for another user's."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def end_left(wait: bool = True) -> tuple[str, ...]:
    """Kill the processes that carry a dead sizer's mark, and return the marks; HostError if one will not die.

    Without `wait` they are only signalled: one in a frozen group dies when that thaws.
    """
    names = tuple(sorted({_mark(pid) for pid in _left()} - {""}))
    if wait:
        end_all(_left, kill)
    else:
        kill(_left())
    return names


def _left() -> list[int]:
    """Not ourselves, nor who started us: a measured program may have opened the terminal that we were typed in."""
    left = [process.pid for process in psutil.process_iter() if owner_is_dead(_mark(process.pid))]
    if not left:
        return []
    ours = psutil.Process()
    return [pid for pid in left if pid not in {ours.pid, *(process.pid for process in ours.parents())}]


def _mark(pid: int) -> str:
    prefix = f"{MARK}=".encode()
    marks = [variable[len(prefix) :] for variable in environment(pid) if variable.startswith(prefix)]
    return marks[0].decode("utf-8", "replace") if marks else ""


def end_all(living: Callable[[], Collection[int]], kill_all: Callable[[Collection[int]], None]) -> None:
    """Kill until no process is left; HostError, which names them, if one will not die."""
    deadline = time.monotonic() + KILL_SECONDS
    while pids := living():
        if time.monotonic() > deadline:
            raise undying(pids)
        kill_all(pids)
        time.sleep(0.002)


def undying(pids: Collection[int]) -> HostError:
    """These were killed and do not die."""
    return HostError(
        "Processes {listing} do not die; to see what they wait for, type: ps -o pid,stat,wchan,cmd {listing}",
        listing=" ".join(map(str, sorted(pids))),
    )


def kill(pids: Collection[int]) -> None:
    """SIGKILL to those that are there and ours."""
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _is_dead(process: psutil.Process) -> bool:
    try:
        return bool(process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD))
    except psutil.NoSuchProcess:
        return True
