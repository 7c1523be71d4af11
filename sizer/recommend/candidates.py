"""The specs that could be the answer: sizes that are sold, within what was measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sizer.catalog import Catalog
from sizer.model import MeasuredRange, WorkloadModel, gpus_of, name_of_disk, needed_bytes
from sizer.recommend.accelerators import Accelerators, accelerators_measured
from sizer.recommend.machine_prices import cheapest_holding
from sizer.recommend.prices import disk_prices, disks_by_price, prices
from sizer.records import GIB, Configuration, Spec

SOLD_VCPUS = (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
GIB_PER_VCPU = (2, 4, 8)
"""Compute, general and memory families of every provider; fractions of a vCPU are not sold."""


@dataclass(frozen=True)
class Candidate:
    """A spec, the measured configuration it is judged by (never more than was measured), and what it costs.

    `usd_per_hour` is for comparing specs only and counts the disk, of which `disk_usd_per_hour` is the price;
    `disk_rank` orders disks, 0 the cheapest.
    """

    spec: Spec
    configuration: Configuration
    usd_per_hour: float
    disk_rank: int
    disk_usd_per_hour: float = 0.0

    @property
    def cost(self) -> tuple[float, int, float]:
        """The price of all three; between equals the disk decides, then the vCPUs: some come with an accelerator."""
        return (self.usd_per_hour, self.disk_rank, self.spec.vcpus or 0.0)

    @property
    def exists(self) -> bool:
        """Whether a family offers this much memory with these vCPUs."""
        memory, vcpus = self.spec.memory_bytes, self.spec.vcpus
        return memory is None or vcpus is None or memory <= family_memory(vcpus)[-1]


def candidates(model: WorkloadModel, catalog: Catalog, batch_size: int | None) -> list[Candidate]:
    """Every spec within the measured range, cheapest first; the batch size is the best one's."""
    measured, kind, device = model.measured, accelerators_measured(model), model.facts.device
    disks, disk_usd = disks_by_price(measured.disks, catalog), disk_prices(measured.disks, catalog)
    # Accelerators are rented with the vCPUs that come with them: then no vCPU has a price of its own.
    gpu = kind.catalog_name(device) if kind.number(device) else None
    price = prices(catalog)
    found = []
    for vcpus, judged in sizes(measured, catalog, gpu):
        for memory, measured_memory in memory_offers(measured, vcpus, judged, batch_size):
            for rank, disk in enumerate(disks):
                configuration = Configuration(judged, measured_memory, disk, batch_size, kind.gpu, kind.count)
                volume = disk_usd[name_of_disk(disk)] if len(disks) > 1 else 0.0
                spec = spec_of(model, configuration, vcpus, memory)
                usd = price.usd_per_hour(vcpus, memory) if gpu is None else _rented(model, catalog, spec, kind)
                found.append(Candidate(spec, configuration, usd + volume, rank, volume))
    return sorted(found, key=lambda candidate: candidate.cost)


def _rented(model: WorkloadModel, catalog: Catalog, spec: Spec, kind: Accelerators) -> float:
    """USD an hour of the cheapest instance type that holds it; infinite where none with a price does."""
    holding = cheapest_holding(spec, kind, model.facts.device, catalog)
    return math.inf if holding is None or holding.usd_per_hour is None else holding.usd_per_hour


def spec_of(model: WorkloadModel, configuration: Configuration, vcpus: float | None, memory_bytes: int | None) -> Spec:
    """Of this size, with what else was varied, and the accelerator that the runs name."""
    measured = model.measured
    return Spec(
        vcpus,
        memory_bytes,
        configuration.disk if len(measured.disks) > 1 else None,
        configuration.batch_size if len(measured.batch_size) > 1 else None,
        configuration.gpu,
        gpus_of(configuration) if configuration.gpu is not None else 0,
    )


def sizes(measured: MeasuredRange, catalog: Catalog, gpu: str | None = None) -> list[tuple[float | None, float | None]]:
    """(vCPUs sold, vCPUs it is judged by): equal inside the range; the largest measured is used for the next size.

    Both are None where it is not known how many the runs had. `gpu` is the kind of accelerator that is needed.
    """
    if not measured.vcpus:
        return [(None, None)]
    if len(measured.vcpus) < 3:
        return [(next_sold(value, catalog), value) for value in measured.vcpus]
    low, high = measured.vcpus[0], measured.vcpus[-1]
    sold = {each.vcpus for each in catalog.instances(gpu) if gpu or each.gpu is None} or set(map(float, SOLD_VCPUS))
    whole = {value for value in measured.vcpus if float(value).is_integer()}
    inside = [size for size in sorted(sold | whole) if low <= size <= high]
    above = [(next_sold(high, catalog), high)] if not inside or inside[-1] < high else []
    return [*((size, size) for size in inside), *above]


def next_sold(vcpus: float, catalog: Catalog, above: bool = False) -> float:
    """The smallest size sold with at least this many vCPUs (`above`: more than these)."""
    if not above and any(instance.vcpus == vcpus for instance in catalog.instances()):
        return vcpus
    return float(next((size for size in SOLD_VCPUS if (size > vcpus if above else size >= vcpus)), vcpus))


def memory_varied(measured: MeasuredRange) -> bool:
    """Whether runs distinguish memory sizes.

    A search for the floor counts only where it is known how much cannot be dropped: from a margin above that up.
    """
    searched = any(trial.searched and trial.completed for trial in measured.trials)
    accounted = any(trial.completed and trial.anonymous_bytes for trial in measured.trials)
    return len({t.memory_bytes for t in measured.trials if not t.searched}) > 1 or (searched and accounted)


def memory_offers(
    measured: MeasuredRange, vcpus: float | None, judged: float | None, batch_size: int | None
) -> list[tuple[int | None, int | None]]:
    """(memory sold, measured memory it is judged by) that hold the job; (None, ...) where memory was not varied."""
    known = measured.memory_bytes
    if not memory_varied(measured):
        return [(None, known[-1] if known else None)]
    floor = needed_bytes(measured, judged, batch_size) or known[-1]
    if vcpus is not None:
        holding = [offer for offer in family_memory(vcpus) if offer >= floor] or [_whole_gib(floor)]
    else:
        holding = sorted({_whole_gib(size) for size in known if size >= floor} or {_whole_gib(floor)})
    return [(offer, _judged_memory(known, offer, floor)) for offer in holding]


def family_memory(vcpus: float) -> list[int]:
    """The memory sizes in bytes that families offer with these vCPUs, rising."""
    return [round(ratio * vcpus * GIB) for ratio in GIB_PER_VCPU]


def _judged_memory(known: Sequence[int], offer: int, floor: int) -> int:
    """The most measured that it holds; below every one that was measured, where a search found the floor, itself."""
    default = offer if offer < known[-1] else floor
    return max((value for value in known if floor <= value <= offer), default=default)


def _whole_gib(size: int) -> int:
    """The next power of two GiB, as memory is sold where a job needs more than families offer for its vCPUs."""
    gib = 1
    while gib * GIB < size:
        gib *= 2
    return gib * GIB
