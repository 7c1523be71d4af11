"""What the driver tells of a GPU: at one moment, and over the steady state of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from sizer.records.domains import Amount, Bytes, Count, Label


class ClockReason(str, Enum):
    """Why the clocks of a GPU are lower than they could be, where that is not how somebody set them."""

    POWER_CAP = "power_cap"
    """The driver keeps the card within its power limit."""
    THERMAL = "thermal"
    """The GPU or its memory is too hot: the driver, or the hardware by itself, lowers the clocks."""
    POWER_BRAKE = "power_brake"
    """The machine's power supply asks for less."""
    HARDWARE = "hardware"
    """The hardware halves the clocks or more, and does not say whether for heat or for power."""
    BOARD_LIMIT = "board_limit"
    RELIABILITY = "reliability"
    """A limit of the board, or one that its reliability sets."""


@dataclass(frozen=True)
class GpuSample:
    """One GPU of a run at the moment of a sampling, as NVML told last; None is what this driver or GPU does not tell.

    `busy` are seconds in which a kernel was running, `joules` and the bytes that it sent and received over PCIe counted
    from the start of the run; the rest is of the moment. `own_memory_bytes` is what the run's own processes hold,
    `held_back` why the clocks are lower than they could be, `others` the processes on it that are not the run's.
    """

    busy: Amount | None = None
    memory_bytes: Count | None = None
    own_memory_bytes: Count | None = None
    watts: Amount | None = None
    sm_hertz: Amount | None = None
    memory_hertz: Amount | None = None
    joules: Amount | None = None
    sent_bytes: Amount | None = None
    received_bytes: Amount | None = None
    held_back: tuple[ClockReason, ...] | None = None
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class GpuUse:
    """One GPU over the steady state of a run, as NVML told twice a second; None is what it did not tell.

    `index` and `name` are the driver's. `busy` is the median share of the time in which a kernel was running; watts and
    clocks are medians, too, memory is the most that was in use, of all or of the run's own processes; joules and bytes
    over PCIe are those of one sample. `pcie_counted`: those are the GPU's own counters, and not 20 ms of each half
    second taken for all of it. `held_back` are shares of the time by reason; `others` names the processes on it that
    were not the run's, which were there for `shared` of the time.
    """

    index: Count
    name: Label
    uuid: Label | None = None
    memory_bytes: Bytes | None = None
    busy: Amount | None = None
    peak_memory_bytes: Count | None = None
    own_peak_memory_bytes: Count | None = None
    watts: Amount | None = None
    joules: Amount | None = None
    sm_hertz: Amount | None = None
    memory_hertz: Amount | None = None
    sent_bytes: Amount | None = None
    received_bytes: Amount | None = None
    pcie_counted: bool = True
    held_back: dict[str, Amount] = field(default_factory=dict)
    shared: Amount = 0.0
    others: tuple[str, ...] = ()
