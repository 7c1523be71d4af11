"""Threads of processes, and which of them are where they should be."""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

THE_DEAD = frozenset("ZX")
"""States of a thread that has ended (proc(5)): it is in no group any more."""


def threads_of(processes: Collection[int]) -> dict[int, int]:
    """The process of each of their living threads."""
    found = {}
    for process in processes:
        with suppress(OSError):
            for thread in map(int, os.listdir(f"/proc/{process}/task")):
                status = Path(f"/proc/{process}/task/{thread}/stat").read_text()
                if status.rpartition(")")[2].split()[0] not in THE_DEAD:
                    found[thread] = process
    return found


def named(processes: Collection[int]) -> str | None:
    """`4711 (python3)`: the first of the processes that still live; None where none does."""
    for process in sorted(processes):
        with suppress(OSError):
            return f"{process} ({Path(f'/proc/{process}/comm').read_text().rstrip()})"
    return None


def beyond(cpus: Collection[int], threads: Collection[int]) -> frozenset[int]:
    """The threads that may run on another CPU than these."""
    found = set()
    for thread in threads:
        with suppress(OSError):
            if not os.sched_getaffinity(thread) <= set(cpus):
                found.add(thread)
    return frozenset(found)
