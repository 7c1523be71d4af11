"""NVIDIA GPUs as NVML sees them; a machine without is the usual case, not an error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import pynvml

T = TypeVar("T")


@dataclass(frozen=True)
class Gpu:
    """One GPU; `memory_bytes` None where the driver does not tell."""

    index: int
    name: str
    memory_bytes: int | None


def gpus() -> tuple[Gpu, ...]:
    """Every GPU of this machine; none where the driver is not installed."""
    with _session() as ready:
        count = (asked(pynvml.nvmlDeviceGetCount) or 0) if ready else 0
        return tuple(gpu for gpu in map(_gpu, range(count)) if gpu is not None)


@contextmanager
def busy_share(index: int) -> Iterator[Callable[[], float | None]]:
    """A function that tells which share of the last moment (1/6 to 1 s, NVML documentation) the GPU was busy."""
    with _session() as ready:
        handle = asked(pynvml.nvmlDeviceGetHandleByIndex, index) if ready else None

        def read() -> float | None:
            rates = asked(pynvml.nvmlDeviceGetUtilizationRates, handle) if handle is not None else None
            return None if rates is None else rates.gpu / 100

        yield read


def asked(question: Callable[..., T], *arguments: Any) -> T | None:
    """The driver's answer, or None: which questions it supports differs by GPU and by driver."""
    try:
        return question(*arguments)
    except pynvml.NVMLError:
        return None


def _gpu(index: int) -> Gpu | None:
    handle = asked(pynvml.nvmlDeviceGetHandleByIndex, index)
    if handle is None:
        return None
    memory = asked(pynvml.nvmlDeviceGetMemoryInfo, handle)
    name = asked(pynvml.nvmlDeviceGetName, handle) or "unknown GPU"
    return Gpu(index, name, None if memory is None else int(memory.total))


@contextmanager
def _session() -> Iterator[bool]:
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        yield False
        return
    try:
        yield True
    finally:
        asked(pynvml.nvmlShutdown)
