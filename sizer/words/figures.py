"""Figures as people read them, in a sentence or alone in a table: intervals, chances, shares, amounts of data."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import reduce

from sizer.records.configuration import Estimate
from sizer.records.units import RELATIVE, format_bytes, format_number, format_usd
from sizer.words.language import _
from sizer.words.names import listed
from sizer.words.units import percent, percent_more, rate_in_words, several_of, vcpus_in_words

_BRIEF = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))
WIDEST_SHARE = 0.5
"""Half of an interval over its value up to which `±` says something; beyond it, the interval itself is shown."""
_LARGEST_PERCENTAGE = 3.0
"""Above 300 % a share reads better as so many times."""
FULL_STOPS, QUESTIONED = ".\u3002", "!?\uff01\uff1f"
"""What ends a sentence, in English and in Chinese."""
_DECIMAL = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3))


def whole(value: float) -> str:
    """A whole number in full: 1281167 -> '1,281,167'."""
    return f"{round(value):,}"


def amount(bytes_: float) -> str:
    """A size of memory: '1.5 GiB', 'none'."""
    return format_bytes(bytes_) if bytes_ else _("none")


def signed_bytes(bytes_: float) -> str:
    """How a size changed: '+1.2 KiB', '−300 B', '0 B'."""
    text = format_bytes(abs(round(bytes_)))
    return text if not round(bytes_) else f"{'+' if bytes_ > 0 else '−'}{text}"


def volume(bytes_: float) -> str:
    """Data in powers of ten, as disks are sold: 45.2e6 -> '45.2 MB'."""
    name, size = next(((name, size) for name, size in _DECIMAL if abs(bytes_) >= size), ("B", 1.0))
    return f"{format_number(bytes_ / size)} {name}"


def transfer(bytes_per_second: float) -> str:
    """A disk's rate: 100e6 -> '100 MB/s'."""
    return f"{format_number(bytes_per_second / 1e6)} MB/s"


def operations(iops: float) -> str:
    """A disk's reads or writes a second: 2000 -> '2,000 IOPS'."""
    return f"{format_number(iops)} IOPS"


def rate_interval(estimate: Estimate, unit: str) -> str:
    """'183 images/s (178–188)'; without an interval that rounding leaves empty."""
    interval = span(estimate.low, estimate.high)
    rate = rate_in_words(estimate.value, unit)
    return beside(rate, interval) if "–" in interval else rate


def beside(text: str, remark: str) -> str:
    """'1,240 s (1,200–1,290)': a figure, and what is known of it."""
    return _("{text} ({remark})", text=text, remark=remark)


def figure_interval(estimate: Estimate) -> str:
    """'183 (178–188)': a figure without its unit."""
    interval = span(estimate.low, estimate.high)
    return format_number(estimate.value) + (f" ({interval})" if "–" in interval else "")


def span(low: float, high: float) -> str:
    """'178–188', or '219' where both ends are written alike."""
    first, last = format_number(low), format_number(high)
    return first if first == last else f"{first}–{last}"


def from_to(low: str, high: str) -> str:
    """'2 s to 3 s', or '2 s' where both ends are written alike."""
    return low if low == high else _("{low} to {high}", low=low, high=high)


def with_interval(value: str, low: str, high: str) -> str:
    """'4 h (3 h to 5 h)'; without an interval that rounding leaves empty."""
    return value if low == high else _("{value} ({low} to {high})", value=value, low=low, high=high)


def usd_interval(estimate: Estimate) -> str:
    """'$1.32 ($0.731 to $2.40)': a price as far as what it is of is known."""
    return with_interval(*(format_usd(each) for each in (estimate.value, estimate.low, estimate.high)))


def share_interval(estimate: Estimate) -> str:
    """'5 % (3 % to 9 %)'."""
    return with_interval(*(percent(each) for each in (estimate.value, estimate.low, estimate.high)))


def small_share(share: float) -> str:
    """A share whose digit after the point matters: 0.0034 -> '0.3 %', 0.12 -> '12 %'."""
    return percent(share, 1 if share < 0.0995 else 0)


def half_width(estimate: Estimate) -> str:
    """Half of the interval against the value: '±1.5 %'; of a rate that came without an interval, '1 run'."""
    if not estimate.has_interval:
        return _("1 run")
    return f"±{small_share(estimate.relative_half_width)}" if estimate.value else _("±unknown")


def around(estimate: Estimate) -> str:
    """What follows a value: `±1.9 %`, or `(0 to 103)` where it is hardly known."""
    if not estimate.value:
        return _("±unknown")
    if estimate.relative_half_width > WIDEST_SHARE:
        return _("({low} to {high})", low=format_number(max(0.0, estimate.low)), high=format_number(estimate.high))
    return f"±{percent(estimate.relative_half_width, 1)}"


