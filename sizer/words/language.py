"""How a sentence is said: its template in the reader's language, with its quantities as people read them.

A template is a whole sentence in English, with named placeholders, so that a translator may change its order:

- `{size:bytes}` is a quantity, which knows how it is written (`QUANTITIES`), and with its interval where it is an
  `Estimate`; another form is Python's: `{cores:.2f}`;
- `{rate:rate/unit}` is one that needs another value, too: the sample unit, the device, the terms of the workload;
- `{left.folder}` is a field of what is given;
- `[[ of {size}]]` is left out where one of its values is nothing: None, empty, False or 0;
- `[[again? once more]]` is said only where `again` is something, `[[!again? for once]]` where it is nothing.

`_` and `_n` say one at once, a `Sentence` says it when it is called, `N_` marks one that is said later, and
`Templates` a table of such. By these names `script/words` collects all templates into the catalogues; what has no
translation is said in English.
"""

from __future__ import annotations

import gettext
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, reduce
from pathlib import Path
from string import Formatter
from typing import Any, TypeVar

from sizer.records.messages import AllOf, AnyOf, Lines, Message, SizerError, printable, typed_path, width
from sizer.records.prediction import Estimate
from sizer.records.units import (
    NOT_FINITE,
    RELATIVE,
    format_bytes,
    format_number,
    format_seconds,
    format_usd,
    plural,
    rate_unit,
    share_and_unit,
)

DOMAIN = "sizer"
ENGLISH, CHINESE = "en", "zh"
_language: ContextVar[str] = ContextVar("language", default=ENGLISH)
_marks: ContextVar[bool] = ContextVar("marks", default=True)
_OPTIONAL = re.compile(r"\[\[(?:(!?)([\w.]+)\?)?(.*?)\]\]")


@contextmanager
def in_language(language: str) -> Iterator[None]:
    """Until the end, sentences are of this language; where it has no translation, English."""
    token = _language.set(language)
    try:
        yield
    finally:
        _language.reset(token)


@contextmanager
def without_marks() -> Iterator[None]:
    """Until the end, sentences set no names apart by `...`; a name that has such a mark of its own keeps it."""
    token = _marks.set(False)
    try:
        yield
    finally:
        _marks.reset(token)


def reader_language() -> str:
    """The language that sentences are of at this moment."""
    return _language.get()


def language_tag() -> str:
    """The same as a page names it (BCP 47), by which a browser chooses the forms of Chinese letters."""
    return "zh-CN" if _language.get() == CHINESE else _language.get()


def _(message: str, /, **values: object) -> str:
    """The template in the language of the reader, filled in; as it is where there are no values."""
    template = _marked(_translated(_language.get(), message))
    return _filled(template, values) if values else template


def _n(singular: str, plural: str, count: float, /, **values: object) -> str:
    """The template in the plural form that this count has in the reader's language; `{count}` is the count itself."""
    template = _marked(_catalogue(_language.get()).ngettext(singular, plural, round(count)))
    return _filled(template, {"count": f"{count:,}", **values})


def N_(message: str, /) -> str:
    """A template that is said later."""
    return message


Key = TypeVar("Key")
Said = TypeVar("Said")
Templates = Mapping[Key, Said]
"""A table of templates, or of groups of them, by what they are of: all text in its values is said later."""


class Sentence:
    """A template that is said when it is called, with its values by name or in the order in which it names them."""

    def __init__(self, message: str, /) -> None:
        self.message = message
        self.fields = fields_of(message)

    def __call__(self, *values: object, **named: object) -> str:
        if len(values) > len(self.fields):
            raise TypeError(f"{self.message!r} takes {len(self.fields)} values, not {len(values)}")
        return self._filled(dict(zip(self.fields, values, strict=False)) | named)

    def _filled(self, values: Mapping[str, object]) -> str:
        return _(self.message, **values)


class Counted(Sentence):
    """One with a plural, whose form is that of `count`."""

    def __init__(self, singular: str, plural: str, /) -> None:
        super().__init__(plural)
        self.singular = singular

    def _filled(self, values: Mapping[str, Any]) -> str:
        others = {name: value for name, value in values.items() if name != "count"}
        return _n(self.singular, self.message, values["count"], **others)


