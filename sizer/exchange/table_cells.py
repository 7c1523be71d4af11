"""What a cell of a table may be: text -> value, within the bounds that records have.

Each function raises ValueError, whose one sentence says what is wrong and what to type.
"""

from __future__ import annotations

import math
import re
from datetime import datetime
from decimal import Decimal
from typing import Any, get_type_hints

from sizer.exchange.tables import shown
from sizer.records import (
    GIB,
    LARGEST_BATCH,
    LARGEST_BYTES,
    LARGEST_VCPUS,
    Bottleneck,
    Device,
    Domain,
    Outcome,
    Run,
    format_bytes,
)

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
LONGEST_NUMBER = 400

SMALLEST_MEMORY = 2**20
SLOWEST, FASTEST = 1e-9, 1e18
"""Samples/s; 1e18 is what a workload may name as a step's samples."""
LARGEST_AMOUNT = 1e18
LONGEST_TEXT = 100
MOST_GPUS = 100_000
DISK_CLASSES = ("nvme", "ssd", "standard")
NO_GPU = ("", "cpu", "none", "no")
LARGEST_EPOCH = 10**9
MOST_REPEATS = 10**9
UNITS_BEHIND = re.compile(r"([+-]?[\d.]+)\s*[A-Za-z%/]+\d*", re.ASCII)


def number(text: str, example: str = "1.5") -> float:
    """A plain number, finite."""
    if len(text) <= LONGEST_NUMBER and NUMBER.fullmatch(text):
        value = float(text)
        if math.isfinite(value):
            return value
        raise ValueError(f"{shown(text)} is larger than any number that can be computed with")
    raise ValueError(f"{shown(text)} is not a number; {_number_instead(text, example)}")


def _number_instead(text: str, example: str) -> str:
    with_unit = UNITS_BEHIND.fullmatch(text)
    if with_unit and NUMBER.fullmatch(with_unit[1]):
        return f"write {with_unit[1]} without a unit"
    if re.fullmatch(r"[+-]?\d+,\d+", text, re.ASCII):
        return f"write {text.replace(',', '.')} with a point, or {text.replace(',', '')} without the comma"
    if text.lower().lstrip("+-") in ("nan", "inf", "infinity", "n/a", "na", "null", "none", "-"):
        return "leave the cell empty where there is no figure"
    return f"write one such as {example}"


def amount(text: str) -> float:
    """A number of 0 or more."""
    value = number(text)
    if not (value == 0 or 1e-60 <= value <= LARGEST_AMOUNT):
        raise ValueError(
            f"{shown(text)} is no amount that can be measured; write a number from 0 to {LARGEST_AMOUNT:g}"
        )
    return value


def rate(text: str) -> float:
    """Samples per second, above 0."""
    value = number(text, "183.5")
    if not SLOWEST <= value <= FASTEST:
        raise ValueError(f"{shown(text)} is no rate of a run that completed; write samples a second, above 0")
    return value


def end_of_interval(text: str) -> float:
    """An end of an interval of a rate; infinite where too little was measured, as sizer itself writes it."""
    if text in ("inf", "-inf"):
        return float(text)
    value = number(text, "180.2")
    if abs(value) > FASTEST or 0 < abs(value) < 1e-60:
        raise ValueError(f"{shown(text)} is no end of an interval of a rate; write samples a second")
    return value


def vcpus(text: str) -> float:
    """A number of vCPUs, any fraction."""
    value = number(text, "4")
    if not 1 / LARGEST_VCPUS <= value <= LARGEST_VCPUS:
        raise ValueError(f"{shown(text)} is not a number of vCPUs; give one above 0, up to {LARGEST_VCPUS:g}")
    return value


def memory_gib(text: str) -> int:
    """Bytes of a number of GiB, as a machine has it."""
    value = number(text, "7.5") * GIB
    if not SMALLEST_MEMORY <= value <= LARGEST_BYTES:
        bounds = f"{format_bytes(SMALLEST_MEMORY)} to {format_bytes(LARGEST_BYTES)}"
        raise ValueError(f"`{text} GiB` is no memory that a machine has; give {bounds}")
    return round(value)


def gib(text: str) -> int:
    """Bytes of a number of GiB, of data."""
    value = amount(text) * GIB
    if value > LARGEST_BYTES:
        raise ValueError(f"`{text} GiB` is more than {format_bytes(LARGEST_BYTES)}; write GiB (2^30 bytes)")
    return round(value)


def megabytes(text: str) -> float:
    """Bytes of a number of MB (10^6), digit by digit, so that they are written again as they were."""
    amount(text)
    return float(Decimal(text).scaleb(6))


def in_megabytes(count: float) -> str:
    """The way back from `megabytes`."""
    return format(Decimal(repr(float(count))).scaleb(-6).normalize(), "f")


