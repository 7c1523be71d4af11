"""What the answer saves against the largest configuration measured, or against an instance type that was named."""

from __future__ import annotations

from dataclasses import replace

from sizer.catalog import Catalog, InstanceType, same_gpu
from sizer.model import WorkloadModel, disk, disk_of, memory_of, predict, vcpus_of
from sizer.recommend.accelerators import Accelerators, accelerators_of, measured_accelerators, named
from sizer.recommend.candidates import Candidate, memory_varied, spec_of
from sizer.recommend.instances import cheapest
from sizer.recommend.prices import disk_prices
from sizer.recommend.words import usd
from sizer.records import Baseline, Configuration, Estimate, NoAnswer, Spec, format_bytes, format_share, format_vcpus

ALIKE = 0.005
"""Rates and prices that differ by less than half a percent are told as the same."""


def largest_measured(model: WorkloadModel, batch_size: int | None, catalog: Catalog) -> Configuration:
    """The configuration with most accelerators, then vCPUs, the fastest kind, most memory, and the dearest disk."""
    measured, volumes = model.measured, disk_prices(model.measured.disks, catalog)
    top: dict[str | None, float] = {}
    for rate in measured.rates:
        gpu = rate.configuration.gpu
        top[gpu] = max(top.get(gpu, 0.0), rate.throughput.value)

    def order(stand: Configuration) -> tuple[float, ...]:
        number = accelerators_of(stand).number(model.facts.device)
        return (number, vcpus_of(stand), top[stand.gpu], memory_of(stand), volumes.get(disk_of(stand), 0.0))

    stands = [rate.configuration for rate in measured.rates]
    return max([stand for stand in stands if stand.batch_size == batch_size] or stands, key=order)


def baseline_of(
    model: WorkloadModel, chosen: Candidate, rate: Estimate, catalog: Catalog, machine: InstanceType | None
) -> Baseline | None:
    """The answer beside its baseline; None where the model cannot tell the baseline's rate, or has none."""
    batch_size, several = chosen.stand.batch_size, len(measured_accelerators(model)) > 1
    if machine is None:
        stand = largest_measured(model, batch_size, catalog)
        memory = stand.memory_bytes if memory_varied(model.measured) else None
        spec = spec_of(model, stand, stand.vcpus, memory, several)
    elif not _carries(model, chosen, machine):
        return None
    else:
        stand = _stand_of(model, chosen, machine)
        memory = stand.memory_bytes if memory_varied(model.measured) else None
        spec = spec_of(model, stand, machine.vcpus, memory, several)
    try:
        prediction = predict(model, stand)
    except NoAnswer:
        return None
    if prediction.throughput.value <= 0:
        return None
    taken = cheapest(model, chosen.spec, batch_size, catalog)
    other = machine or cheapest(model, spec, batch_size, catalog, taken.provider if taken else None)
    before, now = (each.usd_per_hour if each else None for each in (other, taken))
    return Baseline(
        spec=spec,
        throughput=prediction.throughput,
        share=rate.value / prediction.throughput.value,
        usd_per_hour=before,
        instance_type=_name(other),
        answer_usd_per_hour=now,
        answer_instance_type=_name(taken),
        saving=1 - now / before if before and now is not None else None,
        named=machine is not None,
        extrapolated=prediction.extrapolated,
    )


def _carries(model: WorkloadModel, chosen: Candidate, machine: InstanceType) -> bool:
    """Whether the machine has the accelerators that the answer's rate needs."""
    if chosen.spec.vcpus is None:
        return False
    kind, device = accelerators_of(chosen.stand), model.facts.device
    gpu, count = kind.catalog_name(device), kind.number(device)
    return count == 0 or (
        machine.gpu_count >= count and machine.gpu is not None and (gpu is None or same_gpu(machine.gpu, gpu))
    )


def _stand_of(model: WorkloadModel, chosen: Candidate, machine: InstanceType) -> Configuration:
    """Where the job would stand on that machine: never with more memory than was measured, which tells no more."""
    known = model.measured.memory_bytes
    if not known:
        return replace(chosen.stand, vcpus=machine.vcpus)
    memory = max((size for size in known if size <= machine.memory_bytes), default=machine.memory_bytes)
    return replace(chosen.stand, vcpus=machine.vcpus, memory_bytes=memory)


def _name(instance: InstanceType | None) -> str | None:
    return f"{instance.provider} {instance.instance_type}" if instance else None


def baseline_reasons(
    model: WorkloadModel, baseline: Baseline | None, chosen: Candidate, machine: InstanceType | None
) -> list[str]:
    """`$0.34 an hour (aws c6i.2xlarge) instead of $1.36 (...): 75 % less, at 97 % of its rate`; nothing if it is it."""
    spec = chosen.spec
    if baseline is None and machine is not None:
        return [f"{_name(machine)} is no baseline for this job: what its rate would be there is not known"]
    if baseline is None or (baseline.spec == _measured_size(chosen) and not baseline.named):
        return []
    size = size_in_words(model, baseline.spec, spec)
    size = f"{baseline.instance_type} with {size}" if baseline.named else f"{size}, the largest measured".lstrip(", ")
    at = f"at {format_share(baseline.share)} of its rate" + (" (extrapolated)" if baseline.extrapolated else "")
    at += "; what the disks cost is not counted" if baseline.spec.disk != spec.disk else ""
    before, now = baseline.usd_per_hour, baseline.answer_usd_per_hour
    if before is None or now is None or baseline.saving is None:
        return [f"against {size}: {at}; what that saves is not known, as the price of one of the two is unknown"]
    if abs(baseline.saving) < ALIKE:
        return [f"against {size}: nothing saved an hour, {usd(now)} for either ({baseline.answer_instance_type}), {at}"]
    change = f"{format_share(abs(baseline.saving))} {'less' if baseline.saving > 0 else 'more'}"
    beside = f"{usd(before)} for" if baseline.named else f"{usd(before)} ({baseline.instance_type}) for"
    return [f"{usd(now)} an hour ({baseline.answer_instance_type}) instead of {beside} {size}: {change}, {at}"]


def _measured_size(chosen: Candidate) -> Spec:
    """The spec with the vCPUs that it is judged by: where less is measured than is sold, a size sold holds it."""
    return replace(chosen.spec, vcpus=chosen.stand.vcpus) if chosen.spec.vcpus is not None else chosen.spec


def size_in_words(model: WorkloadModel, spec: Spec, beside: Spec) -> str:
    """`32 vCPUs, 64 GiB, nvme`: its vCPUs, and what else differs from another spec."""
    parts = [format_vcpus(spec.vcpus)] if spec.vcpus is not None else []
    kind = Accelerators(spec.gpu, spec.gpu_count)
    if kind != Accelerators(beside.gpu, beside.gpu_count):
        parts.append(named(kind, model.facts.device))
    if spec.memory_bytes != beside.memory_bytes and spec.memory_bytes is not None:
        parts.append(format_bytes(spec.memory_bytes))
    if spec.disk is not None and spec.disk != beside.disk:
        measured = model.measured.disk(spec.disk)
        parts.append(disk(spec.disk) + (" (emulated)" if measured is not None and measured.emulated else ""))
    return ", ".join(parts)
