"""Sizes within the measured range as candidates: those that are sold, judged by the model's curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sizer.catalog.catalog import Catalog
from sizer.model.coordinates import gpus_of, name_of_disk
from sizer.model.memory import needed_bytes
from sizer.model.model import MeasuredRange, WorkloadModel
from sizer.model.prediction import throughputs
from sizer.recommend.accelerators import accelerators_measured, accelerators_of
from sizer.recommend.candidates import SOLD_VCPUS, Candidate, family_memory, next_sold
from sizer.recommend.instances import cheapest
from sizer.recommend.prices import disk_prices, disks_by_price, prices
from sizer.records.configuration import Configuration, Estimate
from sizer.records.prediction import Spec
from sizer.records.units import GIB


def sizes_on_curve(
    model: WorkloadModel, catalog: Catalog, batch_size: int | None, *, rented: bool, between: Sequence[float] = ()
) -> list[Candidate]:
    """Every size within the measured range on every disk, cheapest first; `between` are vCPUs that will be measured.

    An hour costs what its vCPUs and memory do; with accelerators, or where what is `rented` counts, what the cheapest
    instance type does that holds it.
    """
    measured, kind, device = model.measured, accelerators_measured(model), model.facts.device
    gpu = kind.catalog_name(device) if kind.number(device) else None
    disks, several = disks_by_price(measured.disks, catalog), len(measured.disks) > 1
    volumes, price = disk_prices(measured.disks, catalog), prices(catalog)
    found: list[Candidate] = []
    for vcpus, judged in _sizes(measured, catalog, gpu, between):
        for memory, measured_memory in _memory_offers(measured, vcpus, judged, batch_size):
            place = Configuration(judged, measured_memory, None, batch_size, kind.gpu, kind.count)
            spec = spec_of(model, place, vcpus, memory)
            offer = cheapest(model, spec, batch_size, catalog)
            usd = None if offer is None else offer.usd_per_hour
            if gpu is None and not rented:
                usd = price.usd_per_hour(vcpus, memory)
            for rank, disk in enumerate(disks):
                there = replace(place, disk=disk)
                whole, volume = spec_of(model, there, vcpus, memory), volumes[name_of_disk(disk)] if several else 0.0
                found.append(Candidate(whole, there, NOTHING, usd, volume, rank, accelerators_of(there), offer=offer))
    told = throughputs(model, [each.place for each in found])
    priced = [replace(each, throughput=rate) for each, rate in zip(found, told, strict=True)]
    return sorted(priced, key=lambda each: (each.hourly, each.size))


NOTHING = Estimate(0.0, 0.0, 0.0)


def spec_of(model: WorkloadModel, place: Configuration, vcpus: float | None, memory_bytes: int | None) -> Spec:
    """Of this size, with what else was varied, and the accelerator that the runs name."""
    measured = model.measured
    return Spec(
        vcpus,
        memory_bytes,
        place.disk if len(measured.disks) > 1 else None,
        place.batch_size if len(measured.batch_size) > 1 else None,
        place.gpu,
        gpus_of(place) if place.gpu is not None else 0,
    )


def _sizes(
    measured: MeasuredRange, catalog: Catalog, gpu: str | None, between: Sequence[float]
) -> list[tuple[float | None, float | None]]:
    """(vCPUs sold, vCPUs it is judged by): equal inside the range; the largest measured is used for the next size.

    Both are None where it is not known how many the runs had.
    """
    if not measured.vcpus:
        return [(None, None)]
    if len(measured.vcpus) < 3:
        return [(next_sold(value, catalog), value) for value in measured.vcpus]
    low, high = measured.vcpus[0], measured.vcpus[-1]
    sold = {each.vcpus for each in catalog.instances(gpu) if gpu or each.gpu is None} or set(map(float, SOLD_VCPUS))
    whole = {value for value in (*measured.vcpus, *between) if float(value).is_integer()}
    inside = [size for size in sorted(sold | whole) if low <= size <= high]
    above = [(next_sold(high, catalog), high)] if not inside or inside[-1] < high else []
    return [*((size, size) for size in inside), *above]


def memory_varied(measured: MeasuredRange) -> bool:
    """Whether runs distinguish memory sizes.

    A search for the floor counts only where it is known how much cannot be dropped: from a margin above that up.
    """
    searched = any(trial.searched and trial.completed for trial in measured.trials)
    accounted = any(trial.completed and trial.anonymous_bytes for trial in measured.trials)
    return len({t.memory_bytes for t in measured.trials if not t.searched}) > 1 or (searched and accounted)


def _memory_offers(
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