def whole(text: str, low: int, high: int, what: str, example: str) -> int:
    """A whole number between two bounds; a spreadsheet may write it as 32.0."""
    try:
        value = number(text, example)
    except ValueError:
        value = math.nan
    if not (low <= value <= high and value.is_integer()):
        raise ValueError(f"{shown(text)} is not {what}; give a whole number from {low} to {high}, such as {example}")
    return int(value)


def batch_size(text: str) -> int:
    return whole(text, 1, LARGEST_BATCH, "a batch size", "32")


def gpu_count(text: str) -> int:
    return whole(text, 0, MOST_GPUS, "a number of GPUs", "2")


def repeat(text: str) -> int:
    """Counted from 1 in a table and from 0 in a record."""
    return whole(text, 1, MOST_REPEATS, "a repeat", "1") - 1


def epoch(text: str) -> int:
    return whole(text, 0, LARGEST_EPOCH, "an epoch", "0")


def count(text: str) -> int:
    return whole(text, 0, 2**62, "a count", "1281167")


def outcome(text: str) -> Outcome:
    """How a run ended, as it is stored or as a person reads it."""
    for each in Outcome:
        if text.lower().replace(" ", "_") in (each.value, each.words.replace(" ", "_")):
            return each
    raise ValueError(f"{shown(text)} is not an outcome; write one of {', '.join(each.value for each in Outcome)}")


def bottleneck(text: str) -> Bottleneck:
    for each in Bottleneck:
        if text.lower() == each.value:
            return each
    raise ValueError(f"{shown(text)} is not a bottleneck; write one of {', '.join(each.value for each in Bottleneck)}")


def gpu(text: str) -> str | None:
    """The name of an accelerator; None for `none`."""
    return None if text.lower() in NO_GPU else of_domain(Device, "gpu")(text)


def device(text: str) -> Device:
    """`cpu`, `cuda:0`, `emulated:P100` or `emulated:300/s`."""
    kind, _, rest = text.partition(":")
    if text.lower() == "cpu":
        return Device()
    if kind.lower() in ("cuda", "gpu") and re.fullmatch(r"\d{0,2}", rest, re.ASCII):
        return Device("cuda", int(rest or 0))
    if kind.lower() == "emulated" and rest.endswith("/s"):
        value = rate(rest.removesuffix("/s"))
        if 1e-3 <= value <= 1e9:
            return Device("emulated", samples_per_second=value)
    elif kind.lower() == "emulated" and rest:
        return Device("emulated", gpu=of_domain(Device, "gpu")(rest))
    raise ValueError(f"{shown(text)} is not a device; write cpu, cuda:0, emulated:P100 or emulated:300/s")


def disk_class(text: str) -> str:
    if text.lower() in DISK_CLASSES:
        return text.lower()
    raise ValueError(f"{shown(text)} is not a class of disk; write {', '.join(DISK_CLASSES)} or nothing")


def truth(text: str) -> bool:
    """yes or no, as people and spreadsheets write it."""
    if text.lower() in ("yes", "true", "1", "no", "false", "0"):
        return text.lower() in ("yes", "true", "1")
    raise ValueError(f"{shown(text)} is neither yes nor no")


def moment(text: str) -> str:
    """When a run started, as records write it."""
    if _domain(Run, "started_at").holds(text):
        return text
    try:
        read = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise ValueError(
            f"{shown(text)} is not a time; write one such as 2026-11-21T10:00:00+00:00, or nothing"
        ) from None
    return read.isoformat()


def short_text(text: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise ValueError(f"{shown(text)} is longer than {LONGEST_TEXT} characters; shorten it")
    return text


def text_list(text: str) -> tuple[str, ...]:
    """What `; ` joined."""
    return tuple(text.split("; "))


class of_domain:
    """Text that a field of a record may hold; a name is proposed where the text could be one."""

    def __init__(self, record: type, name: str) -> None:
        self._domain = _domain(record, name)

    def __call__(self, text: str) -> str:
        if self._domain.holds(text):
            return text
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", text, flags=re.ASCII).strip("-._")[:LONGEST_TEXT]
        proposed = f", such as {name}" if name and self._domain.holds(name) else ""
        raise ValueError(f"{shown(text)} must be {self._domain.words}{proposed}")


def _domain(record: type, name: str) -> Domain:
    hint: Any = get_type_hints(record, include_extras=True)[name]
    for part in (hint, *getattr(hint, "__args__", ())):
        for each in getattr(part, "__metadata__", ()):
            found: Domain = each
            return found
    raise TypeError(f"{record.__name__}.{name} has no domain")


FORMATS = ("recordio", "lmdb", "folder", "text")


def data_format(text: str) -> str:
    if text.lower() in FORMATS:
        return text.lower()
    raise ValueError(f"{shown(text)} is not a form of data; write {', '.join(FORMATS)} or nothing")
