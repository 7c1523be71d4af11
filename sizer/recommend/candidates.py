"""The specs that could be the answer: machines that were measured as they are, or sizes within the measured range."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

from sizer.catalog.catalog import Catalog, InstanceType
from sizer.recommend.accelerators import Accelerators
from sizer.records.configuration import Bottleneck, Configuration, Estimate
from sizer.records.prediction import Spec
from sizer.records.run import SLIP, RentedMachine
from sizer.records.units import GIB

SOLD_VCPUS = (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
GIB_PER_VCPU = (2, 4, 8)
"""Compute, general and memory families of every provider; fractions of a vCPU are not sold."""

Kind = tuple[str | None, int]


@dataclass(frozen=True)
class Candidate:
    """A spec, the measured configuration `place` that it is judged by (never more than was measured), and its facts.

    `throughput` is its rate in samples per second with the 90 % interval of a new run. `usd_per_hour` is without a
    disk, None unknown; `disk_usd_per_hour` is that of a volume where disks are compared. Of a machine of a table or of
    an instance type, `rented` is what the table calls it, `offer` the instance type whose price it has, `retired` the
    year since which nobody can rent it. `deviation` and `noise` are standard deviations of ln rate, of the mean over
    its runs and of one run about it; `apart` is its fastest run over its slowest; `latency_p99` is in seconds.
    `only_named`: neither the table nor the catalogue says what the named machine is, so it may have any accelerator.
    """

    spec: Spec
    place: Configuration
    throughput: Estimate
    usd_per_hour: float | None
    disk_usd_per_hour: float = 0.0
    disk_rank: int = 0
    accelerators: Accelerators = field(default_factory=Accelerators)
    deviation: float = 0.0
    noise: float = 0.0
    evidence: Bottleneck | None = None
    rented: RentedMachine | None = None
    retired: int | None = None
    offer: InstanceType | None = None
    latency_p99: float | None = None
    apart: float = 1.0
    in_several_regions: bool = False
    only_named: bool = False

    @property
    def rate(self) -> float:
        """Samples per second, as expected."""
        return self.throughput.value

    @property
    def hourly(self) -> float:
        """USD an hour with the disk; infinite where the price is not known, and never 0, so that it has a logarithm."""
        return math.inf if self.usd_per_hour is None else max(self.usd_per_hour + self.disk_usd_per_hour, 1e-9)

    @property
    def cost(self) -> float:
        """USD of a sample with the disk, for comparing candidates."""
        return self.hourly / 3600 / self.rate if self.rate > 0 else math.inf

    @property
    def usd_a_sample(self) -> float:
        """What is told of that: without a disk."""
        return math.inf if self.usd_per_hour is None else self.usd_per_hour / 3600 / self.rate

    @property
    def size(self) -> tuple[float, int, tuple[float, int]]:
        """vCPUs, memory and disk, in an order in which no larger one is cheaper."""
        return self.spec.vcpus or 0.0, self.spec.memory_bytes or 0, self.disk_price

    @cached_property
    def kind(self) -> Kind:
        """Kind and count of accelerator; of a machine whose name is all that is known of it, that name. Machines
        without accelerators that ran a job together are a kind by their number."""
        if self.only_named or (self.spec.nodes > 1 and not self.accelerators.count):
            return self.name or f"{self.spec.nodes} x", 0
        return self.accelerators.gpu, self.accelerators.count or 0

    @property
    def but_for_disk(self) -> tuple[object, ...]:
        """What two have alike that differ in nothing but the disk."""
        return replace(self.spec, disk=None), self.place.batch_size, self.rented, self.kind

    @property
    def slipped(self) -> bool:
        """Whether its runs are so far apart that one of them is a slip."""
        return self.apart > SLIP

    @property
    def disk_price(self) -> tuple[float, int]:
        """By which disks are called cheaper."""
        return self.disk_usd_per_hour, self.disk_rank

    @property
    def exists(self) -> bool:
        """Whether a family offers this much memory with these vCPUs; a machine that was measured does exist."""
        memory, vcpus = self.spec.memory_bytes, self.spec.vcpus
        return self.deviation > 0 or memory is None or vcpus is None or memory <= family_memory(vcpus)[-1]

    @property
    def name(self) -> str | None:
        """`aws g4dn.xlarge`, by the table or by the catalogue; with its region where the table has it in several, and
        with how many of it ran the job together."""
        name = self.offer.name if self.offer is not None else None
        if self.rented is not None and self.rented.instance_type is not None:
            region = self.rented.region if self.in_several_regions else None
            name = " ".join(filter(None, (self.rented.name, region)))
        return name if name is None or self.spec.nodes == 1 else f"{self.spec.nodes} x {name}"

    @property
    def usd_per_hour_spot(self) -> float | None:
        """The spot price that the table gives, or of the instance type whose price it has."""
        if self.rented is not None and self.rented.usd_per_hour_spot is not None:
            return self.rented.usd_per_hour_spot * self.spec.nodes
        spot = self.offer.usd_per_hour_spot if self.offer is not None else None
        return None if spot is None else spot * self.spec.nodes


def next_sold(vcpus: float, catalog: Catalog, above: bool = False) -> float:
    """The smallest size sold with at least this many vCPUs (`above`: more than these)."""
    if not above and any(instance.vcpus == vcpus for instance in catalog.instances()):
        return vcpus
    return float(next((size for size in SOLD_VCPUS if (size > vcpus if above else size >= vcpus)), vcpus))


def family_memory(vcpus: float) -> list[int]:
    """The memory sizes in bytes that families offer with these vCPUs, rising."""
    return [round(ratio * vcpus * GIB) for ratio in GIB_PER_VCPU]
