"""What can be rented, and what an hour costs: instance types that hold a spec, machines that a table names, disks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from sizer.catalog.catalog import Catalog
from sizer.catalog.gpus import is_alike, read_gpu_name, same_gpu
from sizer.catalog.machines import InstanceType
from sizer.model.memory import anonymous_bytes
from sizer.model.model import CPU_LABEL, Gpus, MeasuredDisk, WorkloadModel, name_of_disk
from sizer.records.device import Device
from sizer.records.prediction import Configuration, Reason, ReasonCode, Spec, reason
from sizer.records.run import RentedMachine
from sizer.records.units import GIB, RELATIVE

CLASS_PRICE = {"standard": 0.045, "ssd": 0.08, "nvme": 0.125}
"""USD a GiB and month where the catalogue has no price: AWS st1, gp3 and io2 of 2023-06, for ordering only."""
VOLUME_GIB = 150
"""The volume whose price counts beside vCPUs and memory: it holds ImageNet's 138 GiB of training images."""
HOURS_A_MONTH = 730
LAST_RESORT = (0.039, 0.003)
"""USD an hour for a vCPU and for a GiB where the catalogue has no priced CPU instances: c7i, m7i, r7i of 2026-07."""


def accelerators_of(configuration: Configuration) -> Gpus:
    """The accelerators of a configuration."""
    return Gpus(configuration.gpu, configuration.gpu_count)


def usd_per_million(usd_per_hour: float | None, rate: float, unit: str) -> float | None:
    """USD of a million samples at a rate; None where the price or, of relative rates, the samples are not known."""
    if usd_per_hour is None or rate <= 0 or unit == RELATIVE:
        return None
    return usd_per_hour / 3600 / rate * 1e6


# Instance types.


def instances_holding(spec: Spec, accelerators: Gpus, device: Device, catalog: Catalog) -> Iterator[InstanceType]:
    """All that hold it in the order of `InstanceType.price_order`; none where it has accelerators whose kind is not
    known, nor where it has none and its vCPUs are not known."""
    gpu, count = accelerators.catalog_name(device), accelerators.number(device)
    if gpu is None and (count or spec.vcpus is None):
        return iter(())
    return (
        instance
        for instance in catalog.instances(gpu)
        if instance.vcpus >= (spec.vcpus or 0)
        and instance.memory_bytes >= (spec.memory_bytes or 0)
        and instance.gpu_count >= count
        and _has_its_memory(instance, gpu)
    )


def instances_like(spec: Spec, accelerators: Gpus, device: Device, catalog: Catalog) -> Iterator[InstanceType]:
    """Those that hold it and are such machines: with this kind of accelerator, or without any where it needs none."""
    needs_one = accelerators.number(device) > 0
    if needs_one and accelerators.catalog_name(device) is None:
        return iter(())
    holding = instances_holding(spec, accelerators, device, catalog)
    return (instance for instance in holding if needs_one or instance.gpu is None)


def cheapest_like(spec: Spec, accelerators: Gpus, device: Device, catalog: Catalog) -> InstanceType | None:
    """The cheapest such machine with a price that holds it, ARM left out.

    What is not known of a spec is no bound. None where no accelerator and no vCPUs are known: any machine would do.
    """
    return next(_measurable(instances_like(spec, accelerators, device, catalog)), None)


def holding(
    model: WorkloadModel, spec: Spec, batch_size: int | None, catalog: Catalog, rate: float
) -> Iterator[InstanceType]:
    """All instance types that hold the spec: those with a price, cheapest first and ARM last, then the others, smallest
    first; after all of them those whose disk cap keeps this rate from being reached.

    None where neither a number of vCPUs nor an accelerator is known. A job without an accelerator may run on a machine
    that has one, if its price is known.
    """
    device, kind = model.facts.device, Gpus(spec.gpu, spec.gpu_count)
    needed = spec.memory_bytes or anonymous_bytes(model.measured, spec.vcpus, batch_size) or 0
    on_cpu = kind.number(device) == 0
    capped = []
    for instance in instances_holding(replace(spec, memory_bytes=needed), kind, device, catalog):
        if instance.usd_per_hour is None and instance.gpu is not None and on_cpu:
            continue
        if disk_caps(instance, model, spec, rate):
            capped.append(instance)
        else:
            yield instance
    yield from capped


def disk_caps(instance: InstanceType, model: WorkloadModel, spec: Spec, rate: float) -> dict[str, float]:
    """What it sustains on network disks that is less than this rate takes of them: bytes a second (`cap`, `moved`) and
    IOs a second (`cap_ios`, `ios`)."""
    facts, disk = model.facts, model.measured.disk(spec.disk) if spec.disk is not None else None
    if disk is not None and "/local-" in (disk.catalog_name or ""):
        return {}
    needs = (
        ("cap", "moved", instance.disk_bytes_per_second, (facts.read_bytes or 0.0) + (facts.written_bytes or 0.0)),
        ("cap_ios", "ios", instance.disk_iops, (facts.read_ios or 0.0) + (facts.write_ios or 0.0)),
    )
    over = [(cap, most, asked, rate * need) for cap, asked, most, need in needs if most and rate * need > most]
    return {name: value for cap, most, asked, need in over for name, value in ((cap, float(most)), (asked, need))}


