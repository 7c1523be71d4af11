"""One run with all that was measured of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum

from sizer.records.device import DiskRates, GpuSample, GpuUse
from sizer.records.domains import FLATTENED, SCHEMA_VERSION, Amount, Count, Label, Moment, Name, Nodes, Rate, Signed
from sizer.records.prediction import Bottleneck, Configuration, Estimate
from sizer.records.run_kinds import MemoryPlace, Outcome
from sizer.records.study import FP32, DiskTier, RunReason, RunSpec

OUTLIER = 3.0
"""How many times as fast as the slowest the fastest of repeats is where one of them must be wrong.

On shared machines repeats differ by half at the worst, and a digit or a unit too many is ten times or more.
"""


@dataclass(frozen=True)
class DiskCheck:
    """What fio measured on a tier, beside what the tier declares."""

    tier: DiskTier
    measured: DiskRates
    deviates: bool = False

    @property
    def rates(self) -> DiskRates:
        """The figures to compute with: measured where they were, declared where they were not."""
        declared = self.tier.emulated or DiskRates()
        chosen = {
            name: value if value is not None else getattr(declared, name) for name, value in vars(self.measured).items()
        }
        return DiskRates(**chosen)


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
    """One call of a workload's inner loop, as its step event gives it; `time` is monotonic.

    `accelerator_seconds` is how long a GPU took for it by its own clock, None where nobody told.
    """

    time: Amount
    samples: Count
    input_wait: Amount
    epoch: Count
    latency: Amount | None = None
    accelerator_seconds: Amount | None = None


@dataclass(frozen=True)
class Sample:
    """A run's counters at one moment; `time` is monotonic, counters grow from the start of the run.

    `memory_bytes` is all that is charged: anonymous memory (with shared memory, which cannot be dropped either), page
    cache, and the kernel's own for the run; `peak_memory_bytes` is the kernel's own high-water mark of it. A stall is
    the seconds in which some task of the run waited for the resource, by the kernel's pressure accounting (PSI `some`).
    `sizer_core_seconds` is what sizer's own process used, `steal_core_seconds` what the hypervisor withheld from this
    host's CPUs, `unwritten_bytes` the part of the page cache that still has to be written, and `threads` how many there
    were at that moment, in all processes. `accelerator_busy` are seconds in which a GPU of the run was busy by its
    driver, the sum of several; `gpus` has each of them.
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
    threads: Count = 0
    gpus: tuple[GpuSample, ...] = ()


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


