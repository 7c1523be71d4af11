"""CUDA's own library, which runs programs on GPUs also where NVML, which tells of them, is not."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

from sizer.host.asking import ask

_COUNT = """
import ctypes
cuda, count = ctypes.CDLL("libcuda.so.1"), ctypes.c_int()
print(count.value if cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(count)) == 0 else 0)
"""
"""In a program of its own: what cuInit sets up in a process stays there."""


@cache
def cuda_gpus() -> int:
    """How many GPUs CUDA shows to a program that is started from here; 0 where its library is not there."""
    try:
        return int(ask([sys.executable, "-c", _COUNT]).stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return 0
