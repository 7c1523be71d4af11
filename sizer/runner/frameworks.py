"""Whether a run's processes use a framework that the hook knows, seen from outside."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from pathlib import Path

LIBRARIES = (b"/libtorch_cpu.so", b"/libmxnet.so")
"""What a process has mapped that imported PyTorch or MXNet."""

MOST_PROCESSES = 8
"""That are looked at each time; about 0.3 ms each."""


def uses_framework(pids: Iterable[int]) -> bool:
    """Whether one of these is a Python that imported PyTorch or MXNet."""
    return any(_imported(pid) for pid in islice(pids, MOST_PROCESSES))


def _imported(pid: int) -> bool:
    with suppress(OSError):
        if Path(f"/proc/{pid}/exe").readlink().name.startswith(("python", "pypy")):
            mapped = Path(f"/proc/{pid}/maps").read_bytes()
            return any(library in mapped for library in LIBRARIES)
    return False
