"""The model as a record: what was measured, what was fitted, and how sure it is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any, TypeVar

from sizer.records.device import EMULATED_LABEL, HOST_DISK, Device, DiskRates, Processor
from sizer.records.domains import SCHEMA_VERSION
from sizer.records.kinds import PREPROCESSING
from sizer.records.prediction import NORMAL_90, Bottleneck, Configuration, Estimate, Reason, Refusal
from sizer.records.units import GIB, MIB

Value = TypeVar("Value")

DRIFT = 0.01
"""What repeats of one configuration do not show of ln rate: the host drifts between configurations."""
WITHIN = 1.10
"""What is searched for is found when the smallest that held is this much above the largest that did not, or below."""
MARGIN = 1.25
"""Memory kept free above the anonymous peak: libraries are charged elsewhere on the measuring host, and peaks vary."""
LEAST_BYTES = 8 * MIB
"""No interpreter starts below it, so there is no use in looking there."""


def deviation_of(noise: float, runs: int) -> float:
    """The standard deviation of ln of the measured rate of so many runs, each with this noise."""
    return math.hypot(noise / math.sqrt(runs), DRIFT)


def of_new_run(rate: float, deviation: float, noise: float) -> Estimate:
    """A measured rate with the 90 % interval of a new run, by the standard deviations of both in ln rate.

    The answer among machines that were measured and what `predict` says of a row of a table are this one figure.
    """
    half = NORMAL_90 * math.hypot(deviation, noise)
    return Estimate(rate, rate * math.exp(-half), rate * math.exp(half))


def vcpus_of(configuration: Configuration) -> float:
    """An axis that a table does not have is the same in all of its runs, so any constant does for the fit."""
    return 1.0 if configuration.vcpus is None else configuration.vcpus


def memory_of(configuration: Configuration) -> int:
    return GIB if configuration.memory_bytes is None else configuration.memory_bytes


def batch_of(configuration: Configuration) -> int:
    return 1 if configuration.batch_size is None else configuration.batch_size


def disk_of(configuration: Configuration) -> str:
    return name_of_disk(configuration.disk)


def name_of_disk(name: str | None) -> str:
    """A disk that nobody named is wherever the data lay."""
    return HOST_DISK if name is None else name


def gpus_of(configuration: Configuration) -> int:
    """How many accelerators; 0 is as many as the device says."""
    return configuration.gpu_count or 0


def or_unknown(values: Sequence[Value]) -> Sequence[Value | None]:
    """The measured values of an axis; a single None where the axis is not known."""
    return values or (None,)


def no_more(one: float | None, other: float | None) -> bool:
    """Whether a value is no larger than another: on an unknown axis all are the same."""
    return one is None or other is None or one <= other


def present(values: Iterable[Value | None]) -> set[Value]:
    """The values that are."""
    return {value for value in values if value is not None}


def needs_no_less(configuration: Configuration, killed: Configuration) -> bool:
    """Whether what ran out of memory there does so here: as much to hold or more, in as much memory or less."""
    return (
        fills_accelerators(configuration, killed)
        and no_more(killed.vcpus, configuration.vcpus)
        and no_more(configuration.memory_bytes, killed.memory_bytes)
    )


def fills_accelerators(configuration: Configuration, killed: Configuration) -> bool:
    """The same of the memory of the accelerators: as large a batch or larger, on as many of the kind or fewer."""
    return (
        configuration.gpu == killed.gpu
        and max(1, gpus_of(configuration)) <= max(1, gpus_of(killed))
        and batch_of(configuration) >= batch_of(killed)
    )


CPU_LABEL = "cpu"
"""The name given to the accelerator of runs without one, where others of the same workload had one."""


@dataclass(frozen=True)
class WhatIf:
    """A change to ask about: a faster GPU, another disk, a bigger data set, a cheaper decoder (demand x factor), more
    of the loader's workers than one a vCPU (x factor): each waits for the disk as long, but more of them at once. With
    `step_elsewhere` the CPU does not compute the step: an accelerator does, and never holds anything back."""

    gpu_speedup: float = 1.0
    disk_rates: DiskRates | None = None
    data_bytes_factor: float = 1.0
    decode_factor: float = 1.0
    loader_workers_factor: float = 1.0
    step_elsewhere: bool = False


class Quantity(str, Enum):
    """What a parameter of the model is."""

    CPU_TIME = "cpu_time"
    BYTES_READ = "bytes_read"
    READS = "reads"
    BYTES_WRITTEN = "bytes_written"
    WRITES = "writes"
    ACCELERATOR_RATE = "accelerator_rate"
    WORKER_WAIT = "worker_wait"
    RATE_OF_ONE_VCPU = "rate_of_one_vcpu"
    STEP_CPU_TIME = "step_cpu_time"
    CONTENTION = "contention"
    COHERENCE = "coherence"
    HANDOVER = "handover"
    YIELD = "yield"
    FRACTION_COST = "fraction_cost"
    SERIAL_CEILING = "serial_ceiling"
    GPU_LOSS = "gpu_loss"
    LAUNCH_COST = "launch_cost"
    OVERLAP_EXPONENT = "overlap_exponent"
    DISK_CAPACITY = "disk_capacity"
    MEMORY_HELD = "memory_held"
    MEMORY_OF_DATA = "memory_of_data"
    MEMORY_PRESSURE = "memory_pressure"


class Source(str, Enum):
    """Where a figure of the model comes from."""

    ACCOUNTING = "accounting"
    DATA_SET = "data_set"
    FIT = "fit"


@dataclass(frozen=True)
class Parameter:
    """One quantity of the model in physical units, with its 90 % interval and where it comes from.

    `of` is the disk or the accelerator that it is of, `probability` that it is there at all, None where that is sure.
    """

    quantity: Quantity
    unit: str
    value: float
    low: float
    high: float
    source: Source
    of: str | None = None
    probability: float | None = None


@dataclass(frozen=True)
class MemoryTrial:
    """Whether one memory cap held; `anonymous_bytes` is the peak of memory that cannot be dropped.

    `kernel_bytes` is the kernel's own for the run, which cannot be dropped either. `searched` if the run was one of a
    search for the memory floor: it shows whether the cap is enough, and no rate. `asked` if the cap is one that the
    study asks for.
    """

    vcpus: float | None
    batch_size: int | None
    memory_bytes: int
    completed: bool
    anonymous_bytes: int | None = None
    kernel_bytes: int | None = None
    searched: bool = False
    asked: bool = False


@dataclass(frozen=True)
class Bounds:
    """The largest memory cap in bytes that was too small and the smallest above it that completed; None if none did."""

    too_small: int | None
    held: int | None

    @property
    def close(self) -> bool:
        """Whether they are within a tenth or a MiB of each other, or next to the least that is looked at."""
        low = self.too_small or 0
        return self.held is not None and self.held <= max(WITHIN * low, low + MIB, LEAST_BYTES)


class GivenUpKind(str, Enum):
    """Why a search ended before its bounds were close."""

    CRASHED = "crashed"
    """The run with so many bytes crashed, which says nothing of the cap."""
    TIMED_OUT = "timed_out"
    """The run with so many bytes timed out, and no larger cap completed."""
    MOST_RUNS = "most_runs"
    """So many runs were made."""


@dataclass(frozen=True)
class GivenUp:
    """Why a search was given up, with the bytes or the runs of its kind."""

    kind: GivenUpKind
    figure: int


@dataclass(frozen=True)
class SearchedFloor:
    """The bounds after a search; `timed_out` if the lower one is of a run that was too slow and not killed.

    `given_up` says why the search ended before the bounds were close, None if it did not. `pipeline_alone` where the
    accelerator was emulated.
    """

    bounds: Bounds
    timed_out: bool = False
    given_up: GivenUp | None = None
    pipeline_alone: bool = False


@dataclass(frozen=True)
class MeasuredDisk:
    """A disk that runs were measured on, with the figures to compute with; `name` None is one that nobody named."""

    name: str | None
    rates: DiskRates
    disk_class: str | None = None
    catalog_name: str | None = None
    emulated: bool = False
    size_bytes: int | None = None


@dataclass(frozen=True)
class MeasuredRate:
    """The measured rate of one configuration, and what its accounting named as bottleneck.

    `noise` is the standard deviation of ln rate of a new run by these runs and others made alike, `busy` the median
    share that the named resource was busy for, None where nothing was named. `log_usual` is ln of the rate on the host
    as it usually was, with its standard deviation: what the fit was to; None where nothing was fitted.
    """

    configuration: Configuration
    throughput: Estimate
    runs: int
    noise: float
    evidence: Bottleneck | None = None
    busy: float | None = None
    log_usual: float | None = None
    deviation: float | None = None

    @property
    def usual(self) -> float:
        """The rate on the host as it usually was, as far as that is known."""
        return self.throughput.value if self.log_usual is None else math.exp(self.log_usual)

    @property
    def of_new_run(self) -> Estimate:
        """The rate with the 90 % interval of a new run, by its own runs and no curve."""
        return of_new_run(self.throughput.value, deviation_of(self.noise, self.runs), self.noise)


@dataclass(frozen=True)
class Gpus:
    """A kind of accelerator and how many of it. The kind is None where it is that of the workload's device, as where
    only one was measured; count 0 is not known, hence one."""

    gpu: str | None = None
    count: int | None = 0

    def catalog_name(self, device: Device) -> str | None:
        """As instance types name it; None on the CPU, and where the kind is not known."""
        if self.gpu is None:
            return device.gpu
        name = self.gpu.removeprefix(EMULATED_LABEL)
        return None if name == CPU_LABEL or name.startswith("cuda:") else name

    def number(self, device: Device) -> int:
        """How many a machine must have: none where the CPU computes."""
        if self.gpu == CPU_LABEL or (self.gpu is None and not self.count and device.kind == "cpu"):
            return 0
        return max(1, self.count or 0)


@dataclass(frozen=True)
class MeasuredRange:
    """The range that was measured: distinct values of each axis in rising order, and every configuration.

    `rates` are those of the runs that predictions are about: not those that isolate one stage. `gpus` are the measured
    pairs of a kind of accelerator and its count, the usual kind first. `failed_vcpus` are those at which no run
    completed and some failed otherwise than for want of memory. `did_not_fit` are the configurations that ran out of
    memory, the host's or the accelerator's; `overfilled` are those of the latter. An axis that an imported table does
    not have is empty.
    """

    vcpus: tuple[float, ...] = ()
    memory_bytes: tuple[int, ...] = ()
    batch_size: tuple[int, ...] = ()
    gpus: tuple[Gpus, ...] = ()
    disks: tuple[MeasuredDisk, ...] = ()
    rates: tuple[MeasuredRate, ...] = ()
    trials: tuple[MemoryTrial, ...] = ()
    search: SearchedFloor | None = None
    failed_vcpus: tuple[float, ...] = ()
    did_not_fit: tuple[Configuration, ...] = ()
    overfilled: tuple[Configuration, ...] = ()

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """The numbers of accelerators, rising; those that are not known or 0 are none."""
        return tuple(sorted({gpus.count for gpus in self.gpus if gpus.count}))

    @cached_property
    def kept(self) -> dict[object, Any]:
        """Memory floors and peaks by vCPUs and batch size, as they are found."""
        return {}

    def disk(self, name: str | None) -> MeasuredDisk | None:
        """The measured disk of that name, or None. One without a name is called HOST_DISK, too."""
        return self._disks.get(name_of_disk(name))

    @cached_property
    def _disks(self) -> dict[str, MeasuredDisk]:
        return {name_of_disk(disk.name): disk for disk in reversed(self.disks)}

    def rate_at(self, configuration: Configuration) -> MeasuredRate | None:
        """The measured configuration that this one is; memory counts only where it was varied."""
        return self._rates.get(self._place(configuration))

    @cached_property
    def _rates(self) -> dict[tuple[object, ...], MeasuredRate]:
        return {self._place(rate.configuration): rate for rate in reversed(self.rates)}

    def _place(self, here: Configuration) -> tuple[object, ...]:
        memory = here.memory_bytes if len(self.memory_bytes) > 1 else None
        return here.vcpus, disk_of(here), here.batch_size, here.gpu, here.gpu_count, memory, here.machine

    def evidence_at(self, configuration: Configuration) -> Bottleneck | None:
        """What accounting named there; None where it was not measured or nothing was named."""
        rate = self.rate_at(configuration)
        return rate.evidence if rate else None


@dataclass(frozen=True)
class Feed:
    """What a run was fed with, and whether the page cache was left to it: `natural`, and not emptied between epochs."""

    input: str = "disk"
    cache: str = "cold"

    @property
    def natural(self) -> bool:
        return self.input == "disk" and self.cache == "natural"


class CpuWork(str, Enum):
    """What keeps the CPU busy, as far as it says how much the second hyperthread of a core adds."""

    IMAGES = "images"
    """Decoding them, for an accelerator or to pack them."""
    MATRIX = "matrix"
    """The products of a network."""


@dataclass(frozen=True)
class WorkloadFacts:
    """What is known of a workload without fitting: demands of one sample from accounting, and its data set.

    Bytes, IOs and core-seconds are per sample; `step_core_seconds` is the part of them that synthetic input needs, too.
    `hit_blend` is where the page cache lies between LRU (0) and the cached fraction (1), `read_amplification` how many
    bytes the device reads for each one that missed it (readahead). `accelerator` is the label of
    the one that most runs used, `accelerator_rates` samples per second of each one alone, where known, and `devices`
    the device of each label, where there are several; `mixed_with_cpu` if some runs had none. `feed` is that of the
    runs that predictions are about.
    `several_accounted`: sizer itself measured several accelerators together, here or for an imported table; what they
    lose to each other is stated where they were emulated (`Device.scaling_loss`), and fitted else. `paired`: every
    second vCPU of the runs was the other half of a core. `may_cache`: the page cache may keep data between epochs.
    `cpu_work` is None where no run says it. `measured_on` are the machines that the runs were made on, as far as their
    indices are known: of several the configurations name one each. `processors` are all that configurations may name.
    """

    kind: str
    device: Device
    feed: Feed = Feed()
    core_seconds: float | None = None
    step_core_seconds: float | None = None
    read_bytes: float | None = None
    read_ios: float | None = None
    written_bytes: float | None = None
    write_ios: float | None = None
    demand_accounted: bool = False
    data_bytes: int | None = None
    sequential: bool = False
    hit_blend: float = 0.0
    read_amplification: float = 1.0
    accelerator: str | None = None
    accelerator_rates: dict[str, float] = field(default_factory=dict)
    mixed_with_cpu: bool = False
    reference_batch: int = 1
    highest_rate: float = 1.0
    several_accounted: bool = False
    paired: bool = False
    may_cache: bool = False
    cpu_work: CpuWork | None = None
    measured_on: tuple[Processor, ...] = ()
    processors: tuple[Processor, ...] = ()
    devices: dict[str, Device] = field(default_factory=dict)

    def device_called(self, label: str | None) -> Device:
        """The device of this label; the usual one where several have none."""
        return self.devices.get(label or "", self.device)

    def stated_speed_up(self, count: int, label: str | None = None) -> float | None:
        """How many times the samples of one so many accelerators make, where sizer emulated what they lose."""
        device = self.device_called(label)
        return device.speed_up(count) if self.several_accounted and device.kind == "emulated" else None

    @property
    def scaling_loss(self) -> float | None:
        """What several accelerators were said to lose to each other, where sizer emulated that."""
        return self.device.scaling_loss if self.several_accounted and self.device.kind == "emulated" else None

    @property
    def step_apart(self) -> bool:
        """Whether what decoding costs the CPU is told from what the step does; preprocessing has no step."""
        return self.step_core_seconds is not None or self.kind == PREPROCESSING

    @property
    def natural(self) -> bool:
        """Whether the page cache keeps what it can between epochs."""
        return self.feed.natural

    @property
    def accelerator_rate(self) -> float | None:
        """Samples per second of the usual accelerator alone; None where it has none or it is not known."""
        return self.accelerator_rates.get(self.accelerator) if self.accelerator is not None else None


@dataclass(frozen=True)
class Observation:
    """One configuration: ln of its measured rate and the standard deviation of that.

    `read_bytes` is what a sample read from the device while these runs were made; `core_seconds` and
    `accelerator_seconds` are what it kept them busy for. `starved`: others had a part of its vCPUs in every run, so
    that the rate is a lower bound.
    """

    configuration: Configuration
    feed: Feed
    log_rate: float
    deviation: float
    read_bytes: float | None = None
    core_seconds: float | None = None
    accelerator_seconds: float | None = None
    starved: bool = False


@dataclass(frozen=True)
class Posterior:
    """What is believed after the runs: `vectors` (D, k) of the quantities named, each as likely as the others, and the
    configurations that they were learnt from. `noise` is the standard deviation of ln rate of a new run."""

    names: tuple[str, ...]
    vectors: tuple[tuple[float, ...], ...]
    seen: tuple[Observation, ...]
    noise: float

    @cached_property
    def kept(self) -> dict[str, Any]:
        """What asking for other places needs again and again, as it is found."""
        return {}


@dataclass(frozen=True)
class WorkloadModel:
    """The model of one workload.

    `posterior` is None where no run completed, `memory_counts` whether the rate differs over the memory measured.
    `refused` says why there is no model and which run would help most,
    `scaling` where more vCPUs stop paying.
    """

    name: str
    sample_unit: str
    facts: WorkloadFacts
    measured: MeasuredRange
    refused: Refusal | None = None
    scaling: Reason | None = None
    parameters: tuple[Parameter, ...] = ()
    floor: Bounds | None = None
    posterior: Posterior | None = None
    memory_counts: bool = False

    @property
    def noise(self) -> float:
        """The standard deviation of ln rate of a new run."""
        return self.posterior.noise if self.posterior is not None else 0.0


@dataclass(frozen=True)
class Model:
    """The models of all workloads of a study, in the order in which they were first run."""

    workloads: tuple[WorkloadModel, ...]
    schema_version: int = SCHEMA_VERSION

    def workload(self, name: str) -> WorkloadModel:
        """The model of that workload; KeyError if the runs have none of that name."""
        for workload in self.workloads:
            if workload.name == name:
                return workload
        raise KeyError(name)
