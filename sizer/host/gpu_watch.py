"""GPUs watched while a run uses them: twice a second, by a thread, since the driver may take its time to answer."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pynvml

from sizer.host.gpus import Gpu, asked, session
from sizer.records.device import ClockReason, GpuSample

READ_SECONDS = 0.5
"""Between two readings: the driver's own figure of how busy a GPU was is over 1/6 to 1 s (`nvmlUtilization_t`)."""

END_SECONDS = 2.0
"""For a reading that goes on at the end; a driver that hangs is left behind."""

PCIE_FIELDS = (197, 198)
PCIE_RATES = (pynvml.NVML_PCIE_UTIL_TX_BYTES, pynvml.NVML_PCIE_UTIL_RX_BYTES)
"""What a GPU sent and received: newer drivers count it (NVML_FI_DEV_PCIE_COUNT_TX_BYTES and RX, which an older
nvidia-ml-py does not name); others tell only the rate over 20 ms, for which the question waits as long
(`nvmlDeviceGetPcieThroughput`)."""

PROCESS_LISTS = ("nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetGraphicsRunningProcesses")
PROCESS_VERSIONS = ("_v3", "_v2")
"""The newest that a driver knows; without a version nvidia-ml-py asks for its own newest alone."""

COUNTER_BITS = {pynvml.NVML_VALUE_TYPE_UNSIGNED_INT: 32}
"""A counter wraps at the size of its type, which is 64 bits where nothing else is told."""

KILO, MEGA, MILLI = 1e3, 1e6, 1e-3

IDLE = 0x1
HARDWARE, HARDWARE_THERMAL, POWER_BRAKE = 0x8, 0x40, 0x80
HELD_BACK = {
    ClockReason.POWER_CAP: 0x4,
    ClockReason.THERMAL: 0x20 | HARDWARE_THERMAL,
    ClockReason.POWER_BRAKE: POWER_BRAKE,
    ClockReason.BOARD_LIMIT: 0x200,
    ClockReason.RELIABILITY: 0x400,
}
"""Bits of `nvmlClocksEventReasons` that hold clocks back against what was set. The others are how somebody set them:
application clocks 0x2, a group that boosts together 0x10, the display 0x100. 0x8 comes with the bit that says why,
where the hardware knows."""

CLOCK_REASONS = ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons")

INITIAL_NAMESPACE = 0xEFFFFFFC
"""Inode of the process namespace that a machine starts with (PROC_PID_INIT_INO, include/linux/proc_ns.h)."""

SERVERS = frozenset({"nvidia-cuda-mps"})
"""What lets several programs share a GPU is on it for them (the kernel keeps 15 letters of nvidia-cuda-mps-server)."""


def sees_all_processes() -> bool:
    """Whether process numbers here are those of the whole machine."""
    with suppress(OSError):
        return os.stat("/proc/self/ns/pid").st_ino == INITIAL_NAMESPACE
    return False


class GpuProcesses:
    """The processes on one GPU, told apart. The driver counts them as the whole machine does, or, some versions of it,
    as the container does that asks (issues 1483 of nvidia-docker and 112 of HAMi-core). `certain`: the driver's numbers
    are those that we know.

    Whoever was there before the run is another one. What comes later is, too, once the driver's numbers are known to be
    ours, by the namespace or because one of the run's own processes was among them; until then it may be the run's.
    """

    def __init__(self, certain: bool | None = None) -> None:
        self._certain = sees_all_processes() if certain is None else certain
        self._is_own: Callable[[int], bool] | None = None
        self._own: set[int] = set()
        self._before: frozenset[int] = frozenset()
        self._seen: set[int] = set()

    def tell_own(self, is_own: Callable[[int], bool]) -> None:
        """The run begins: what is on the GPU now is not its."""
        self._before, self._is_own = frozenset(self._seen), is_own

    def others(self, listed: set[int]) -> tuple[str, ...]:
        """Those listed that are not the run's, by name and number.

        A process that was just started or has just ended may not be told for what it is: one reading is not enough.
        """
        if self._is_own is not None:
            # A process that has ended can stay listed for a while, when nothing says any more whose it was.
            self._own |= {pid for pid in listed - self._before if pid not in self._own and self._is_own(pid)}
        self._certain |= bool(self._own)
        stayed = listed & self._seen
        others = stayed - self._own if self._certain else stayed & self._before
        self._seen = listed
        named = ((_name(pid), pid) for pid in sorted(others))
        return tuple(f"{name} (pid {pid})" if name else f"pid {pid}" for name, pid in named if name not in SERVERS)

    def own_bytes(self, listed: Mapping[int, int | None]) -> int | None:
        """What the run's own processes hold of the GPU's memory; None where that cannot be told."""
        held = [held for pid, held in listed.items() if pid in self._own]
        return sum(size for size in held if size is not None) if held and None not in held else None


