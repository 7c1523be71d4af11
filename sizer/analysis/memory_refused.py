"""Whose memory a program was refused, by the last lines of its log: frameworks say so, and end. Pure."""

from __future__ import annotations

import re

from sizer.records.run_kinds import MemoryPlace

_OF_GPU = re.compile(
    r"(CUDA|HIP) out of memory|\btorch\.(cuda\.)?OutOfMemoryError\b|CUDA_ERROR_OUT_OF_MEMORY"
    r"|cudaMalloc\b.*out of memory|OOM when allocating tensor.*\bGPU\b"
)
"""PyTorch (torch/csrc), XLA and TensorFlow, MXNet (src/storage), TensorFlow's allocator."""
_OF_HOST = re.compile(
    r"^(?:[\w.]+\.)?_?(Array)?MemoryError\b|DefaultCPUAllocator: (can't|not enough)|Failed to allocate CPU Memory"
    r"|std::bad_alloc",
    re.MULTILINE,
)
"""Python and numpy, PyTorch, MXNet, C++."""


def refused_in(last_lines: str) -> MemoryPlace | None:
    """None where no line of a framework that is known says that memory was refused."""
    if _OF_GPU.search(last_lines):
        return MemoryPlace.GPU
    return MemoryPlace.HOST if _OF_HOST.search(last_lines) else None
