"""What the parts of sizer hand to each other: frozen records, plain enough to be written as JSON.

Units are bytes, seconds and samples per second throughout. The type hint of a field
names its domain: what a file may hold there.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, fields
from enum import Enum
from functools import cached_property

from sizer.domains import (
    Amount,
    Batch,
    Bound,
    Bytes,
    Cache,
    Count,
    DeviceKind,
    EdgeState,
    Input,
    Kind,
    Label,
    Moment,
    Name,
    Preference,
    Probability,
    Rate,
    Signed,
    Stage,
    Status,
    Vcpus,
)

SCHEMA_VERSION = 1
"""Version of every JSON file in a study folder."""

HOST_DISK = "host"
"""The `disk` of a run whose disk was not limited: wherever the data already lay."""


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
    def relative_half_width(self) -> float:
        """Half of the interval over the value, which must not be 0."""
        return (self.high - self.low) / 2 / self.value


@dataclass(frozen=True)
class Device:
    """Where the step is computed: `cpu`, `cuda` or `emulated` (the step waits for as long as a GPU takes)."""

    kind: DeviceKind = "cpu"
    index: Count = 0
    gpu: Label | None = None
    samples_per_second: Rate | None = None
    source: str | None = None

    @property
    def label(self) -> str:
        """How a person names it: `cpu`, `cuda:0`, `emulated:P100`, `emulated:300/s`."""
        if self.kind == "emulated":
            return f"emulated:{self.gpu or f'{self.samples_per_second or 0:g}/s'}"
        return f"cuda:{self.index}" if self.kind == "cuda" else "cpu"


@dataclass(frozen=True)
class Workload:
    """The program being measured. `data` None means the embedded data set."""

    name: Name
    kind: Kind
    framework: Label = "mxnet"
    network: Label | None = None
    data: str | None = None
    format: str | None = None
    input: Input = "disk"
    cache: Cache = "cold"
    device: Device = Device()
    command: tuple[str, ...] = ()
    pattern: str | None = None
    sample_unit: Label | None = None


@dataclass(frozen=True)
class Limits:
    """What a run may use. None is not limited; `disk` is a tier's name in the study."""

    vcpus: Vcpus | None = None
    memory_bytes: Bytes | None = None
    disk: Name | None = None


@dataclass(frozen=True)
class DiskRates:
    """What a disk gives. None is not limited, or not measured."""

    read_iops: Amount | None = None
    read_bytes_per_second: Amount | None = None
    write_iops: Amount | None = None
    write_bytes_per_second: Amount | None = None


@dataclass(frozen=True)
class DiskTier:
    """A kind of volume: a real mount (`path`) or one emulated by throttling (`emulated`)."""

    name: Name
    path: str | None = None
    emulated: DiskRates | None = None
    disk_class: str | None = None
    catalog_name: str | None = None
    size_bytes: Bytes | None = None


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
class Measure:
    """How each configuration is measured: fresh processes, seconds after warm-up, relative half-width."""

    repeats: Count = 3
    seconds: Rate = 30.0
    precision: Rate = 0.02
    seed: Count = 1
    timeout: Rate | None = None


@dataclass(frozen=True)
class Deadline:
    """A job of so many samples that is to be finished within so many seconds."""

    samples: Rate
    seconds: Rate

    @property
    def rate(self) -> float:
        """The samples per second that it takes."""
        return self.samples / self.seconds


@dataclass(frozen=True)
class Objective:
    """What the answer should prefer, and which share of the best throughput it must reach.

    With a deadline neither counts: then it is the spec that costs least for the job of those that finish it in time.
    """

    prefer: Preference = "cheapest"
    target: Probability = 0.95
    deadline: Deadline | None = None


