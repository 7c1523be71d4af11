"""What an hour of a machine costs: by the table, by the instance type it names, or by the cheapest that holds it."""

from __future__ import annotations

import math
import re

from sizer.catalog import Catalog, InstanceType, same_gpu
from sizer.recommend.accelerators import Accelerators
from sizer.records import GIB, Device, InputError, RentedMachine, Spec

GPU_MEMORY_ALIKE = 0.1
"""A GPU of 40 GB in its name has 40 GiB in one list and 37.25 GiB in another."""


def price_of(
    spec: Spec, accelerators: Accelerators, device: Device, rented: RentedMachine | None, catalog: Catalog, spot: bool
) -> tuple[float | None, InstanceType | None]:
    """USD an hour: the table's own, else of the instance type that it names, else of the cheapest that holds it."""
    own = None if rented is None else rented.usd_per_hour_spot if spot else rented.usd_per_hour
    if own is not None:
        return own, None
    if rented is not None and rented.name is not None:
        named = _named(rented.name, catalog)
        if named is None or not _has_it(named, accelerators, device) or _elsewhere(named, rented):
            return None, None
        return named.usd_per_hour, named
    holding = cheapest_holding(spec, accelerators, device, catalog)
    return (None, None) if holding is None else (holding.usd_per_hour, holding)


def knows(catalog: Catalog, rented: RentedMachine) -> bool:
    """Whether the catalogue has the machine that the table names."""
    return rented.name is not None and _named(rented.name, catalog) is not None


def _named(name: str, catalog: Catalog) -> InstanceType | None:
    try:
        return catalog.instance(name)
    except InputError:
        return None


def _elsewhere(instance: InstanceType, rented: RentedMachine) -> bool:
    """Whether the catalogue's price is of another region than the table's machine."""
    return None not in (rented.region, instance.region) and rented.region != instance.region


def _has_it(instance: InstanceType, accelerators: Accelerators, device: Device) -> bool:
    """Whether it has that kind of accelerator: a table may name a machine and a GPU that do not go together."""
    gpu = accelerators.catalog_name(device)
    return accelerators.number(device) == 0 or gpu is None or (bool(instance.gpu) and same_gpu(instance.gpu or "", gpu))


def cheapest_holding(spec: Spec, accelerators: Accelerators, device: Device, catalog: Catalog) -> InstanceType | None:
    """The cheapest instance type with a price that has this kind of accelerator and at least as much of all else.

    What is not known of a spec is no bound. None where no accelerator and no vCPUs are known: any machine would do.
    """
    priced = [
        each
        for each in instances_like(spec, accelerators, device, catalog)
        if each.usd_per_hour is not None and not is_arm(each)
    ]
    return min(priced, key=lambda each: each.usd_per_hour or math.inf, default=None)


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
    """Whether its GPUs have the memory that the name asks for: `V100-32GB` is none with 16. GB and GiB count alike."""
    asked = re.search(r"-(\d+)gb$", (gpu or "").lower())
    if asked is None or instance.gpu_memory_bytes is None:
        return True
    return abs(instance.gpu_memory_bytes / (int(asked.group(1)) * GIB) - 1) < GPU_MEMORY_ALIKE


def is_arm(instance: InstanceType) -> bool:
    """AWS names Graviton machines by a g after the generation: c7g, g5g."""
    return instance.provider == "aws" and re.match(r"[a-z]+\d+g[a-z]*\.", instance.instance_type) is not None
