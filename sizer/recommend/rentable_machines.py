"""What can be rented for any size of machine, as a short list: who asks for a size takes the first that holds it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from sizer.catalog.catalog import Catalog, InstanceType
from sizer.model.feeds import CPU_LABEL
from sizer.recommend.accelerators import Accelerators
from sizer.recommend.machine_prices import instances_like, is_arm
from sizer.records.device import Device
from sizer.records.prediction import Spec


@dataclass(frozen=True)
class Rentable:
    """Machines with one kind of accelerator, or with none: those with a price, cheapest first, and those without.

    Each that another holds at no higher price is left out, and ARM machines are, on which nothing was measured.
    """

    priced: tuple[InstanceType, ...]
    unpriced: tuple[InstanceType, ...]


def rentable(gpu: str | None, device: Device, catalog: Catalog) -> Rentable | None:
    """For this kind of accelerator, by its label in the runs; None where no catalogue can know it."""
    kind = Accelerators(gpu)
    if kind.number(device) and kind.catalog_name(device) is None:
        return None
    holding = [each for each in instances_like(Spec(0.0), kind, device, catalog) if not is_arm(each)]
    priced = sorted((each for each in holding if each.usd_per_hour is not None), key=_price)
    return Rentable(tuple(_front(priced)), tuple(_front(each for each in holding if each.usd_per_hour is None)))


def is_computed_by_cpu(gpu: str | None, count: int | None, device: Device) -> bool:
    """Whether a machine for it needs no accelerator."""
    return gpu == CPU_LABEL or Accelerators(gpu, count).number(device) == 0


def _price(instance: InstanceType) -> float:
    return math.inf if instance.usd_per_hour is None else instance.usd_per_hour


def _front(instances: Iterable[InstanceType]) -> list[InstanceType]:
    """Without each that has no more of anything than an earlier one; of those without a price, than any other."""
    found: list[InstanceType] = []
    for each in instances:
        if any(_holds(other, each) for other in found):
            continue
        if each.usd_per_hour is None:
            found = [other for other in found if not _holds(each, other)]
        found.append(each)
    return found


def _holds(one: InstanceType, other: InstanceType) -> bool:
    return one.vcpus >= other.vcpus and one.memory_bytes >= other.memory_bytes and one.gpu_count >= other.gpu_count