@cache
def fields_of(message: str) -> tuple[str, ...]:
    """The names of its values, each once, in the order in which the template has them."""
    paths = (path for _text, path, form in _pieces(message) for path in (path, form.partition("/")[2]) if path)
    return tuple(dict.fromkeys(re.split(r"[.\[]", path)[0] for path in paths))


@cache
def conditions_of(message: str) -> tuple[str, ...]:
    """The names by which its optional parts are said or left out."""
    return tuple(part[2] for part in _OPTIONAL.finditer(message) if part[2])


@cache
def without_optional(message: str) -> str:
    """What of a template is always said."""
    return _OPTIONAL.sub("", message)


@cache
def _pieces(message: str) -> tuple[tuple[str, str, str], ...]:
    """Each text of a template with the path and the form of the placeholder behind it."""
    return tuple((text, path or "", form or "") for text, path, form, _conversion in Formatter().parse(message))


def _filled(message: str, values: Mapping[str, Any]) -> str:
    message = _OPTIONAL.sub(lambda part: _kept(part, values), message)
    pieces = [
        (text, _written(_at(path, values), form, values) if path else "") for text, path, form in _pieces(message)
    ]
    if _language.get() != CHINESE:
        return "".join(text + value for text, value in pieces)
    unknown = _catalogue(CHINESE).gettext(NOT_FINITE)
    return joined_in_chinese((text, unknown if value == NOT_FINITE else value) for text, value in pieces)


def _at(path: str, values: Mapping[str, Any]) -> Any:
    return values[path] if path in values else Formatter().get_field(path, (), values)[0]


def _kept(part: re.Match[str], values: Mapping[str, object]) -> str:
    """An optional part of a template, where it is said."""
    without, condition, text = part.groups()
    if condition and _is_something(condition, values) is bool(without):
        return ""
    return text if all(_is_something(path, values) for _text, path, _form in _pieces(text) if path) else ""


def _is_something(path: str, values: Mapping[str, object]) -> bool:
    try:
        return bool(_at(path, values))
    except (KeyError, AttributeError):
        return False


def _written(value: Any, form: str, values: Mapping[str, Any]) -> str:
    if not form:
        return in_words(value)
    name, _slash, other = form.partition("/")
    if other:
        return QUANTITIES_OF[name](value, _at(other, values))
    if form not in QUANTITIES:
        return format(value, form)
    return interval(value, QUANTITIES[form]) if isinstance(value, Estimate) else QUANTITIES[form](value)


def in_words(value: object) -> str:
    """An error or message with what it holds; a list with the language's own "or" and "and"; anything else as text."""
    if isinstance(value, SizerError):
        return in_words(value.content)
    if isinstance(value, Message):
        return _(value.template, **{name: in_words(part) for name, part in value.values.items()})
    if isinstance(value, AnyOf):
        return either([in_words(name) for name in value.names])
    if isinstance(value, AllOf):
        return listed([in_words(name) for name in value.names])
    if isinstance(value, Lines):
        return "\n".join(map(in_words, value.names))
    return str(value)


def _marked(message: str) -> str:
    return message if _marks.get() else message.replace("`", "")


@cache
def _translated(language: str, message: str) -> str:
    return _catalogue(language).gettext(message)


@cache
def _catalogue(language: str) -> gettext.NullTranslations:
    return gettext.translation(DOMAIN, _folder(), [language], fallback=True)


def _folder() -> Path:
    return Path(__file__).parent / "locale"


# How a value stands in a Chinese sentence: apart from it by a space if it is in Latin letters or digits, else not. A
# translator cannot know what a placeholder is filled with: `{resource}` is `CPU` in one sentence and a Chinese word in
# the next. Only the border between the sentence and a value is looked at, so names and commands stay as they are.

IDEOGRAPHS = "\u3400-\u4dbf\u4e00-\u9fff"
FULL_WIDTH = "\u3000-\u303f\uff00-\uffef"
"""Marks that bring their own room, such as the full stop and the comma of Chinese."""

