"""A double of NVIDIA's driver, put in the place of pynvml's functions: no GPU is needed, and none is judged by it."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pynvml
import pytest


@dataclass
class FakeGpu:
    """One GPU; a figure of None is one that it does not support. Counters are set by the test."""

    uuid: str = "GPU-0000"
    name: str = "FAKE-GPU (test double)"
    busy: int | None = 75
    used: int | None = 4 << 30
    total: int = 16 << 30
    milliwatts: int | None = 150_000
    sm: int | None = 1_380
    memory: int | None = 877
    reasons: int | None = 0
    old_reasons: int | None = None
    sent: tuple[int, int] | None = (1_000, 64)
    received: tuple[int, int] | None = (2_000, 64)
    rates: tuple[int, int] | None = (10, 20_000)
    compute: dict[int, int | None] | None = field(default_factory=dict)
    graphics: dict[int, int | None] | None = field(default_factory=dict)


class FakeNvml:
    """Answers for its GPUs as pynvml does, and raises NotSupported as pynvml does."""

    def __init__(self, *gpus: FakeGpu) -> None:
        self.gpus = gpus
        self.asked: list[str] = []

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Put it in the place of the library's functions."""
        for name in dir(self):
            if name.startswith("nvml"):
                monkeypatch.setattr(pynvml, name, getattr(self, name))
        for kind in ("Compute", "Graphics"):
            # As an older driver, which does not know the newest version of these.
            monkeypatch.delattr(pynvml, f"nvmlDeviceGet{kind}RunningProcesses_v3", raising=False)

    def nvmlInit(self) -> None:
        self.asked.append("init")

    def nvmlShutdown(self) -> None:
        self.asked.append("shutdown")

    def nvmlDeviceGetCount(self) -> int:
        return len(self.gpus)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> FakeGpu:
        if index >= len(self.gpus):
            raise pynvml.NVMLError(pynvml.NVML_ERROR_INVALID_ARGUMENT)
        return self.gpus[index]

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> FakeGpu:
        same = [gpu for gpu in self.gpus if gpu.uuid == uuid]
        if not same:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)
        return same[0]

    def nvmlDeviceGetName(self, gpu: FakeGpu) -> str:
        return gpu.name

    def nvmlDeviceGetUUID(self, gpu: FakeGpu) -> str:
        return gpu.uuid

    def nvmlDeviceGetMemoryInfo(self, gpu: FakeGpu) -> SimpleNamespace:
        return SimpleNamespace(total=gpu.total, used=supported(gpu.used))

    def nvmlDeviceGetUtilizationRates(self, gpu: FakeGpu) -> SimpleNamespace:
        return SimpleNamespace(gpu=supported(gpu.busy), memory=0)

    def nvmlDeviceGetPowerUsage(self, gpu: FakeGpu) -> int:
        return supported(gpu.milliwatts)

    def nvmlDeviceGetClockInfo(self, gpu: FakeGpu, which: int) -> int:
        return supported(gpu.sm if which == pynvml.NVML_CLOCK_SM else gpu.memory)

    def nvmlDeviceGetCurrentClocksEventReasons(self, gpu: FakeGpu) -> int:
        return supported(gpu.reasons, pynvml.NVML_ERROR_FUNCTION_NOT_FOUND)

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, gpu: FakeGpu) -> int:
        return supported(gpu.old_reasons)

    def nvmlDeviceGetFieldValues(self, gpu: FakeGpu, fields: list[int]) -> list[SimpleNamespace]:
        counters = {
            pynvml.NVML_FI_DEV_PCIE_COUNT_TX_BYTES: gpu.sent,
            pynvml.NVML_FI_DEV_PCIE_COUNT_RX_BYTES: gpu.received,
        }
        return [_field_value(counters[field_]) for field_ in fields]

    def nvmlDeviceGetPcieThroughput(self, gpu: FakeGpu, which: int) -> int:
        self.asked.append("pcie throughput")
        return supported(gpu.rates)[which]

    def nvmlDeviceGetComputeRunningProcesses_v2(self, gpu: FakeGpu) -> list[SimpleNamespace]:
        return _processes(gpu.compute)

    def nvmlDeviceGetGraphicsRunningProcesses_v2(self, gpu: FakeGpu) -> list[SimpleNamespace]:
        return _processes(gpu.graphics)

    def nvmlSystemGetProcessName(self, _pid: int) -> str:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)


def supported(figure: Any, error: int = pynvml.NVML_ERROR_NOT_SUPPORTED) -> Any:
    """The figure; raises as pynvml does where there is none."""
    if figure is None:
        raise pynvml.NVMLError(error)
    return figure


def _field_value(counter: tuple[int, int] | None) -> SimpleNamespace:
    if counter is None:
        return SimpleNamespace(nvmlReturn=pynvml.NVML_ERROR_NOT_SUPPORTED, valueType=0, value=None)
    number, bits = counter
    kind = pynvml.NVML_VALUE_TYPE_UNSIGNED_INT if bits == 32 else pynvml.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG
    value = SimpleNamespace(uiVal=number if bits == 32 else -1, ullVal=number if bits == 64 else -1)
    return SimpleNamespace(nvmlReturn=pynvml.NVML_SUCCESS, valueType=kind, value=value)


def _processes(held: dict[int, int | None] | None) -> list[SimpleNamespace]:
    return [SimpleNamespace(pid=pid, usedGpuMemory=memory) for pid, memory in supported(held).items()]
