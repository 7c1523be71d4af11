"""What is predicted of a configuration, and why an answer or none is given: codes with figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from sizer.records.configuration import Bottleneck, Configuration, Estimate
from sizer.records.domains import Amount, Batch, Bytes, Count, Label, Name, Nodes, Vcpus
from sizer.records.errors import NoAnswer


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

    vCPUs that were not varied are given all the same; they are None where it is not known how many they were. Of
    several `nodes`, machines that run the job together, all else is what they have in sum.
    """

    vcpus: Vcpus | None
    memory_bytes: Bytes | None = None
    disk: Name | None = None
    batch_size: Batch | None = None
    gpu: Label | None = None
    gpu_count: Count = 0
    nodes: Nodes = 1


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
    HOST_BUSY = "host_busy"
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
    JOBS_MIXED = "jobs_mixed"
    RUNS_DOUBTFUL = "runs_doubtful"
    RUNS_FAILED = "runs_failed"
    MEASURED_BESIDE_OTHERS = "measured_beside_others"
    RUNS_STARVED = "runs_starved"

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
    MACHINES_RETIRED = "machines_retired"
    ALL_RETIRED = "all_retired"
    GPU_RETIRED = "gpu_retired"
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
    MEMORY_ALIKE = "memory_alike"
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
    SLOWER_MACHINE = "slower_machine"
    DEARER_MACHINE = "dearer_machine"
    DEARER_IN_TIME = "dearer_in_time"
    BELOW_RATE = "below_rate"
    GIVES = "gives"
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
    RUNS_NOT_MADE = "runs_not_made"

    # What to know of an instance type.
    PRICE_UNKNOWN = "price_unknown"
    FIGURES_UNSURE = "figures_unsure"
    MORE_GPUS = "more_gpus"
    GPU_UNKNOWN = "gpu_unknown"
    GPU_UNUSED = "gpu_unused"
    ARM = "arm"
    DISK_CAPPED = "disk_capped"


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
    or None; `column` is what an imported table lacks, `job_by` its column that may tell jobs apart; `input`, the
    workload's input where another is needed; `accounting` that its disk's reads are to be counted. `needs_larger_host`:
    these vCPUs are more than the `host_vcpus` of the host that measured.
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
    job_by: str | None = None
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
