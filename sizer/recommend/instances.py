"""Instance types of the catalogue that hold a spec."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sizer.catalog.catalog import Catalog, InstanceType
from sizer.model.memory import anonymous_bytes
from sizer.model.model import WorkloadModel
from sizer.recommend.accelerators import Accelerators
from sizer.recommend.candidates import Candidate
from sizer.recommend.machine_prices import instances_holding, instances_like, is_arm, of_each
from sizer.recommend.prices import usd_per_million
from sizer.records.answer import InstanceOffer
from sizer.records.prediction import Reason, ReasonCode, Spec, reason

PRICED, UNPRICED = 12, 3
"""How many offers with and without a price are listed, beside the cheapest of every provider."""


def matching(
    model: WorkloadModel, spec: Spec, batch_size: int | None, rate: float, catalog: Catalog
) -> tuple[InstanceOffer, ...]:
    """The cheapest instance types that hold the spec, with that of every provider, then some whose price is unknown,
    smallest first.

    ARM machines come last: sizer measures on x86-64, and MXNet is not published for ARM.
    `rate` is the spec's throughput in samples per second: an instance type is larger or equal, so its price for a
    million samples is at most what is shown, on cores like those that were measured.
    """
    return tuple(_offer(i, model, spec, rate) for i in _listed(*holding(model, spec, batch_size, catalog)))


def offers(machine: Candidate, model: WorkloadModel, catalog: Catalog) -> tuple[InstanceOffer, ...]:
    """The machine itself, where it is an instance type; else those of the catalogue that hold it, as for any spec."""
    rented, rate = machine.rented, machine.rate
    if rented is not None and rented.instance_type is not None:
        known = machine.offer
        own = InstanceOffer(
            provider=rented.provider or (known.provider if known else ""),
            instance_type=rented.instance_type,
            vcpus=machine.place.vcpus or (known.vcpus if known else 0.0),
            memory_bytes=machine.place.memory_bytes or (known.memory_bytes if known else 0),
            gpu=machine.spec.gpu,
            gpu_count=machine.spec.gpu_count,
            usd_per_hour=machine.usd_per_hour,
            usd_per_million_samples=usd_per_million(machine.usd_per_hour, machine.rate, model.sample_unit),
            as_of=known.as_of if known else "",
            source=known.source if known else "the table",
            own=True,
            usd_per_hour_spot=machine.usd_per_hour_spot,
            nodes=rented.nodes,
        )
        return (own,)
    nodes, device = machine.spec.nodes, model.facts.device
    spec, accelerators = of_each(machine.spec, machine.accelerators)
    listed = _listed(*_by_price(instances_like(spec, accelerators, device, catalog)))
    found = [_offer(i, model, spec, rate / nodes) for i in listed]
    return tuple(
        replace(
            each,
            nodes=nodes,
            vcpus=nodes * each.vcpus,
            memory_bytes=nodes * each.memory_bytes,
            gpu_count=nodes * each.gpu_count,
            usd_per_hour=None if each.usd_per_hour is None else nodes * each.usd_per_hour,
            usd_per_hour_spot=None if each.usd_per_hour_spot is None else nodes * each.usd_per_hour_spot,
        )
        for each in found
    )


def _listed(priced: Sequence[InstanceType], unpriced: Sequence[InstanceType]) -> list[InstanceType]:
    """Of all that hold a spec those worth listing: who is tied to a provider finds its cheapest among them."""
    of_each = {instance.provider: instance for instance in reversed(priced)}
    shown = [each for each in priced if each in priced[:PRICED] or each is of_each[each.provider]]
    return [*shown, *unpriced[:UNPRICED]]


def holding(
    model: WorkloadModel, spec: Spec, batch_size: int | None, catalog: Catalog
) -> tuple[list[InstanceType], list[InstanceType]]:
    """All instance types that hold the spec: those with a price, cheapest first, and those without, smallest first.

    None where neither a number of vCPUs nor an accelerator is known. A job without an accelerator may run on a machine
    that has one.
    """
    device, kind = model.facts.device, Accelerators(spec.gpu, spec.gpu_count)
    needed = spec.memory_bytes or anonymous_bytes(model.measured, spec.vcpus, batch_size) or 0
    priced, unpriced = _by_price(instances_holding(replace(spec, memory_bytes=needed), kind, device, catalog))
    if kind.number(device) == 0:
        unpriced = [i for i in unpriced if i.gpu is None]
    return priced, unpriced


def _by_price(fitting: Sequence[InstanceType]) -> tuple[list[InstanceType], list[InstanceType]]:
    """Those with a price, the cheapest first and ARM last, and those without, the smallest first."""
    priced = [i for i in fitting if i.usd_per_hour is not None]
    unpriced = [i for i in fitting if i.usd_per_hour is None]
    return (
        sorted(priced, key=lambda i: (is_arm(i), i.usd_per_hour or 0.0)),
        sorted(unpriced, key=lambda i: (i.gpu_count, i.vcpus)),
    )


def priced_like_measured(
    model: WorkloadModel, spec: Spec, batch_size: int | None, catalog: Catalog
) -> list[InstanceType]:
    """Those with a price that hold the spec, the cheapest first; no ARM cores, on which nothing was measured."""
    return [instance for instance in holding(model, spec, batch_size, catalog)[0] if not is_arm(instance)]


def cheapest(
    model: WorkloadModel, spec: Spec, batch_size: int | None, catalog: Catalog, provider: str | None = None
) -> InstanceType | None:
    """The cheapest instance type with a price that holds the spec, of this provider if it has one; no ARM cores."""
    priced = priced_like_measured(model, spec, batch_size, catalog)
    return next((i for i in priced if i.provider == provider), priced[0] if priced else None)


def _offer(instance: InstanceType, model: WorkloadModel, spec: Spec, rate: float) -> InstanceOffer:
    usd = instance.usd_per_hour
    return InstanceOffer(
        provider=instance.provider,
        instance_type=instance.instance_type,
        vcpus=instance.vcpus,
        memory_bytes=instance.memory_bytes,
        gpu=instance.gpu,
        gpu_count=instance.gpu_count,
        usd_per_hour=usd,
        usd_per_million_samples=usd_per_million(usd, rate, model.sample_unit),
        as_of=instance.as_of,
        source=instance.source,
        notes=tuple(_notes(instance, model, spec, rate)),
        usd_per_hour_spot=instance.usd_per_hour_spot,
    )


def _notes(instance: InstanceType, model: WorkloadModel, spec: Spec, rate: float) -> list[Reason]:
    notes, device = [], model.facts.device
    kind = Accelerators(spec.gpu, spec.gpu_count)
    used = kind.number(device)
    if instance.usd_per_hour is None:
        notes.append(reason(ReasonCode.PRICES))
    if instance.confidence:
        notes.append(reason(ReasonCode.FIGURES_UNSURE, confidence=instance.confidence))
    if used and instance.gpu_count > used:
        notes.append(reason(ReasonCode.OTHER_GPUS, gpu_count=float(instance.gpu_count), used=float(used)))
    if used and kind.catalog_name(device) is None:
        notes.append(reason(ReasonCode.OTHER_GPUS))
    if used == 0 and instance.gpu:
        notes.append(reason(ReasonCode.OTHER_GPUS, gpu_count=float(instance.gpu_count)))
    if is_arm(instance):
        notes.append(reason(ReasonCode.ARM))
    needed, cap = rate * (model.facts.read_bytes or 0.0), instance.disk_bytes_per_second
    if cap is not None and needed > cap:
        notes.append(reason(ReasonCode.DISK_CAPPED, cap=float(cap), reads=needed))
    return notes
