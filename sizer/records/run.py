"""One run with all that was measured of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import Enum

from sizer.records.domains import (
    Amount,
    Batch,
    Bound,
    Bytes,
    Count,
    Label,
    Moment,
    Name,
    Signed,
    Vcpus,
)
from sizer.records.study import (
    SCHEMA_VERSION,
    DiskRates,
    DiskTier,
    RunSpec,
)


class Outcome(str, Enum):
    """How a run ended."""

    COMPLETED = "completed"
    OUT_OF_MEMORY = "out_of_memory"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    INTERRUPTED = "interrupted"
    UNSUPPORTED = "unsupported"
    REFUSED = "refused"

    @property
    def words(self) -> str:
        """As a person reads it; the value is what is stored."""
        return {Outcome.TIMEOUT: "timed out", Outcome.OUT_OF_MEMORY: "out of memory"}.get(self, self.value)


FAULTS = frozenset({Outcome.CRASHED, Outcome.TIMEOUT, Outcome.UNSUPPORTED, Outcome.REFUSED})
"""Outcomes of runs from which nothing is learnt; out_of_memory is a finding."""


FINDINGS = frozenset({Outcome.COMPLETED, Outcome.OUT_OF_MEMORY})
"""Outcomes that say something of their own configuration, and that a model learns from."""


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


@dataclass(frozen=True)
class DiskCheck:
    """What fio measured on a tier, beside what the tier declares."""

    tier: DiskTier
    measured: DiskRates
    deviates: bool = False
    note: str | None = None

    @property
    def rates(self) -> DiskRates:
        """The figures to compute with: measured where they were, declared where they were not."""
        declared = self.tier.emulated or DiskRates()
        chosen = {
            name: value if value is not None else getattr(declared, name)
            for name, value in asdict(self.measured).items()
        }
        return DiskRates(**chosen)


@dataclass(frozen=True)
class Configuration:
    """What a run really had: its limits with this host's own values where it was not limited.

    None is not known, which only an imported run has. `gpu` names the accelerator where one job was measured on several
    kinds, and `gpu_count` how many of them it used: 0 is as many as its device says, which is one unless that is a CPU.
    """

    vcpus: Vcpus | None
    memory_bytes: Bytes | None
    disk: Name | None
    batch_size: Batch | None
    gpu: Label | None = None
    gpu_count: Count | None = 0


@dataclass(frozen=True)
class DataSet:
    """The data a run read. `embedded` data is made by sizer and is never ImageNet or PennTreeBank."""

    path: str
    format: str
    bytes: Count
    samples: Count
    embedded: bool


@dataclass(frozen=True)
class Step:
    """One call of a workload's inner loop, as its step event tells it; `time` is monotonic."""

    time: Amount
    samples: Count
    input_wait: Amount
    epoch: Count
    latency: Amount | None = None


@dataclass(frozen=True)
class Sample:
    """A run's counters at one moment; `time` is monotonic, counters grow from the start of the run.

    `memory_bytes` is all that is charged: anonymous memory (with shared memory, which cannot be dropped either), page
    cache, and the kernel's own for the run; `peak_memory_bytes` is the kernel's own high-water mark of it. A stall is
    the seconds in which some task of the run waited for the resource, by the kernel's pressure accounting (PSI `some`).
    `sizer_core_seconds` is what sizer's own process used, `steal_core_seconds` what the hypervisor withheld from this
    host's CPUs, and `unwritten_bytes` the part of the page cache that still has to be written.
    """

    time: Amount
    core_seconds: Amount = 0.0
    memory_bytes: Count = 0
    anonymous_bytes: Count = 0
    page_cache_bytes: Count = 0
    kernel_bytes: Count = 0
    swap_bytes: Count = 0
    read_bytes: Count = 0
    written_bytes: Count = 0
    read_ios: Count = 0
    write_ios: Count = 0
    periods: Count = 0
    throttled_periods: Count = 0
    oom_kills: Count = 0
    host_core_seconds: Amount = 0.0
    sizer_core_seconds: Amount = 0.0
    cpu_stall: Amount = 0.0
    memory_stall: Amount = 0.0
    io_stall: Amount = 0.0
    accelerator_busy: Amount | None = None
    peak_memory_bytes: Count = 0
    steal_core_seconds: Amount = 0.0
    unwritten_bytes: Count = 0


