"""What a job would do on accelerators that it was not measured on: one record for each that was asked about."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sizer.records.configuration import Bottleneck, Estimate
from sizer.records.domains import Amount, Batch, Bytes, Count, Label, Vcpus
from sizer.records.prediction import Reason


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

    `throughput` is that of `gpu_count` of them in the machine, whose input side was measured here; `bottleneck_sure`
    says whether the interval leaves it open what binds. `fits` is None where nobody knows what memory the job needs;
    `needs_at_most_bytes` is what is known to be enough: the smallest GPU that as large a batch was published on;
    `on_cpu_bytes` is what the job needed on the CPU, to which a GPU adds workspace of its own. `seconds` and `usd` are
    of the whole job where its samples are given. `second_missing` says why a second one has no answer, and a run with
    `second_vcpus` would show it. `retired` says that nobody can rent machines with it any more: then it is no choice.
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
