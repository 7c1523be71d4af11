"""Figures as they stand in a sentence: intervals, chances, shares, amounts of samples and of data."""

from __future__ import annotations

from sizer.records import (
    Bottleneck,
    Device,
    Reason,
    format_number,
    format_rate,
    format_seconds,
    format_share,
    format_vcpus,
    plural,
)
from sizer.words.language import _
from sizer.words.names import listed, resource_name


def rate_between(reason: Reason, unit: str) -> str:
    """`219 images/s (205 to 233)`; without an interval that rounding leaves empty."""
    rate = format_rate(reason.number("rate"), unit)
    low, high = format_number(reason.number("low")), format_number(reason.number("high"))
    return rate if low == high else _("{value} ({low} to {high})", value=rate, low=low, high=high)


def seconds_between(reason: Reason) -> str:
    """`4 h 10 min (3 h 55 min to 4 h 30 min)`; without an interval that rounding leaves empty."""
    value, low, high = (format_seconds(reason.number(name)) for name in ("seconds", "low", "high"))
    return value if low == high else _("{value} ({low} to {high})", value=value, low=low, high=high)


def chance(probability: float) -> str:
    """Two digits, and never 1 or 0, which no finite measurement supports."""
    if probability > 0.99:
        return _("above 0.99")
    return _("below 0.01") if probability < 0.01 else f"{probability:.2f}"


def change(gain: float) -> str:
    """`+12 %`, `-3 %`."""
    return f"{100 * gain:+.0f} %"


def samples_counted(samples: float, unit: str) -> str:
    """`1,200,000 images`: in full, since the person who asked knows the number."""
    whole = f"{samples:,.0f}" if samples >= 1 else format_number(samples)
    return f"{whole} {plural(unit)}"


def megabytes(size: float) -> str:
    """`0.11 MB`, `340 B`."""
    return f"{format_number(size / 1e6)} MB" if size >= 10_000 else f"{format_number(size)} B"


def vcpus_listed(values: tuple[float, ...]) -> str:
    """`4 vCPUs`, `0.5 and 2 vCPUs`."""
    return listed([*(f"{value:g}" for value in values[:-1]), format_vcpus(values[-1])])


def shares_listed(reason: Reason, device: Device) -> str:
    """The three largest: `CPU 86 %, disk bandwidth 9 %, serial part 3 %`."""
    pairs = list(zip(reason.texts("resources"), reason.numbers("shares"), strict=True))[:3]
    named = [(resource_name(Bottleneck(name), device), share) for name, share in pairs if share >= 0.005]
    return ", ".join(f"{name} {format_share(share)}" for name, share in named)


def accounted(reason: Reason, device: Device) -> str:
    """What the accounting of these runs named, with its busy share: `disk bandwidth 91 % busy`."""
    bottleneck = Bottleneck(reason.text("accounted"))
    share = format_share(reason.number("busy")) if reason.has("busy") else None
    if bottleneck is Bottleneck.AMBIGUOUS:
        return _("no single resource, as its repeats differ")
    if bottleneck is Bottleneck.SERIAL:
        if share is None:
            return _("one core busy")
        return _("one core busy and the others idle ({share} of the vCPUs)", share=share)
    name = resource_name(bottleneck, device)
    return name if share is None else _("{resource} {share} busy", resource=name, share=share)
