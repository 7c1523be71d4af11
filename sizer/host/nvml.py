"""NVIDIA GPUs as NVML sees them; a machine without is the usual case, not an error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pynvml


@dataclass(frozen=True)
class Gpu:
    """One GPU by the driver's index; `memory_bytes` and `uuid` None where the driver does not report them."""

    index: int
    name: str
    memory_bytes: int | None
    uuid: str | None = None


def gpus() -> tuple[Gpu, ...]:
    """Every GPU of this machine in the order of its PCI bus; none where the driver is not installed."""
    with session() as ready:
        count = (asked("nvmlDeviceGetCount") or 0) if ready else 0
        return tuple(gpu for gpu in map(_gpu, range(count)) if gpu is not None)


def has_driver() -> bool:
    """Whether NVIDIA's driver is there and answers."""
    with session() as ready:
        return ready


def asked(question: str, *arguments: Any) -> Any:
    """What a function of NVML answers, or None: which of them there are differs by GPU, driver and nvidia-ml-py."""
    function = getattr(pynvml, question, None)
    if function is None:
        return None
    try:
        return function(*arguments)
    except pynvml.NVMLError:
        return None


@contextmanager
def session() -> Iterator[bool]:
    """The driver's library, ready to be asked; False where there is none."""
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        yield False
        return
    try:
        yield True
    finally:
        asked("nvmlShutdown")


def _gpu(index: int) -> Gpu | None:
    handle = asked("nvmlDeviceGetHandleByIndex", index)
    if handle is None:
        return None
    memory = asked("nvmlDeviceGetMemoryInfo", handle)
    name = asked("nvmlDeviceGetName", handle) or "unknown GPU"
    uuid = asked("nvmlDeviceGetUUID", handle)
    return Gpu(index, name, None if memory is None else int(memory.total), uuid)
