"""Processes found by a mark that they inherit: a run's where the kernel keeps no group for us, and a killed sizer's."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from sizer.limits.identity import KILL_SECONDS, owner_is_dead
from sizer.records.messages import HostError

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