def _name(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text(errors="replace").strip()
    return Path(asked("nvmlSystemGetProcessName", pid) or "").name


def held_back(bits: int) -> tuple[ClockReason, ...]:
    """Why clocks are lower than they could be; nothing where they are low because the GPU has nothing to do."""
    if bits & IDLE:
        return ()
    reasons = [reason for reason, mask in HELD_BACK.items() if bits & mask]
    alone = bits & HARDWARE and not bits & (HARDWARE_THERMAL | POWER_BRAKE)
    return (*reasons, *([ClockReason.HARDWARE] if alone else []))


class GpuWatch:
    """Readings of the GPUs that a run uses; `gpus` are as the driver calls them, MIG instances, too.

    `tell_own` says which processes are the run's own.
    """

    def __init__(self, gpus: Sequence[Gpu], clock: Callable[[], float] = time.monotonic) -> None:
        self._watched = [_Watched(gpu) for gpu in gpus]
        self._clock = clock
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._go_on, name="gpu watch", daemon=True)
        self.latest: tuple[GpuSample, ...] = ()

    @property
    def gpus(self) -> tuple[Gpu, ...]:
        """The GPUs with what the driver says of each."""
        return tuple(watched.gpu for watched in self._watched)

    @property
    def pcie_counted(self) -> tuple[bool, ...]:
        """Whether bytes over PCIe are counted by each, and not taken from 20 ms of each half second."""
        return tuple(watched.pcie_counted for watched in self._watched)

    def tell_own(self, is_own: Callable[[int], bool]) -> None:
        """From now on a process of which this is true is the run's own."""
        for watched in self._watched:
            watched.processes.tell_own(is_own)

    def read(self) -> None:
        """Ask the driver now."""
        self.latest = tuple(watched.read(self._clock()) for watched in self._watched)

    def begin(self) -> None:
        """Count from now on; whoever is on a GPU already is somebody else."""
        self.read()
        self._thread.start()

    def end(self) -> None:
        """Ask no more."""
        self._over.set()
        self._thread.join(END_SECONDS)

    def _go_on(self) -> None:
        while not self._over.wait(READ_SECONDS):
            self.read()


@contextmanager
def watched(gpus: Sequence[Gpu]) -> Iterator[GpuWatch | None]:
    """The GPUs, watched; None where there are none, or no driver to ask."""
    if not gpus:
        yield None
        return
    with session() as ready:
        if not ready:
            yield None
            return
        watch = GpuWatch(gpus)
        watch.begin()
        try:
            yield watch
        finally:
            watch.end()


