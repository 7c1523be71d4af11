"""What is concluded from runs: the recommendation, with batch sizes, GPUs that were asked about, tables and doubts."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

from sizer.records.domains import (
    SCHEMA_VERSION,
    Amount,
    Batch,
    Bytes,
    Cache,
    Count,
    EdgeState,
    Input,
    Label,
    Mode,
    Name,
    Nodes,
    Preference,
    Probability,
    Rate,
    Signed,
    Status,
    Vcpus,
    Year,
)
from sizer.records.family import Family
from sizer.records.messages import Message
from sizer.records.prediction import (
    Bottleneck,
    Configuration,
    Estimate,
    Prediction,
    Reason,
    ReasonCode,
    Refusal,
    Spec,
    Suggestion,
)
from sizer.records.run_kinds import LargestBatch, Outcome
from sizer.records.study import Objective


class DoubtKind(Enum):
    """Why runs may end as `unsupported`, `crashed` or `refused`; NO_NVML: why nothing will be known of their GPUs."""

    USER = "user"
    FRAMEWORK = "framework"
    INTERPRETER = "interpreter"
    GPU = "gpu"
    NO_DRIVER = "no_driver"
    NO_NVML = "no_nvml"
    HIDDEN_GPU = "hidden_gpu"
    UNSEEN_GPU = "unseen_gpu"
    PROGRAM = "program"
    SETUP = "setup"
    BEFORE = "before"
    NO_FOLDER = "no_folder"
    NOT_PASSED = "not_passed"


@dataclass(frozen=True)
class Doubt:
    """`what` is the user that `run_as` names and runs cannot be made as, the framework, the GPU's index, the program
    (of a command, of its `setup` or its `before`) or the variable of `pass_env` that is not there; or a file that the
    command names, which lies in the folder `where` while no `cwd` is given; or the framework whose interpreter cannot
    run it. Of a user and of an interpreter `problem` says why, with what to type. A GPU that is there and not shown to
    the workload is hidden by CUDA_VISIBLE_DEVICES, whose value `where` is, or not seen by its framework, whose
    interpreter `where` is.

    All but the doubts of a user and of a framework are of one workload.
    """

    kind: DoubtKind
    workloads: tuple[str, ...]
    what: str
    where: str = ""
    problem: Message | None = None


class StepFit(str, Enum):
    """Whether the time of a step is launch + slope x batch, as far as the runs show it."""

    AFFINE = "affine"
    """Three batch sizes or more lie on such a line, as near as the runs are exact."""
    UNTESTED = "untested"
    """Two batch sizes, through which a line always goes."""
    NOT_AFFINE = "not_affine"
    """They do not lie on one."""


@dataclass(frozen=True)
class BatchPoint:
    """What one batch size gave: the median rate of its runs, and the seconds that a sample and a step took by it.

    `throughput` has the 90 % interval of that median. `peak_bytes` is the most memory of its runs that cannot be
    dropped, None where it was not accounted.
    """

    batch_size: Batch
    throughput: Estimate
    seconds_per_sample: Rate
    step_seconds: Rate
    runs: Count
    peak_bytes: Count | None = None


@dataclass(frozen=True)
class BatchCurve:
    """Seconds a sample against the batch size, where nothing but the batch differs; `at` has the smallest batch.

    The time of a step is `launch` + `slope` x batch, in seconds and seconds a sample, with 90 % intervals; an interval
    that is no wider than its value is not known. Both are None where the line does not fit. `samples_per_batch` is how
    many samples a step has for each one of its batch (35 words, 1 image). `enough` is the smallest batch within 5 % of
    the best rate, and `open` are smaller ones that may be, too, as far as the runs tell; `sure` is whether `enough`
    itself surely is. `rising`: by the line a larger batch than all measured gains more than that, and `beyond` would be
    within 5 % of what it tends to. `emulated`: the accelerator's part of a step was not measured but waited for.
    """

    at: Configuration
    points: tuple[BatchPoint, ...]
    samples_per_batch: Rate
    fit: StepFit
    launch: Estimate | None
    slope: Estimate | None
    best: Batch
    enough: Batch
    sure: bool
    open: tuple[Batch, ...] = ()
    rising: bool = False
    beyond: Count | None = None
    emulated: bool = False


@dataclass(frozen=True)
class BatchAdvice:
    """Which batch size: the curve at the answer or nearest to it, those at other places, and what fits.

    `batch_size` is the one that is recommended: the smallest within 5 % of the best rate, of those that are not known
    not to fit. `memory_bytes` is the memory that it asks for, None where no run tells it.
    """

    batch_size: Batch | None = None
    memory_bytes: Bytes | None = None
    curves: tuple[BatchCurve, ...] = ()
    largest: LargestBatch | None = None


class NoGpuAnswer(str, Enum):
    """Why there is none for a GPU."""

    NO_RATE = "no_rate"
    """No published rate says how fast it computes the network."""
    NO_NETWORK = "no_network"
    """What the job computes is not known by name: a program of the user's own, or preprocessing."""
    STEP_NOT_SEPARATE = "step_not_separate"
    """What the input costs the CPU cannot be told from what the step on the CPU does."""
    INPUT_NOT_KNOWN = "input_not_known"
    """What the vCPUs of its machine feed does not follow from those that were measured; `vcpus` would show it."""
    NO_MODEL = "no_model"
    """The runs say nothing of the input side."""