@dataclass(frozen=True)
class RunSpec:
    """One planned configuration of a workload and one repeat of it.

    `isolates` names the stage that a run is to show by itself; None is a run of the workload as asked for. `line` is
    where an imported run stands in its file; 0 for one that is measured here.
    """

    workload: Workload
    batch_size: Batch
    limits: Limits
    measure: Measure
    repeat: Count = 0
    line: Count = 0
    isolates: Stage | None = None

    @cached_property
    def id(self) -> str:
        """Twelve hex digits of everything that makes this run this run; the name of its file."""
        identity = {each.name: getattr(self, each.name) for each in fields(self)}
        identity["measure"] = {name: value for name, value in vars(self.measure).items() if name != "repeats"}
        if not self.line:
            del identity["line"]
        if self.isolates is None:
            del identity["isolates"]
        text = json.dumps(identity, sort_keys=True, default=vars)
        return hashlib.sha256(text.encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Configuration:
    """Where a run really stood: its limits with this host's own values where it was not limited.

    `gpu` names the accelerator where one job was measured on several kinds, and `gpu_count` how many of them it used: 0
    where nothing is told, which is one where the step is not computed on the CPU.
    """

    vcpus: Vcpus
    memory_bytes: Bytes
    disk: Name
    batch_size: Batch
    gpu: Label | None = None
    gpu_count: Count = 0


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
    Of an imported run, `untold` are the columns of measurements.csv that nobody filled in, where this record has to
    hold something and means nothing by it, and `other` the cells of columns that sizer does not know.
    """

    spec: RunSpec
    outcome: Outcome
    configuration: Configuration
    started_at: Moment
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
    untold: tuple[Name, ...] = ()
    other: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    samples: tuple[Sample, ...] = ()
    schema_version: int = SCHEMA_VERSION

    @property
    def id(self) -> str:
        return self.spec.id


@dataclass(frozen=True)
class Study:
    """All runs asked for, with every default filled in."""

    name: Name
    workloads: tuple[WorkloadPlan, ...]
    disks: tuple[DiskTier, ...] = ()
    around: Limits | None = None
    measure: Measure = Measure()
    objective: Objective = Objective()
    embedded_images: Count = 4000
    schema_version: int = SCHEMA_VERSION

    @property
    def imported(self) -> bool:
        """Whether it was measured elsewhere, so that nothing of it can be run and nothing was set by sizer."""
        return all(plan.workload.kind == "imported" for plan in self.workloads)

    def disk(self, name: str) -> DiskTier:
        """The tier of that name; KeyError if the study has none."""
        for tier in self.disks:
            if tier.name == name:
                return tier
        raise KeyError(name)


@dataclass(frozen=True)
class WorkloadPlan:
    """A workload with the values of each axis; an empty axis is not limited.

    `memory_floor`: after its runs, the smallest memory cap that completes is searched for. `isolate`: runs that show
    one stage of it each are made, too.
    """

    workload: Workload
    batch_size: tuple[Batch, ...]
    vcpus: tuple[Vcpus, ...] = ()
    memory_bytes: tuple[Bytes, ...] = ()
    disk: tuple[Name, ...] = ()
    memory_floor: bool = False
    isolate: bool = False


@dataclass(frozen=True)
class Prediction:
    """What the model says of one configuration; the interval is 90 % for a new run.

    `headroom` is the relative gain if the bottleneck cost no time, None where no other limit is known.
    """

    workload: Name
    configuration: Configuration
    throughput: Estimate
    bottleneck: Bottleneck
    shares: dict[str, Amount]
    extrapolated: bool
    out_of_memory: bool = False
    headroom: Amount | None = None


@dataclass(frozen=True)
class Spec:
    """An instance spec; an axis is None, and `gpu_count` 0, where it was not varied.

    vCPUs that were not varied are given all the same; they are None where nobody told how many they were.
    """

    vcpus: Vcpus | None
    memory_bytes: Bytes | None = None
    disk: Name | None = None
    batch_size: Batch | None = None
    gpu: Label | None = None
    gpu_count: Count = 0


@dataclass(frozen=True)
class Rejection:
    """A cheaper spec and why it was not taken, in words with numbers."""

    spec: Spec
    why: str


@dataclass(frozen=True)
class InstanceOffer:
    """An instance type that holds the spec; a price of None is unknown."""

    provider: str
    instance_type: str
    vcpus: Amount
    memory_bytes: Count
    gpu: str | None
    gpu_count: Count
    usd_per_hour: Amount | None
    usd_per_million_samples: Amount | None
    as_of: str
    source: str
    note: str = ""


@dataclass(frozen=True)
class Upgrade:
    """The smallest larger spec that something else holds back; `gain` is its rate over the answer's, less one."""

    spec: Spec
    bottleneck: Bottleneck
    gain: Amount


@dataclass(frozen=True)
class Baseline:
    """What an answer is compared with: the largest configuration measured, or an instance type that was named.

    `share` is the answer's rate over the baseline's, `saving` the share of the baseline's price that the answer saves.
    Both prices are of the cheapest instance types that hold the specs; None is unknown.
    """

    spec: Spec
    throughput: Estimate
    share: Amount
    usd_per_hour: Amount | None = None
    instance_type: str | None = None
    answer_usd_per_hour: Amount | None = None
    answer_instance_type: str | None = None
    saving: Signed | None = None
    named: bool = False
    extrapolated: bool = False


@dataclass(frozen=True)
class Job:
    """What the job of a deadline takes on a spec: `seconds` with their 90 % interval at the steady rate.

    `probability` is that of finishing within `within` seconds. `usd` None is unknown.
    """

    samples: Rate
    within: Rate
    seconds: Estimate
    probability: Probability
    usd: Amount | None = None
    instance_type: str | None = None


@dataclass(frozen=True)
class Answer:
    """The recommendation for one workload; status is `recommended`, `at_least` or `refused`.

    `edge` says of a lower bound what makes it one: the rate is `rising` at the most measured, or whether it is stays
    `unsettled`. `provisional` is an answer whose own runs, or whose probability, speak against relying on it.
    """

    workload: Name
    status: Status
    spec: Spec | None = None
    throughput: Estimate | None = None
    sample_unit: str = "sample"
    probability: Probability | None = None
    bottleneck: Bottleneck | None = None
    next_bottleneck: Bottleneck | None = None
    reasons: tuple[str, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    runner_up: Spec | None = None
    next_run: str | None = None
    instances: tuple[InstanceOffer, ...] = ()
    beyond: Prediction | None = None
    provisional: bool = False
    edge: EdgeState = "settled"
    headroom: Amount | None = None
    upgrade: Upgrade | None = None
    baseline: Baseline | None = None
    job: Job | None = None


@dataclass(frozen=True)
class Recommendation:
    """The answer for every workload of a study."""

    objective: Objective
    workloads: tuple[Answer, ...]
    family: dict[str, str] = field(default_factory=dict)
    schema_version: int = SCHEMA_VERSION