class WarningKind(str, Enum):
    """What a reader must know of a run's figures."""

    CONTENDED = "contended"
    """`cores` that something else on the host used."""
    STOLEN = "stolen"
    """`cores` that the hypervisor gave to others."""
    OVERHEAD = "overhead"
    """`share` of the workload's core-seconds that sizer itself used."""
    THROTTLED = "throttled"
    """`share` of CPU periods in which the quota of `vcpus` was used up."""
    GPU_THROTTLED = "gpu_throttled"
    """`share` of the time in which the clocks of a GPU were held back; `text` is the `ClockReason`."""
    GPU_SHARED = "gpu_shared"
    """`share` of the time in which other processes than the run's were on its GPU; `text` names them."""
    GPU_MEMORY_FULL = "gpu_memory_full"
    """The most `bytes` in use of the `whole` memory of a GPU."""
    PAGE_CACHE_WARM = "page_cache_warm"
    """`share` of the data that was resident before."""
    SWAPPED = "swapped"
    """The most `bytes` of its memory that were in swap."""
    MEMORY_RISING = "memory_rising"
    """Anonymous `bytes` more in 1,000 steps at the end."""
    READ_AMPLIFIED = "read_amplified"
    """`ratio` of the bytes that the device gave to those asked for."""
    WRITES_UNLIMITED = "writes_unlimited"
    """The most `bytes` that waited in the page cache, unseen by the throttle."""
    TWO_RATES = "two_rates"
    """Samples/s `before` the rate fell after `seconds`, and `after`."""
    IMPRECISE = "imprecise"
    """Relative `half_width` of the interval after `seconds`, and the one `asked` for."""
    SHORT = "short"
    """Stopped at the deadline after `seconds` of steady state."""
    UNSETTLED = "unsettled"
    """The rate moved too slowly, or stalled too seldom, for its interval to be trusted."""
    STEPS_JOINED = "steps_joined"
    """`steps` of the program that each stored one represents."""
    FIRST_EPOCH = "first_epoch"
    """No later epoch was reached before the run ended."""
    NO_EPOCHS = "no_epochs"
    """The program does not say when an epoch ends."""
    PART_OF_EPOCH = "part_of_epoch"
    """The run ended inside its second epoch."""
    DRIFTING = "drifting"
    """The reference configuration, in samples/s (`text` is its unit): `before` and `after` this run; or its `rate` here
    or its `level` around this run, outside the `low` to `high` of most of its measurements."""
    DATA_GONE = "data_gone"
    """The data set at `text` is no longer there."""
    DATA_PARTLY_GONE = "data_partly_gone"
    """Only `bytes` of the `whole` bytes of the data set at `text` are still there."""
    MEMORY_LEFT = "memory_left"
    """`bytes` in shared memory that the run left behind, in files of which `text` names the first and `more` are not
    named."""
    LEFT_BEHIND = "left_behind"
    """What could not be removed after the run; `text` says why."""
    FILES_CHANGED = "files_changed"
    """So many `files` that it made or changed in its working folder, of which `text` names the first and `more` are not
    named: the next run finds them there."""
    LOG_INCOMPLETE = "log_incomplete"
    """The log could not be written; `text` says where and why."""
    TOLD_UNLIKE_SEEN = "told_unlike_seen"
    """The log tells another time of a batch, `told` in seconds, than `seen` by when its lines come."""
    LINES_OF_RANKS = "lines_of_ranks"
    """The same, most likely because several processes print the line."""
    BATCHES_FOR_SAMPLES = "batches_for_samples"
    """The same, most likely because the rate is one of batches."""
    TOLD_NOT_USED = "told_not_used"
    """The same of a log whose counter gives the rate, so that nothing rests on what is told."""
    OTHER_BATCH_SIZE = "other_batch_size"
    """By its log, or by what the hook saw, a batch has `told` samples, where the study says `given`."""
    ONE_READING = "one_reading"
    """Every line of the log told the same rate, so that its interval says nothing."""
    MAY_BE_ANOTHER_JOB = "may_be_another_job"
    """Rows of a table that are taken as its repeats differ by the `factor`, and in the columns `text` (joined by `; `),
    which sizer does not read."""
    NOT_HOOKED = "not_hooked"
    """The hook could not be loaded, because Python was started with the option `text`."""
    HOOK_KEPT_OUT = "hook_kept_out"
    """A process of it imported a framework that the hook knows, and none loaded the hook."""
    SAMPLES_NOT_SEEN = "samples_not_seen"
    """How many samples a step has was not seen, so that the rate is one of steps."""
    SEVERAL_LOADERS = "several_loaders"
    """It reads other loaders beside the one whose batches are its steps."""
    OTHER = "other"
    """A sentence of somebody else's, or of a sizer before: `text`."""

    @property
    def group(self) -> WarningKind:
        """The kind that this one is listed under: what happened to the data, or was left behind, is one each."""
        return _GROUPS.get(self, self)


_GROUPS = {
    WarningKind.DATA_PARTLY_GONE: WarningKind.DATA_GONE,
    WarningKind.MEMORY_LEFT: WarningKind.LEFT_BEHIND,
    WarningKind.HOOK_KEPT_OUT: WarningKind.NOT_HOOKED,
    WarningKind.LINES_OF_RANKS: WarningKind.TOLD_UNLIKE_SEEN,
    WarningKind.BATCHES_FOR_SAMPLES: WarningKind.TOLD_UNLIKE_SEEN,
    WarningKind.TOLD_NOT_USED: WarningKind.TOLD_UNLIKE_SEEN,
}