@dataclass(frozen=True)
class PublishedRate:
    """Samples per second of one accelerator by published rates, with 90 %; `basis` as in the catalogue.

    `known_on` are the GPUs that a transferred rate was published on. What is None was not published.
    """

    rate: Estimate
    basis: str
    precision: Label | None
    batch_size: Batch | None
    framework: str | None
    sources: tuple[str, ...]
    as_of: str
    known_on: tuple[str, ...] = ()


@dataclass(frozen=True)
class SecondGpu:
    """Two of them in one machine. `gain` is the rate of both over that of one, `efficiency` what the all-reduce leaves.

    The machine is the cheapest with two, None where none is priced; `worth` says whether the work costs no more there,
    `worth_sure` whether it does so at both ends of the gain's interval.
    """

    gain: Estimate
    efficiency: Estimate
    basis: str
    bottleneck: Bottleneck
    sources: tuple[str, ...] = ()
    instance_type: str | None = None
    usd_per_hour: Amount | None = None
    usd_per_million_samples: Amount | None = None
    worth: bool | None = None
    worth_sure: bool = False


@dataclass(frozen=True)
class AgainstCpu:
    """Time and cost of the work on this GPU over those of the answer on the CPU; a ratio of None has no price."""

    time_ratio: Amount
    cost_ratio: Amount | None = None
    cost_ratio_spot: Amount | None = None


@dataclass(frozen=True)
class GpuOption:
    """One GPU that was asked about; without `throughput` there is no answer, for the reason in `missing`.

    `throughput` is that of `gpu_count` of them in the machine, whose input side was measured here, and is moved to its
    CPU where `transferred`; `bottleneck_sure` says whether the interval leaves it open what binds. `fits` is None where
    nobody knows what memory the job needs; `needs_at_most_bytes` is what is known to be enough: the smallest GPU that
    as large a batch was published on; `on_cpu_bytes` is what the job needed on the CPU, to which a GPU adds workspace
    of its own. `seconds` and `usd` are of the whole job where its samples are given. `network` and `batch_size` are the
    job's: where no rate is published, one run of them there would give it. `second_missing` says why a second one has
    no answer, and a run with `second_vcpus` would show it. `retired` says that nobody can rent machines with it any
    more: then it is no choice.
    """

    gpu: Label
    missing: NoGpuAnswer | None = None
    published_on: tuple[str, ...] = ()
    accelerator: PublishedRate | None = None
    input_rate: Estimate | None = None
    throughput: Estimate | None = None
    bottleneck: Bottleneck | None = None
    bottleneck_sure: bool = False
    extrapolated: bool = False
    transferred: bool = False
    gpu_count: Count = 1
    vcpus: Vcpus | None = None
    provider: str | None = None
    instance_type: str | None = None
    usd_per_hour: Amount | None = None
    usd_per_hour_spot: Amount | None = None
    usd_per_million_samples: Amount | None = None
    usd_per_million_samples_spot: Amount | None = None
    seconds: Estimate | None = None
    usd: Amount | None = None
    gpu_memory_bytes: Bytes | None = None
    needs_at_most_bytes: Bytes | None = None
    on_cpu_bytes: Bytes | None = None
    fits: bool | None = None
    second: SecondGpu | None = None
    second_missing: NoGpuAnswer | None = None
    second_vcpus: Vcpus | None = None
    against_cpu: AgainstCpu | None = None
    retired: Reason | None = None
    network: Label | None = None
    batch_size: Batch | None = None


