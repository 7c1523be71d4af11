"""Numbers as the page shows them: intervals, shares, counts, data sizes; single values come from sizer.units."""

from __future__ import annotations

import math

from sizer.records import Estimate
from sizer.units import format_bytes, format_number, format_rate, format_seconds, format_vcpus, plural

__all__ = [
    "count",
    "format_bytes",
    "format_number",
    "format_rate",
    "format_seconds",
    "format_vcpus",
    "milliseconds",
    "percent",
    "plural",
    "probability",
    "rate_interval",
    "sentence",
    "span",
    "transfer",
    "volume",
]

_DECIMAL = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3))


def count(value: float) -> str:
    """A whole number in full: 1281167 -> '1,281,167'."""
    return f"{round(value):,}"


def volume(bytes_: float) -> str:
    """Data in powers of ten, as disks are sold: 45.2e6 -> '45.2 MB'."""
    name, size = next(((name, size) for name, size in _DECIMAL if abs(bytes_) >= size), ("B", 1.0))
    return f"{format_number(bytes_ / size)} {name}"


def transfer(bytes_per_second: float) -> str:
    """A disk's rate: 100e6 -> '100 MB/s'."""
    return f"{format_number(bytes_per_second / 1e6)} MB/s"


def rate_interval(estimate: Estimate, unit: str) -> str:
    """'183 images/s (178–188)'; without an interval that rounding leaves empty."""
    interval = span(estimate.low, estimate.high)
    return format_rate(estimate.value, unit) + (f" ({interval})" if "–" in interval else "")


def span(low: float, high: float) -> str:
    """'178–188', or '219' where both ends are written alike."""
    first, last = format_number(low), format_number(high)
    return first if first == last else f"{first}–{last}"


def percent(share: float) -> str:
    """0.973 -> '97 %'; shares below one percent say so."""
    if not math.isfinite(share):
        return "unknown"
    return "< 1 %" if 0 < share < 0.005 else f"{share * 100:.0f} %"


def probability(value: float) -> str:
    """Two digits, and never 1 or 0, which no finite measurement supports."""
    if value > 0.99:
        return "> 0.99"
    return "< 0.01" if value < 0.01 else f"{value:.2f}"


def sentence(text: str) -> str:
    """A clause as a sentence: a capital first, a full stop last."""
    text = text.strip()
    return f"{text[:1].upper()}{text[1:]}" + ("" if not text or text[-1] in ".!?" else ".")


def milliseconds(seconds: float) -> str:
    """0.0123 -> '12.3 ms', also from one second on, so that latencies in a column compare."""
    return f"{format_number(seconds * 1000)} ms"
