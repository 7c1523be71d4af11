"""Processes found by a mark that they inherit: a run's where the kernel keeps no group for us, and a killed sizer's."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from sizer.limits.identity import KILL_SECONDS, owner_is_dead
from sizer.records.messages import HostError

MARK = "SIZER_GROUP"
"""The environment variable, with an owned name, of all that a sizer starts.

A daemon leaves its session and its parent and keeps this."""


@dataclass(frozen=True)
class Usage:
    """What a process and the children it has waited for used; bytes and seconds."""

    core_seconds: float = 0.0
    read_bytes: int = 0
    written_bytes: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.core_seconds + other.core_seconds,
            self.read_bytes + other.read_bytes,
            self.written_bytes + other.written_bytes,
        )


class ProcessTree:
    """The processes that carry a mark, those that descend from them, and what the dead among them used."""

    def __init__(self, mark: str) -> None:
        self._carries = f"{MARK}={mark}".encode()
        # A second before: the start times of processes are rounded. Older processes cannot belong to the run.
        self._opened = time.time() - 1.0
        self._members: dict[int, psutil.Process] = {}
        self._last: dict[int, tuple[int, Usage]] = {}
        self._departed = Usage()

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
                self._departed += used
        self._last = living
        total = self._departed
        for _, used in living.values():
            total += used
        return total

    def _measure(self, process: psutil.Process) -> tuple[int, Usage]:
        parent, before = self._last.get(process.pid, (0, Usage()))
        with suppress(psutil.Error):
            parent, times = process.ppid(), process.cpu_times()
            core_seconds = times.user + times.system + times.children_user + times.children_system
            before = Usage(core_seconds, before.read_bytes, before.written_bytes)
            disk = process.io_counters()
            before = Usage(core_seconds, disk.read_bytes, disk.write_bytes)
        return parent, before

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
    names = tuple(sorted({_mark(process.pid) for process in _left()} - {""}))
    if wait:
        kill_all(_left)
    else:
        _kill(_left())
    return names


def _left() -> list[psutil.Process]:
    """Not ourselves, nor who started us: a measured program may have opened the terminal that we were typed in."""
    found = [process for process in psutil.process_iter() if owner_is_dead(_mark(process.pid))]
    if not found:
        return []
    ours = psutil.Process()
    spared = {ours.pid, *(process.pid for process in ours.parents())}
    return [process for process in found if process.pid not in spared]


def _mark(pid: int) -> str:
    prefix = f"{MARK}=".encode()
    marks = [each[len(prefix) :] for each in environment(pid) if each.startswith(prefix)]
    return marks[0].decode("utf-8", "replace") if marks else ""


def kill_all(members: Callable[[], list[psutil.Process]]) -> None:
    """SIGKILL until no member is left; HostError if one will not die."""
    deadline = time.monotonic() + KILL_SECONDS
    while living := members():
        if time.monotonic() > deadline:
            listing = " ".join(str(process.pid) for process in living)
            raise HostError(
                "Processes {listing} do not die; to see what they wait for, type: ps -o pid,stat,wchan,cmd {listing}",
                listing=listing,
            )
        _kill(living)
        time.sleep(0.002)


def _kill(processes: list[psutil.Process]) -> None:
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process.pid, signal.SIGKILL)


def _is_dead(process: psutil.Process) -> bool:
    try:
        return bool(process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD))
    except psutil.NoSuchProcess:
        return True