# Compiled when a Chinese sentence is first said: each takes 2 ms.
_CHINESE_LAST = f"[{IDEOGRAPHS}{FULL_WIDTH}] *$"
_CHINESE_FIRST = f"^ *[{IDEOGRAPHS}{FULL_WIDTH}]"
_MARK_FIRST = f"^[{FULL_WIDTH}]"
_IDEOGRAPH_LAST = f"[{IDEOGRAPHS}]$"
_IDEOGRAPH_FIRST = f"^[{IDEOGRAPHS}]"
_LATIN_FIRST = r"^[A-Za-z0-9`$<+\-−±./~]"
_LATIN_LAST = r"[A-Za-z0-9`%/+]$"
_ENGLISH_STOP = r"[.!?]$"
"""How a sentence ends that is not translated yet: what comes behind it stands apart."""


def joined_in_chinese(pieces: Iterable[tuple[str, str]]) -> str:
    """A template in pieces, each a text and the value behind it, with one space between Chinese and Latin where the two
    meet at a value."""
    text, value = "", ""
    for literal, following in pieces:
        text += _after(value, literal)
        value = following
        joined = re.search(_ENGLISH_STOP, text) and not literal and value
        text = f"{text} {value}" if joined else _before(value, text, literal) + value
    return text


def _after(value: str, literal: str) -> str:
    """What the translator wrote behind a value."""
    if re.search(_CHINESE_LAST, value) and re.search(_CHINESE_FIRST, literal):
        return literal.lstrip(" ")
    return f" {literal}" if re.search(_LATIN_LAST, value) and re.search(_IDEOGRAPH_FIRST, literal) else literal


def _before(value: str, text: str, literal: str) -> str:
    """The text before a value, which ends with the literal that the translator wrote there."""
    if re.search(_CHINESE_FIRST, value) and (re.search(_CHINESE_LAST, literal) or re.search(_MARK_FIRST, value)):
        return text.rstrip(" ")
    return f"{text} " if re.search(_IDEOGRAPH_LAST, literal) and re.search(_LATIN_FIRST, value) else text


# Lists, and texts beside one another.


def row(parts: Iterable[str]) -> str:
    """`2 vCPUs, 8 GiB, disk nvme`: things beside one another, which no `and` joins; nothing for what is empty."""
    return _(", ").join(filter(None, parts))


def clauses(parts: Iterable[str]) -> str:
    """`12 of 24 runs finished; 3 with a warning`: statements of one line, without those that are empty."""
    return _("; ").join(filter(None, parts))


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of N cells as lines in columns, the first to the left and the others to the right, without empty columns; a
    row of one cell alone is a line as it is. The first row are the columns' names."""
    columns = zip(*(cells for cells in rows if len(cells) > 1), strict=True)
    widths = [max(map(width, column)) if any(column[1:]) else 0 for column in columns]
    lines = []
    for first, *others in rows:
        pairs = zip(others, widths[1:], strict=False)
        cells = ["  " + " " * (wide - width(cell)) + cell for cell, wide in pairs if wide]
        lines.append((first + " " * (widths[0] - width(first)) if cells else first) + "".join(cells).rstrip())
    return lines


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(names) < 2:
        return "".join(names)
    return _("{names} and {last}", names=_(", ").join(names[:-1]), last=names[-1])


