"""The model as a record: what was measured, what was fitted, and how sure it is."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field, fields
from enum import Enum
from functools import cached_property
from itertools import pairwise
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sizer.model.columns import Columns
from sizer.model.coordinates import disk_of, memory_of, name_of_disk
from sizer.model.design import Design
from sizer.model.floor_runs import SearchedFloor
from sizer.model.trend import Edge
from sizer.records import (
    PREPROCESSING,
    SCHEMA_VERSION,
    Bottleneck,
    Configuration,
    Device,
    DiskRates,
    Estimate,
    Reason,
    Refusal,
)

SLOWER = 0.95
"""Of a rate: what is below that is clearly slower."""
NORMAL_90 = 1.645
"""Standard deviations from the middle of a normal distribution to either end of its central 90 %."""
DRIFT = 0.01
"""What repeats of one configuration do not show of ln rate: the host drifts between configurations."""


def deviation_of(noise: float, runs: int) -> float:
    """The standard deviation of ln of the measured rate of so many runs, each with this noise."""
    return math.hypot(noise / math.sqrt(runs), DRIFT)


def of_new_run(rate: float, deviation: float, noise: float) -> Estimate:
    """A measured rate with the 90 % interval of a new run, by the standard deviations of both in ln rate.

    The answer among machines that were measured and what `predict` says of a row of a table are this one figure.
    """
    half = NORMAL_90 * math.hypot(deviation, noise)
    return Estimate(rate, rate * math.exp(-half), rate * math.exp(half))


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
    READS_MISSED = "reads_missed"
    TIME_WITH_MEMORY = "time_with_memory"
    RATE_OF_ONE_VCPU = "rate_of_one_vcpu"
    STEP_CPU_TIME = "step_cpu_time"
    SERIAL_SHARE = "serial_share"
    COHERENCE_COST = "coherence_cost"
    OVERHEAD = "overhead"
    FULL_VCPUS = "full_vcpus"
    YIELD_BEYOND = "yield_beyond"
    FRACTION_COST = "fraction_cost"
    SERIAL_CEILING = "serial_ceiling"
    ACCELERATOR_CEILING = "accelerator_ceiling"
    GPU_LOSS = "gpu_loss"
    CPU_LAUNCH_COST = "cpu_launch_cost"
    ACCELERATOR_LAUNCH_COST = "accelerator_launch_cost"
    OVERLAP_EXPONENT = "overlap_exponent"
    MEMORY_CAPACITY = "memory_capacity"
    DISK_CAPACITY = "disk_capacity"


class Source(str, Enum):
    """Where a figure of the model comes from."""

    ACCOUNTING = "accounting"
    DATA_SET = "data_set"
    FIT = "fit"


@dataclass(frozen=True)
class Parameter:
    """One quantity of the model in physical units, with its 90 % interval and where it comes from.

    `of` is the disk, the accelerator, the memory in bytes or the batch size that it is of.
    """

    quantity: Quantity
    unit: str
    value: float
    low: float
    high: float
    source: Source
    of: str | None = None


@dataclass(frozen=True)
class MemoryFloor:
    """The largest cap that ran out of memory and the smallest above it that completed; None where no run shows it."""

    out_of_memory_bytes: int | None
    completed_bytes: int | None


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
class MeasuredDisk:
    """A disk that runs were measured on, with the figures to compute with; `name` None is one that nobody named."""

    name: str | None
    rates: DiskRates
    disk_class: str | None = None
    catalog_name: str | None = None
    emulated: bool = False


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
    """A kind of accelerator and how many of it; the label is None where only one kind was measured."""

    gpu: str | None = None
    count: int | None = 0


class Machines:
    """Measured configurations of one kind of accelerator and one disk, with their values as columns."""

    def __init__(self, rates: tuple[MeasuredRate, ...]) -> None:
        self.rates = rates
        self.columns = Columns([rate.configuration for rate in rates])
        self.throughput = np.array([rate.throughput.value for rate in rates])
        self.counts = frozenset(int(count) for count in self.columns.gpu_count)

    def of_batch(self, batch_size: int | None) -> NDArray[np.bool_]:
        """Which have this batch size (n,)."""
        if batch_size is None:
            return np.isnan(self.columns.batch_size)
        found: NDArray[np.bool_] = self.columns.batch_size == batch_size
        return found

    def fastest(self, among: NDArray[np.bool_]) -> MeasuredRate | None:
        """Of those that are marked (n,), the first of several; None where none is."""
        return self.rates[int(np.argmax(np.where(among, self.throughput, -np.inf)))] if among.any() else None


NEIGHBOURED = ("vcpus", "memory_bytes", "batch_size", "gpu_count")
"""Axes with numbers, on which a configuration may lie between two that were measured."""
_OTHERS = {
    axis: attrgetter(*(field.name for field in fields(Configuration) if field.name != axis)) for axis in NEIGHBOURED
}


def others_of(configuration: Configuration, axis: str) -> tuple[object, ...]:
    """All else of a configuration."""
    found: tuple[object, ...] = _OTHERS[axis](configuration)
    return found


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
    memory_limited: bool = False
    search: SearchedFloor | None = None
    failed_vcpus: tuple[float, ...] = ()
    did_not_fit: tuple[Configuration, ...] = ()
    overfilled: tuple[Configuration, ...] = ()

    def rates_along(self, axis: str) -> dict[tuple[object, ...], dict[float, MeasuredRate]]:
        """By all else of a configuration the rates by its value on that axis."""
        return self._rates_along[axis]

    @cached_property
    def _rates_along(self) -> dict[str, dict[tuple[object, ...], dict[float, MeasuredRate]]]:
        found: dict[str, dict[tuple[object, ...], dict[float, MeasuredRate]]] = {axis: {} for axis in NEIGHBOURED}
        for rate in self.rates:
            for axis, groups in found.items():
                value = getattr(rate.configuration, axis)
                if value is not None:
                    groups.setdefault(others_of(rate.configuration, axis), {})[value] = rate
        return found

    def values_along(self, axis: str, others: tuple[object, ...]) -> tuple[float, ...]:
        """The values on that axis with all else as in `others`, rising."""
        if (axis, others) not in self._values_along:
            self._values_along[axis, others] = tuple(sorted(self._rates_along[axis].get(others, ())))
        return self._values_along[axis, others]

    @cached_property
    def _values_along(self) -> dict[tuple[str, tuple[object, ...]], tuple[float, ...]]:
        return {}

    @cached_property
    def but_for_memory(self) -> dict[tuple[object, ...], list[MeasuredRate]]:
        """The rates by all of their configuration but its memory."""
        found: dict[tuple[object, ...], list[MeasuredRate]] = defaultdict(list)
        for rate in self.rates:
            found[others_of(rate.configuration, "memory_bytes")].append(rate)
        return dict(found)

    @cached_property
    def of_kind(self) -> dict[tuple[str | None, str], Machines]:
        """The measured configurations by their kind of accelerator and their disk."""
        groups: dict[tuple[str | None, str], list[MeasuredRate]] = defaultdict(list)
        for rate in self.rates:
            groups[rate.configuration.gpu, disk_of(rate.configuration)].append(rate)
        return {kind: Machines(tuple(alike)) for kind, alike in groups.items()}

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """The numbers of accelerators, rising; those that are not known or 0 are none."""
        return tuple(sorted({gpus.count for gpus in self.gpus if gpus.count}))

    @cached_property
    def killed(self) -> Columns:
        """`did_not_fit`."""
        return Columns(self.did_not_fit)

    @cached_property
    def killed_on_accelerators(self) -> Columns:
        """`overfilled`."""
        return Columns(self.overfilled)

    @cached_property
    def floors(self) -> dict[tuple[float | None, int | None], MemoryFloor]:
        """Memory floors by vCPUs and batch size, as they are found."""
        return {}

    @cached_property
    def needed(self) -> dict[tuple[float | None, int | None], int | None]:
        """The bytes of `needed_bytes` by vCPUs and batch size, as they are found."""
        return {}

    @cached_property
    def ordinary(self) -> dict[tuple[float | None, int | None], int | None]:
        """The bytes of `ordinary_bytes`, likewise."""
        return {}

    @cached_property
    def compared(self) -> dict[Configuration | None, object]:
        """What `memory_compared` has found so far."""
        return {}

    @cached_property
    def slower_with_more(self) -> frozenset[tuple[str | None, str]]:
        """The kinds of accelerator with a disk of which a row with more vCPUs or memory is clearly slower than one with
        less of both."""
        groups: dict[tuple[str | None, str, int | None, int | None], list[MeasuredRate]] = {}
        for rate in self.rates:
            here = rate.configuration
            groups.setdefault((here.gpu, disk_of(here), here.gpu_count, here.batch_size), []).append(rate)
        found: set[tuple[str | None, str]] = set()
        for (gpu, disk, *_), alike in groups.items():
            alike.sort(key=lambda rate: (rate.configuration.vcpus or 0.0, rate.configuration.memory_bytes or 0))
            if any(more.throughput.value < SLOWER * less.throughput.value for less, more in pairwise(alike)):
                found.add((gpu, disk))
        return frozenset(found)

    @cached_property
    def memory_on_disks(self) -> dict[str, tuple[int, int]]:
        """By disk the least and the most memory in bytes that it was measured with."""
        found: dict[str, tuple[int, int]] = {}
        for rate in self.rates:
            size = memory_of(rate.configuration)
            low, high = found.get(disk_of(rate.configuration), (size, size))
            found[disk_of(rate.configuration)] = (min(low, size), max(high, size))
        return found

    @cached_property
    def peaks(self) -> dict[tuple[float | None, int | None, bool], int | None]:
        """Peaks of memory by vCPUs, batch size and whether with the kernel's, as they are found."""
        return {}

    @cached_property
    def design(self) -> Design:
        """What was measured together.

        Memory is no axis of it where it is known how much of it cannot be dropped: that says what less of it does.
        """
        varied = [name for name in ("vcpus", "memory_bytes", "batch_size") if len(getattr(self, name)) > 1]
        if any(trial.anonymous_bytes for trial in self.trials):
            varied = [name for name in varied if name != "memory_bytes"]
        names = ["disk"] * (len(self.disks) > 1) + ["accelerators"] * (len(self.gpus) > 1)
        return Design([rate.configuration for rate in self.rates], names, varied)

    @property
    def gpus_known(self) -> bool:
        """Whether the runs say anything of accelerators, if only that there was none."""
        return any(gpus.count is not None for gpus in self.gpus)

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
        return here.vcpus, disk_of(here), here.batch_size, here.gpu, here.gpu_count, memory

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
    the one that most runs used, `accelerator_rates` samples per second of each one alone, where known; `mixed_with_cpu`
    if some runs had none. `setting` (its stored name) is the feed of the runs that predictions are about.
    `several_accounted`: sizer itself measured several accelerators together, here or for an imported table; what they
    lose to each other is stated where they were emulated (`Device.scaling_loss`), and fitted else. `paired`: every
    second vCPU of the runs was the other half of a core. `may_cache`: the page cache may keep data between epochs. `cpu_work` is None where no run says it.
    """

    kind: str
    device: Device
    setting: Feed = Feed()
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

    def stated_speed_up(self, count: int) -> float | None:
        """How many times the samples of one so many accelerators make, where sizer emulated what they lose."""
        return self.device.speed_up(count) if self.several_accounted and self.device.kind == "emulated" else None

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
        return self.setting.natural

    @property
    def accelerator_rate(self) -> float | None:
        """Samples per second of the usual accelerator alone; None where it has none or it is not known."""
        return self.accelerator_rates.get(self.accelerator) if self.accelerator is not None else None


@dataclass(frozen=True)
class Structure:
    """Which stages a member of the model has. `quota`: a fraction of a vCPU costs more CPU time than a whole one.

    `disks`, `blocking`, `accelerators` and `memory_levels` name those with a parameter of their own; a disk of
    `blocking` makes its loader's workers wait. A level of memory `limits` the rate, is the share of reads that `misses`
    the cache on each disk, or `slows` everything against the most memory. `step_apart`: decoding and the step on the
    CPU have a demand each.
    """

    scaling: str
    capped: bool
    quota: bool = False
    cap_stage: str = "serial"
    accelerators: tuple[str, ...] = ()
    several_gpus: bool = False
    step_apart: bool = False
    batch_stage: str = ""
    disks: tuple[str, ...] = ()
    blocking: tuple[str, ...] = ()
    memory_levels: tuple[int, ...] = ()
    memory_acts: str = "limits"


@dataclass(frozen=True)
class Member:
    """One fitted form: its weight among all, its parameters and draws of them that show their uncertainty."""

    structure: Structure
    weight: float
    names: tuple[str, ...]
    estimate: tuple[float, ...]
    draws: tuple[tuple[float, ...], ...]

    @cached_property
    def vectors(self) -> NDArray[np.float64]:
        """The estimate and, after it, the draws (1 + draws, k)."""
        return np.array([self.estimate, *self.draws])


@dataclass(frozen=True)
class Residual:
    """What the forms leave unexplained, as a Gaussian process over the measured configurations.

    `values` (n,) are ln measured over ln fitted at `places`, `variances` (n,) those of their noise; `amplitude` is the
    process's standard deviation and `length` how far it reaches, in ln of vCPUs, memory and batch size.
    """

    places: tuple[Configuration, ...]
    values: tuple[float, ...]
    variances: tuple[float, ...]
    amplitude: float
    length: float

    @cached_property
    def kept(self) -> dict[str | int, Any]:
        """What asking for other places needs again and again, as it is found."""
        return {}


@dataclass(frozen=True)
class LeftOut:
    """A measured configuration, and what the same forms predict of it when they are fitted without it; samples/s."""

    configuration: Configuration
    measured: float
    predicted: float


@dataclass(frozen=True)
class WorkloadModel:
    """The model of one workload.

    `noise` is the standard deviation of ln throughput of a new run about the curve, `misfit` the part of it that is
    the model's own, `widening` the number of standard deviations of a 90 % interval (1.645 if the residuals of
    configurations left out were normal), `noise_widening` that of the noise, at the least. `refused` says why there is
    no model and which run would help most, `scaling` where more vCPUs stop paying. `left_out` shows how well it
    predicts what it does not know; empty of few configurations.
    """

    name: str
    sample_unit: str
    facts: WorkloadFacts
    measured: MeasuredRange
    refused: Refusal | None = None
    scaling: Reason | None = None
    parameters: tuple[Parameter, ...] = ()
    floor: MemoryFloor | None = None
    members: tuple[Member, ...] = ()
    residual: Residual | None = None
    noise: float = 0.0
    misfit: float = 0.0
    widening: float = NORMAL_90
    noise_widening: float = NORMAL_90
    left_out: tuple[LeftOut, ...] = ()

    def measured_together(self, configuration: Configuration) -> bool:
        """Whether each two of its values lie within what was measured together.

        Where the runs account for the CPU time of a sample, the demands of the stages tell axes apart, and everything
        counts as measured together.
        """
        return self.facts.core_seconds is not None or self.measured.design.together(configuration)

    @cached_property
    def last_doublings(self) -> dict[Configuration, tuple[float, float]]:
        """Ln rates before and at the most vCPUs, by the configuration there, as they are found."""
        return {}

    @cached_property
    def ceilings(self) -> dict[Configuration, float]:
        """Ln of known ceilings by configuration, as they are found."""
        return {}

    @cached_property
    def vcpus_edges(self) -> dict[Configuration, Edge]:
        """What `vcpus_edge` has found so far: a page asks for the same edge at every point of its curves."""
        return {}


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