class _Watched:
    """One GPU, and what of it was counted so far."""

    def __init__(self, gpu: Gpu) -> None:
        by_uuid = asked("nvmlDeviceGetHandleByUUID", gpu.uuid) if gpu.uuid else None
        self._handle = by_uuid if by_uuid is not None else asked("nvmlDeviceGetHandleByIndex", gpu.index)
        memory = self._ask("nvmlDeviceGetMemoryInfo")
        name = self._ask("nvmlDeviceGetName") or gpu.name
        self.gpu = replace(gpu, name=name, memory_bytes=gpu.memory_bytes if memory is None else int(memory.total))
        self.processes = GpuProcesses()
        self._pcie_before = self._pcie_counters()
        self.pcie_counted = self._pcie_before is not None
        self._last: float | None = None
        self._busy = self._joules = 0.0
        self._moved = [0.0, 0.0]

    def read(self, now: float) -> GpuSample:
        """Its figures now; what is counted grows since the first reading."""
        seconds = 0.0 if self._last is None else now - self._last
        self._last = now
        memory = self._ask("nvmlDeviceGetMemoryInfo")
        milliwatts = self._ask("nvmlDeviceGetPowerUsage")
        sm, memory_clock = (
            self._ask("nvmlDeviceGetClockInfo", which) for which in (pynvml.NVML_CLOCK_SM, pynvml.NVML_CLOCK_MEM)
        )
        listed = self._processes()
        others = () if listed is None else self.processes.others(set(listed))
        sent, received = self._pcie(seconds)
        clock_reasons = self._first(CLOCK_REASONS)
        return GpuSample(
            busy=self._busy_seconds(seconds),
            memory_bytes=None if memory is None else int(memory.used),
            own_memory_bytes=None if listed is None else self.processes.own_bytes(listed),
            watts=None if milliwatts is None else milliwatts * MILLI,
            sm_hertz=None if sm is None else sm * MEGA,
            memory_hertz=None if memory_clock is None else memory_clock * MEGA,
            joules=self._joules_since(milliwatts, seconds),
            sent_bytes=sent,
            received_bytes=received,
            held_back=None if clock_reasons is None else held_back(clock_reasons),
            others=others,
        )

    def _ask(self, question: str, *arguments: Any) -> Any:
        return None if self._handle is None else asked(question, self._handle, *arguments)

    def _first(self, questions: Iterable[str]) -> Any:
        """The answer to the first of these questions that has one."""
        return next((answer for question in questions if (answer := self._ask(question)) is not None), None)

    def _busy_seconds(self, seconds: float) -> float | None:
        rates = self._ask("nvmlDeviceGetUtilizationRates")
        if rates is None:
            return None
        self._busy += rates.gpu / 100 * seconds
        return self._busy

    def _joules_since(self, milliwatts: int | None, seconds: float) -> float | None:
        """By its power at each reading: its own counter takes 4.3 ms of CPU time a question (NVIDIA H200)."""
        if milliwatts is None:
            return None
        self._joules += milliwatts * MILLI * seconds
        return self._joules

    def _pcie(self, seconds: float) -> tuple[float | None, float | None]:
        """Bytes sent and received since the first reading."""
        if self._pcie_before is None:
            rates = [self._ask("nvmlDeviceGetPcieThroughput", which) for which in PCIE_RATES]
            if None in rates:
                return None, None
            self._moved = [moved + rate * KILO * seconds for moved, rate in zip(self._moved, rates, strict=True)]
            return self._moved[0], self._moved[1]
        now = self._pcie_counters()
        if now is not None:
            for side, ((before, _), (after, bits)) in enumerate(zip(self._pcie_before, now, strict=True)):
                self._moved[side] += (after - before) % 2**bits
            self._pcie_before = now
        return self._moved[0], self._moved[1]

    def _pcie_counters(self) -> list[tuple[int, int]] | None:
        """What was sent and received since some time, and the bits of each counter."""
        values = self._ask("nvmlDeviceGetFieldValues", list(PCIE_FIELDS))
        if values is None or any(value.nvmlReturn != pynvml.NVML_SUCCESS for value in values):
            return None
        bits = [COUNTER_BITS.get(value.valueType, 64) for value in values]
        return [
            (counter.value.uiVal if width == 32 else counter.value.ullVal, width)
            for counter, width in zip(values, bits, strict=True)
        ]

    def _processes(self) -> dict[int, int | None] | None:
        """The memory of each process that computes or draws on it; None where the driver does not list them."""
        lists = [self._first(f"{question}{version}" for version in PROCESS_VERSIONS) for question in PROCESS_LISTS]
        running = [process for processes in lists if processes is not None for process in processes]
        return None if lists[0] is None else {process.pid: process.usedGpuMemory for process in running}