def either(names: Sequence[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    if len(names) < 2:
        return "".join(names)
    return _("{names} or {last}", names=_(", ").join(names[:-1]), last=names[-1])


MOST_NAMED = 8


def listed_some(names: Sequence[str]) -> str:
    """All of a few names; of many the first ones, and how many more."""
    if len(names) <= MOST_NAMED:
        return listed(names)
    more = len(names) - MOST_NAMED + 1
    return listed([*names[: MOST_NAMED - 1], _n("{count} more", "{count} more", more)])


def coded(names: Iterable[object]) -> list[str]:
    """Names set apart: `` `a` ``."""
    return [f"`{name}`" for name in names]


def paragraph(sentences: Iterable[str]) -> str:
    """Sentences one behind another, without those that are empty."""
    return reduce(lambda text, more: _("{text} {more}", text=text, more=more), [*filter(None, sentences)] or [""])


FULL_STOPS, QUESTIONED = ".\u3002", "!?\uff01\uff1f"
"""What ends a sentence, in English and in Chinese."""


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


def unbroken(text: str) -> str:
    """Words that stay on one line."""
    return text.replace(" ", "\u00a0")


# What samples are counted in, and vCPUs.


_UNITS: Mapping[str, tuple[Counted, Sentence, Sentence]] = {
    "image": (Counted("image", "images"), Sentence("images/s"), Sentence("{cost} an image")),
    "sample": (Counted("sample", "samples"), Sentence("samples/s"), Sentence("{cost} a sample")),
    "word": (Counted("word", "words"), Sentence("words/s"), Sentence("{cost} a word")),
    "token": (Counted("token", "tokens"), Sentence("tokens/s"), Sentence("{cost} a token")),
    "sentence": (Counted("sentence", "sentences"), Sentence("sentences/s"), Sentence("{cost} a sentence")),
    "sequence": (Counted("sequence", "sequences"), Sentence("sequences/s"), Sentence("{cost} a sequence")),
    "frame": (Counted("frame", "frames"), Sentence("frames/s"), Sentence("{cost} a frame")),
    "query": (Counted("query", "queries"), Sentence("queries/s"), Sentence("{cost} a query")),
    "request": (Counted("request", "requests"), Sentence("requests/s"), Sentence("{cost} a request")),
}
"""Of a sample unit: its name, what rates are in, and what one of it costs. One of the user's own stays as it is."""


def one_of(unit: str) -> str:
    """A sample unit of one: `image`."""
    return _UNITS[unit][0](count=1) if unit in _UNITS else unit


def several_of(unit: str) -> str:
    """A sample unit of more than one: `images`."""
    return _UNITS[unit][0](count=2) if unit in _UNITS else plural(unit)


def units_a_second(unit: str) -> str:
    """What rates are in: `images/s`; of relative ones `x`."""
    return _UNITS[unit][1]() if unit in _UNITS else rate_unit(unit)


def a_sample(cost: str, unit: str) -> str:
    """What one sample costs: '113 kB an image', '6 B a word'."""
    if unit in _UNITS:
        return _UNITS[unit][2](cost)
    return _("{cost} an {unit}", cost=cost, unit=unit) if unit[:1] in "aeiou" else f"{cost} a {unit}"


def rates_axis(unit: str) -> str:
    """What an axis of rates is called: `images/s`."""
    return _("relative rate") if unit == RELATIVE else units_a_second(unit)


def samples_counted(samples: float, unit: str) -> str:
    """`1,200,000 images`: in full, since the person who asked knows the number."""
    return f"{whole(samples) if samples >= 1 else format_number(samples)} {several_of(unit)}"


def vcpus_in_words(vcpus: float) -> str:
    """A number of vCPUs: `0.5 vCPU`, `1 vCPU`, `4 vCPUs`."""
    return vcpus_listed((vcpus,))


def vcpus_listed(values: Sequence[float]) -> str:
    """`4 vCPUs`, `0.5 and 2 vCPUs`."""
    number = listed([f"{value:g}" for value in values])
    return _("{number} vCPU", number=number) if values[-1] <= 1 else _("{number} vCPUs", number=number)


# Rates, shares and prices, with their intervals.


WIDEST_SHARE = 0.5
"""Half of an interval over its value up to which `±` says something; beyond it, the interval itself is shown."""
_LARGEST_PERCENTAGE = 3.0
"""Above 300 % a share reads better as so many times."""


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


def rate_interval(estimate: Estimate, unit: str) -> str:
    """'183 images/s (178–188)'; without an interval that rounding leaves empty."""
    interval, rate = (span(estimate.low, estimate.high), rate_in_words(estimate.value, unit))
    return beside(rate, interval) if "–" in interval else rate


def beside(text: str, remark: str) -> str:
    """'1,240 s (1,200–1,290)': a figure, and what is known of it."""
    return _("{text} ({remark})", text=text, remark=remark)


def span(low: float, high: float) -> str:
    """'178–188', or '219' where both ends are written alike."""
    first, last = format_number(low), format_number(high)
    return first if first == last else f"{first}–{last}"


def figure_interval(estimate: Estimate) -> str:
    """'183 (178–188)': a figure without its unit."""
    interval = span(estimate.low, estimate.high)
    return format_number(estimate.value) + (f" ({interval})" if "–" in interval else "")


def from_to(low: str, high: str) -> str:
    """'2 s to 3 s', or '2 s' where both ends are written alike."""
    return low if low == high else _("{low} to {high}", low=low, high=high)


def with_interval(value: str, low: str, high: str) -> str:
    """'4 h (3 h to 5 h)'; without an interval that rounding leaves empty."""
    return value if low == high else _("{value} ({low} to {high})", value=value, low=low, high=high)


def interval(estimate: Estimate, written: Callable[[float], str]) -> str:
    """The same of any quantity: '$1.32 ($0.731 to $2.40)', '5 % (3 % to 9 %)'."""
    return with_interval(written(estimate.value), written(estimate.low), written(estimate.high))


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
    value, low, high = answered_interval(estimate, unit)
    if unit != RELATIVE or not estimate.value:
        return value, around(estimate)
    if estimate.relative_half_width > WIDEST_SHARE:
        return value, _("({low} to {high})", low=low, high=high)
    return value, f"±{_alike(estimate.value, (estimate.high - estimate.low) / 2)[1]}"


def answered_interval(estimate: Estimate, unit: str) -> tuple[str, str, str]:
    """A rate and both ends: `219 images/s`, `205 images/s`, `233 images/s`; `1.00 times the reference`, `0.95`, ..."""
    value, low, high = estimate.value, estimate.low, estimate.high
    if unit != RELATIVE or not value:
        return rate_in_words(value, unit), rate_in_words(low, unit), rate_in_words(high, unit)
    number, *ends = _alike(value, low, high)
    return _("{number} times the reference", number=number), ends[0], ends[1]


def _alike(value: float, *others: float) -> list[str]:
    """All with as many digits after the point as three digits of the first need."""
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return [f"{number:,.{digits}f}" for number in (value, *others)]


def percent(share: float, digits: int = 0) -> str:
    """A share with so many digits after the point: `98 %`, `4.7 %`; `< 1 %` of little, `unknown` if not finite."""
    number, sign = share_and_unit(share, digits)
    return _("{number} %", number=number) if sign else _("unknown")


def small_share(share: float) -> str:
    """A share whose digit after the point matters: 0.0034 -> '0.3 %', 0.12 -> '12 %'."""
    return percent(share, 1 if share < 0.0995 else 0)


def times(factor: float) -> str:
    """How many times: `1.4 times`, `2.5 times`, and below one and a half `52 %`."""
    return percent(factor) if factor < 1.5 else _("{number} times", number=format_number(factor))


def of_its_rate(share: float) -> str:
    """A rate against that of a baseline: `98 % of its rate`, `6.9 times its rate`."""
    if share <= _LARGEST_PERCENTAGE:
        return _("{share} of its rate", share=percent(share))
    return _("{times} its rate", times=times(share))


def gain(share: float, written: Callable[[float], str] | None = None) -> str:
    """By how much something is faster: `12 %`, and above 300 % `a factor of 7.9`."""
    if share > _LARGEST_PERCENTAGE:
        return _("a factor of {number}", number=format_number(1 + share))
    return (written or percent)(share)


def apart(share: float) -> str:
    """How far rates lie apart: `2.8 %`, and above 300 % `a factor of 7.9`."""
    return gain(share, small_share)


def change(share: float) -> str:
    """`+12 %`, `-3 %`, and above 300 % `a factor of 7.9`."""
    return gain(share, lambda value: _("{number} %", number=f"{100 * value:+.0f}"))


def signed(share: float) -> str:
    """The same with a digit after the point below 10 %: `-8.2 %`."""
    digits = 1 if abs(share) < 0.0995 else 0
    percents = round(100 * share, digits)
    return gain(share, lambda _share: _("{number} %", number=f"{percents:+.{digits}f}" if percents else "0"))


def more_or_less(share: float) -> str:
    """How another price compares: `12 % more`, `5 % less`, and above 300 % `27 times as much`."""
    if share > _LARGEST_PERCENTAGE:
        return _("{times} as much", times=times(1 + share))
    return _("{share} less", share=percent(-share)) if share < 0 else _("{share} more", share=percent(share))


def chance(probability: float) -> str:
    """Two digits, and never 1 or 0, which no finite measurement supports."""
    if probability > 0.99:
        return _("above 0.99")
    return _("below 0.01") if probability < 0.01 else f"{probability:.2f}"


# Amounts of data and of time.


_DECIMAL = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3))
_BRIEF = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))


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


