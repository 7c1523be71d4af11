"""What computes and what is read: devices and disks of a workload, and how fast a host's CPU is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from statistics import fmean

from sizer.records.domains import (
    Amount,
    Batch,
    Bytes,
    Count,
    DeviceKind,
    Label,
    Probability,
    Rate,
    RateBasis,
    Signed,
    Vcpus,
)

HOST_DISK = "host"
"""The `disk` of a run whose disk was not limited: wherever the data already lay."""

GIVEN_IN_STUDY, GIVEN_IN_TABLE = "given in the study file", "given in the imported table"
"""Sources of an emulated accelerator's rate that is no published one. They are part of a run's id, so they stay so."""

EMULATED_LABEL = "emulated:"
"""Before the name of a GPU, in the label of one that was emulated."""


@dataclass(frozen=True)
class BatchRate:
    """Samples per second of an emulated accelerator with one batch size, who says so, its 90 % and its basis."""

    batch_size: Batch
    samples_per_second: Rate
    source: str
    low: Rate | None = field(default=None, compare=False)
    high: Rate | None = field(default=None, compare=False)
    basis: RateBasis | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Device:
    """Where the step is computed: `cpu`, `cuda` or `emulated` (the step waits for as long as a GPU takes).

    `index` is None for a GPU of an imported table that names none. `scaling_loss` is what several of an emulated GPU
    lose to the exchange of gradients, None is not known: n of them make n exp(-scaling_loss 2 (n - 1) / n) times the
    samples of one. Each of n sends its gradients 2 (n - 1) / n times in a ring all-reduce (Patarasuk and Yuan,
    Bandwidth optimal all-reduce algorithms, 2009, section 3).

    `batch_rates` are those of an emulated GPU where a workload has several batch sizes and each its own rate;
    `samples_per_second` is then that of the middle one. `rate_low` and `rate_high` hold 90 % of what is believed of the
    real GPU's rate, None is not known; how sure a rate is makes no other device of it.
    """

    kind: DeviceKind = "cpu"
    index: Count | None = 0
    gpu: Label | None = None
    samples_per_second: Rate | None = None
    source: str | None = None
    scaling_loss: Probability | None = None
    scaling_source: str | None = None
    batch_rates: tuple[BatchRate, ...] = ()
    rate_low: Rate | None = field(default=None, compare=False)
    rate_high: Rate | None = field(default=None, compare=False)
    rate_basis: RateBasis | None = field(default=None, compare=False)

    @property
    def rate_unsure(self) -> bool:
        """Whether the rate is none that was published for this GPU, nor lies between two, and its interval is known."""
        has_interval = self.rate_low is not None and self.rate_high is not None
        return has_interval and self.rate_basis not in ("published", "interpolated")

    def at_batch(self, batch_size: int) -> Device:
        """As it is with this batch: of several rates that of the nearest batch size, by ratio."""
        if not self.batch_rates:
            return self
        near = min(self.batch_rates, key=lambda rate: abs(math.log(rate.batch_size / batch_size)))
        return replace(self.with_rate(near), batch_rates=())

    def with_rate(self, rate: BatchRate) -> Device:
        """Which is that of one batch size."""
        return replace(
            self,
            samples_per_second=rate.samples_per_second,
            source=rate.source,
            rate_low=rate.low,
            rate_high=rate.high,
            rate_basis=rate.basis,
        )

    def speed_up(self, count: int) -> float | None:
        """How many times the samples of one that many of it make at the most; None where the loss is not known."""
        if count <= 1:
            return 1.0
        return None if self.scaling_loss is None else count * math.exp(-self.scaling_loss * 2 * (count - 1) / count)

    @property
    def label(self) -> str:
        """How a person names it: `cpu`, `cuda:0`, `emulated:P100`, `emulated:300/s`."""
        if self.kind == "emulated":
            return f"{EMULATED_LABEL}{self.gpu or f'{self.samples_per_second or 0:g}/s'}"
        return f"cuda:{self.index or 0}" if self.kind == "cuda" else "cpu"


@dataclass(frozen=True)
class DiskRates:
    """What a disk gives. None is not limited, or not measured."""

    read_iops: Amount | None = None
    read_bytes_per_second: Amount | None = None
    write_iops: Amount | None = None
    write_bytes_per_second: Amount | None = None


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

    `index` and `name` are the driver's. `busy` is the share of the time in which a kernel was running; watts and
    clocks are medians, memory is the most that was in use, of all or of the run's own processes; joules and bytes
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


REFERENCE = {"gzip1": 84.2, "bzip2_9": 13.69, "xz1": 13.26, "zstd7": 47.2}
"""MB/s of one busy thread of AWS c6i (Xeon Platinum 8375C) on Silesia's `dickens`: an index of 1."""


@dataclass(frozen=True)
class Processor:
    """The CPU of a machine: `name` is the instance type, empty of the host that measured, `cpu` the model as its guest
    sees it.

    `rates` are MB/s of one busy thread by compressor, `deviation` the standard deviation of ln of them all from machine
    to machine and time to time. `cores` is how many whole cores its `vcpus` are, None where nobody says;
    `instructions` the widest that it computes matrices with, empty where that is not known; `second_thread` what the
    second of a core adds to decoding JPEGs, of one that has any.
    """

    name: str
    cpu: Label
    rates: Mapping[str, Rate]
    deviation: Amount
    vcpus: Vcpus
    cores: Amount | None
    instructions: str
    second_thread: Signed | None = None

    @property
    def index(self) -> float:
        """One busy thread; AWS c6i is 1."""
        return math.exp(fmean(math.log(rate / REFERENCE[name]) for name, rate in self.rates.items()))


@dataclass(frozen=True)
class Timed:
    """The best of one compressor, as it would be on the published text, over AWS c6i's, and its library's version."""

    compressor: Label
    library: Label
    index: Rate


@dataclass(frozen=True)
class Probe:
    """What one probe of the host gave; `per_vcpu` is what each of `vcpus` busy ones does of one that is busy alone."""

    timed: tuple[Timed, ...]
    per_vcpu: Rate
    vcpus: Count
    at: Label


@dataclass(frozen=True)
class HostSpeed:
    """What was probed before the first run of a study and after its last, where it was not interrupted; the CPU's
    model and number (`GenuineIntel/6/143/8`), and what it computes matrices with."""

    cpu: Label
    cpu_id: str
    instructions: str
    hyperthreads: bool
    probes: tuple[Probe, ...]

    @property
    def processor(self) -> Processor:
        """The machine with the mean of the probes; half of what they differ by is its deviation."""
        logs = [{timed.compressor: math.log(timed.index) for timed in probe.timed} for probe in self.probes]
        alike = [name for name in REFERENCE if all(name in log for log in logs)]
        rates = {name: REFERENCE[name] * math.exp(fmean(log[name] for log in logs)) for name in alike}
        moved = fmean([logs[-1][name] - logs[0][name] for name in alike] or [0.0])
        vcpus = float(self.vcpus)
        cores = vcpus / 2 if self.hyperthreads and vcpus > 1 else vcpus
        return Processor("", self.cpu, rates, abs(moved) / 2, vcpus, cores, self.instructions)

    @property
    def vcpus(self) -> int:
        return self.probes[0].vcpus

    @property
    def per_vcpu(self) -> float:
        return fmean(probe.per_vcpu for probe in self.probes)

    @property
    def interval(self) -> tuple[float, float]:
        """The lowest and the highest index that one compressor gave in one of the probes."""
        indices = [timed.index for probe in self.probes for timed in probe.timed]
        return min(indices), max(indices)
