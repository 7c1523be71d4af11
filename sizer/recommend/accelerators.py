"""The accelerators that runs were measured on: kind and count."""

from __future__ import annotations

from dataclasses import dataclass

from sizer.model.feeds import CPU_LABEL
from sizer.model.model import WorkloadModel
from sizer.records.configuration import Configuration
from sizer.records.device import Device

EMULATED = "emulated:"


@dataclass(frozen=True)
class Accelerators:
    """A kind and how many of it; kind None is the device of the workload, count 0 is not known, hence one."""

    gpu: str | None = None
    count: int | None = 0

    def catalog_name(self, device: Device) -> str | None:
        """As instance types name it; None on the CPU, and where the kind is not known."""
        if self.gpu is None:
            return device.gpu
        name = self.gpu.removeprefix(EMULATED)
        return None if name == CPU_LABEL or name.startswith("cuda:") else name

    def number(self, device: Device) -> int:
        """How many a machine must have: none where the CPU computes."""
        if self.gpu == CPU_LABEL or (self.gpu is None and not self.count and device.kind == "cpu"):
            return 0
        return max(1, self.count or 0)


def accelerators_of(configuration: Configuration) -> Accelerators:
    """The accelerators of a configuration."""
    return Accelerators(configuration.gpu, configuration.gpu_count)


def accelerators_measured(model: WorkloadModel) -> Accelerators:
    """Those that a curve of vCPUs was measured on, which are all alike."""
    rates = model.measured.rates
    return accelerators_of(rates[0].configuration) if rates else Accelerators()
