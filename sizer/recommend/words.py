"""Shares, intervals and bottlenecks as a person reads them."""

from __future__ import annotations

from collections.abc import Sequence

from sizer.model import MeasuredRate
from sizer.model.words import accelerator
from sizer.records import Bottleneck, Device, Estimate
from sizer.units import format_number, format_rate, format_share

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


def shares_in_words(shares: dict[str, float], device: Device) -> str:
    """The three largest: `CPU 86 %, disk bandwidth 9 %, serial part 3 %`."""
    ordered = sorted(shares.items(), key=lambda item: item[1], reverse=True)[:3]
    names = {**RESOURCE, Bottleneck.ACCELERATOR: accelerator(device)}
    return ", ".join(f"{names[Bottleneck(name)]} {format_share(share)}" for name, share in ordered if share >= 0.005)


def accounted(rate: MeasuredRate, device: Device) -> str:
    """What the accounting of these runs named, with its busy share: `disk bandwidth 91 % busy`."""
    if rate.evidence is None or rate.evidence is Bottleneck.AMBIGUOUS:
        return "no single resource, as its repeats differ" if rate.evidence else "nothing"
    share = format_share(rate.busy) if rate.busy is not None else ""
    if rate.evidence is Bottleneck.SERIAL:
        return f"one core busy and the others idle ({share} of the vCPUs)" if share else "one core busy"
    name = {**RESOURCE, Bottleneck.ACCELERATOR: accelerator(device)}[rate.evidence]
    return f"{name} {share} busy" if share else name


def interval(estimate: Estimate, unit: str) -> str:
    """`219 images/s (205 to 233)`; without an interval that rounding leaves empty."""
    low, high = format_number(estimate.low), format_number(estimate.high)
    return format_rate(estimate.value, unit) + (f" ({low} to {high})" if low != high else "")


def listed(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)
