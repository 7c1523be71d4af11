"""Shares, intervals and bottlenecks as a person reads them."""

from __future__ import annotations

from collections.abc import Sequence

from sizer.model import MeasuredRate, WorkloadModel, accelerator, disk
from sizer.recommend.accelerators import Accelerators, named
from sizer.records import (
    Bottleneck,
    Device,
    Estimate,
    Spec,
    format_bytes,
    format_number,
    format_rate,
    format_share,
    format_vcpus,
)

GIB = 2**30
BOUND = {
    Bottleneck.CPU: "CPU-bound",
    Bottleneck.SERIAL: "held back by its serial part",
    Bottleneck.DISK_BANDWIDTH: "bound by disk bandwidth",
    Bottleneck.DISK_IOPS: "bound by disk IOPS",
    Bottleneck.DISK_WRITE: "bound by disk writes",
    Bottleneck.MEMORY: "short of memory",
    Bottleneck.AMBIGUOUS: "not clear which resource binds",
}
RESOURCE = {
    Bottleneck.CPU: "CPU",
    Bottleneck.SERIAL: "serial part",
    Bottleneck.DISK_BANDWIDTH: "disk bandwidth",
    Bottleneck.DISK_IOPS: "disk IOPS",
    Bottleneck.DISK_WRITE: "disk writes",
    Bottleneck.MEMORY: "memory",
}


def bound(bottleneck: Bottleneck, device: Device) -> str:
    """`CPU-bound`, `bound by disk bandwidth`, `bound by the emulated P100`, ..."""
    if bottleneck is Bottleneck.ACCELERATOR:
        return f"bound by the {accelerator(device)}"
    return BOUND[bottleneck]


def resource(bottleneck: Bottleneck, device: Device) -> str:
    """`CPU`, `disk bandwidth`, `emulated P100`."""
    return {**RESOURCE, Bottleneck.ACCELERATOR: accelerator(device)}[bottleneck]


def shares_in_words(shares: dict[str, float], device: Device) -> str:
    """The three largest: `CPU 86 %, disk bandwidth 9 %, serial part 3 %`."""
    ordered = sorted(shares.items(), key=lambda item: item[1], reverse=True)[:3]
    named = [(resource(Bottleneck(name), device), share) for name, share in ordered if share >= 0.005]
    return ", ".join(f"{name} {format_share(share)}" for name, share in named)


def accounted(rate: MeasuredRate, device: Device) -> str:
    """What the accounting of these runs named, with its busy share: `disk bandwidth 91 % busy`."""
    if rate.evidence is None or rate.evidence is Bottleneck.AMBIGUOUS:
        return "no single resource, as its repeats differ" if rate.evidence else "nothing"
    share = format_share(rate.busy) if rate.busy is not None else ""
    if rate.evidence is Bottleneck.SERIAL:
        return f"one core busy and the others idle ({share} of the vCPUs)" if share else "one core busy"
    name = resource(rate.evidence, device)
    return f"{name} {share} busy" if share else name


def interval(estimate: Estimate, unit: str) -> str:
    """`219 images/s (205 to 233)`; without an interval that rounding leaves empty."""
    low, high = format_number(estimate.low), format_number(estimate.high)
    return format_rate(estimate.value, unit) + (f" ({low} to {high})" if low != high else "")


def listed(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def chance(probability: float) -> str:
    """Two digits, and never 1 or 0, which no finite measurement supports."""
    if probability > 0.99:
        return "above 0.99"
    return "below 0.01" if probability < 0.01 else f"of {probability:.2f}"


def usd(amount: float) -> str:
    """`$0.34`, `$1,240`, `$0.0123`: cents for whole dollars, three digits below one."""
    return f"${amount:,.2f}" if 1 <= amount < 1000 else f"${format_number(amount)}"


def spec_in_words(spec: Spec, model: WorkloadModel) -> str:
    """`4 vCPUs, 2 x V100, 16 GiB, ssd (emulated)`."""
    measured = model.measured.disk(spec.disk) if spec.disk is not None else None
    emulated = " (emulated)" if measured is not None and measured.emulated else ""
    parts = [format_vcpus(spec.vcpus)] if spec.vcpus is not None else []
    parts += [named(Accelerators(spec.gpu, spec.gpu_count), model.facts.device)] if spec.gpu or spec.gpu_count else []
    parts += [format_bytes(spec.memory_bytes)] if spec.memory_bytes is not None else []
    parts += [disk(spec.disk) + emulated] if spec.disk is not None else []
    return ", ".join(parts)
