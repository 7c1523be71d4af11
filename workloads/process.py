"""What a program asks of the system for its own process: when to stop, how many threads, and to keep freed memory."""

from __future__ import annotations

import ctypes
import os
import signal
from types import FrameType

PR_SET_PDEATHSIG = 1
"""prctl(2): the signal that a process gets when its parent dies."""


def leave_to_parent() -> None:
    """From now on the parent alone decides when this process stops."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)


def die_with_parent() -> None:
    """From now on this process is killed when its parent dies."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class StopRequest:
    """True once SIGTERM or Ctrl-C has asked for an end after the present step; a second one ends it at once."""

    def __init__(self) -> None:
        self._requested = False

    def __bool__(self) -> bool:
        return self._requested

    @classmethod
    def on_signals(cls) -> StopRequest:
        """Listen to SIGTERM and SIGINT from now on."""
        request = cls()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, request._receive)
        return request

    def _receive(self, number: int, _frame: FrameType | None) -> None:
        self._requested = True
        signal.signal(number, signal.SIG_DFL)


THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
"""Each is read once, when its library is loaded."""


def available_cpus() -> int:
    """CPUs this process may run on. `os.cpu_count()` would name the host's, whatever the cpuset."""
    return len(os.sched_getaffinity(0))


def limit_threads(count: int) -> None:
    """Set what is not set yet: who launches a program under limits knows better than its defaults."""
    for variable in THREAD_VARIABLES:
        os.environ.setdefault(variable, str(count))


_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1
"""`M_MMAP_THRESHOLD` and `M_TRIM_THRESHOLD` of glibc's `mallopt`."""
LARGEST_KEPT_BYTES = 1 << 30
_NEVER = -1


def keep_freed_memory(largest_bytes: int = LARGEST_KEPT_BYTES) -> bool:
    """Let `malloc` of this process and of those it forks keep what is freed; True if it does.

    By itself glibc gives arrays of 32 MiB and more back as soon as they are freed, and smaller ones at the end of the
    heap, and the next step fetches them again, page by page. An array of `largest_bytes` and more is still given back.
    A C library without `mallopt` stays as it is.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return bool(mallopt(_MMAP_THRESHOLD, largest_bytes)) and bool(mallopt(_TRIM_THRESHOLD, _NEVER))
