"""A configuration, the rate that it gives and what holds that back, of a run and of a prediction; and why an answer or
none is given: codes with figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from sizer.records.domains import Amount, Batch, Bound, Bytes, Count, Label, Name, Nodes, Signed, Vcpus
from sizer.records.messages import NoAnswer

# A configuration, the rate that it gives, and what holds that back: of a run, and of a prediction.


@dataclass(frozen=True)
class Configuration:
    """What a run really had: its limits with this host's own values where it was not limited.

    None is not known, which only an imported run has. `gpu` names the accelerator where one job was measured on several
    kinds, and `gpu_count` how many of them it used: 0 is as many as its device says, which is one unless that is a CPU.
    `machine` names one with another CPU than that of all runs.
    """

    vcpus: Vcpus | None
    memory_bytes: Bytes | None
    disk: Name | None
    batch_size: Batch | None
    gpu: Label | None = None
    gpu_count: Count | None = 0
    machine: Label | None = None


NORMAL_90, NORMAL_95 = 1.645, 1.96
"""Standard deviations from the middle of a normal distribution to either end of its central 90 %, and 95 %."""


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
class Prediction:
    """What the model says of one configuration; the interval is 90 % for a new run.

    `headroom` is the relative gain if the bottleneck cost no time, None where no other limit is known. `transferred`
    says from which CPU the rate was moved, None where it was not.
    """

    workload: Name
    configuration: Configuration
    throughput: Estimate
    bottleneck: Bottleneck
    shares: dict[str, Amount]
    extrapolated: bool
    out_of_memory: bool = False
    headroom: Amount | None = None
    transferred: Reason | None = None


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
    """What a reason is about: each kind answers one question of the reader, and its figures say the rest."""

    # Why there is no model, or no prediction.
    NOT_FITTED = "not_fitted"
    NO_RUN_COMPLETED = "no_run_completed"
    TOO_FEW_VALUES = "too_few_values"
    NOT_MEASURED = "not_measured"
    NOT_IN_TABLE = "not_in_table"
    NOT_RECORDED = "not_recorded"
    MIXED_PROGRAMS = "mixed_programs"
    RELATIVE_HAS_NO_TIME = "relative_has_no_time"
    FACTOR_NOT_POSITIVE = "factor_not_positive"
    NO_GPU_TO_SPEED_UP = "no_gpu_to_speed_up"
    STEP_NOT_SEPARATE = "step_not_separate"

    # How the rate goes with a size, and what lies beyond what was measured.
    BEST_MEASURED = "best_measured"
    STOPS_SCALING = "stops_scaling"
    RISES = "rises"
    GAIN_UNKNOWN = "gain_unknown"
    SIZE_OPEN = "size_open"
    BEYOND = "beyond"
    FEWER_NOT_MEASURED = "fewer_not_measured"
    NOT_VARIED = "not_varied"
    COUNTS_NOT_TOGETHER = "counts_not_together"

    # How a spec does against what is asked for.
    GIVES = "gives"
    JOB_TAKES = "job_takes"
    JOB_COSTS = "job_costs"
    LATENCY = "latency"
    NONE_ENOUGH = "none_enough"
    WOULD_HELP = "would_help"
    CHOICE_CLOSE = "choice_close"

    # What holds it back.
    BOUND_BY = "bound_by"
    BOTTLENECK_UNKNOWN = "bottleneck_unknown"
    NEXT_LIMIT = "next_limit"
    HELD_BACK = "held_back"
    OTHER_INPUT = "other_input"
    OTHER_DISK = "other_disk"
    EMULATED = "emulated"

    # How much memory.
    OUT_OF_MEMORY = "out_of_memory"
    MEMORY_FLOOR = "memory_floor"
    FEW_MEMORY_CAPS = "few_memory_caps"
    LESS_MEMORY = "less_memory"

    # Which machine, what is sold, and what it costs.
    BEST_OF_MACHINES = "best_of_machines"
    ONLY_MACHINE = "only_machine"
    UNPRICED = "unpriced"
    BESIDE = "beside"
    BASELINE = "baseline"
    SMALLEST_SOLD = "smallest_sold"
    NOT_SOLD = "not_sold"
    PRICES = "prices"
    RETIRED = "retired"
    OTHER_HARDWARE = "other_hardware"
    TRANSFERRED = "transferred"
    DISK_CAPPED = "disk_capped"
    FIGURES_UNSURE = "figures_unsure"

    # What the runs themselves say against an answer, and what one more would settle.
    ONLY_MEASURED_SIZES = "only_measured_sizes"
    RATE_CONTRADICTED = "rate_contradicted"
    JOBS_MIXED = "jobs_mixed"
    RUNS_APART = "runs_apart"
    RUNS_DOUBTFUL = "runs_doubtful"
    RUNS_FAILED = "runs_failed"
    RUNS_STARVED = "runs_starved"
    MEASURED_BESIDE_OTHERS = "measured_beside_others"
    RUN_WOULD_SETTLE = "run_would_settle"


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
        return tuple(map(float, self._listed(name)))

    def text(self, name: str) -> str:
        """That figure as text; empty where there is none."""
        figure = self.figures.get(name)
        return "" if figure is None else str(figure)

    def texts(self, name: str) -> tuple[str, ...]:
        """That figure, which must be a list of names."""
        return tuple(map(str, self._listed(name)))

    def _listed(self, name: str) -> tuple[Any, ...]:
        figure = self.figures[name]
        if not isinstance(figure, tuple):
            raise TypeError(f"{self.code.value}: {name} is {figure!r}, not a list")
        return figure

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
    machine: str | None = None
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
