"""What a person types for a value, on the command line or in a table: text -> value, within the bounds of records.

Each function raises InputError, whose one sentence says what is wrong and what to type.
"""

from __future__ import annotations

import math
import re

from sizer.records.domains import LARGEST_BATCH, LARGEST_BYTES, LARGEST_GPUS, LARGEST_VCPUS
from sizer.records.errors import InputError
from sizer.records.messages import Message
from sizer.records.plain_text import quoted
from sizer.records.units import GIB, MB, MIB, parse_bytes, spell_bytes

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


def parse_iops(text: str) -> float:
    """What a disk gives, IOs a second."""
    return _between(text, LARGEST_DISK_FIGURE, Message("a number of IOs a second"))


def parse_mbps(text: str) -> float:
    """Bytes a second of a number of MB (10^6)."""
    return _between(text, LARGEST_DISK_FIGURE, Message("a number of MB (10^6) a second")) * MB


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
