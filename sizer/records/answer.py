"""What is concluded from runs: predictions and the recommendation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

from sizer.records.batch_sizes import BatchAdvice
from sizer.records.cross_table import CrossTable
from sizer.records.domains import (
    Amount,
    Batch,
    Bytes,
    Count,
    EdgeState,
    Label,
    Name,
    Preference,
    Probability,
    Rate,
    Signed,
    Status,
    Vcpus,
)
from sizer.records.errors import NoAnswer
from sizer.records.gpu_options import GpuOption
from sizer.records.run import Bottleneck, Configuration, Estimate
from sizer.records.study import SCHEMA_VERSION, Objective


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

    vCPUs that were not varied are given all the same; they are None where it is not known how many they were.
    """

    vcpus: Vcpus | None
    memory_bytes: Bytes | None = None
    disk: Name | None = None
    batch_size: Batch | None = None
    gpu: Label | None = None
    gpu_count: Count = 0


Figure = bool | float | str | tuple[float, ...] | tuple[str, ...] | None
"""One figure of a reason: a number in bytes, seconds, samples/s or shares of one, a name, or a list of either."""


class ReasonCode(str, Enum):
    """Everything that is said of an answer, of a prediction that cannot be made, or of a fitted model."""

    # Why there is no model, or no prediction.
    NOT_FITTED = "not_fitted"
    NO_RUN_COMPLETED = "no_run_completed"
    TOO_FEW_VALUES = "too_few_values"
    BETWEEN_MEMORY_SIZES = "between_memory_sizes"
    NOT_IN_TABLE = "not_in_table"
    GPU_NOT_MEASURED = "gpu_not_measured"
    DISK_NOT_MEASURED = "disk_not_measured"
    MIXED_PROGRAMS = "mixed_programs"
    ONLY_STAGES = "only_stages"
    RELATIVE_HAS_NO_TIME = "relative_has_no_time"
    FACTOR_NOT_POSITIVE = "factor_not_positive"
    NO_GPU_TO_SPEED_UP = "no_gpu_to_speed_up"
    STEP_NOT_SEPARATE = "step_not_separate"
    READS_NOT_ACCOUNTED = "reads_not_accounted"
    DATA_SIZE_UNKNOWN = "data_size_unknown"
    DATA_SIZE_NOT_COMPARABLE = "data_size_not_comparable"

    # How a workload scales.
    FASTEST_AT = "fastest_at"
    STILL_GAINS = "still_gains"
    GAIN_UNKNOWN = "gain_unknown"
    GAINS_NOTHING = "gains_nothing"
    STOPS_SCALING = "stops_scaling"
    BEST_MEASURED = "best_measured"

    # Where the answer stops at what was measured.
    RISES_WITH_VCPUS = "rises_with_vcpus"
    RISES_WITH_GPUS = "rises_with_gpus"
    RISES_WITH_BATCH = "rises_with_batch"
    RISES_WITH_MEMORY = "rises_with_memory"
    VCPUS_UNSETTLED = "vcpus_unsettled"
    MEMORY_UNSETTLED = "memory_unsettled"
    SIZE_OPEN = "size_open"
    BEYOND_BY_CURVE = "beyond_by_curve"
    BEYOND_BY_CEILING = "beyond_by_ceiling"

    # A job with a deadline.
    JOB_TAKES = "job_takes"
    JOB_COSTS = "job_costs"
    JOB_COST_UNKNOWN = "job_cost_unknown"
    NOTHING_IN_TIME = "nothing_in_time"
    TIME_ENOUGH = "time_enough"
    BEYOND_IN_TIME = "beyond_in_time"
    WOULD_HELP = "would_help"
    MORE_VCPUS_NOT_MEASURED = "more_vcpus_not_measured"

    # What the runs say against an answer.
    ONLY_MEASURED_SIZES = "only_measured_sizes"
    RATES_MISTOLD = "rates_mistold"
    RUNS_DOUBTFUL = "runs_doubtful"
    RUNS_FAILED = "runs_failed"

    # What several accelerators make, and why that is not known.
    COUNTS_NOT_TOGETHER = "counts_not_together"
    COUNTS_FAILED = "counts_failed"
    COUNTS_OUT_OF_MEMORY = "counts_out_of_memory"

    # Why this spec.
    REACHES = "reaches"
    BOUND_BY = "bound_by"
    BOTTLENECK_UNKNOWN = "bottleneck_unknown"
    BOTTLENECK_DISPUTED = "bottleneck_disputed"
    BOTTLENECK_CLOSE = "bottleneck_close"
    VCPUS_NOT_IN_TABLE = "vcpus_not_in_table"
    VCPUS_NOT_VARIED = "vcpus_not_varied"
    SIZE_SOLD = "size_sold"
    FEWER_NOT_MEASURED = "fewer_not_measured"
    NO_FASTER_DISK = "no_faster_disk"
    FASTER_DISK = "faster_disk"
    DISK_STILL_BINDS = "disk_still_binds"
    DISK_EMULATED = "disk_emulated"
    FLOOR_SEARCHED = "floor_searched"
    FLOOR_BETWEEN = "floor_between"
    EVERY_CAP_HELD = "every_cap_held"
    EVERY_CAP_KILLED = "every_cap_killed"
    ONE_MEMORY_CAP = "one_memory_cap"
    TWO_MEMORY_RATES = "two_memory_rates"
    ONE_MEMORY_RATE = "one_memory_rate"
    ONLY_COMPLETION_TRIED = "only_completion_tried"
    MEMORY_NOT_VARIED = "memory_not_varied"
    MEMORY_LEAST_KNOWN = "memory_least_known"
    MEMORY_NOT_OFFERED = "memory_not_offered"
    MEMORY_LEAST_OFFERED = "memory_least_offered"
    MEMORY_LESS_HAS_NO_RATE = "memory_less_has_no_rate"
    MEMORY_LESS_MAY_NOT_HOLD = "memory_less_may_not_hold"
    MEMORY_LESS_MAY_BE_SLOWER = "memory_less_may_be_slower"
    MEMORY_LEAST_WITH_MARGIN = "memory_least_with_margin"
    MEMORY_LEAST_HOLDING = "memory_least_holding"
    MEMORY_NEEDED = "memory_needed"
    STEP_EMULATED = "step_emulated"
    EMULATED_RATE_OPEN = "emulated_rate_open"
    NEXT_LIMIT = "next_limit"
    SMALLEST_UPGRADE = "smallest_upgrade"
    NO_BASELINE = "no_baseline"
    BASELINE_PRICE_UNKNOWN = "baseline_price_unknown"
    BASELINE_SAME_PRICE = "baseline_same_price"
    BASELINE_SAVING = "baseline_saving"

    # Which of the machines that were measured.
    LEAST_COST = "least_cost"
    LEAST_COST_AND_TIME = "least_cost_and_time"
    FASTEST_OF_MACHINES = "fastest_of_machines"
    FASTEST_WITHOUT_PRICE = "fastest_without_price"
    PRICES_UNKNOWN = "prices_unknown"
    SOME_PRICES_UNKNOWN = "some_prices_unknown"
    NEXT_MACHINE = "next_machine"
    FASTEST_MACHINE = "fastest_machine"
    CHOICE_CLOSE = "choice_close"
    NEARLY_FASTEST = "nearly_fastest"
    ONLY_MACHINE = "only_machine"
    SMALLEST_OF_MACHINES = "smallest_of_machines"
    TARGET_CLOSE = "target_close"
    RUNS_APART = "runs_apart"
    SIZES_APART = "sizes_apart"
    SURER_MACHINE = "surer_machine"
    CHEAPER_BELOW_TARGET = "cheaper_below_target"
    DISK_ENOUGH = "disk_enough"
    BASELINE_MACHINE = "baseline_machine"
    INTERCONNECT_BINDS = "interconnect_binds"
    ONLY_WITH_THIS_INPUT = "only_with_this_input"
    OTHER_INPUT = "other_input"
    INPUT_BINDS = "input_binds"
    NO_MACHINE_ENOUGH = "no_machine_enough"
    RISES_TO_MOST_VCPUS = "rises_to_most_vcpus"
    FAST_ENOUGH = "fast_enough"
    SPOT_PRICES = "spot_prices"
    NO_SPOT_PRICES = "no_spot_prices"
    GROWTH_UNSETTLED = "growth_unsettled"
    NOT_FAST_AND_PROMPT = "not_fast_and_prompt"
    LATENCY_KEPT = "latency_kept"
    LATENCY_NOT_KEPT = "latency_not_kept"
    LATENCY_NOT_MEASURED = "latency_not_measured"

    # Why a cheaper spec was not taken.
    NOT_MEASURED_TOGETHER = "not_measured_together"
    SLOWER_MACHINE = "slower_machine"
    DEARER_MACHINE = "dearer_machine"
    DEARER_IN_TIME = "dearer_in_time"
    BELOW_RATE = "below_rate"
    LATENCY_TOO_LONG = "latency_too_long"
    OF_TARGET = "of_target"
    OF_BEST = "of_best"
    JOB_DEARER = "job_dearer"
    JOB_UNLIKELY = "job_unlikely"
    JOB_TOO_LATE = "job_too_late"
    IN_TIME = "in_time"
    TARGET_UNLIKELY = "target_unlikely"
    BEST_UNKNOWN = "best_unknown"
    DISK_LOSES = "disk_loses"
    MEMORY_NOT_SOLD = "memory_not_sold"
    FRACTION_NOT_SOLD = "fraction_not_sold"
    OUT_OF_MEMORY = "out_of_memory"

    # What a run would settle.
    FINDS_THE_KNEE = "finds_the_knee"
    MORE_MEMORY_MAY_PAY = "more_memory_may_pay"
    THREE_VALUES = "three_values"
    NEED_NOT_MEASURED = "need_not_measured"
    RUN_WOULD_SETTLE = "run_would_settle"
    MORE_VCPUS_UNSETTLED = "more_vcpus_unsettled"
    FEWEST_ENOUGH = "fewest_enough"
    RATE_UNKNOWN = "rate_unknown"
    MEMORY_UNTRIED = "memory_untried"

    # What to know of an instance type.
    PRICE_UNKNOWN = "price_unknown"
    FIGURES_UNSURE = "figures_unsure"
    MORE_GPUS = "more_gpus"
    GPU_UNKNOWN = "gpu_unknown"
    GPU_UNUSED = "gpu_unused"
    ARM = "arm"
    DISK_CAPPED = "disk_capped"


