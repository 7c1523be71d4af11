"""What stands beside an answer: instance types that hold it, all machines compared, and what it is compared with."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date

from sizer.catalog.machines import InstanceType, price_is_old
from sizer.catalog.processors import processor_of
from sizer.model.model import Gpus, WorkloadModel, disk_of, memory_of, vcpus_of
from sizer.model.prediction import predict, predict_several, rates
from sizer.model.transfer import knowing
from sizer.recommend.candidates import Candidate
from sizer.recommend.case import Case
from sizer.recommend.prices import (
    accelerators_of,
    cheapest,
    disk_caps,
    disk_prices,
    has_gpus,
    holding,
    instances_like,
    of_one_node,
    usd_per_million,
)
from sizer.recommend.rule import is_sure
from sizer.recommend.sizes import memory_varied, spec_of
from sizer.records.answer import Alternative, Baseline, InstanceOffer
from sizer.records.messages import NoAnswer
from sizer.records.prediction import Configuration, Figure, Prediction, Reason, ReasonCode, Spec, reason

PRICED, UNPRICED = 12, 3
"""How many offers with and without a price are listed, beside the cheapest of every provider."""
DEARER = 2.7
"""A type that costs as many times as much as the cheapest is never the cheaper one: so far apart are CPUs."""
SAME = 0.005
"""Rates and prices that differ by less than half a percent count as the same."""


# Instance types.


def offers(case: Case, chosen: Candidate) -> tuple[InstanceOffer, ...]:
    """The machine itself, where it is an instance type; else the cheapest that hold the spec, with that of every
    provider, then some whose price is unknown, smallest first.

    ARM machines come last: sizer measures on x86-64, and MXNet is not published for ARM. An instance type is larger or
    equal, so its price for a million samples is at most what is shown, on cores like those that were measured. Where it
    is known how fast these are, each has its own rate, and they are in the order of what the work costs there.
    """
    model = case.model
    if not case.table.of_machines:
        held = tuple(holding(model, chosen.spec, chosen.place.batch_size, case.catalog, chosen.rate))
        if case.is_moved:
            return _by_cost_there(case, chosen, held)
        return tuple(_offer(i, model, chosen.spec, chosen.rate) for i in _listed(held))
    if chosen.rented is not None and chosen.rented.instance_type is not None:
        return (_own(chosen, model),)
    nodes, (spec, accelerators) = chosen.spec.nodes, of_one_node(chosen.spec, chosen.accelerators)
    like = tuple(instances_like(spec, accelerators, model.facts.device, case.catalog))
    if case.is_moved and chosen.rented is None:
        return _by_cost_there(case, chosen, like)
    return tuple(_offer(i, model, spec, chosen.rate / nodes, nodes=nodes) for i in _listed(like))


def _by_cost_there(case: Case, chosen: Candidate, held: Sequence[InstanceType]) -> tuple[InstanceOffer, ...]:
    """By the cost of the work at the rate there, ARM, what a disk cap keeps from it and those without a rate last, then
    what costs too much by far.

    Of a rate that is asked for, what does not surely reach it is left out, unless nothing does. First of all is the
    type that was chosen, where one was.
    """
    model, most = case.model, max(case.model.measured.vcpus, default=math.inf)
    least = next((i.usd_per_hour for i in held if i.usd_per_hour is not None), 0.0)
    own = chosen.place.machine
    near = [i for i in _listed(held, len(held)) if (i.usd_per_hour or 0.0) <= DEARER * least or i.name == own]
    processors = {i.name: processor_of(i) for i in near}
    there = [i for i in near if processors[i.name] is not None]
    asked = [replace(chosen.place, vcpus=min(i.vcpus, most), machine=i.name) for i in there]
    known = knowing(model, [*filter(None, processors.values())])
    answers = predict_several(known, asked)
    moved = {i.name: its for i, its in zip(there, answers, strict=True) if isinstance(its, Prediction)}
    if own in moved:
        moved[own] = replace(moved[own], throughput=chosen.throughput)

    def order(instance: InstanceType) -> tuple[bool, bool, bool, bool, float]:
        its = moved.get(instance.name)
        rate, usd = 0.0 if its is None else its.throughput.value, instance.usd_per_hour
        capped = bool(disk_caps(instance, model, chosen.spec, rate))
        cost = math.inf if usd is None or rate <= 0 else usd / rate
        return instance.name != own, its is None, capped, instance.is_arm, cost

    slow: set[str] = set()
    if case.objective.rate is not None and moved:
        drawn = rates(known, [its.configuration for its in moved.values()])
        slow = {name for at, name in enumerate(moved) if not is_sure(drawn.gives(at, case.objective.rate))}
    fast = [] if own in slow else [i for i in near if i.name not in slow]
    shown = _listed(sorted(fast or near, key=order))
    return tuple(_offer(i, model, chosen.spec, chosen.rate, moved.get(i.name)) for i in shown)


def _own(machine: Candidate, model: WorkloadModel) -> InstanceOffer:
    rented, offer = machine.rented, machine.offer
    assert rented is not None, "a machine that its table names"
    return InstanceOffer(
        provider=rented.provider or (offer.provider if offer else ""),
        instance_type=rented.instance_type or "",
        vcpus=machine.place.vcpus or (offer.vcpus if offer else 0.0),
        memory_bytes=machine.place.memory_bytes or (offer.memory_bytes if offer else 0),
        gpu=machine.spec.gpu,
        gpu_count=machine.spec.gpu_count,
        usd_per_hour=machine.usd_per_hour,
        usd_per_million_samples=usd_per_million(machine.usd_per_hour, machine.rate, model.sample_unit),
        as_of=offer.as_of if offer else "",
        source=offer.source if offer else "the table",
        notes=tuple(_about_price(offer)) if offer else (),
        own=True,
        usd_per_hour_spot=machine.usd_per_hour_spot,
        nodes=rented.nodes,
    )


def _listed(instances: Sequence[InstanceType], most: int = PRICED) -> list[InstanceType]:
    """Of all that hold a spec those worth listing: who is tied to a provider finds its cheapest among them."""
    priced = [i for i in instances if i.usd_per_hour is not None]
    cheapest_of = {instance.provider: instance for instance in reversed(priced)}
    shown = [i for number, i in enumerate(priced) if number < most or i is cheapest_of[i.provider]]
    return [*shown, *[i for i in instances if i.usd_per_hour is None][:UNPRICED]]


def _offer(
    instance: InstanceType,
    model: WorkloadModel,
    spec: Spec,
    rate: float,
    there: Prediction | None = None,
    nodes: int = 1,
) -> InstanceOffer:
    """So many of it, each at the rate there, where that is known."""
    rate = rate if there is None else there.throughput.value
    moved = there.transferred if there is not None else None
    usd, spot = (None if one is None else nodes * one for one in (instance.usd_per_hour, instance.usd_per_hour_spot))
    return InstanceOffer(
        provider=instance.provider,
        instance_type=instance.instance_type,
        vcpus=nodes * instance.vcpus,
        memory_bytes=nodes * instance.memory_bytes,
        gpu=instance.gpu,
        gpu_count=nodes * instance.gpu_count,
        as_of=instance.as_of,
        usd_per_hour=usd,
        usd_per_million_samples=usd_per_million(instance.usd_per_hour, rate, model.sample_unit),
        source=instance.source,
        notes=(
            *([moved] if moved is not None else ()),
            *_about_price(instance),
            *about_hardware(instance, model, spec, rate),
        ),
        throughput=None if there is None else there.throughput,
        usd_per_hour_spot=spot,
        nodes=nodes,
    )


def about_hardware(instance: InstanceType, model: WorkloadModel, spec: Spec, rate: float) -> Iterator[Reason]:
    """What to know of a type that holds the spec: what it has more, ARM, and a disk cap that keeps it from the rate."""
    device, kind = model.facts.device, Gpus(spec.gpu, spec.gpu_count)
    used, count = kind.number(device), float(instance.gpu_count)
    if instance.confidence:
        yield reason(ReasonCode.FIGURES_UNSURE, confidence=instance.confidence)
    if used and count > used:
        yield reason(ReasonCode.OTHER_HARDWARE, gpu_count=count, used=float(used))
    if used and kind.catalog_name(device) is None:
        yield reason(ReasonCode.OTHER_HARDWARE, unknown_gpu=True)
    if used == 0 and instance.gpu:
        yield reason(ReasonCode.OTHER_HARDWARE, gpu_count=count)
    if instance.is_arm:
        yield reason(ReasonCode.OTHER_HARDWARE, arm=True)
    if caps := disk_caps(instance, model, spec, rate):
        yield reason(ReasonCode.DISK_CAPPED, **caps)


def _about_price(instance: InstanceType) -> Iterator[Reason]:
    """That it is not known, is in a currency that was not asked to be converted, or is of a day long ago or unknown."""
    if instance.price_per_hour is None:
        yield reason(ReasonCode.PRICES)
        return
    if instance.usd_per_hour is None:
        yield reason(ReasonCode.PRICES, price=instance.price_per_hour, currency=instance.currency)
    if not instance.as_of:
        yield reason(ReasonCode.PRICES, undated=True)
    elif price_is_old(instance.as_of, date.today()):
        yield reason(ReasonCode.PRICES, old_day=instance.as_of)


# All machines.


def alternatives(case: Case) -> tuple[Alternative, ...]:
    """Every machine, the least cost of the work first, as it is told: without a disk, which parts equal ones."""
    dominated, unit = _dominated(case.candidates), case.model.sample_unit

    def order(one: Candidate) -> tuple[object, ...]:
        """Those with a price in another currency last, within it."""
        currency = "~" if one.foreign is None else one.foreign.currency
        return one.usd_a_sample, one.cost, currency, one.foreign_cost, -one.rate

    return tuple(
        Alternative(
            spec=machine.spec,
            throughput=machine.throughput,
            instance_type=machine.name,
            usd_per_hour=machine.usd_per_hour,
            usd_per_million_samples=usd_per_million(machine.usd_per_hour, machine.rate, unit),
            dominated=id(machine) in dominated,
            usd_per_hour_spot=machine.usd_per_hour_spot,
            latency_p99=machine.latency_p99,
            disk_usd_per_hour=machine.disk_usd_per_hour,
            foreign=machine.foreign,
        )
        for machine in sorted(case.candidates, key=order)
    )


def _dominated(machines: Sequence[Candidate]) -> set[int]:
    """The ids of the machines than which another one is no slower, as prompt, and does the work for no more."""

    def order(one: Candidate) -> tuple[object, ...]:
        return one.cost, -one.rate, one.size, one.latency_p99 or 0.0

    def no_worse(one: Candidate, other: Candidate) -> bool:
        soon = other.latency_p99 is None or (one.latency_p99 is not None and one.latency_p99 <= other.latency_p99)
        return one.rate >= other.rate and soon and (one.rate > other.rate or one.cost < other.cost)

    front: list[Candidate] = []
    dominated: set[int] = set()
    for machine in sorted((one for one in machines if one.usd_per_hour is not None), key=order):
        # What is before it costs no more, so only those that nothing dominates need be asked.
        if any(no_worse(other, machine) for other in front):
            dominated.add(id(machine))
        else:
            front.append(machine)
    return dominated


# The baseline.


def baseline_of(case: Case, chosen: Candidate) -> Baseline | None:
    """The answer beside the largest configuration measured, of machines the fastest, or the machine that was named;
    None where its rate is not known."""
    named, is_type = case.objective.baseline is not None, chosen.place.machine is not None
    if not case.table.of_machines and (not is_type or case.machine is not None):
        return _on_curve(case, chosen)
    if is_type:
        most = max(one.spec.vcpus or 0.0 for one in case.candidates)
        largest = min((one for one in case.candidates if one.spec.vcpus == most), key=lambda one: one.cost)
    other = case.compared if named else largest if is_type else case.choice.fastest
    if other is None:
        return None
    prices = other.usd_per_hour, other.name, chosen.usd_per_hour, chosen.name
    share, saving = chosen.rate / other.rate, _saving(other.usd_per_hour, chosen.usd_per_hour)
    return Baseline(other.spec, other.throughput, share, *prices, saving, named)


def _saving(before: float | None, now: float | None) -> float | None:
    return 1 - now / before if before and now is not None else None


def _on_curve(case: Case, chosen: Candidate) -> Baseline | None:
    """Beside a size: the named machine or size, or the largest configuration measured."""
    model, machine, catalog, batch_size = case.model, case.machine, case.catalog, chosen.place.batch_size
    named = case.objective.baseline is not None
    if machine is not None and not _carries(model, chosen, machine):
        return None
    if machine is not None:
        place = _place_on(model, chosen, machine)
        if (there := case.cheapest_there(chosen)) is not None and there.is_named:
            chosen, its = there, processor_of(machine)
            if its is None:
                return None
            model, place = knowing(model, [its]), replace(place, machine=machine.name)
    elif named:
        if case.compared is None:
            return None
        place = case.compared.place
    else:
        place = _largest_measured(case, batch_size)
    memory = place.memory_bytes if memory_varied(model.measured) else None
    spec = spec_of(model, place, place.vcpus, memory)
    try:
        prediction = predict(model, place)
    except NoAnswer:
        return None
    rate = prediction.throughput
    if rate.value <= 0:
        return None
    taken = chosen.offer if chosen.is_named else cheapest(model, chosen.spec, batch_size, catalog, chosen.rate)
    other = machine or cheapest(model, spec, batch_size, catalog, rate.value, taken.provider if taken else None)
    (before, name), (now, own) = ((i.usd_per_hour, i.name) if i else (None, None) for i in (other, taken))
    share, saving = chosen.rate / rate.value, _saving(before, now)
    return Baseline(spec, rate, share, before, name, now, own, saving, named, prediction.extrapolated)


def _largest_measured(case: Case, batch_size: int | None) -> Configuration:
    """The configuration with most accelerators, then vCPUs, the fastest kind, most memory, and the dearest disk."""
    measured, device = case.model.measured, case.model.facts.device
    volumes = disk_prices(measured.disks, case.catalog)
    top: dict[str | None, float] = {}
    for rate in measured.rates:
        gpu = rate.configuration.gpu
        top[gpu] = max(top.get(gpu, 0.0), rate.throughput.value)

    def order(place: Configuration) -> tuple[float, ...]:
        count, volume = accelerators_of(place).number(device), volumes.get(disk_of(place), 0.0)
        return count, vcpus_of(place), top[place.gpu], memory_of(place), volume

    places = [rate.configuration for rate in measured.rates]
    return max([place for place in places if place.batch_size == batch_size] or places, key=order)


def _carries(model: WorkloadModel, chosen: Candidate, machine: InstanceType) -> bool:
    """Whether the machine has the accelerators that the answer's rate needs."""
    kind, device = accelerators_of(chosen.place), model.facts.device
    gpu, count = kind.catalog_name(device), kind.number(device)
    has = has_gpus(machine, gpu, count) if gpu is not None else machine.gpu is not None and machine.gpu_count >= count
    return chosen.spec.vcpus is not None and (count == 0 or has)


