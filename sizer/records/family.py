"""A family of shapes: the few machines that serve many workloads, what they cost, and what is left idle on them."""

from __future__ import annotations

from dataclasses import dataclass, field

from sizer.records.domains import Amount, Count, Label, Name, Probability, Signed, Vcpus


@dataclass(frozen=True)
class Shape:
    """A machine as it can be built. `disk` is a disk tier, None where there is no choice of one."""

    vcpus: Vcpus
    memory_bytes: Count
    disk: Name | None = None
    gpu: Label | None = None
    gpu_count: Count = 0


@dataclass(frozen=True)
class Idle:
    """What is left of a machine: vCPUs, bytes of memory, bytes/s of its disk, accelerators; None is not known."""

    vcpus: Amount | None
    memory_bytes: Amount | None
    disk_bytes_per_second: Amount | None
    gpu_count: Amount


@dataclass(frozen=True)
class FamilyShape:
    """A shape of the family and the price of an hour: of the instance type `sold`, perhaps a larger one, or by parts.

    `sold_by` are types of the catalogue that are such machines, one a provider; none: nobody sells it. Up to
    `break_even` USD an hour the family costs no more than the best one of as many shapes without it; None where there
    is none without it. `idle` is the mean over the hours that it is used, `disk_bytes_per_second` None not known.
    `as_of` is the day of the price, empty where nobody knows it, None of one by parts or of a study's own table.
    """

    shape: Shape
    usd_per_hour: Amount
    sold: str | None
    sold_by: tuple[str, ...]
    break_even: Amount | None
    idle: Idle
    disk_bytes_per_second: Amount | None = None
    as_of: str | None = None


@dataclass(frozen=True)
class Served:
    """A workload on its shape, the `place`-th of the family from 0.

    `weight` is its share of the bill if each workload had its own best shape, `own`; `penalty` what it pays more than
    there, as a share, and `within` the probability that this is no more than allowed. `vcpus` and `memory_bytes` are
    what it needs: the former of the cheapest machine with its accelerators where they are not `vcpus_known`; the latter
    what it had where it is not `memory_known`, None where no run says either; that of its pipeline alone where its
    accelerator was `emulated`.
    """

    workload: Name
    weight: Probability
    place: Count
    penalty: Amount
    within: Probability
    own: Shape
    throughput: Amount
    sample_unit: str
    vcpus: Vcpus
    memory_bytes: Amount | None
    idle: Idle
    memory_known: bool = True
    vcpus_known: bool = True
    emulated: bool = False


@dataclass(frozen=True)
class Step:
    """So many shapes: the share that they cost more than each workload's own best, and the largest penalty of a
    workload then; both None where so few cannot serve all. `kept`: within the penalty allowed, else whatever it is.
    By `gap` of the whole cost another choice may be cheaper: 0 is proven."""

    shapes: Count
    more: Amount | None
    penalty: Amount | None
    kept: bool
    gap: Amount = 0.0


@dataclass(frozen=True)
class OneDisk:
    """What as many shapes cost more, as a share, where all have the best one disk tier; None where no one serves all.
    The largest penalty of a workload then is more than allowed where it is not `kept`."""

    disk: Name
    more: Signed | None
    penalty: Amount | None
    kept: bool = True


@dataclass(frozen=True)
class Offer:
    """A shape that nobody sells and the family has not: its price, and below which it would be worth a place in it."""

    shape: Shape
    usd_per_hour: Amount
    break_even: Amount


@dataclass(frozen=True)
class PartPrices:
    """USD an hour of a vCPU, a GiB, and of each accelerator and disk by name.

    Fitted to `types` instance types of `provider`, from which the prices by parts differ by the share `residual` in the
    median, by more than `residual_90` in one of ten; their oldest price is of the day `as_of`. The provider is None
    where a file gave them. `spot`: of spare capacity, and so are the prices of instance types.
    """

    vcpu: Amount
    gib: Amount
    gpus: dict[str, Amount] = field(default_factory=dict)
    disks: dict[str, Amount] = field(default_factory=dict)
    provider: str | None = None
    types: Count = 0
    residual: Amount = 0.0
    residual_90: Amount = 0.0
    as_of: str = ""
    spot: bool = False


@dataclass(frozen=True)
class Grid:
    """What can be built: every number of vCPUs with every GiB for each, disk tier, and kind and number of accelerators,
    None and 0 for none at all."""

    vcpus: tuple[Vcpus, ...]
    ratios: tuple[Amount, ...]
    disks: tuple[Name | None, ...]
    gpus: tuple[tuple[Label | None, Count], ...]


@dataclass(frozen=True)
class Amounts:
    """How much there is of each workload: its share of the bill if each had its own best shape, or its `samples`."""

    by_workload: dict[str, Amount]
    samples: bool = False


@dataclass(frozen=True)
class Family:
    """The K shapes that serve all workloads at the least weighted cost; none where there is nothing to serve.

    `more` is what they cost more, as a share, than each workload's own best shape. `within` is the probability that no
    workload pays over `max_penalty` more than there, `same` that no other shape in the place of one of these saves 1 %.
    `unpriced` are accelerators that were measured and, for lack of a price, are in no shape.
    """

    shapes: tuple[FamilyShape, ...] = ()
    served: tuple[Served, ...] = ()
    curve: tuple[Step, ...] = ()
    more: Amount = 0.0
    gap: Amount = 0.0
    max_penalty: Amount = 0.0
    within: Probability = 0.0
    same: Probability = 0.0
    one_disk: OneDisk | None = None
    offer: Offer | None = None
    grid: Grid | None = None
    prices: PartPrices | None = None
    not_served: tuple[Name, ...] = ()
    unpriced: tuple[Label, ...] = ()