class Event(str, Enum):
    """What the probability of an answer is that of; for a program, and for a person beside the figure."""

    REACHES_TARGET = "reaches_target"
    """Its rate is at least the target of the best measured."""
    LESS_TOO_LITTLE = "less_too_little"
    """Of a lower bound: nothing smaller that was compared reaches the target of the best measured."""
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
class Reason:
    """One thing that is known and bears on an answer; `spec` where it is about one. `sizer.words` says it."""

    code: ReasonCode
    figures: Mapping[str, Figure] = field(default_factory=dict)
    spec: Spec | None = None

    def number(self, name: str) -> float:
        """That figure, which must be a number."""
        figure = self.figures[name]
        if not isinstance(figure, (int, float)):
            raise TypeError(f"{self.code.value}: {name} is {figure!r}, not a number")
        return figure

    def numbers(self, name: str) -> tuple[float, ...]:
        """That figure, which must be a list of numbers."""
        figure = self.figures[name]
        if not isinstance(figure, tuple):
            raise TypeError(f"{self.code.value}: {name} is {figure!r}, not a list")
        return tuple(float(each) for each in figure)

    def text(self, name: str) -> str:
        """That figure as text; empty where there is none."""
        figure = self.figures.get(name)
        return "" if figure is None else str(figure)

    def texts(self, name: str) -> tuple[str, ...]:
        """That figure, which must be a list of names."""
        figure = self.figures[name]
        if not isinstance(figure, tuple):
            raise TypeError(f"{self.code.value}: {name} is {figure!r}, not a list")
        return tuple(str(each) for each in figure)

    def has(self, name: str) -> bool:
        """Whether that figure is there, and is neither None nor False."""
        figure = self.figures.get(name)
        return figure is not None and figure is not False


