"""What rates and amounts are counted in: sample units, vCPUs and percent, each with its figure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from sizer.records.units import RELATIVE, format_number, plural, rate_unit, share_and_unit
from sizer.words.language import _, _n

_COUNTED: Mapping[str, Callable[[int], str]] = {
    "image": lambda count: _n("image", "images", count),
    "sample": lambda count: _n("sample", "samples", count),
    "word": lambda count: _n("word", "words", count),
    "token": lambda count: _n("token", "tokens", count),
    "sentence": lambda count: _n("sentence", "sentences", count),
    "sequence": lambda count: _n("sequence", "sequences", count),
    "frame": lambda count: _n("frame", "frames", count),
    "query": lambda count: _n("query", "queries", count),
    "request": lambda count: _n("request", "requests", count),
}
_A_SECOND: Mapping[str, Callable[[], str]] = {
    "image": lambda: _("images/s"),
    "sample": lambda: _("samples/s"),
    "word": lambda: _("words/s"),
    "token": lambda: _("tokens/s"),
    "sentence": lambda: _("sentences/s"),
    "sequence": lambda: _("sequences/s"),
    "frame": lambda: _("frames/s"),
    "query": lambda: _("queries/s"),
    "request": lambda: _("requests/s"),
}
_EACH: Mapping[str, Callable[[str], str]] = {
    "image": lambda cost: _("{cost} an image", cost=cost),
    "sample": lambda cost: _("{cost} a sample", cost=cost),
    "word": lambda cost: _("{cost} a word", cost=cost),
    "token": lambda cost: _("{cost} a token", cost=cost),
    "sentence": lambda cost: _("{cost} a sentence", cost=cost),
    "sequence": lambda cost: _("{cost} a sequence", cost=cost),
    "frame": lambda cost: _("{cost} a frame", cost=cost),
    "query": lambda cost: _("{cost} a query", cost=cost),
    "request": lambda cost: _("{cost} a request", cost=cost),
}


def one_of(unit: str) -> str:
    """A sample unit of one: `image`; a unit that is the user's own stays as it is."""
    return _COUNTED[unit](1) if unit in _COUNTED else unit


def several_of(unit: str) -> str:
    """A sample unit of more than one: `images`."""
    return _COUNTED[unit](2) if unit in _COUNTED else plural(unit)


def units_a_second(unit: str) -> str:
    """What rates are in: `images/s`; of relative ones `x`."""
    return _A_SECOND[unit]() if unit in _A_SECOND else rate_unit(unit)


def rate_in_words(value: float, unit: str) -> str:
    """`183 images/s`; `1.9 x` for a relative one."""
    return f"{format_number(value)} {units_a_second(unit)}" if math.isfinite(value) else _("unknown")


def rate_beside(rate: float, asked: float, unit: str) -> str:
    """A rate beside one that was asked for: as any other, and exact where it would else not be seen which is more."""
    rounded = float(format_number(rate).replace(",", "")) if math.isfinite(rate) else rate
    apart = (rounded < asked) == (rate < asked) and rounded != asked
    return rate_in_words(rate, unit) if apart else exact_rate(rate, unit)


def exact_rate(rate: float, unit: str) -> str:
    """A rate beside one that was asked for, with six digits: what is just missed does not look like what was asked."""
    return f"{rate:,.6g} {units_a_second(unit)}"


def rates_axis(unit: str) -> str:
    """What an axis of rates is called: `images/s`."""
    return _("relative rate") if unit == RELATIVE else units_a_second(unit)


def a_sample(text: str, unit: str) -> str:
    """What one sample costs: '113 kB an image', '6 B a word'."""
    if unit in _EACH:
        return _EACH[unit](text)
    if unit[:1] in "aeiou":
        return _("{cost} an {unit}", cost=text, unit=unit)
    return _("{cost} a {unit}", cost=text, unit=unit)


def percent(share: float, digits: int = 0) -> str:
    """A share with so many digits after the point: `98 %`, `4.7 %`; `< 1 %` of little, `unknown` if not finite."""
    number, sign = share_and_unit(share, digits)
    return _("{number} %", number=number) if sign else _("unknown")


def percent_more(share: float) -> str:
    """A change with its sign: `+12 %`, `-3 %`."""
    return _("{number} %", number=f"{100 * share:+.0f}")


def vcpus_in_words(vcpus: float) -> str:
    """A number of vCPUs: `0.5 vCPU`, `1 vCPU`, `4 vCPUs`."""
    number = f"{vcpus:g}"
    return _("{number} vCPU", number=number) if vcpus <= 1 else _("{number} vCPUs", number=number)