@dataclass(frozen=True)
class CrossColumn:
    """What is compared: a framework, and an accelerator where the columns differ in it. `cpu` is none, and
    `cpu:c4.8xlarge` the CPU of a machine that an imported table names so."""

    framework: Label
    accelerator: Label | None = None


@dataclass(frozen=True)
class CrossCell:
    """One column's seconds a mini-batch in a row, with the 95 % interval of its runs; None is missing.

    `outcome` is how its runs ended where none gave a rate; without one nothing was tried. `rank` counts those that are
    surely faster, from 1, so that two that cannot be told apart share one; `ratio` is the seconds over the least of the
    row. `doubtful` are those of its `runs` with a warning that makes a rate doubtful.
    """

    seconds: Estimate | None = None
    throughput: Estimate | None = None
    rank: Count | None = None
    ratio: Amount | None = None
    outcome: Outcome | None = None
    runs: Count = 0
    doubtful: Count = 0


@dataclass(frozen=True)
class CrossRow:
    """What all cells of a row have alike, a cell for each column; None where it is not known, or differs by machine."""

    network: Label
    batch_size: Batch
    mode: Mode | None
    precision: Label | None
    accelerator: Label | None
    accelerators: Count
    vcpus: Vcpus | None
    memory_bytes: Bytes | None
    disk: Name | None
    input: Input
    cache: Cache
    sample_unit: str
    cells: tuple[CrossCell, ...]


@dataclass(frozen=True)
class CrossTable:
    """Seconds a mini-batch of every column at every row. `not_the_same` are the networks that its frameworks define
    differently (`DIFFERENCES`); `supposed` is the relative half-width that ranks suppose of cells without repeats."""

    columns: tuple[CrossColumn, ...]
    rows: tuple[CrossRow, ...]
    not_the_same: tuple[Label, ...] = ()
    supposed: Amount | None = None


class Event(str, Enum):
    """What the probability of an answer is that of; for a program, and for a person beside the figure."""

    REACHES_TARGET = "reaches_target"
    """Its rate is at least the target of the best measured."""
    LESS_TOO_LITTLE = "less_too_little"
    """Of a lower bound: nothing with fewer vCPUs or less memory reaches the target of the best measured."""
    FEWER_TOO_FEW = "fewer_too_few"
    """The same of vCPUs alone: it has memory, and that is no bound, or no less was compared."""
    NONE_CHEAPER = "none_cheaper"
    """It gives what is asked for, and no other does the same work for 5 % less."""
    NONE_BETTER = "none_better"
    """The same of the cost of the work times the time that it takes."""
    NONE_FASTER = "none_faster"
    """No other is 5 % faster."""
    GIVES_RATE = "gives_rate"
    """A new run gives the rate that is asked for."""
    IN_TIME = "in_time"
    """The job of the deadline is finished in time."""