def reason(code: ReasonCode, /, **figures: Figure) -> Reason:
    """A reason with its figures by name."""
    return Reason(code, figures)


class Action(str, Enum):
    """What a suggestion asks for."""

    MEASURE = "measure"
    """New runs, of configurations that were not measured."""
    REPEAT = "repeat"
    """The same runs again: on a quiet host, or for longer."""
    RETRY = "retry"
    """Runs that failed, once their cause is found in their logs and mended."""
    IMPORT = "import"
    """The table again, with what it lacks."""
    RENAME = "rename"
    """Workloads that share a name."""
    FINISH = "finish"
    """The study."""


@dataclass(frozen=True)
class Suggestion:
    """The runs that would settle what an answer leaves open: what they vary from the answer's own, and why.

    `repeat_how` is what to correct in the study file (in a pattern its `batches`, `counter` or `units`; `batch_size`)
    or None; `column` is what an imported table lacks; `input`, the workload's input where
    another is needed; `accounting` that its disk's reads are to be counted. `needs_larger_host`: these vCPUs are more
    than the `host_vcpus` of the host that measured.
    """

    action: Action
    why: Reason | None = None
    vcpus: tuple[float, ...] = ()
    memory_bytes: Count | None = None
    disk: str | None = None
    batch_size: Count | None = None
    gpu: str | None = None
    gpu_count: Count | None = None
    input: str | None = None
    accounting: bool = False
    repeat_how: str | None = None
    column: str | None = None
    needs_larger_host: bool = False
    host_vcpus: Amount | None = None


