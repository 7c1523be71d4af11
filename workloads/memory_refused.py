"""Whose memory a framework was refused, by the error that it raises; no framework is imported to ask."""

from __future__ import annotations

import re

_OF_GPU = re.compile(r"out of memory", re.IGNORECASE)
_OF_HOST = re.compile(r"DefaultCPUAllocator|Failed to allocate CPU Memory")
"""PyTorch (c10/core/impl/alloc_cpu.cpp) and MXNet (src/storage/cpu_device_storage.h)."""


def place_refused(error: BaseException) -> str | None:
    """`gpu` for PyTorch's OutOfMemoryError and MXNet's failed cudaMalloc, `host` where the host's allocator refused;
    None for any other error."""
    if isinstance(error, MemoryError):
        return "host"
    kind, module, said = type(error).__name__, type(error).__module__.partition(".")[0], str(error)
    if module == "torch" and kind == "OutOfMemoryError":
        return "gpu"
    if module == "mxnet" and "cudaMalloc" in said and _OF_GPU.search(said):
        return "gpu"
    framework = module == "mxnet" or type(error) is RuntimeError  # PyTorch's own are those of Python
    return "host" if framework and _OF_HOST.search(said) else None