@dataclass(frozen=True)
class Rejection:
    """A cheaper spec and why it was not taken; `instance_type` where the table names the machine.

    `throughput` is what it would give, `share` that over the answer's rate, `usd_saved_per_hour` what it would cost
    less, with its disk where several were measured, and `saving` that over the price of the answer. Each is None where
    it is not known, or, of what is not sold, does not exist.
    """

    spec: Spec
    why: tuple[Reason, ...]
    instance_type: str | None = None
    throughput: Estimate | None = None
    share: Amount | None = None
    usd_saved_per_hour: Signed | None = None
    saving: Signed | None = None


@dataclass(frozen=True)
class Option:
    """The spec that some preferences take of what the answer was chosen from, whichever of them was asked for.

    `probability` is that of giving what is asked for. The price is that of the cheapest instance type that holds it;
    None is unknown.
    """

    preferences: tuple[Preference, ...]
    spec: Spec
    throughput: Estimate
    probability: Probability
    bottleneck: Bottleneck | None = None
    instance_type: str | None = None
    usd_per_hour: Amount | None = None
    usd_per_million_samples: Amount | None = None


@dataclass(frozen=True)
class InstanceOffer:
    """An instance type that holds the spec; a price of None is unknown. `own`: it is what was measured, by its name.

    `usd_per_hour` is the price that the answer counts with; `usd_per_hour_spot` that of spare capacity. Of several
    `nodes` it is that of all, and so is what they have. `throughput` is the rate there, with all of its vCPUs as far as
    so many were measured; None where it is taken to be that of the answer.
    """

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
    notes: tuple[Reason, ...] = ()
    own: bool = False
    usd_per_hour_spot: Amount | None = None
    nodes: Nodes = 1
    throughput: Estimate | None = None

    @property
    def foreign(self) -> ForeignPrice | None:
        """Its price where that is known in another currency alone."""
        own = next((note for note in self.notes if note.code is ReasonCode.PRICES and note.has("currency")), None)
        return None if own is None else ForeignPrice(own.number("price") * self.nodes, own.text("currency"))

    @property
    def is_priced(self) -> bool:
        return self.usd_per_hour is not None or self.foreign is not None

    def called(self, provider: str) -> str:
        """`aws g4dn.xlarge`, `2 x aws p3.16xlarge` with the provider so written; a table may name a type alone."""
        name = " ".join(filter(None, (provider, self.instance_type)))
        return name if self.nodes == 1 else f"{self.nodes} x {name}"


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
class ForeignPrice:
    """An hour's in a currency of which nobody said what it is worth in US dollars."""

    amount: Amount
    currency: str


@dataclass(frozen=True)
class Alternative:
    """One of the machines that were compared; `dominated` if another is no slower and costs less.

    `instance_type` is the one whose price it is; a price of None is unknown. `latency_p99` is in seconds, None where it
    was not measured. Prices are without a disk; `disk_usd_per_hour` is what the comparison counts of one beside: 0
    where all have the same. `foreign` is its price where that is known in another currency alone.
    """

    spec: Spec
    throughput: Estimate
    instance_type: str | None = None
    usd_per_hour: Amount | None = None
    usd_per_million_samples: Amount | None = None
    dominated: bool = False
    usd_per_hour_spot: Amount | None = None
    latency_p99: Amount | None = None
    disk_usd_per_hour: Amount = 0.0
    foreign: ForeignPrice | None = None


@dataclass(frozen=True)
class Cost:
    """What a machine costs at one of its prices: USD an hour, of a million samples and of the whole job; None is not
    known. `ratio` is what the same work costs there over what it costs on the baseline on demand, or at spot prices
    where those of the baseline are all that is known of it."""

    usd_per_hour: Amount
    usd_per_million_samples: Amount | None = None
    usd_of_job: Amount | None = None
    ratio: Amount | None = None


