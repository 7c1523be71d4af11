"""What an hour of a machine costs: by the table, by the instance type it names, or by the cheapest that holds it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace

from sizer.catalog.catalog import Catalog, InstanceType
from sizer.catalog.gpus import is_alike, read_gpu_name, same_gpu
from sizer.recommend.accelerators import Accelerators
from sizer.records.device import Device
from sizer.records.prediction import Reason, ReasonCode, Spec, reason
from sizer.records.run import RentedMachine
from sizer.records.units import GIB


def price_of(
    spec: Spec, accelerators: Accelerators, device: Device, rented: RentedMachine | None, catalog: Catalog, spot: bool
) -> tuple[float | None, InstanceType | None]:
    """USD an hour: the table's own, else of the instance type that it names, else of the cheapest that holds it.

    Of several machines together it is that of all, and the instance type is what each of them is.
    """
    if rented is not None and rented.nodes > 1:
        each = replace(rented, nodes=1)
        usd, offer = price_of(*of_each(spec, accelerators), device, each, catalog, spot)
        return (None if usd is None else usd * rented.nodes), offer
    own = None if rented is None else rented.usd_per_hour_spot if spot else rented.usd_per_hour
    if own is not None:
        return own, None
    if rented is not None and rented.name is not None:
        named = _named(rented.name, accelerators, device, catalog)
        return (None, None) if named is None or _elsewhere(named, rented) else (named.usd_per_hour, named)
    holding = cheapest_holding(spec, accelerators, device, catalog)
    return (None, None) if holding is None else (holding.usd_per_hour, holding)


def retired_since(rented: RentedMachine | None, catalog: Catalog) -> int | None:
    """The year since which nobody can rent the machine that the table names; None where it can, or no one knows."""
    if rented is None or rented.name is None:
        return None
    years = [each.retired for each in _entries(rented.name, catalog)]
    return None if not years or None in years else max(filter(None, years))


def gpu_gone(gpu: str, catalog: Catalog, spot: bool) -> Reason | None:
    """That nobody rents out machines with this GPU any more, or none whose price is known; None where one has a price.

    Few have a spot price, so where these count it is enough that there is a machine.
    """
    sold, gone = catalog.instances(gpu), catalog.retired(gpu)
    if not gone or any(each.usd_per_hour is not None or spot for each in sold):
        return None
    last = max(each.retired or 0 for each in gone)
    return reason(ReasonCode.RETIRED, gpu=gpu, year=float(last), listed=bool(sold))


def of_each(spec: Spec, accelerators: Accelerators) -> tuple[Spec, Accelerators]:
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


def knows(catalog: Catalog, rented: RentedMachine) -> bool:
    """Whether the catalogue has the machine that the table names."""
    return rented.name is not None and any(_entries(rented.name, catalog))


def _named(name: str, accelerators: Accelerators, device: Device, catalog: Catalog) -> InstanceType | None:
    """The entry of that name that may be the machine measured; None where there is none.

    A table may name a machine and a GPU that do not go together. Of a host to which GPUs are added an entry is the
    price of both, so it must have as many.
    """
    added = (accelerators.catalog_name(device) is not None, accelerators.number(device))
    return next(
        (
            each
            for each in _entries(name, catalog)
            if each.retired is None
            and _has_it(each, accelerators, device)
            and (not each.chooses_gpu or added == (True, each.gpu_count))
        ),
        None,
    )


def _entries(name: str, catalog: Catalog) -> Iterator[InstanceType]:
    """Those called `aws g4dn.xlarge`, `aws/g4dn.xlarge` or `g4dn.xlarge`; a host has one for each GPU added to it."""
    return (each for each in catalog.instance_types if each.is_called(name))


def _elsewhere(instance: InstanceType, rented: RentedMachine) -> bool:
    """Whether the catalogue's price is of another region than the table's machine."""
    return None not in (rented.region, instance.region) and rented.region != instance.region


def _has_it(instance: InstanceType, accelerators: Accelerators, device: Device) -> bool:
    """Whether it has that kind of accelerator, and as many at least."""
    gpu, count = accelerators.catalog_name(device), accelerators.number(device)
    if count == 0 or gpu is None:
        return True
    return (
        instance.gpu is not None
        and same_gpu(instance.gpu, gpu)
        and _has_its_memory(instance, gpu)
        and instance.gpu_count >= count
    )


def cheapest_holding(spec: Spec, accelerators: Accelerators, device: Device, catalog: Catalog) -> InstanceType | None:
    """The cheapest instance type with a price that has this kind of accelerator and at least as much of all else.

    What is not known of a spec is no bound. None where no accelerator and no vCPUs are known: any machine would do.
    """
    holding = instances_like(spec, accelerators, device, catalog)
    priced = [each for each in holding if each.usd_per_hour is not None]
    cheapest_first = sorted(priced, key=lambda each: each.usd_per_hour or math.inf)
    return next((each for each in cheapest_first if not is_arm(each)), None)


def instances_like(
    spec: Spec, accelerators: Accelerators, device: Device, catalog: Catalog
) -> tuple[InstanceType, ...]:
    """Those that hold it and are such machines: with this kind of accelerator, or without any where it needs none."""
    needs_one = accelerators.number(device) > 0
    if needs_one and accelerators.catalog_name(device) is None:
        return ()
    holding = instances_holding(spec, accelerators, device, catalog)
    return tuple(each for each in holding if needs_one or each.gpu is None)


def instances_holding(
    spec: Spec, accelerators: Accelerators, device: Device, catalog: Catalog
) -> tuple[InstanceType, ...]:
    """All that hold it, with a price or without; none where neither its vCPUs nor its kind of accelerator are known."""
    gpu, count = accelerators.catalog_name(device), accelerators.number(device)
    if gpu is None and spec.vcpus is None:
        return ()
    return tuple(
        each
        for each in catalog.instances(gpu)
        if each.vcpus >= (spec.vcpus or 0)
        and each.memory_bytes >= (spec.memory_bytes or 0)
        and each.gpu_count >= count
        and _has_its_memory(each, gpu)
    )


def _has_its_memory(instance: InstanceType, gpu: str | None) -> bool:
    """Whether its GPUs have the memory that the name asks for: `V100-32GB` is none with 16."""
    asked = read_gpu_name(gpu).memory_gb if gpu is not None else None
    return asked is None or instance.gpu_memory_bytes is None or is_alike(instance.gpu_memory_bytes / GIB, asked)


def is_arm(instance: InstanceType) -> bool:
    """AWS names Graviton machines by a g after the generation: c7g, g5g."""
    return instance.provider == "aws" and re.match(r"[a-z]+\d+g[a-z]*\.", instance.instance_type) is not None
