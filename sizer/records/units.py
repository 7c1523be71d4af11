"""Sizes, rates and times as people write and read them; inside sizer all are bytes, samples/s and seconds.

`parse_` functions read what a person types, on the command line or in a table, within the bounds of records. Each
raises InputError, whose one sentence says what is wrong and what to type.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Any, NamedTuple

from sizer.records.domains import LARGEST_BATCH, LARGEST_BYTES, LARGEST_GPUS, LARGEST_VCPUS
from sizer.records.messages import InputError, Message, quoted

MB = 10**6
KIB, MIB, GIB = 2**10, 2**20, 2**30
BYTES_PER_UNIT = {
    "B": 1,
    "KB": 10**3,
    "MB": MB,
    "GB": 10**9,
    "TB": 10**12,
    "PB": 10**15,
    "KiB": KIB,
    "MiB": MIB,
    "GiB": GIB,
    "TiB": 2**40,
    "PiB": 2**50,
}
SECONDS_PER_UNIT = {"s": 1, "min": 60, "h": 3600, "d": 86400}
SIZE_PATTERN = re.compile(r"\s*(\d{1,20}(?:\.\d{1,20})?)\s*([A-Za-z]+)\s*", re.ASCII)
SECONDS_PATTERN = re.compile(r"\s*(\d{1,12}(?:\.\d{1,30})?)\s*(s|m|min|h|d)\s*", re.ASCII)
COUNT_PATTERN = re.compile(r"\s*(\d{1,15}(?:\.\d{1,30})?(?:[eE]\+?\d{1,2})?)(?:\s*([kMB]))?\s*", re.ASCII)
FACTORS = {"": 1, "k": 10**3, "M": 10**6, "B": 10**9}
LARGEST_COUNTED = 1e18
LONGEST_SHOWN = 60
NOT_FINITE = "unknown"
"""What stands for a figure that is not finite; words for people translate it."""

RELATIVE = "relative"
"""The sample unit of rates that are no samples a second but multiples of one another: nothing is priced by them."""


def parse_bytes(size: str | int) -> int:
    """Bytes of `2GiB`, `500MB` or a whole number of bytes, rounded to whole bytes.

    Raises InputError for anything else; `2G` is refused, because it does not say 10^9 or 2^30.
    """
    if isinstance(size, int) and not isinstance(size, bool):
        if size < 0:
            raise InputError("{size} is not a size: it is negative.", size=size)
        return size
    match = SIZE_PATTERN.fullmatch(size) if isinstance(size, str) else None
    if match is None:
        raise InputError(
            "{size} is not a size; write a number and its unit, such as 500MB (10^6) or 2GiB (2^30).", size=_shown(size)
        )
    number, unit = match.groups()
    for name, factor in BYTES_PER_UNIT.items():
        if unit.lower() == name.lower():
            whole, _, decimals = number.partition(".")
            numerator = int(whole + decimals) * factor
            scale: int = 10 ** len(decimals)
            return (2 * numerator + scale) // (2 * scale)
    raise InputError("{size} has no known unit; write it as in 500MB (10^6) or 2GiB (2^30).", size=_shown(size))


def parse_seconds(text: str) -> float:
    """Seconds of `90s`, `30m` (or `30min`), `6h` or `2d`. Raises InputError: a number alone does not say of what."""
    match = SECONDS_PATTERN.fullmatch(text)
    if match is None or float(match[1]) == 0:
        raise InputError(
            "{text} is not a time; write a number and its unit, such as 90s, 30m, 6h or 2d.", text=_shown(text)
        )
    return float(match[1]) * {**SECONDS_PER_UNIT, "m": 60}[match[2]]


def parse_count(text: str) -> float:
    """The number that `1200000`, `1,200,000`, `1.2M`, `1.2e6`, `90k` or `1.28M x 90` means. Raises InputError."""
    counts = [_counted(part) for part in re.split(r"(?<!\s)\s+[x×]\s+", text)]
    number = None if None in counts else math.prod(filter(None, counts))
    if number is None or number > LARGEST_COUNTED:
        raise InputError(
            "{text} is not a number of samples; write one such as 1200000, 1.2M or 1.2e6.", text=_shown(text)
        )
    return number


def parse_rate(text: str) -> float:
    """Samples a second, written as a count. Raises InputError."""
    number = _counted(text)
    if number is None:
        raise InputError(
            "{text} is not a rate; write samples a second, above 0, such as 500 or 1.2k.", text=_shown(text)
        )
    return number


def _counted(text: str) -> float | None:
    plain = text.replace(",", "") if re.fullmatch(r"\s*\d{1,3}(,\d{3})+\s*", text, re.ASCII) else text
    match = COUNT_PATTERN.fullmatch(plain)
    number = float(match[1]) * FACTORS[match[2] or ""] if match else 0.0
    return number if 0 < number <= LARGEST_COUNTED else None


def _shown(value: object) -> str:
    """What was typed as a sentence shows it, no longer than a person reads."""
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 4]}...'"


def spell_bytes(count: int) -> str:
    """The shortest exact size, to be read again by `parse_bytes`: `2GiB`, `500MB`, `1023B`."""
    exact = [(count // factor, unit) for unit, factor in BYTES_PER_UNIT.items() if count % factor == 0]
    number, unit = min(exact, key=lambda choice: (choice[0], choice[1] != "B"))
    return f"{number}{unit}"


@lru_cache(maxsize=4096)
def format_number(value: float) -> str:
    """Three significant digits with thousands separators: `183`, `12,300`, `0.0123`; `unknown` if not finite."""
    if not math.isfinite(value):
        return NOT_FINITE
    if value == 0:
        return "0"
    digits = 2 - math.floor(math.log10(abs(value)))
    rounded = round(value, digits)
    text = f"{rounded:,.{max(digits, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_bytes(count: float) -> str:
    """Bytes in binary units, three significant digits: `1.5 GiB`."""
    return " ".join(bytes_and_unit(count))


def bytes_and_unit(count: float) -> tuple[str, str]:
    """The same in two: `1.5` and `GiB`."""
    unit = "B"
    for candidate in ("B", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if abs(count) >= BYTES_PER_UNIT[candidate]:
            unit = candidate
    return format_number(count / BYTES_PER_UNIT[unit]), unit


def format_rate(value: float, unit: str) -> str:
    """Samples per second: `183 images/s` for 183.4 and `image`; `1.9 x` for a relative one."""
    return f"{format_number(value)} {rate_unit(unit)}"


def rate_unit(unit: str) -> str:
    """What rates are in: `images/s`; of relative ones `x`."""
    return "x" if unit == RELATIVE else f"{plural(unit)}/s"


def format_share(share: float, digits: int = 0) -> str:
    """A share in percent with so many digits after the point: `98 %` for 0.9812, `4.7 %` with one digit.

    One that is small but not nothing does not read as nothing: `< 1 %`, `< 0.1 %`; `unknown` if not finite.
    """
    number, unit = share_and_unit(share, digits)
    return f"{number} {unit}" if unit else number


def share_and_unit(share: float, digits: int = 0) -> tuple[str, str]:
    """The same in two: `98` and `%`; of what is not finite `unknown` and nothing."""
    if not math.isfinite(share):
        return NOT_FINITE, ""
    least = 10**-digits
    return f"< {least:g}" if 0 < 100 * share < least / 2 else f"{100 * share:.{digits}f}", "%"


def plural(unit: str) -> str:
    """`images` for `image`, `queries` for `query`; a unit that is plural already stays, and so do `relative` and what
    does not end in a letter, such as `tokens (BPE)`."""
    if unit.endswith("s") or unit == RELATIVE or not unit[-1:].isalpha():
        return unit
    return f"{unit[:-1]}ies" if re.search("[^aeiou]y$", unit) else f"{unit}s"


def format_seconds(seconds: float) -> str:
    """A duration as people say it: `12.3 ms`, `4.5 s`, `1 min 05 s`, `2 h 03 min`, `3 d 04 h`."""
    if not math.isfinite(seconds):
        return NOT_FINITE
    if abs(seconds) < 1 and seconds != 0:
        return f"{format_number(seconds * 1000)} ms"
    if abs(seconds) < 59.95:
        return f"{format_number(seconds)} s"
    unit = "min" if round(seconds) < 3600 else "h" if round(seconds / 60) < 1440 else "d"
    smaller_unit = {"min": "s", "h": "min", "d": "h"}[unit]
    count = round(seconds / SECONDS_PER_UNIT[smaller_unit])
    large, small = divmod(count, SECONDS_PER_UNIT[unit] // SECONDS_PER_UNIT[smaller_unit])
    return f"{large:,} {unit} {small:02d} {smaller_unit}"


def format_usd(amount: float) -> str:
    """US dollars: `$0.34`, `$0.90`, `$1,240`, `$0.0123`: whole cents, and three digits below one dollar."""
    if 1 <= amount < 1000 or format_number(amount) == f"{amount:.1f}":
        return f"${amount:,.2f}"
    return f"${format_number(amount)}"


def format_price(amount: float, currency: str) -> str:
    """`$0.34`, or `CNY 12.78` of another currency than the US dollar."""
    return format_usd(amount) if currency == "USD" else f"{currency} {format_usd(amount).removeprefix('$')}"


SMALLEST_MEMORY = MIB
LARGEST_FACTOR = 1e6
LARGEST_DISK_FIGURE = 1e9
LARGEST_SECONDS = 3600.0
LONGEST_NUMBER = 400
NUMBER = re.compile(r"[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
UNITS_BEHIND = re.compile(r"([+-]?[\d.]+)\s*[A-Za-z%/]+\d*", re.ASCII)


def parse_number(text: str, example: str = "1.5") -> float:
    """A plain number, finite."""
    if len(text) <= LONGEST_NUMBER and NUMBER.fullmatch(text):
        value = float(text)
        if math.isfinite(value):
            return value
        raise InputError("{text} is too large; write a smaller number.", text=quoted(text))
    raise InputError("{text} is not a number; {advice}.", text=quoted(text), advice=_number_instead(text, example))


def _number_instead(text: str, example: str) -> Message:
    with_unit = UNITS_BEHIND.fullmatch(text)
    if with_unit and NUMBER.fullmatch(with_unit[1]):
        return Message("write {number} without a unit", number=with_unit[1])
    if re.fullmatch(r"[+-]?\d+,\d+", text, re.ASCII):
        return Message(
            "write {with_point} with a point, or {without_comma} without the comma",
            with_point=text.replace(",", "."),
            without_comma=text.replace(",", ""),
        )
    if text.lower().lstrip("+-") in ("nan", "inf", "infinity", "n/a", "na", "null", "none", "-"):
        return Message("leave the cell empty where there is no figure")
    return Message("write one such as {example}", example=example)


def parse_whole(text: str, low: int, high: int, what: Message, example: str) -> int:
    """A whole number between two bounds; a spreadsheet may write it as 32.0."""
    value = _number_or_nan(text)
    if not (low <= value <= high and value.is_integer()):
        raise InputError(
            "{text} is not {what}; give a whole number from {low} to {high}, such as {example}.",
            text=quoted(text),
            what=what,
            low=low,
            high=high,
            example=example,
        )
    return int(value)


def parse_batch_size(text: str) -> int:
    return parse_whole(text, 1, LARGEST_BATCH, Message("a batch size"), "32")


def parse_gpu_count(text: str, fewest: int = 0) -> int:
    """How many accelerators; a table may say 0, a prediction needs at least one of those that it names."""
    return parse_whole(text, fewest, LARGEST_GPUS, Message("a number of GPUs"), "2")


def parse_vcpus(text: str) -> float:
    """A number of vCPUs; any fraction, since a prediction needs no quota that can be set."""
    return _between(text, LARGEST_VCPUS, Message("a number of vCPUs"))


def parse_factor(text: str) -> float:
    """How many times as fast, as large or as costly."""
    return _between(text, LARGEST_FACTOR, Message("a factor"))


def parse_wait(text: str) -> float:
    """Seconds that somebody waits for."""
    return _between(text, LARGEST_SECONDS, Message("a number of seconds"))


def parse_latency(text: str) -> float:
    """Seconds of a number of milliseconds."""
    return _between(text, LARGEST_SECONDS * 1e3, Message("a number of milliseconds")) / 1e3


def parse_share(text: str) -> float:
    """A share of something, above 0 and up to 1."""
    value = _number_or_nan(text)
    if not 0 < value <= 1:
        raise InputError("{text} is not a share; give a number above 0 and up to 1, such as 0.95.", text=quoted(text))
    return value


def parse_percent(text: str) -> float:
    """A share of `10%` or `0.1`; 0 and, in percent, more than 1 are shares here, too."""
    is_percent = text.strip().endswith("%")
    value = _number_or_nan(text.strip().removesuffix("%")) / (100 if is_percent else 1)
    if not 0 <= value <= (LARGEST_FACTOR if is_percent else 1):
        raise InputError("{text} is not a share; give one such as 10% or 0.1.", text=quoted(text))
    return value


def parse_iops(text: str) -> float:
    """What a disk gives, IOs a second."""
    return _between(text, LARGEST_DISK_FIGURE, Message("a number of IOs a second"))


def parse_mbps(text: str) -> float:
    """Bytes a second of a number of MB (10^6)."""
    return _between(text, LARGEST_DISK_FIGURE, Message("a number of MB (10^6) a second")) * MB


class NamedTier(NamedTuple):
    """A disk tier as one types it, its size in bytes, and the IOs and bytes a second that are bought beside it; None
    where they are not said."""

    name: str
    size_bytes: int | None = None
    iops: float | None = None
    bytes_per_second: float | None = None


def parse_tier(text: str) -> NamedTier:
    """Of `aws/gp3:500GiB:6000iops:500mbps`, where all but the name may be left out. InputError for any other part, and
    for one that is said twice."""
    name, *parts = text.split(":")
    amounts: dict[str, Any] = {}
    for part in parts:
        plain = part.strip().lower()
        if plain.endswith("iops"):
            amount, value = "iops", parse_iops(plain[:-4])
        elif plain.endswith("mbps"):
            amount, value = "bytes_per_second", parse_mbps(plain[:-4])
        else:
            amount, value = "size_bytes", parse_bytes(part)
        if amount in amounts:
            raise InputError("`{part}` is said twice in {text}; write it once.", part=part, text=text)
        amounts[amount] = value
    return NamedTier(name, **amounts)


def parse_data_size(text: str) -> int:
    """Bytes of a data set, such as 600GiB."""
    count = parse_bytes(text)
    if not 1 <= count <= LARGEST_BYTES:
        raise InputError(
            "{text} is not the size of a data set; give one of up to {largest}.",
            text=quoted(text),
            largest=spell_bytes(LARGEST_BYTES),
        )
    return count


def parse_memory(text: str) -> int:
    """Bytes of a size with its unit, such as 30GiB, as a machine may have it."""
    return _memory(parse_bytes(text), text)


def parse_memory_gib(text: str) -> int:
    """Bytes of a number of GiB, as measurements.csv has it."""
    return _memory(parse_number(text, "7.5") * GIB, f"{text} GiB")


def _memory(count: float, text: str) -> int:
    if not SMALLEST_MEMORY <= count <= LARGEST_BYTES:
        raise InputError(
            "{text} is not a memory size that a machine has; give one from {smallest} to {largest}.",
            text=quoted(text),
            smallest=spell_bytes(SMALLEST_MEMORY),
            largest=spell_bytes(LARGEST_BYTES),
        )
    return round(count)


def _between(text: str, largest: float, what: Message) -> float:
    value = _number_or_nan(text)
    if not 1 / largest <= value <= largest:
        raise InputError(
            "{text} is not {what}; give one above 0, up to {largest}.",
            text=quoted(text),
            what=what,
            largest=f"{largest:g}",
        )
    return value


def _number_or_nan(text: str) -> float:
    """Bounds refuse what is no number, so that one sentence says what is wanted."""
    try:
        return parse_number(text)
    except InputError:
        return math.nan
