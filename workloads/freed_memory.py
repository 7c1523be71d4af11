"""Freed memory stays with the process, for the next step to take."""

from __future__ import annotations

import ctypes

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
