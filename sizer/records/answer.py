"""What is concluded from runs: predictions and the recommendation."""

from __future__ import annotations

from dataclasses import dataclass, field

from sizer.records.domains import (
    Amount,
    Batch,
    Bytes,
    Count,
    EdgeState,
    Label,
    Name,
    Probability,
    Rate,
    Signed,
    Status,
    Vcpus,
)
from sizer.records.run import (
    Bottleneck,
    Configuration,
    Estimate,
)
from sizer.records.study import (
    SCHEMA_VERSION,
    Objective,
)


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