@dataclass(frozen=True)
class Demand:
    """What one sample costs at each resource; None where it was not accounted.

    `asked_bytes` is what the loader asks for, `read_bytes` what came from the device. A stall is in seconds a sample.
    """

    core_seconds: Amount | None = None
    read_bytes: Amount | None = None
    read_ios: Amount | None = None
    written_bytes: Amount | None = None
    write_ios: Amount | None = None
    input_wait: Amount | None = None
    accelerator_seconds: Amount | None = None
    asked_bytes: Amount | None = None
    cpu_stall: Amount | None = None
    memory_stall: Amount | None = None
    io_stall: Amount | None = None


@dataclass(frozen=True)
class Evidence:
    """What bound a run, from its accounting alone: busy share of each resource and the reason in words."""

    bottleneck: Bottleneck
    busy: dict[str, Amount]
    reason: str


@dataclass(frozen=True)
class MemoryGrowth:
    """How a run's memory went on after warm-up: bytes a step, with the 95 % interval of anonymous memory's slope.

    `rising`: the anonymous peak was still being raised at the end, so a longer run would show a higher one.
    """

    anonymous_bytes_per_step: Estimate
    page_cache_bytes_per_step: Signed
    steps: Count
    rising: bool


@dataclass(frozen=True)
class RateChange:
    """A rate that fell and stayed down: samples/s before and after the moment `seconds` after the first step."""

    seconds: Amount
    before: Estimate
    after: Estimate


@dataclass(frozen=True)
class Run:
    """One execution of a RunSpec with its result. A run that failed is data, too.

    Bytes of the data set in the page cache before and after are `resident_bytes` and `resident_after_bytes`. `hit_rate`
    is the share of the bytes the loader asked for that did not come from the device, `throttled` the share of quota
    periods that were used up, `other_cores` the cores that anything else on the host used, `overhead` sizer's own
    core-seconds over the workload's, `stolen_cores` the cores that the hypervisor withheld, and `unwritten_bytes` the
    most that waited in the page cache to be written; each over the steady state, None where it was not accounted.
    `limits_buffered_writes`: whether the disk's throttle holds such bytes, too; None where no throttle limits writes.
    Of an imported run, `started_at` is None where the table does not say it, a throughput without an interval has ends
    equal to its value, and `other` holds the cells of columns that sizer does not know.
    """

    spec: RunSpec
    outcome: Outcome
    configuration: Configuration
    started_at: Moment | None
    wall_seconds: Amount
    error: str | None = None
    sample_unit: str = "sample"
    data_set: DataSet | None = None
    throughput: Estimate | None = None
    first_epoch_throughput: Amount | None = None
    warm_up_seconds: Amount | None = None
    measured_seconds: Amount | None = None
    stopped: str | None = None
    demand: Demand | None = None
    latency_p50: Amount | None = None
    latency_p99: Amount | None = None
    peak_memory_bytes: Count | None = None
    peak_anonymous_bytes: Count | None = None
    peak_page_cache_bytes: Count | None = None
    peak_kernel_bytes: Count | None = None
    peak_swap_bytes: Count | None = None
    memory_growth: MemoryGrowth | None = None
    resident_bytes: Count | None = None
    resident_after_bytes: Count | None = None
    hit_rate: Amount | None = None
    rate_change: RateChange | None = None
    throttled: Amount | None = None
    other_cores: Amount | None = None
    overhead: Amount | None = None
    stolen_cores: Amount | None = None
    unwritten_bytes: Count | None = None
    limits_buffered_writes: bool | None = None
    evidence: Evidence | None = None
    disk: DiskCheck | None = None
    limited_by: str = ""
    other: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    samples: tuple[Sample, ...] = ()
    schema_version: int = SCHEMA_VERSION

    @property
    def id(self) -> str:
        return self.spec.id