@dataclass(frozen=True)
class CostRow:
    """One machine of the table, with or without a GPU; `time_ratio` is its time over the baseline's for the same work.

    `spot_expected` is its spot price with the time that interruptions lose, where these are told. `seconds` are those
    of the whole job. `published`: of a GPU that was asked about, by its published rate;
    `extrapolated`: of a baseline that is larger than all that was measured. `retired` is the year since which nobody
    can rent it: it is never the cheapest, and only as the baseline has it a price.
    """

    spec: Spec
    throughput: Estimate
    instance_type: str | None = None
    seconds: Amount | None = None
    time_ratio: Amount | None = None
    on_demand: Cost | None = None
    spot: Cost | None = None
    spot_expected: Cost | None = None
    is_baseline: bool = False
    published: bool = False
    extrapolated: bool = False
    foreign: ForeignPrice | None = None
    retired: Year | None = None

    @property
    def has_accelerator(self) -> bool:
        return self.spec.gpu is not None or self.spec.gpu_count > 0


@dataclass(frozen=True)
class CostTable:
    """CPU or GPU: machines without accelerators first, by vCPUs. `spot_time` is the expected time at spot prices over
    that without interruptions, None where these are not told; `samples` are those of the whole job."""

    rows: tuple[CostRow, ...]
    samples: Rate | None = None
    spot_time: Amount | None = None

    @property
    def baseline(self) -> CostRow | None:
        return next((row for row in self.rows if row.is_baseline), None)

    @property
    def has_both(self) -> bool:
        """Whether it has machines with accelerators and machines without."""
        return len({row.has_accelerator for row in self.rows}) > 1

    @property
    def cheapest(self) -> CostRow | None:
        """On which the work costs the least on demand."""
        return self._least("on_demand")

    @property
    def cheapest_spot(self) -> CostRow | None:
        """The same by spot prices."""
        return self._least("spot")

    def _least(self, price: str) -> CostRow | None:
        work = [
            (cost.usd_per_hour / row.throughput.value, at)
            for at, row in enumerate(self.rows)
            if (cost := getattr(row, price)) is not None and row.retired is None
        ]
        return self.rows[min(work)[1]] if len(work) > 1 else None

    @property
    def no_faster(self) -> tuple[CostRow, CostRow] | None:
        """The fastest without an accelerator, and one with more vCPUs that is no faster; None where there is none."""
        measured = (row for row in self.rows if not row.extrapolated and row.spec.vcpus is not None)
        plain = [row for row in measured if not row.has_accelerator]
        best = max(plain, key=lambda row: row.throughput.value, default=None)
        larger = [row for row in plain if best is not None and (row.spec.vcpus or 0) > (best.spec.vcpus or 0)]
        return (best, larger[-1]) if best is not None and larger else None

    @property
    def slow_accelerators(self) -> tuple[tuple[CostRow, CostRow], ...]:
        """Each with an accelerator that is surely slower than a machine without one, and the smallest such machine."""
        plain = [row for row in self.rows if not row.has_accelerator]
        faster = {
            at: next((one for one in plain if one.throughput.low > row.throughput.high), None)
            for at, row in enumerate(self.rows)
            if row.has_accelerator
        }
        return tuple((self.rows[at], one) for at, one in faster.items() if one is not None)


@dataclass(frozen=True)
class AcceleratorCount:
    """What so many accelerators make of a workload, each with a batch of its own, where it has the most measured of all
    else: `vcpus` of them.

    `speed_up` is over the fewest measured of the same kind, `efficiency` that over how many times as many they are;
    both with the 90 % interval of two new runs. `ceiling` is what the accelerators alone would make, None where no
    accounting shows it. They are `fed` where the rate is nearly that: from `fed_vcpus` of the measured range on, None
    where no vCPUs in it do so. `asked_vcpus` keep them busy all the time, as far as core-seconds say: an estimate
    beyond the measured range where it is larger. `read_bytes` and `read_ios` are what they ask of the disk then, a
    second.

    `side_by_side` is what as many jobs make together, of one accelerator each with its share of vCPUs, memory and disk;
    None where the runs do not say, and for one. `extrapolated`: that share is outside what was measured.
    """

    gpu: Label | None
    count: Count
    vcpus: Vcpus | None
    throughput: Estimate
    speed_up: Estimate
    efficiency: Estimate
    bottleneck: Bottleneck
    ceiling: Amount | None = None
    fed: bool = False
    fed_vcpus: Vcpus | None = None
    asked_vcpus: Estimate | None = None
    read_bytes: Amount | None = None
    read_ios: Amount | None = None
    side_by_side: Estimate | None = None
    extrapolated: bool = False


