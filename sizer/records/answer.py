"""What is concluded from runs: the recommendation."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

from sizer.records.batch_sizes import BatchAdvice
from sizer.records.configuration import Bottleneck, Estimate
from sizer.records.cross_table import CrossTable
from sizer.records.domains import (
    SCHEMA_VERSION,
    Amount,
    Count,
    EdgeState,
    Label,
    Name,
    Nodes,
    Preference,
    Probability,
    Rate,
    Signed,
    Status,
    Vcpus,
)
from sizer.records.gpu_options import GpuOption
from sizer.records.prediction import Prediction, Reason, Refusal, Spec, Suggestion
from sizer.records.study import Objective


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
    `nodes` it is that of all, and so is what they have.
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
