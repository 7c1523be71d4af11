"""Instance types of the catalogue that hold a spec."""

from __future__ import annotations

import re

from sizer.catalog import Catalog, InstanceType
from sizer.model import WorkloadModel, accelerator, anonymous_bytes
from sizer.recommend.accelerators import Accelerators
from sizer.records import InstanceOffer, Spec, format_number

PRICED, UNPRICED = 5, 3
"""How many offers with and without a price are listed."""


def matching(
    model: WorkloadModel, spec: Spec, batch_size: int | None, rate: float, catalog: Catalog
) -> tuple[InstanceOffer, ...]:
    """The cheapest instance types that hold the spec, then some whose price is unknown, smallest first.

    ARM machines come last: sizer measures on x86-64, and MXNet is not published for ARM.
    `rate` is the spec's throughput in samples per second: an instance type is larger or equal, so its price for a
    million samples is at most what is shown, on cores like those that were measured.
    """
    priced, unpriced = holding(model, spec, batch_size, catalog)
    return tuple(_offer(i, model, spec, rate) for i in [*priced[:PRICED], *unpriced[:UNPRICED]])


def holding(
    model: WorkloadModel, spec: Spec, batch_size: int | None, catalog: Catalog
) -> tuple[list[InstanceType], list[InstanceType]]:
    """All instance types that hold the spec: those with a price, cheapest first, and those without, smallest first.

    None where it is not known how many vCPUs that takes.
    """
    if spec.vcpus is None:
        return [], []
    device, kind = model.facts.device, Accelerators(spec.gpu, spec.gpu_count)
    gpu, count = kind.catalog_name(device), kind.number(device)
    needed = spec.memory_bytes or anonymous_bytes(model.measured, spec.vcpus, batch_size) or 0
    fitting = [
        i for i in catalog.instances(gpu) if i.vcpus >= spec.vcpus and i.memory_bytes >= needed and i.gpu_count >= count
    ]
    priced = sorted(
        (i for i in fitting if i.usd_per_hour is not None), key=lambda i: (is_arm(i), i.usd_per_hour or 0.0)
    )
    unpriced = sorted((i for i in fitting if i.usd_per_hour is None), key=lambda i: (i.gpu_count, i.vcpus))
    if count == 0:
        unpriced = [i for i in unpriced if i.gpu is None]
    return priced, unpriced


def cheapest(
    model: WorkloadModel, spec: Spec, batch_size: int | None, catalog: Catalog, provider: str | None = None
) -> InstanceType | None:
    """The cheapest instance type with a price that holds the spec, of this provider if it has one; no ARM cores."""
    priced = [i for i in holding(model, spec, batch_size, catalog)[0] if not is_arm(i)]
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
        usd_per_million_samples=usd / 3600 / rate * 1e6 if usd is not None and rate > 0 else None,
        as_of=instance.as_of,
        source=instance.source,
        note="; ".join(_notes(instance, model, spec, rate)),
    )


def _notes(instance: InstanceType, model: WorkloadModel, spec: Spec, rate: float) -> list[str]:
    notes, device = [], model.facts.device
    kind = Accelerators(spec.gpu, spec.gpu_count)
    used = kind.number(device)
    if instance.usd_per_hour is None:
        notes.append("price unknown")
    if instance.confidence:
        notes.append(f"figures {instance.confidence}")
    if used and instance.gpu_count > used:
        what = f" {accelerator(device)}" if device.kind == "emulated" and kind.gpu is None else ""
        number = "one" if used == 1 else f"{used}"
        notes.append(f"has {instance.gpu_count} GPUs, the job was measured with {number}{what}")
    if used and kind.catalog_name(device) is None:
        notes.append("whether its GPU is the one that was measured is not known")
    if used == 0 and instance.gpu:
        notes.append("has a GPU that the job does not use")
    if is_arm(instance):
        notes.append("ARM cores")
    needed, cap = rate * (model.facts.read_bytes or 0.0), instance.disk_bytes_per_second
    if cap is not None and needed > cap:
        notes.append(
            f"caps network disks at {format_number(cap / 1e6)} MB/s, this rate reads {format_number(needed / 1e6)} MB/s"
        )
    return notes


def is_arm(instance: InstanceType) -> bool:
    """AWS names Graviton machines by a g after the generation: c7g, g5g."""
    return instance.provider == "aws" and re.match(r"[a-z]+\d+g[a-z]*\.", instance.instance_type) is not None