@dataclass(frozen=True)
class Answer:
    """The recommendation for one workload; status is `recommended`, `at_least` or `refused`.

    `edge` says of a lower bound what makes it one: the rate is `rising` at the most measured, or whether it is stays
    `unsettled`. `provisional` is an answer whose own runs, or whose probability, speak against relying on it.
    `probability` is that of `probability_of`; neither is known where there was nothing to choose from.
    `rate_in_doubt`: runs told rates that are known to be wrong, so of its `throughput` only how specs compare is known.
    `options` are what the cheapest, the balanced and the fastest choice would be; none where a rate is asked for.
    `gpus` are the accelerators that were asked about. `accelerator_counts_missing` says which numbers of accelerators
    that were asked for are not compared, why, and what run would show it.
    `batch` says which batch size, where several were measured or the largest was searched for. `costs` is what the
    work costs on each machine, with a GPU and without.
    """

    workload: Name
    status: Status
    spec: Spec | None = None
    throughput: Estimate | None = None
    sample_unit: str = "sample"
    probability: Probability | None = None
    bottleneck: Bottleneck | None = None
    next_bottleneck: Bottleneck | None = None
    reasons: tuple[Reason, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    runner_up: Spec | None = None
    next_run: Suggestion | None = None
    instances: tuple[InstanceOffer, ...] = ()
    beyond: Prediction | None = None
    provisional: bool = False
    edge: EdgeState = "settled"
    headroom: Amount | None = None
    upgrade: Upgrade | None = None
    baseline: Baseline | None = None
    job: Job | None = None
    alternatives: tuple[Alternative, ...] = ()
    rate_in_doubt: bool = False
    options: tuple[Option, ...] = ()
    probability_of: Event | None = None
    gpus: tuple[GpuOption, ...] = ()
    accelerator_counts: tuple[AcceleratorCount, ...] = ()
    accelerator_counts_missing: tuple[Refusal, ...] = ()
    batch: BatchAdvice | None = None
    costs: CostTable | None = None

    @cached_property
    def chosen(self) -> Alternative | None:
        """The one of the alternatives that is the answer; None where none of them is."""
        own = (self.spec, self.throughput)
        return next((one for one in self.alternatives if (one.spec, one.throughput) == own), None)

    def is_of(self, offer: InstanceOffer) -> bool:
        """Whether its throughput is that of this machine: as it was measured, or as it has been moved to its CPU."""
        return offer.own or (offer.throughput is not None and offer.throughput == self.throughput)

    @cached_property
    def least_costly(self) -> Alternative | None:
        """Where the work costs least, of at least two alternatives with a price; they are in that order."""
        priced = [one for one in self.alternatives if one.usd_per_hour is not None]
        return priced[0] if len(priced) > 1 else None

    @cached_property
    def highest_rate(self) -> float:
        """Samples per second of the fastest alternative; 0 without any."""
        return max((one.throughput.value for one in self.alternatives), default=0.0)

    @property
    def front(self) -> tuple[Alternative, ...]:
        """The alternatives that no other one dominates, and the one that is the answer."""
        return tuple(one for one in self.alternatives if not one.dominated or one is self.chosen)


@dataclass(frozen=True)
class Recommendation:
    """The answer for every workload of a study, and the table of those that are one another's rivals."""

    objective: Objective
    workloads: tuple[Answer, ...]
    family: Family = field(default_factory=Family)
    cross_table: CrossTable | None = None
    schema_version: int = SCHEMA_VERSION
