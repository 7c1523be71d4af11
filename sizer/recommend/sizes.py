"""Sizes within the measured range as candidates, judged by the model's curve; and how much memory of it, and why."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from sizer.catalog.catalog import Catalog
from sizer.catalog.processors import processor_of
from sizer.model.memory import (
    MemoryCompared,
    anonymous_bytes,
    asked_sizes,
    memory_compared,
    needed_bytes,
    only_completed,
    undroppable_bytes,
)
from sizer.model.model import MARGIN, Gpus, MeasuredRange, SearchedFloor, WorkloadModel, gpus_of, name_of_disk
from sizer.model.prediction import throughputs
from sizer.model.refusals import memory_matters
from sizer.model.transfer import knowing, refused_there
from sizer.recommend.candidates import GIB_PER_VCPU, SOLD_VCPUS, Candidate, family_memory, next_sold
from sizer.recommend.prices import accelerators_of, cheapest, disk_caps, disk_prices, disks_by_price, holding, prices
from sizer.records.device import Processor
from sizer.records.prediction import Configuration, Estimate, Figure, Reason, ReasonCode, Spec, reason
from sizer.records.units import GIB, MIB

NOT_YET = Estimate(0.0, 0.0, 0.0)
MOST_LISTED = 4
"""Caps that are named one by one."""


def sizes_on_curve(
    model: WorkloadModel,
    catalog: Catalog,
    batch_size: int | None,
    *,
    rented: bool,
    between: Sequence[float] = (),
    ratios: Sequence[float] = GIB_PER_VCPU,
) -> list[Candidate]:
    """Every size within the measured range on every disk, cheapest first; `between` are vCPUs that will be measured,
    `ratios` the GiB for each vCPU that are sold.

    An hour costs what its vCPUs and memory do; with accelerators, or where what is `rented` counts, what the cheapest
    instance type does that holds it.
    """
    measured, device = model.measured, model.facts.device
    # A curve of vCPUs was measured with accelerators that are all alike.
    kind = accelerators_of(measured.rates[0].configuration) if measured.rates else Gpus()
    gpu = kind.catalog_name(device) if kind.number(device) else None
    disks, several = disks_by_price(measured.disks, catalog), len(measured.disks) > 1
    volumes, (usd_a_vcpu, usd_a_gib) = disk_prices(measured.disks, catalog), prices(catalog)
    sizes: list[Candidate] = []
    for vcpus, judged in _vcpus(measured, catalog, gpu, between):
        for memory, measured_memory in _memory(measured, vcpus, judged, batch_size, ratios):
            place = Configuration(judged, measured_memory, None, batch_size, kind.gpu, kind.count)
            for rank, disk in enumerate(disks):
                there = replace(place, disk=disk)
                spec, volume = spec_of(model, there, vcpus, memory), volumes[name_of_disk(disk)] if several else 0.0
                sizes.append(Candidate(spec, there, NOT_YET, None, volume, rank, kind))
    rates = throughputs(model, [size.place for size in sizes])
    rated = []
    for size, rate in zip(sizes, rates, strict=True):
        offer = cheapest(model, size.spec, batch_size, catalog, rate.value)
        usd = None if offer is None else offer.usd_per_hour
        if gpu is None and not rented:
            # vCPUs that are not known count as one: they are the same for all.
            usd = usd_a_vcpu * (size.spec.vcpus or 1.0) + usd_a_gib * (size.spec.memory_bytes or 0) / GIB
        rated.append(replace(size, throughput=rate, usd_per_hour=usd, offer=offer))
    return sorted(rated, key=lambda size: (size.hourly, size.size))


def sold_there(
    model: WorkloadModel, sizes: Sequence[Candidate], catalog: Catalog, rate: float
) -> tuple[WorkloadModel, list[Candidate]]:
    """The instance types of these sizes with their own rates, and the model that knows their CPUs.

    All vCPUs of a type are used; with accelerators it has the largest of the sizes that it holds. None of ARM, with
    accelerators that the job does not use, without a price or a measured CPU, whose disk cap keeps it from this
    `rate`, or beside a cheaper one with a CPU as fast.
    """
    processors: dict[str, Processor | None] = {}
    placed: set[tuple[str, str | None]] = set()
    types: list[Candidate] = []
    for size in sorted(sizes, key=lambda size: size.size, reverse=True):
        spec, front, on_cpu = size.spec, list[Processor](), not size.accelerators.number(model.facts.device)
        for instance in holding(model, spec, size.place.batch_size, catalog, rate):
            if on_cpu and (instance.gpu is not None or instance.vcpus != spec.vcpus):
                continue
            if instance.usd_per_hour is None or instance.is_arm or (instance.name, spec.disk) in placed:
                continue
            placed.add((instance.name, spec.disk))
            if instance.name not in processors:
                processors[instance.name] = processor_of(instance)
            its = processors[instance.name]
            if its is None or disk_caps(instance, model, spec, rate) or any(_as_fast(other, its) for other in front):
                continue
            front.append(its)
            place = replace(size.place, machine=instance.name)
            types.append(replace(size, place=place, offer=instance, usd_per_hour=instance.usd_per_hour))
    model = knowing(model, [*filter(None, processors.values())])
    types = [one for one in types if refused_there(model.facts, one.place) is None]
    rates = throughputs(model, [one.place for one in types]) if types else []
    types = [replace(one, throughput=its) for one, its in zip(types, rates, strict=True)]
    return model, sorted(types, key=lambda one: (one.hourly, one.size))


def _as_fast(one: Processor, other: Processor) -> bool:
    """Whether it is no slower at anything, and computes with the same instructions."""
    no_slower = all(rate >= other.rates[name] for name, rate in one.rates.items())
    more = (one.cores or 0) >= (other.cores or 0) and (one.second_thread or 0) >= (other.second_thread or 0)
    return no_slower and more and one.instructions == other.instructions


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


def _vcpus(
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
    sold = {i.vcpus for i in catalog.instances(gpu) if gpu or i.gpu is None} or set(map(float, SOLD_VCPUS))
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


def _memory(
    measured: MeasuredRange,
    vcpus: float | None,
    judged: float | None,
    batch_size: int | None,
    ratios: Sequence[float],
) -> list[tuple[int | None, int | None]]:
    """(memory sold, measured memory it is judged by) that hold the job; (None, ...) where memory was not varied.

    Judged by the most measured that it holds; below every one that was, where a search found the floor, by itself.
    """
    sizes = measured.memory_bytes
    if not memory_varied(measured):
        return [(None, sizes[-1] if sizes else None)]
    floor = needed_bytes(measured, judged, batch_size) or sizes[-1]
    if vcpus is not None:
        sold = [size for size in family_memory(vcpus, ratios) if size >= floor]
    else:
        sold = sorted({_power_of_two_gib(size) for size in sizes if size >= floor})
    return [
        (size, max((value for value in sizes if floor <= value <= size), default=size if size < sizes[-1] else floor))
        for size in sold or [_power_of_two_gib(floor)]
    ]


def _power_of_two_gib(size: int) -> int:
    """As memory is sold where a job needs more than families offer for its vCPUs."""
    return GIB << max(0, math.ceil(math.log2(size / GIB)))


# Why it is that much memory.


def memory_reasons(model: WorkloadModel, chosen: Candidate) -> Iterator[Reason]:
    """Which caps were tried, and what holds the size above the smallest that held; nothing where no run tells one."""
    if not model.measured.memory_bytes:
        return
    yield from _caps(model)
    yield from few_memory_caps(model, chosen.place)
    yield from _rate_not_measured(model, chosen)
    yield _why_this_much(model, chosen)
    peak = anonymous_bytes(model.measured, chosen.place.vcpus, chosen.place.batch_size)
    if peak:
        yield reason(ReasonCode.MEMORY_FLOOR, memory_bytes=float(peak))


def _caps(model: WorkloadModel) -> Iterator[Reason]:
    """Between which caps the memory floor lies; of many that a search tried, what it found says all."""
    floor, trials = model.floor, model.measured.trials
    if model.measured.search is not None:
        yield floor_reason(model.measured.search)
    elif memory_varied(model.measured) and floor is not None and floor.held is not None:
        alone = model.facts.device.kind == "emulated"
        held = _sorted(trial.memory_bytes for trial in trials if trial.memory_bytes >= floor.held)
        killed = _sorted(trial.memory_bytes for trial in trials if not trial.completed)
        if floor.too_small is None:
            yield reason(ReasonCode.MEMORY_FLOOR, high_bytes=held[0], pipeline_alone=alone)
            return
        bounds = {"low_bytes": float(floor.too_small), "high_bytes": float(floor.held)}
        listed = len({*killed, *held}) <= MOST_LISTED
        caps = {"caps_killed": killed if listed else (), "caps_held": held if listed else ()}
        yield reason(ReasonCode.MEMORY_FLOOR, **bounds, **caps, pipeline_alone=alone)


def _sorted(sizes: Iterable[int]) -> tuple[float, ...]:
    return tuple(map(float, sorted(set(sizes))))


def floor_reason(search: SearchedFloor) -> Reason:
    """What a search for the memory floor found."""
    low, held, given_up = search.bounds.too_small, search.bounds.held, search.given_up
    return reason(
        ReasonCode.MEMORY_FLOOR,
        searched=True,
        low_bytes=None if low is None else float(low),
        high_bytes=None if held is None else float(held),
        timed_out=search.timed_out,
        given_up=given_up.kind.value if given_up is not None else None,
        given_up_at=float(given_up.figure) if given_up is not None else None,
        pipeline_alone=search.pipeline_alone,
    )


def few_memory_caps(model: WorkloadModel, place: Configuration | None = None) -> Iterator[Reason]:
    """What is known where a study asks for one or two memory caps: whether the job runs in them, and how fast. They are
    an answer, and no curve. Nothing where it asks for none, or for more.

    The rates are those at this place, if it was measured with both, else over all that were.
    """
    measured = model.measured
    tried = asked_sizes(measured)
    held = {trial.memory_bytes for trial in measured.trials if trial.asked and trial.completed}
    compared = memory_compared(measured, place)
    if tried and not held:
        yield reason(ReasonCode.MEMORY_FLOOR, caps_killed=tuple(map(float, tried)))
    elif len(tried) == 1:
        yield reason(ReasonCode.FEW_MEMORY_CAPS, memory_bytes=float(tried[0]))
    elif len(tried) == 2 and len(held) == 1:
        between = round(math.sqrt(tried[0] * tried[1]) / MIB) * MIB
        yield reason(ReasonCode.FEW_MEMORY_CAPS, memory_bytes=float(min(held)), more=float(between))
    elif compared is not None:
        yield _two_rates(model, compared)


def _two_rates(model: WorkloadModel, compared: MemoryCompared) -> Reason:
    """Whether the rates in both differ by more than chance."""
    figures: dict[str, Figure] = {
        "low_bytes": float(compared.low),
        "high_bytes": float(compared.high),
        "gain": compared.gain,
        "clear": compared.clear,
        "predicted": not memory_matters(model),
        "more": _third_size(model, memory_compared(model.measured) or compared),
    }
    if len(compared.pairs) == 1:
        less, more = compared.pairs[0]
        rates = {"rate_low": less.throughput.value, "rate_high": more.throughput.value}
        figures |= {**rates, "vcpus": more.configuration.vcpus}
    return reason(ReasonCode.FEW_MEMORY_CAPS, **figures)


def _third_size(model: WorkloadModel, compared: MemoryCompared) -> float | None:
    """The cap that would tell most: more where more was faster, else less, as far as the job may run in that."""
    if compared.clear:
        return 2.0 * compared.high
    less = max(compared.low / 2, MARGIN * (undroppable_bytes(model.measured, None, None) or 0))
    return float(math.ceil(less / MIB) * MIB) if less < 0.9 * compared.low else None


def _rate_not_measured(model: WorkloadModel, chosen: Candidate) -> Iterator[Reason]:
    """Said where a search makes the size look larger than it must be, or is all that backs it."""
    between = only_completed(model.measured, chosen.place.vcpus, chosen.place.batch_size)
    if between is None:
        return
    (low, high), size = between, chosen.spec.memory_bytes
    sold = family_memory(chosen.spec.vcpus) if chosen.spec.vcpus is not None else []
    if size is None or size < high or any(low <= smaller < size for smaller in sold):
        yield reason(ReasonCode.LESS_MEMORY, low_bytes=float(low), high_bytes=float(high))


def _why_this_much(model: WorkloadModel, chosen: Candidate) -> Reason:
    size, vcpus, place = chosen.spec.memory_bytes, chosen.spec.vcpus, chosen.place
    if size is None:
        return reason(ReasonCode.NOT_VARIED, memory_bytes=float(place.memory_bytes or model.measured.memory_bytes[-1]))
    if vcpus is None:
        return reason(ReasonCode.SMALLEST_SOLD, memory_bytes=float(size))
    figures: dict[str, Figure] = {"memory_bytes": float(size), "vcpus": vcpus}
    sold, untried = family_memory(vcpus), cap_to_try(model, chosen)
    held = needed_bytes(model.measured, place.vcpus, place.batch_size) or size
    if not chosen.exists:
        return reason(ReasonCode.NOT_SOLD, **figures, most=float(sold[-1]))
    if size == sold[0]:
        return reason(ReasonCode.SMALLEST_SOLD, **figures)
    if untried is not None:
        enough = "rated" if _only_searched(model, chosen, untried) else "held"
        return reason(ReasonCode.LESS_MEMORY, **figures, untried=float(untried), **{enough: float(held)})
    if any(held <= smaller < size for smaller in sold):
        return reason(ReasonCode.LESS_MEMORY, **figures)
    enough = "needed_memory" if _only_searched(model, chosen, held) else "held"
    return reason(ReasonCode.SMALLEST_SOLD, **figures, **{enough: float(held)})


def cap_to_try(model: WorkloadModel, chosen: Candidate) -> int | None:
    """The smallest memory that families offer, that was not tried, and in which this job may well run; None if none."""
    floor, place, size = model.floor, chosen.place, chosen.spec.memory_bytes
    held = needed_bytes(model.measured, place.vcpus, place.batch_size)
    if size is None or held is None or chosen.spec.vcpus is None:
        return None
    peak = undroppable_bytes(model.measured, place.vcpus, place.batch_size)
    too_small = max(MARGIN * (peak or 0), (floor.too_small or 0) if floor else 0)
    return next((sold for sold in family_memory(chosen.spec.vcpus) if too_small < sold < min(held, size)), None)


def _only_searched(model: WorkloadModel, chosen: Candidate, size: int) -> bool:
    """Whether only a search shows that this memory is enough, so that no rate was measured there."""
    between = only_completed(model.measured, chosen.place.vcpus, chosen.place.batch_size)
    return between is not None and between[0] <= size < between[1]