def cheapest(
    model: WorkloadModel,
    spec: Spec,
    batch_size: int | None,
    catalog: Catalog,
    rate: float,
    provider: str | None = None,
) -> InstanceType | None:
    """The cheapest instance type with a price that holds the spec at this rate, of this provider if it has one; no ARM
    cores."""
    priced = _measurable(holding(model, spec, batch_size, catalog, rate))
    first = next(priced, None)
    if provider is None or first is None or first.provider == provider:
        return first
    return next((i for i in priced if i.provider == provider), first)


def is_computed_by_cpu(gpu: str | None, count: int | None, device: Device) -> bool:
    """Whether a machine for it needs no accelerator."""
    return gpu == CPU_LABEL or Gpus(gpu, count).number(device) == 0


def _measurable(instances: Iterable[InstanceType]) -> Iterator[InstanceType]:
    """Those with a price and no ARM cores."""
    return (i for i in instances if i.usd_per_hour is not None and not i.is_arm)


def _has_its_memory(instance: InstanceType, gpu: str | None) -> bool:
    """Whether its GPUs have the memory that the name asks for: `V100-32GB` is none with 16."""
    asked = read_gpu_name(gpu).memory_gb if gpu is not None else None
    return asked is None or instance.gpu_memory_bytes is None or is_alike(instance.gpu_memory_bytes / GIB, asked)


def rentable(
    gpu: str | None, device: Device, catalog: Catalog
) -> tuple[tuple[InstanceType, ...], tuple[InstanceType, ...]] | None:
    """Machines with this kind of accelerator, by its label in the runs, or with none: those with a price, cheapest
    first, and those without; None where no catalogue can know it. Without ARM.

    Who asks for a size takes the first that holds it: each that another holds at no higher price is left out.
    """
    kind = Gpus(gpu)
    if kind.number(device) and kind.catalog_name(device) is None:
        return None
    like = tuple(instances_like(Spec(0.0), kind, device, catalog))
    unpriced = [i for i in like if i.usd_per_hour is None and not i.is_arm]
    # Of those without a price the largest hold all others.
    largest_first = sorted(unpriced, key=lambda i: (i.vcpus, i.memory_bytes, i.gpu_count), reverse=True)
    front = _front(largest_first)
    return tuple(_front(_measurable(like))), tuple(i for i in unpriced if i in front)


def _front(instances: Iterable[InstanceType]) -> list[InstanceType]:
    """Without each that has no more of anything than an earlier one."""
    front: list[InstanceType] = []
    for instance in instances:
        if not any(_holds(earlier, instance) for earlier in front):
            front.append(instance)
    return front


def _holds(one: InstanceType, other: InstanceType) -> bool:
    return one.vcpus >= other.vcpus and one.memory_bytes >= other.memory_bytes and one.gpu_count >= other.gpu_count


# Machines that a table names.


def price_of(
    spec: Spec, accelerators: Gpus, device: Device, rented: RentedMachine | None, catalog: Catalog, spot: bool
) -> tuple[float | None, InstanceType | None]:
    """USD an hour: the table's own, else of the instance type that it names, else of the cheapest that holds it.

    Of several machines together it is that of all, and the instance type is what each of them is.
    """
    if rented is not None and rented.nodes > 1:
        usd, offer = price_of(*of_one_node(spec, accelerators), device, replace(rented, nodes=1), catalog, spot)
        return (None if usd is None else usd * rented.nodes), offer
    own = None if rented is None else rented.usd_per_hour_spot if spot else rented.usd_per_hour
    if own is not None:
        return own, None
    if rented is None or rented.name is None:
        instance = cheapest_like(spec, accelerators, device, catalog)
    else:
        instance = _named(rented, rented.name, accelerators, device, catalog)
    return (None, None) if instance is None else (instance.usd_per_hour, instance)


