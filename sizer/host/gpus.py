"""NVIDIA GPUs as NVML sees them and as CUDA shows them; a machine without is the usual case, not an error."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pynvml

from sizer.host.asking import ask


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


VISIBLE, ORDER = "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"

BUS_ORDER = {ORDER: "PCI_BUS_ID"}
"""Makes CUDA count GPUs as the driver does; by itself it puts the fastest first, and says nothing of the others' order
(CUDA C++ Programming Guide, "CUDA Environment Variables")."""


def visible_gpus(present: Sequence[Gpu], environment: Mapping[str, str]) -> tuple[Gpu, ...]:
    """The GPUs that CUDA shows to a program with this environment, in its order: `cuda:N` is the one at N.

    CUDA_VISIBLE_DEVICES lists indexes, or UUIDs or beginnings of them, of GPUs or of MIG instances; what follows one
    that does not exist is not seen. None can be told where CUDA orders GPUs of several kinds by its own estimate of
    their speed.
    """
    listing = environment.get(VISIBLE)
    listed = listing is not None
    by_bus = environment.get(ORDER) == BUS_ORDER[ORDER]
    words = [word.strip() for word in (listing or "").split(",")]
    by_number = not listed or any(word.isdecimal() for word in words)
    if by_number and not by_bus and len({gpu.name for gpu in present}) > 1:
        return ()
    if not listed:
        return tuple(present)
    gpus: list[Gpu] = []
    for word in words:
        gpu = _named(word, present)
        if gpu is None or gpu in gpus:
            break
        gpus.append(gpu)
    return tuple(gpus)


def _named(word: str, present: Sequence[Gpu]) -> Gpu | None:
    """One word of the list: an index, a UUID, the beginning of one that no other shares, or a MIG instance."""
    if word.isdecimal():
        return next((gpu for gpu in present if gpu.index == int(word)), None)
    if word.startswith("MIG-"):
        # The instance has a handle of its own, which is asked for by this name; what it has of the card it says itself.
        return replace(present[0], memory_bytes=None, uuid=word, name="MIG") if present else None
    alike = [gpu for gpu in present if word.startswith("GPU-") and (gpu.uuid or "").startswith(word)]
    return alike[0] if len(alike) == 1 else None


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
