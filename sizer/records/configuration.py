"""A configuration, the rate that it gives, and what holds that back: of a run, and of a prediction."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sizer.records.domains import Batch, Bound, Bytes, Count, Label, Name, Signed, Vcpus


@dataclass(frozen=True)
class Configuration:
    """What a run really had: its limits with this host's own values where it was not limited.

    None is not known, which only an imported run has. `gpu` names the accelerator where one job was measured on several
    kinds, and `gpu_count` how many of them it used: 0 is as many as its device says, which is one unless that is a CPU.
    `machine` names one with another CPU than that of all runs.
    """

    vcpus: Vcpus | None
    memory_bytes: Bytes | None
    disk: Name | None
    batch_size: Batch | None
    gpu: Label | None = None
    gpu_count: Count | None = 0
    machine: Label | None = None


NORMAL_90, NORMAL_95 = 1.645, 1.96
"""Standard deviations from the middle of a normal distribution to either end of its central 90 %, and 95 %."""


@dataclass(frozen=True)
class Estimate:
    """A value with its interval: 95 % of the mean in a run, 90 % for a new run in a prediction."""

    value: Signed
    low: Bound
    high: Bound

    @property
    def has_interval(self) -> bool:
        """Whether the ends say anything: a throughput of an imported table may be without them."""
        return self.low < self.high

    @property
    def relative_half_width(self) -> float:
        """Half of the interval over the value, which must not be 0."""
        return (self.high - self.low) / 2 / self.value


class Bottleneck(str, Enum):
    """The resource that holds throughput back."""

    CPU = "cpu"
    SERIAL = "serial"
    DISK_BANDWIDTH = "disk_bandwidth"
    DISK_IOPS = "disk_iops"
    DISK_WRITE = "disk_write"
    ACCELERATOR = "accelerator"
    MEMORY = "memory"
    AMBIGUOUS = "ambiguous"
