"""The accelerators that runs were measured on: kind and count, and what one costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sizer.catalog import Catalog, InstanceType
from sizer.model import CPU_LABEL, WorkloadModel
from sizer.records import GIB, Configuration, Device

NOMINAL = 1.0
"""USD an hour of an accelerator where no price is known of any: more than a vCPU costs. For ordering only."""
EMULATED = "emulated:"


@dataclass(frozen=True)
class Accelerators:
    """A kind and how many of it; kind None is the device of the workload, count 0 is not known, hence one."""

    gpu: str | None = None
    count: int | None = 0

    def catalog_name(self, device: Device) -> str | None:
        """As instance types name it; None on the CPU, and where the kind is not known."""
        if self.gpu is None:
            return device.gpu
        name = self.gpu.removeprefix(EMULATED)
        return None if name == CPU_LABEL or name.startswith("cuda:") else name

    def number(self, device: Device) -> int:
        """How many a machine must have: none where the CPU computes."""
        if self.gpu == CPU_LABEL or (self.gpu is None and not self.count and device.kind == "cpu"):
            return 0
        return max(1, self.count or 0)


def accelerators_of(configuration: Configuration) -> Accelerators:
    """The accelerators of a configuration."""
    return Accelerators(configuration.gpu, configuration.gpu_count)


def measured_accelerators(model: WorkloadModel) -> list[Accelerators]:
    """Every kind and count with a measured rate; one where none was distinguished."""
    found = dict.fromkeys(accelerators_of(rate.configuration) for rate in model.measured.rates)
    return sorted(found, key=lambda each: (each.gpu or "", each.count or 0)) or [Accelerators()]


def usd_per_hour(catalog: Catalog, gpu: str | None, count: int, vcpu: float, gib: float) -> float | None:
    """What is left of the cheapest machine with so many of this GPU when its vCPUs and memory are paid.

    None where the catalogue has no price of one. A machine with more of them is paid whole; one with fewer, as often as
    it takes.
    """
    if count == 0:
        return 0.0
    if gpu is None:
        return None
    priced = [i for i in catalog.instances(gpu) if i.usd_per_hour is not None and i.gpu_count > 0]
    enough = [_left(i, vcpu, gib) for i in priced if i.gpu_count >= count]
    fewer = [_left(i, vcpu, gib) * count / i.gpu_count for i in priced if i.gpu_count < count]
    return min(enough or fewer, default=None)


def _left(instance: InstanceType, vcpu: float, gib: float) -> float:
    price = (instance.usd_per_hour or 0.0) - vcpu * instance.vcpus - gib * instance.memory_bytes / GIB
    return max(0.0, price)


def ordered_prices(
    catalog: Catalog, device: Device, kinds: Sequence[Accelerators], vcpu: float, gib: float
) -> dict[Accelerators, float]:
    """USD an hour of each, for ordering specs.

    Where some have a price and some have none, those without count as dearer than all: nothing shows that they are
    cheap. Where none has one, fewer are cheaper, each NOMINAL.
    """
    found = {each: usd_per_hour(catalog, each.catalog_name(device), each.number(device), vcpu, gib) for each in kinds}
    known = [price for price in found.values() if price]
    if not known:
        return {each: NOMINAL * each.number(device) for each in kinds} if len(kinds) > 1 else dict.fromkeys(kinds, 0.0)
    return {each: price if price is not None else float("inf") for each, price in found.items()}


def unpriced(catalog: Catalog, device: Device, each: Accelerators) -> bool:
    """Whether the catalogue has no price of it."""
    return usd_per_hour(catalog, each.catalog_name(device), each.number(device), 0.0, 0.0) is None
