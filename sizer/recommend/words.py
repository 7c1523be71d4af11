"""Numbers and specs as a person reads them."""

from __future__ import annotations

from sizer.records import Bottleneck, Estimate, Spec

GIB = 2**30
BOUND = {
    Bottleneck.CPU: "CPU-bound",
    Bottleneck.SERIAL: "held back by its serial part",
    Bottleneck.DISK_BANDWIDTH: "bound by disk bandwidth",
    Bottleneck.DISK_IOPS: "bound by disk IOPS",
    Bottleneck.DISK_WRITE: "bound by disk writes",
    Bottleneck.ACCELERATOR: "accelerator-bound",
    Bottleneck.MEMORY: "short of memory",
    Bottleneck.AMBIGUOUS: "with no single bottleneck",
}


def bound(bottleneck: Bottleneck) -> str:
    """`CPU-bound`, `bound by disk bandwidth`, ..."""
    return BOUND[bottleneck]


def percent(fraction: float) -> str:
    """`61 %`"""
    return f"{100 * fraction:.0f} %"


def rate(value: float, unit: str) -> str:
    """`219 images/s`"""
    return f"{value:.3g} {unit}s/s" if value < 1000 else f"{value:,.0f} {unit}s/s"


def interval(estimate: Estimate, unit: str) -> str:
    """`219 images/s (205 to 233)`"""
    return f"{rate(estimate.value, unit)} ({estimate.low:.3g} to {estimate.high:.3g})"


def memory(size: int) -> str:
    """`8 GiB`, `512 MiB`"""
    return f"{size / GIB:g} GiB" if size >= GIB and size % (GIB // 4) == 0 else f"{size / 2**20:.0f} MiB"


def spec_words(spec: Spec) -> str:
    """`2 vCPU, 4 GiB, cloud_ssd`"""
    parts = [f"{spec.vcpus:g} vCPU"]
    parts += [memory(spec.memory_bytes)] if spec.memory_bytes else []
    parts += [spec.disk] if spec.disk else []
    return ", ".join(parts)