def _place_on(model: WorkloadModel, chosen: Candidate, machine: InstanceType) -> Configuration:
    """The job on that machine, never with more memory than was measured, which would add nothing."""
    sizes, place = model.measured.memory_bytes, replace(chosen.place, vcpus=machine.vcpus)
    if not sizes:
        return place
    held = max((size for size in sizes if size <= machine.memory_bytes), default=machine.memory_bytes)
    return replace(place, memory_bytes=held)


def baseline_reasons(baseline: Baseline | None, chosen: Candidate, asked: str | None) -> Iterator[Reason]:
    """What the answer costs beside its baseline, and at which share of its rate; nothing if it is the answer itself.

    The reason's spec is the baseline's vCPUs, and what else differs from the answer.
    """
    if baseline is None:
        if asked is not None:
            yield reason(ReasonCode.BASELINE, instance_type=asked)
        return
    # Where less is measured than is sold, a size sold holds it.
    own = replace(chosen.spec, vcpus=chosen.place.vcpus) if chosen.spec.vcpus is not None else chosen.spec
    if baseline.spec == own and not baseline.named:
        return
    differs = baseline.saving is not None and abs(baseline.saving) >= SAME
    figures: dict[str, Figure] = {
        "share": baseline.share,
        "dearer": -baseline.saving if baseline.saving is not None and differs else None,
        "baseline_usd": baseline.usd_per_hour,
        "instance_type": baseline.instance_type,
        "answer_usd": baseline.answer_usd_per_hour,
        "answer_instance": baseline.answer_instance_type,
        "named": baseline.named,
        "extrapolated": baseline.extrapolated,
        "disk_not_counted": baseline.spec.disk != chosen.spec.disk,
    }
    yield Reason(ReasonCode.BASELINE, figures, _differing(baseline.spec, chosen.spec))


def _differing(spec: Spec, other: Spec) -> Spec:
    same_gpus = (spec.gpu, spec.gpu_count) == (other.gpu, other.gpu_count)
    return Spec(
        vcpus=spec.vcpus,
        memory_bytes=spec.memory_bytes if spec.memory_bytes != other.memory_bytes else None,
        disk=spec.disk if spec.disk != other.disk else None,
        gpu=None if same_gpus else spec.gpu,
        gpu_count=0 if same_gpus else max(1, spec.gpu_count),
    )
