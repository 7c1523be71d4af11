"""Whose the processes on a GPU are.

The driver counts processes as the whole machine does, or, some versions of it, as the container does that asks (issues
1483 of nvidia-docker and 112 of HAMi-core): in a container a number may be another process's than it seems.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from sizer.host.nvml import asked

INITIAL_NAMESPACE = 0xEFFFFFFC
"""Inode of the process namespace that a machine starts with (PROC_PID_INIT_INO, include/linux/proc_ns.h)."""

SERVERS = frozenset({"nvidia-cuda-mps"})
"""What lets several programs share a GPU is on it for them (the kernel keeps 15 letters of nvidia-cuda-mps-server)."""


def sees_all_processes() -> bool:
    """Whether process numbers here are those of the whole machine."""
    with suppress(OSError):
        return os.stat("/proc/self/ns/pid").st_ino == INITIAL_NAMESPACE
    return False


class GpuProcesses:
    """The processes on one GPU, told apart. `certain`: the driver's numbers are those that we know.

    Whoever was there before the run is another one. What comes later is, too, once the driver's numbers are known to be
    ours, by the namespace or because one of the run's own processes was among them; until then it may be the run's.
    """

    def __init__(self, certain: bool | None = None) -> None:
        self._certain = sees_all_processes() if certain is None else certain
        self._is_own: Callable[[int], bool] | None = None
        self._own: set[int] = set()
        self._before: frozenset[int] = frozenset()
        self._seen: set[int] = set()

    def tell_own(self, is_own: Callable[[int], bool]) -> None:
        """The run begins: what is on the GPU now is not its."""
        self._before, self._is_own = frozenset(self._seen), is_own

    def others(self, listed: set[int]) -> tuple[str, ...]:
        """Those listed that are not the run's, by name and number.

        A process that was just started or has just ended may not be told for what it is: one reading is not enough.
        """
        if self._is_own is not None:
            # A process that has ended can stay listed for a while, when nothing says any more whose it was.
            self._own |= {pid for pid in listed - self._before if pid not in self._own and self._is_own(pid)}
        self._certain |= bool(self._own)
        stayed = listed & self._seen
        found = stayed - self._own if self._certain else stayed & self._before
        self._seen = listed
        named = ((_name(pid), pid) for pid in sorted(found))
        return tuple(f"{name} (pid {pid})" if name else f"pid {pid}" for name, pid in named if name not in SERVERS)

    def own_bytes(self, listed: Mapping[int, int | None]) -> int | None:
        """What the run's own processes hold of the GPU's memory; None where that cannot be told."""
        held = [held for pid, held in listed.items() if pid in self._own]
        return sum(each for each in held if each is not None) if held and None not in held else None


def _name(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text(errors="replace").strip()
    return Path(asked("nvmlSystemGetProcessName", pid) or "").name