@dataclass(frozen=True)
class RunWarning:
    """One warning: its kind, its figures by name, and text only where it is not sizer's own (a path, an error)."""

    kind: WarningKind
    figures: dict[str, Signed] = field(default_factory=dict)
    text: str | None = None


class CauseKind(str, Enum):
    """Why a run did not complete, and what around it explains that."""

    NOT_LIMITED = "not_limited"
    """The process could not be put under its limits."""
    CONTAINER = "container"
    """The program is run in a container, which is not under the limits of the run; `text` names the client."""
    ESCAPED = "escaped"
    """Something of the program left the limits of the run, or changed them: `text` is the process or the limit."""
    ABSENT = "absent"
    """Steps came while nothing under the limits of the run used any CPU time."""
    STOOD_STILL = "stood_still"
    """sizer itself stood still for `seconds` during it, and when it was made again, too."""
    MEMORY_CAP = "memory_cap"
    HOST_MEMORY = "host_memory"
    """Killed by the kernel for its memory cap, or for the host's memory."""
    GPU_MEMORY = "gpu_memory"
    """Its framework was refused memory of the accelerator."""
    NOT_ALLOCATED = "not_allocated"
    """It was refused memory of the host before it used any: no machine of this size has as much."""
    SLOW_PATTERN = "slow_pattern"
    """The pattern took more than `seconds` of CPU time for one read of the log."""
    TOLD_MILLISECONDS = "told_milliseconds"
    TOLD_MINUTES = "told_minutes"
    """The log's times are of another unit than its pattern says: a batch took `told` seconds by it, and `seen` seconds
    by when its lines came."""
    BROKEN_EVENTS = "broken_events"
    """The event pipe broke its form; `text` says how."""
    INTERRUPTED = "interrupted"
    UNSUPPORTED = "unsupported"
    """The framework or device is not available."""
    NOT_FOUND = "not_found"
    """The program was not found or may not be executed."""
    LEFT_RUNNING = "left_running"
    """Its own process ended while others that it had started still held its output."""
    NOT_IN_FOLDER = "not_in_folder"
    """It was started in an empty folder, and names a file `text` that is not there."""
    SIGNAL = "signal"
    """Killed by a `signal`."""
    EXIT_STATUS = "exit_status"
    """Ended with a `status`."""
    DEADLINE = "deadline"
    """Not enough steps within `seconds`."""
    HUNG = "hung"
    """Of its `seconds`, none of its `steps` was in the last `silent_seconds`."""
    TOO_FEW_STEPS = "too_few_steps"
    """It ended without enough steps to measure a rate."""
    REFUSED = "refused"
    """The host lacks what the run needs; `text` says what."""
    SETUP_FAILED = "setup_failed"
    BEFORE_FAILED = "before_failed"
    """The command that makes something ready ended with a `status` or by a `signal`, took longer than `seconds`, or
    could not be started, as `text` says."""
    NO_DATA = "no_data"
    """Its data cannot be prepared; `text` says why."""
    IMPORTED = "imported"
    """A table says so, in its `line`; `text` names the table."""

    PROCESSES = "processes"
    """It was refused a process or thread, of which it may have `most`."""
    STEPPED = "stepped"
    """It made so many `steps`, the last one `silent_seconds` before its end."""
    NO_MATCH = "no_match"
    """No line of its log matched the pattern."""
    NO_RATE = "no_rate"
    """Lines of its log matched the pattern, and told no rate: `text` is what the first of them matched with."""
    NO_OUTPUT = "no_output"
    """It printed nothing and wrote no event."""
    NO_EVENT = "no_event"
    """It wrote no event, and no line of its log is of a known format."""
    NO_STEP = "no_step"
    """It wrote its start and no step."""
    STILL_READING = "still_reading"
    """It had read so many `bytes` of its `whole` data into memory, which comes before its first step."""
    NOT_BEGUN = "not_begun"
    """A program of sizer's own had not come to the loop that is measured."""
    HOOK_KEPT_OUT = "hook_kept_out"
    """As the warning of this name."""
    STILL_BUSY = "still_busy"
    """It used CPU time or moved bytes when its time was up."""
    STOPPED = "stopped"
    """Its process was stopped by a signal."""
    PIPE_CLOSED = "pipe_closed"
    """It had closed its event pipe."""
    OUTPUT_CLOSED = "output_closed"
    """It had closed its stdout and stderr."""
    ASKED_FOR_INPUT = "asked_for_input"
    """It wanted somebody to type something."""
    DATA_GONE = "data_gone"
    DATA_PARTLY_GONE = "data_partly_gone"
    """As the warnings of these names."""
    SCRATCH_FULL = "scratch_full"
    OUTPUT_FULL = "output_full"
    SCRATCH_AND_OUTPUT_FULL = "scratch_and_output_full"
    SHARED_MEMORY_FULL = "shared_memory_full"
    """A file system that the run writes to was full; `text` is where it is mounted."""
    DISK_FULL = "disk_full"
    """By its own words a disk was full."""
    OTHER = "other"
    """What a sizer before wrote: `text`."""


