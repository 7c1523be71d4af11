"""The figures of a reason, as its sentence shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sizer.records import Bottleneck, Device, Reason, ReasonCode, format_bytes, format_number, format_seconds
from sizer.words.figures import gain, with_interval
from sizer.words.language import _
from sizer.words.names import Terms, accelerators_name, bound_in_words, resource_name, row
from sizer.words.units import percent, rate_in_words, vcpus_in_words

Sentences = Mapping[ReasonCode, Callable[[Reason, Terms], str]]


def size_of(reason: Reason, name: str = "memory_bytes") -> str:
    """`8 GiB`."""
    return format_bytes(reason.number(name))


def vcpus_of(reason: Reason, name: str = "vcpus") -> str:
    """`4 vCPUs`."""
    return vcpus_in_words(reason.number(name))


def share_of(reason: Reason, name: str) -> str:
    """`12 %`."""
    return percent(reason.number(name))


def gain_of(reason: Reason, name: str = "gain") -> str:
    """`12 %`, `a factor of 7.9`."""
    return gain(reason.number(name))


def gpus_of(reason: Reason, terms: Terms, before: str = "") -> str:
    """`2 x V100`; `before` is what the names of its figures begin with."""
    return accelerators_name(reason.text(f"{before}gpu") or None, reason.number(f"{before}gpu_count"), terms.device)


def bound_of(reason: Reason, terms: Terms) -> str:
    """`bound by the CPU`."""
    return bound_in_words(Bottleneck(reason.text("bottleneck")), terms.device)


def rate_between(reason: Reason, unit: str) -> str:
    """`219 images/s (205 to 233)`; without an interval that rounding leaves empty."""
    rate = rate_in_words(reason.number("rate"), unit)
    low, high = format_number(reason.number("low")), format_number(reason.number("high"))
    return with_interval(rate, low, high)


def seconds_between(reason: Reason) -> str:
    """`4 h 10 min (3 h 55 min to 4 h 30 min)`; without an interval that rounding leaves empty."""
    return with_interval(*(format_seconds(reason.number(name)) for name in ("seconds", "low", "high")))


def shares_listed(reason: Reason, device: Device) -> str:
    """The three largest: `CPU 86 %, disk bandwidth 9 %, serial part 3 %`."""
    pairs = list(zip(reason.texts("resources"), reason.numbers("shares"), strict=True))[:3]
    named = [(resource_name(Bottleneck(name), device), share) for name, share in pairs if share >= 0.005]
    return row(_("{resource} {share}", resource=name, share=percent(share)) for name, share in named)


def accounted(reason: Reason, device: Device) -> str:
    """What the accounting of these runs named, with its busy share: `disk bandwidth 91 % busy`."""
    bottleneck = Bottleneck(reason.text("accounted"))
    share = percent(reason.number("busy")) if reason.has("busy") else None
    if bottleneck is Bottleneck.AMBIGUOUS:
        return _("no single resource, as its repeats differ")
    if bottleneck is Bottleneck.SERIAL:
        if share is None:
            return _("one core busy")
        return _("one core busy and the others idle ({share} of the vCPUs)", share=share)
    name = resource_name(bottleneck, device)
    return name if share is None else _("{resource} {share} busy", resource=name, share=share)