def transfer(bytes_per_second: float) -> str:
    """A disk's rate: 100e6 -> '100 MB/s'."""
    return f"{format_number(bytes_per_second / 1e6)} MB/s"


def operations(iops: float) -> str:
    """A disk's reads or writes a second: 2000 -> '2,000 IOPS'."""
    return f"{format_number(iops)} IOPS"


def _scaled(value: float, units: Sequence[tuple[str, float]], least: tuple[str, float]) -> str:
    """In the largest unit that it has one of."""
    name, size = next(((name, size) for name, size in units if abs(value) >= size), least)
    return f"{format_number(value / size)} {name}"


def volume(bytes_: float) -> str:
    """Data in powers of ten, as disks are sold: 45.2e6 -> '45.2 MB'."""
    return _scaled(bytes_, _DECIMAL, ("B", 1.0))


def brief(seconds: float) -> str:
    """A duration that may be very short: 0.0012 -> '1.2 ms', 23.6e-9 -> '23.6 ns'."""
    return _scaled(seconds, _BRIEF, ("ms", 1e-3))


def milliseconds(seconds: float) -> str:
    """0.0123 -> '12.3 ms', also from one second on, so that latencies in a column compare."""
    return f"{format_number(seconds * 1000)} ms"


QUANTITIES: dict[str, Callable[[Any], str]] = {
    "bytes": format_bytes,
    "number": format_number,
    "time": format_seconds,
    "usd": format_usd,
    "share": percent,
    "tenths": lambda share: percent(share, 1),
    "small": small_share,
    "gain": gain,
    "apart": apart,
    "change": change,
    "signed": signed,
    "more": more_or_less,
    "times": times,
    "times_over": lambda factor: f"{factor:.2f}",
    "chance": chance,
    "vcpus": vcpus_in_words,
    "amount": amount,
    "volume": volume,
    "transfer": transfer,
    "iops": operations,
    "brief": brief,
    "runs": Counted("{count} run", "{count} runs"),
    "workloads": Counted("{count} workload", "{count} workloads"),
    "often": Counted("{count} time", "{count} times"),
    "steps": Counted("{count} step", "{count} steps"),
    "gpus": Counted("{count} GPU", "{count} GPUs"),
    "rows": Counted("{count} row", "{count} rows"),
    "configurations": Counted("{count} configuration", "{count} configurations"),
    "comparisons": Counted("{count} comparison", "{count} comparisons"),
    "plain": lambda text: printable(in_words(text)),
    "and": lambda names: listed([*map(str, names)]),
    "or": lambda names: either([*map(str, names)]),
    "coded": lambda names: listed(coded(names)),
    "some": lambda names: listed_some(coded(names)),
    "path": typed_path,
    "units": several_of,
    "unit": one_of,
}
"""How a quantity of each kind is written, by the form of its placeholder."""
QUANTITIES_OF: dict[str, Callable[[Any, Any], str]] = {
    "rate": lambda rate, unit: (rate_interval if isinstance(rate, Estimate) else rate_in_words)(rate, unit),
    "answered": lambda rate, unit: " ".join(answered_rate(rate, unit)),
    "each": lambda cost, unit: a_sample(cost if isinstance(cost, str) else _written(cost, "brief", {}), unit),
    "counted": samples_counted,
}
"""The same of those that need another value, such as the sample unit; what needs names is added in `names`."""