@dataclass(frozen=True)
class Cause:
    """Its kind, its figures by name, and text only where it is not sizer's own (a path, an error)."""

    kind: CauseKind
    figures: dict[str, Signed] = field(default_factory=dict)
    text: str | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """What equal causes have in common, to be looked up by."""
        return self.kind, self.text, tuple(sorted(self.figures.items()))


@dataclass(frozen=True)
class Failure:
    """Why a run did not complete: the cause, what explains it, and the last lines of its log.

    `where` says of a run that was out of memory whose it was; None where nobody knows, as in a table.
    """

    cause: Cause
    reasons: tuple[Cause, ...] = ()
    last_lines: str = ""
    where: MemoryPlace | None = None


class EvidenceKind(str, Enum):
    """What a bottleneck was named by."""

    BUSIEST = "busiest"
    """One resource is busy while the others wait: its share."""
    SERIAL = "serial"
    """One core is busy and nothing else is full: `cores` of `vcpus`."""
    SEVERAL = "several"
    """Several resources are busy alike: their shares."""
    NONE_FULL = "none_full"
    """None is fully busy: the share of each."""
    REREADS = "rereads"
    """The disk is busy reading what the page cache could not keep: its share."""
    IMPORTED = "imported"
    """A table says so; `text` names it."""
    OTHER = "other"
    """What a sizer before wrote: `text`."""


@dataclass(frozen=True)
class Evidence:
    """What bound a run, from its accounting alone: busy share of each resource, and what the bottleneck was named by.

    `figures` are those of the kind, shares by resource with the busiest first.
    """

    bottleneck: Bottleneck
    busy: dict[str, Amount]
    kind: EvidenceKind
    figures: dict[str, Amount] = field(default_factory=dict)
    text: str | None = None


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


class LimitedByKind(str, Enum):
    """Who set the limits of a run."""

    SIZER = "sizer"
    IMPORTED = "imported"
    """Nobody that sizer knows of: the table `text` gives them."""
    OTHER = "other"
    """What a sizer before wrote: `text`."""


@dataclass(frozen=True)
class LimitedBy:
    """How the limits of a run were set: by which backend, and what it limited; None for what it did not.

    `cpus` are written as the kernel does (`0-2,5`), held by a cpuset or else by affinity; `cores` of them, and how many
    with both hyperthreads, where the host has any. The `rates` are those of the block device (`major:minor`).
    `user` is as whom the program ran, `processes` how many it and its threads could be, `own_mounts` whether what it
    mounted was seen by itself alone. The host had `host_cpus` in all.
    """

    kind: LimitedByKind
    backend: str = ""
    cpus: str | None = None
    by_cpuset: bool = False
    cores: Count | None = None
    paired_cores: Count | None = None
    quota_vcpus: Amount | None = None
    memory_bytes: Count | None = None
    device: str | None = None
    rates: DiskRates | None = None
    text: str | None = None
    user: str | None = None
    processes: Count | None = None
    own_mounts: bool = False
    host_cpus: Count | None = None