@dataclass(frozen=True)
class Refusal:
    """Why there is no answer, and what would help most."""

    reason: Reason
    suggestion: Suggestion | None = None


class Refused(NoAnswer):
    """A prediction that cannot be made of what was measured; `sizer.words` says `refusal` in the reader's language.

    `str()` is `english` where the sentence is given, else the code of the reason.
    """

    def __init__(self, refusal: Refusal, english: str | None = None) -> None:
        super().__init__(refusal.reason.code.value if english is None else english)
        self.refusal = refusal


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

    `usd_per_hour` is the price that the answer counts with; `usd_per_hour_spot` that of spare capacity.
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
class Alternative:
    """One of the machines that were compared; `dominated` if another is no slower and costs less.

    `instance_type` is the one whose price it is; a price of None is unknown. `latency_p99` is in seconds, None where it
    was not measured. Prices are without a disk; `disk_usd_per_hour` is what the comparison counts of one beside: 0
    where all have the same.
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
    `batch` says which batch size, where several were measured or the largest was searched for.
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

    @cached_property
    def chosen(self) -> Alternative | None:
        """The one of the alternatives that is the answer; None where none of them is."""
        own = (self.spec, self.throughput)
        return next((each for each in self.alternatives if (each.spec, each.throughput) == own), None)

    @cached_property
    def least_costly(self) -> Alternative | None:
        """Where the work costs least, of at least two alternatives with a price; they are in that order."""
        priced = [each for each in self.alternatives if each.usd_per_hour is not None]
        return priced[0] if len(priced) > 1 else None

    @cached_property
    def highest_rate(self) -> float:
        """Samples per second of the fastest alternative; 0 without any."""
        return max((each.throughput.value for each in self.alternatives), default=0.0)

    @property
    def front(self) -> tuple[Alternative, ...]:
        """The alternatives that no other one dominates, and the one that is the answer."""
        chosen = self.chosen
        return tuple(each for each in self.alternatives if not each.dominated or each is chosen)


@dataclass(frozen=True)
class Loss:
    """What a workload loses on the machine that all share: `usd_per_hour` more than on its own cheapest one, None where
    that has no price. `share` is its rate there over the answer's, with no more vCPUs than were measured, None unknown.
    """

    workload: Name
    usd_per_hour: Signed | None = None
    share: Amount | None = None


@dataclass(frozen=True)
class SharedMachine:
    """The cheapest instance type of the catalogue that holds the spec of every workload with an answer."""

    provider: str
    instance_type: str
    vcpus: Amount
    memory_bytes: Count
    gpu: str | None
    gpu_count: Count
    usd_per_hour: Amount
    as_of: str
    losses: tuple[Loss, ...] = ()


@dataclass(frozen=True)
class Family:
    """What one instance family must offer so that every workload with an answer has its size.

    `rising`: more vCPUs than `most_vcpus` may pay. `gib_per_vcpu` is what families sell, or what is needed where that
    is more than any sells (`sold` False); `memory_workload` needs the most. `disks` are by workload. `shared` is one
    machine for all of several workloads, None where none is sold that holds them all.
    """

    least_vcpus: Vcpus | None = None
    most_vcpus: Vcpus | None = None
    rising: bool = False
    gib_per_vcpu: Amount | None = None
    sold: bool = True
    memory_workload: Name | None = None
    disks: dict[str, str] = field(default_factory=dict)
    not_covered: tuple[Name, ...] = ()
    shared: SharedMachine | None = None


@dataclass(frozen=True)
class Recommendation:
    """The answer for every workload of a study, and the table of those that are one another's rivals."""

    objective: Objective
    workloads: tuple[Answer, ...]
    family: Family = Family()
    cross_table: CrossTable | None = None
    schema_version: int = SCHEMA_VERSION