def of_one_node(spec: Spec, accelerators: Gpus) -> tuple[Spec, Gpus]:
    """What each of several machines has that together have the spec."""
    nodes = spec.nodes
    one = replace(
        spec,
        vcpus=None if spec.vcpus is None else spec.vcpus / nodes,
        memory_bytes=None if spec.memory_bytes is None else spec.memory_bytes // nodes,
        gpu_count=-(-spec.gpu_count // nodes),
        nodes=1,
    )
    return one, replace(accelerators, count=-(-(accelerators.count or 0) // nodes))


def _named(
    rented: RentedMachine, name: str, accelerators: Gpus, device: Device, catalog: Catalog
) -> InstanceType | None:
    """The entry of that name that may be the machine measured, in its region; None where there is none.

    A table may name a machine and a GPU that do not go together. Of a host to which GPUs are added an entry is the
    price of both, so it must have as many.
    """
    gpu, count = accelerators.catalog_name(device), accelerators.number(device)
    for instance in catalog.called(name):
        added = not instance.chooses_gpu or count == instance.gpu_count
        if instance.retired is None and added and (count == 0 or gpu is None or has_gpus(instance, gpu, count)):
            elsewhere = None not in (rented.region, instance.region) and rented.region != instance.region
            return None if elsewhere else instance
    return None


def has_gpus(instance: InstanceType, gpu: str, count: int) -> bool:
    """Whether it has that kind of GPU, with the memory that its name says, and as many at least."""
    alike = instance.gpu is not None and same_gpu(instance.gpu, gpu) and _has_its_memory(instance, gpu)
    return alike and instance.gpu_count >= count


def retired_since(rented: RentedMachine | None, catalog: Catalog) -> int | None:
    """The year since which nobody can rent the machine that the table names; None where it can, or no one knows."""
    if rented is None or rented.name is None:
        return None
    years = [instance.retired for instance in catalog.called(rented.name)]
    return None if not years or None in years else max(filter(None, years))


def gpu_retired_since(gpu: str, catalog: Catalog) -> int | None:
    """The year since which nobody can rent a machine with this GPU; None where one can, or it never was rented out."""
    years = [instance.retired or 0 for instance in catalog.retired(gpu)]
    return None if catalog.instances(gpu) else max(years, default=None)


def gpu_gone(gpu: str, catalog: Catalog, spot: bool) -> Reason | None:
    """That nobody rents out machines with this GPU any more, or none whose price is known; None where one has a price.

    Few have a spot price, so where these count it is enough that there is a machine.
    """
    sold, gone = catalog.instances(gpu), catalog.retired(gpu)
    if not gone or any(instance.usd_per_hour is not None or spot for instance in sold):
        return None
    return reason(
        ReasonCode.RETIRED, gpu=gpu, year=float(max(instance.retired or 0 for instance in gone)), listed=bool(sold)
    )


# Sizes and disks.


def prices(catalog: Catalog) -> tuple[float, float]:
    """USD an hour of one vCPU and of one GiB: least squares of price on both over the instance types without a GPU,
    each divided by its vCPUs so that a large machine does not outweigh the small ones.

    Only the order of specs rests on these: what an instance type costs is taken from its own entry.
    """
    plain = [i for i in catalog.instances() if not (i.gpu or i.usd_per_hour is None or i.is_arm) and i.memory_bytes]
    sizes = np.array([(1.0, i.memory_bytes / GIB / i.vcpus) for i in plain]).reshape(-1, 2)
    usd = np.array([(i.usd_per_hour or 0.0) / i.vcpus for i in plain])
    if len(plain) < 2:
        return LAST_RESORT
    (vcpu, gib), _, rank, _ = np.linalg.lstsq(sizes, usd, rcond=1e-5)
    return (float(vcpu), float(gib)) if rank == 2 and min(vcpu, gib) > 0 else LAST_RESORT


def volume_bytes(disk: MeasuredDisk) -> int:
    """Of the volume whose price counts."""
    return disk.size_bytes or VOLUME_GIB * GIB


def disk_prices(disks: Sequence[MeasuredDisk], catalog: Catalog) -> dict[str, float]:
    """USD an hour of a volume on each disk, of its own size, or of VOLUME_GIB.

    By the catalogue's price of the tier where all disks have one, so that like is compared with like, else by class.
    What a tier's IOPS and MB/s cost is part of it.
    """
    tiers = [catalog.tier(disk.catalog_name or disk.name or "") for disk in disks]
    pairs = list(zip(disks, tiers, strict=True))
    usd = [None if tier is None else tier.usd_per_month(volume_bytes(disk), disk.rates) for disk, tier in pairs]
    if None in usd:
        by_class = [CLASS_PRICE.get(disk.disk_class or "", CLASS_PRICE["ssd"]) for disk in disks]
        usd = [price * volume_bytes(disk) / GIB for price, disk in zip(by_class, disks, strict=True)]
    return {name_of_disk(disk.name): (price or 0.0) / HOURS_A_MONTH for disk, price in zip(disks, usd, strict=True)}


def disks_by_price(disks: Sequence[MeasuredDisk], catalog: Catalog) -> list[str | None]:
    """The names of the disks, cheapest first; of equally priced ones, first the one that gives less."""
    usd = disk_prices(disks, catalog)

    def order(disk: MeasuredDisk) -> tuple[float, ...]:
        rates = disk.rates
        return usd[name_of_disk(disk.name)], rates.read_bytes_per_second or math.inf, rates.read_iops or math.inf

    return [disk.name for disk in sorted(disks, key=order)]