class MeterKind(str, Enum):
    """What counted the steps of a run."""

    EVENTS = "events"
    """The program itself, by the events that it wrote."""
    HOOK = "hook"
    """sizer's hook in the framework `source`."""
    LOG = "log"
    """The lines that it printed: `source` is the name of their format, or `pattern` for the study's own expression."""


@dataclass(frozen=True)
class Meter:
    """How the steps of a command's run were counted."""

    kind: MeterKind
    source: Label | None = None


@dataclass(frozen=True)
class RentedMachine:
    """The machine that an imported run was measured on, as far as the table says it.

    `usd_per_hour` is the price of the whole machine on demand, `usd_per_hour_spot` as spare capacity. With several
    `nodes` as many such machines ran the job together: the configuration of the run is that of all, the price of one.
    """

    provider: Name | None = None
    instance_type: Name | None = None
    region: Name | None = None
    usd_per_hour: Rate | None = None
    usd_per_hour_spot: Rate | None = None
    nodes: Nodes = 1

    @property
    def name(self) -> str | None:
        """`aws g4dn.xlarge`; None where the table does not name its instance type."""
        if self.instance_type is None:
            return None
        return " ".join(filter(None, (self.provider, self.instance_type)))

    @property
    def at_any_price(self) -> RentedMachine:
        """What is the same for all rows of it: a machine with a name is one machine whatever it cost."""
        return self if self.name is None else replace(self, usd_per_hour=None, usd_per_hour_spot=None)


@dataclass(frozen=True)
class RateDetails:
    """How a run's throughput came about: rates in samples/s, times in seconds, latencies in seconds of a request.

    `warm_up_seconds` end where the steady state of `measured_seconds` begins. `stopped` is what ended it: `precision`,
    `time` or `deadline`. `first_epoch_throughput` is kept apart, for the page cache makes later epochs different.
    """

    first_epoch_throughput: Amount | None = None
    warm_up_seconds: Amount | None = None
    measured_seconds: Amount | None = None
    stopped: str | None = None
    rate_change: RateChange | None = None
    latency_p50: Amount | None = None
    latency_p99: Amount | None = None


@dataclass(frozen=True)
class MemoryUse:
    """The most bytes that a run used over the steady state, of all and of each kind; the most threads; and the growth.

    None where it was not accounted.
    """

    peak_memory_bytes: Count | None = None
    peak_anonymous_bytes: Count | None = None
    peak_page_cache_bytes: Count | None = None
    peak_kernel_bytes: Count | None = None
    peak_swap_bytes: Count | None = None
    peak_threads: Count | None = None
    memory_growth: MemoryGrowth | None = None


@dataclass(frozen=True)
class Conditions:
    """What the host did over the steady state of a run: CPU, page cache, GPUs; None where it was not accounted.

    `throttled` is the share of quota periods that were used up, `other_cores` the cores that anything else on the host
    used, `overhead` sizer's own core-seconds over the workload's, and `stolen_cores` the cores that the hypervisor
    withheld. Bytes of the data set in the page cache before and after are `resident_bytes` and `resident_after_bytes`;
    `hit_rate` is the share of the bytes the loader asked for that did not come from the device. `unwritten_bytes` is
    the most that waited in the page cache to be written, and `limits_buffered_writes` whether the disk's throttle holds
    such bytes, too; None where no throttle limits writes. `gpus` are those of a run on `cuda`, where their driver could
    be asked.
    """

    resident_bytes: Count | None = None
    resident_after_bytes: Count | None = None
    hit_rate: Amount | None = None
    throttled: Amount | None = None
    other_cores: Amount | None = None
    overhead: Amount | None = None
    stolen_cores: Amount | None = None
    unwritten_bytes: Count | None = None
    limits_buffered_writes: bool | None = None
    gpus: tuple[GpuUse, ...] = ()


