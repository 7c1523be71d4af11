"""Shares, intervals and bottlenecks as a person reads them."""

from __future__ import annotations

from collections.abc import Sequence

from sizer.model.words import accelerator
from sizer.records import Bottleneck, Device, Estimate
from sizer.units import format_number, format_rate

GIB = 2**30
BOUND = {
    Bottleneck.CPU: "CPU-bound",
    Bottleneck.SERIAL: "held back by its serial part",
    Bottleneck.DISK_BANDWIDTH: "bound by disk bandwidth",
    Bottleneck.DISK_IOPS: "bound by disk IOPS",
    Bottleneck.DISK_WRITE: "bound by disk writes",
    Bottleneck.MEMORY: "short of memory",
    Bottleneck.AMBIGUOUS: "with no clear bottleneck",
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
    return ", ".join(f"{names[Bottleneck(name)]} {percent(share)}" for name, share in ordered if share >= 0.005)


def percent(fraction: float) -> str:
    """`61 %`"""
    return f"{100 * fraction:.0f} %"


def interval(estimate: Estimate, unit: str) -> str:
    """`219 images/s (205 to 233)`"""
    return f"{format_rate(estimate.value, unit)} ({format_number(estimate.low)} to {format_number(estimate.high)})"


def listed(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)
