"""How many threads a framework may use, set in its environment before it is imported."""

from __future__ import annotations

import os

THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
"""Each is read once, when its library is loaded."""


def available() -> int:
    """CPUs this process may run on. `os.cpu_count()` would name the host's, whatever the cpuset."""
    return len(os.sched_getaffinity(0))


def limit_threads(count: int) -> None:
    """Set what is not set yet: who launches a program under limits knows better than its defaults."""
    for variable in THREAD_VARIABLES:
        os.environ.setdefault(variable, str(count))