def answered_rate(estimate: Estimate, unit: str) -> tuple[str, str]:
    """A rate and its interval: `219 images/s`, `±5.4 %`; of a relative one `1.00 times the reference`, `±0.05`."""
    if unit != RELATIVE or not estimate.value:
        return rate_in_words(estimate.value, unit), around(estimate)
    value, low, high = _alike(estimate.value, estimate.low, estimate.high)
    said = _("{number} times the reference", number=value)
    if estimate.relative_half_width > WIDEST_SHARE:
        return said, _("({low} to {high})", low=low, high=high)
    return said, f"±{_alike(estimate.value, (estimate.high - estimate.low) / 2)[1]}"


def answered_interval(estimate: Estimate, unit: str) -> tuple[str, str, str]:
    """A rate and both ends: `219 images/s`, `205 images/s`, `233 images/s`; `1.00 times the reference`, `0.95`, ..."""
    if unit != RELATIVE or not estimate.value:
        value, low, high = (rate_in_words(each, unit) for each in (estimate.value, estimate.low, estimate.high))
        return value, low, high
    value, low, high = _alike(estimate.value, estimate.low, estimate.high)
    return _("{number} times the reference", number=value), low, high


def _alike(value: float, *others: float) -> list[str]:
    """All with as many digits after the point as three digits of the first need."""
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return [f"{each:,.{digits}f}" for each in (value, *others)]


def times(factor: float) -> str:
    """How many times: `1.4 times`, `2.5 times`, and below one and a half `52 %`."""
    if factor < 1.5:
        return percent(factor)
    return _("{number} times", number=format_number(factor))


def of_its_rate(share: float) -> str:
    """A rate against that of a baseline: `98 % of its rate`, `6.9 times its rate`."""
    if share <= _LARGEST_PERCENTAGE:
        return _("{share} of its rate", share=percent(share))
    return _("{times} its rate", times=times(share))


def gain(share: float) -> str:
    """By how much something is faster: `12 %`, and above 300 % `a factor of 7.9`."""
    if share <= _LARGEST_PERCENTAGE:
        return percent(share)
    return _("a factor of {number}", number=format_number(1 + share))


def gains(low: float, high: float) -> str:
    """Both ends in one form: `56–91 %`, `a factor of 1.56–4.2`; one figure where they are written alike."""
    if high > _LARGEST_PERCENTAGE:
        return _("a factor of {number}", number=span(1 + low, 1 + high))
    first, last = f"{100 * low:.0f}", percent(high)
    return last if percent(low) == last else f"{first}–{last}"


def apart(share: float) -> str:
    """How far rates lie apart: `2.8 %`, and above 300 % `a factor of 7.9`."""
    return small_share(share) if share <= _LARGEST_PERCENTAGE else gain(share)


def more_or_less(share: float) -> str:
    """How another price compares: `12 % more`, `5 % less`, and above 300 % `27 times as much`."""
    if share < 0:
        return _("{share} less", share=percent(-share))
    if share <= _LARGEST_PERCENTAGE:
        return _("{share} more", share=percent(share))
    return _("{times} as much", times=times(1 + share))


def chance(probability: float) -> str:
    """Two digits, and never 1 or 0, which no finite measurement supports."""
    if probability > 0.99:
        return _("above 0.99")
    return _("below 0.01") if probability < 0.01 else f"{probability:.2f}"


def change(share: float) -> str:
    """`+12 %`, `-3 %`, and above 300 % `a factor of 7.9`."""
    return percent_more(share) if share <= _LARGEST_PERCENTAGE else gain(share)


def samples_counted(samples: float, unit: str) -> str:
    """`1,200,000 images`: in full, since the person who asked knows the number."""
    return f"{whole(samples) if samples >= 1 else format_number(samples)} {several_of(unit)}"


def vcpus_listed(values: tuple[float, ...]) -> str:
    """`4 vCPUs`, `0.5 and 2 vCPUs`."""
    return listed([*(f"{value:g}" for value in values[:-1]), vcpus_in_words(values[-1])])


def capital(text: str) -> str:
    """The text with a capital first."""
    return f"{text[:1].upper()}{text[1:]}"


def sentence(text: str) -> str:
    """A clause as a sentence: a capital first, a full stop last."""
    text = text.strip()
    return capital(text) if not text or text[-1] in FULL_STOPS + QUESTIONED else _("{clause}.", clause=capital(text))


def clause(text: str) -> str:
    """A stored sentence inside another one: without its full stop."""
    return text.rstrip(FULL_STOPS)


def paragraph(sentences: Iterable[str]) -> str:
    """Sentences one behind another, without those that are empty."""
    said = [sentence for sentence in sentences if sentence] or [""]
    return reduce(lambda text, more: _("{text} {more}", text=text, more=more), said)


def unbroken(text: str) -> str:
    """Words that stay on one line."""
    return text.replace(" ", "\u00a0")


def brief(seconds: float) -> str:
    """A duration that may be very short: 0.0012 -> '1.2 ms', 23.6e-9 -> '23.6 ns'."""
    name, scale = next(((name, size) for name, size in _BRIEF if abs(seconds) >= size), ("ms", 1e-3))
    return f"{format_number(seconds / scale)} {name}"


def milliseconds(seconds: float) -> str:
    """0.0123 -> '12.3 ms', also from one second on, so that latencies in a column compare."""
    return f"{format_number(seconds * 1000)} ms"