@dataclass(frozen=True)
class Declared:
    """What is said of a run, by its table or its program, and was not measured.

    Of an imported run `machine` is what the table says was rented, and `other` holds the cells of columns that sizer
    does not know. `stated` are the options that the program says it ran with, and what it chose where the study says
    nothing.
    """

    machine: RentedMachine | None = None
    other: dict[str, str] = field(default_factory=dict)
    stated: dict[str, bool | int | float | str] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """One execution of a RunSpec with its result. A run that failed is data, too.

    `rate`, `memory`, `conditions` and `declared` group fields that a file has beside the others.
    Of an imported run, `started_at` is None where the table does not say it, and a throughput without an interval has
    ends equal to its value. `meter` is None for a run of sizer's own workloads, which all write events, and where
    nothing was counted. `reason` is why the adaptive plan made it; None of a run that was asked for from the start.
    """

    spec: RunSpec
    outcome: Outcome
    configuration: Configuration
    started_at: Moment | None
    wall_seconds: Amount
    error: Failure | None = None
    sample_unit: str = "sample"
    data_set: DataSet | None = None
    throughput: Estimate | None = None
    rate: RateDetails = field(default=RateDetails(), metadata=FLATTENED)
    demand: Demand | None = None
    memory: MemoryUse = field(default=MemoryUse(), metadata=FLATTENED)
    conditions: Conditions = field(default=Conditions(), metadata=FLATTENED)
    evidence: Evidence | None = None
    disk: DiskCheck | None = None
    limited_by: LimitedBy | None = None
    declared: Declared = field(default_factory=Declared, metadata=FLATTENED)
    meter: Meter | None = None
    reason: RunReason | None = None
    warnings: tuple[RunWarning, ...] = ()
    steps: tuple[Step, ...] = ()
    samples: tuple[Sample, ...] = ()
    schema_version: int = SCHEMA_VERSION

    @property
    def id(self) -> str:
        return self.spec.id

    @property
    def nodes(self) -> int:
        """How many machines ran it together."""
        return 1 if self.declared.machine is None else self.declared.machine.nodes

    @property
    def ran_out_of(self) -> MemoryPlace | None:
        """Whose memory a run was out of; None where it was not, or nobody knows.

        Runs that were stored before the record said so name it by their cause: killed by the kernel.
        """
        if self.outcome is not Outcome.OUT_OF_MEMORY or self.error is None:
            return None
        killed = self.error.cause.kind in (CauseKind.MEMORY_CAP, CauseKind.HOST_MEMORY)
        return MemoryPlace.HOST if self.error.where is None and killed else self.error.where

    @property
    def imported(self) -> bool:
        """Whether it is a row of somebody's table: then what it says of a machine is the machine's, and no limit."""
        return self.limited_by is not None and self.limited_by.kind is LimitedByKind.IMPORTED

    @property
    def precision(self) -> str | None:
        """The numbers that it computed with. sizer's own networks compute in fp32 unless their workload says otherwise;
        of an emulated accelerator, a table or a command only what is said is known."""
        workload = self.spec.workload
        own = not self.imported and workload.computed_mode is not None and workload.computes_on.kind != "emulated"
        return workload.precision or (FP32 if own else None)

    @property
    def first_step_seconds(self) -> float | None:
        """From its start to the end of its first step; None where no step was seen, or nothing was sampled."""
        return self.steps[0].time - self.samples[0].time if self.steps and self.samples else None


_OF_THE_RUNS_DISK = frozenset({CauseKind.OUTPUT_FULL, CauseKind.SCRATCH_AND_OUTPUT_FULL})


def way_of_ending(run: Run) -> tuple[object, ...]:
    """What runs that ended alike have in common, their last words aside: the outcome, and each cause."""
    if run.error is None:
        return run.outcome, run.configuration.memory_bytes if run.outcome is Outcome.OUT_OF_MEMORY else None
    causes = (run.error.cause, *run.error.reasons)
    disk = run.spec.limits.disk if any(cause.kind in _OF_THE_RUNS_DISK for cause in causes) else None
    return run.outcome, disk, *(cause.key for cause in causes)
