"""What a cell of a table may be: text -> value, within the bounds that records have.

Each function raises InputError, whose one sentence says what is wrong and what to type.
"""

from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal
from typing import Any, get_type_hints

from sizer.records.configuration import Bottleneck
from sizer.records.device import Device
from sizer.records.domains import LARGEST_BYTES, LARGEST_GPUS, SMALLEST, Domain
from sizer.records.errors import InputError
from sizer.records.kinds import FORWARD, FORWARD_BACKWARD, TRAIN
from sizer.records.messages import AnyOf, Message
from sizer.records.plain_text import quoted
from sizer.records.run import Run, RunWarning
from sizer.records.run_kinds import ISOLATED_STAGES, Outcome, Purpose
from sizer.records.typed_values import parse_number, parse_whole
from sizer.records.units import GIB, format_bytes
from sizer.store.schema_1 import marks_of

SLOWEST, FASTEST = 1e-9, 1e18
"""Samples/s; 1e18 is what a workload may name as a step's samples."""
LARGEST_AMOUNT = 1e18
LONGEST_TEXT = 100
DISK_CLASSES = ("nvme", "ssd", "standard")
NO_GPU = frozenset(
    {"", "cpu", "cpu only", "cpu-only", "none", "no", "no gpu", "without", "n/a", "na", "nan", "null", "nil"}
    | {"0", "-", "--", "–", "—", "/", "无"}
)
SAYS_MODE = {
    FORWARD_BACKWARD: re.compile(r"(forward|fwd)\W*(and|_)?\W*(backward|bwd)", re.IGNORECASE),
    FORWARD: re.compile("forward|fwd|infer|eval|predict|scor|serv", re.IGNORECASE),
    TRAIN: re.compile("train|fine-?tun", re.IGNORECASE),
}
"""How a cell begins that says what is computed of a batch."""
LARGEST_EPOCH = 10**9
MOST_REPEATS = 10**9


def amount(text: str) -> float:
    """A number of 0 or more."""
    value = parse_number(text)
    if not (value == 0 or 1e-60 <= value <= LARGEST_AMOUNT):
        raise InputError(
            "{text} is not an amount that can be measured; write a number from 0 to {largest}.",
            text=quoted(text),
            largest=f"{LARGEST_AMOUNT:g}",
        )
    return value


def rate(text: str) -> float:
    """Samples per second, above 0."""
    value = parse_number(text, "183.5")
    if not SLOWEST <= value <= FASTEST:
        raise InputError(
            "{text} is not the rate of a run that completed; write samples a second, above 0.", text=quoted(text)
        )
    return value


def share(text: str) -> float:
    """A number from 0 to 1."""
    value = parse_number(text, "0.05")
    if not (value == 0 or SMALLEST <= value <= 1):
        raise InputError("{text} is no share; write a number from 0 to 1, such as 0.05.", text=quoted(text))
    return value


def end_of_interval(text: str) -> float:
    """An end of an interval of a rate; infinite where too little was measured, as sizer itself writes it."""
    if text in ("inf", "-inf"):
        return float(text)
    value = parse_number(text, "180.2")
    if abs(value) > FASTEST or 0 < abs(value) < 1e-60:
        raise InputError("{text} is not an end of a rate's interval; write samples a second.", text=quoted(text))
    return value


def gib(text: str) -> int:
    """Bytes of a number of GiB, of data."""
    value = amount(text) * GIB
    if value > LARGEST_BYTES:
        raise InputError(
            "`{number} GiB` is more than {largest}; write GiB (2^30 bytes).",
            number=text,
            largest=format_bytes(LARGEST_BYTES),
        )
    return round(value)


def megabytes(text: str) -> float:
    """Bytes of a number of MB (10^6), digit by digit, so that they are written again as they were."""
    amount(text)
    return float(Decimal(text).scaleb(6))


def in_megabytes(count: float) -> str:
    """The way back from `megabytes`."""
    return format(Decimal(repr(float(count))).scaleb(-6).normalize(), "f")


def milliseconds(text: str) -> float:
    """Seconds of a number of milliseconds, digit by digit, so that they are written again as they were."""
    _above_nought(text, Message("a time"))
    return float(Decimal(text).scaleb(-3))


def in_milliseconds(seconds: float) -> str:
    """The way back from `milliseconds`."""
    return format(Decimal(repr(float(seconds))).scaleb(3).normalize(), "f")


def seconds(text: str) -> float:
    """How long a step, an epoch or a sample took."""
    return _above_nought(text, Message("a time"))


def usd(text: str) -> float:
    """The price of an hour; what costs nothing has none."""
    return _above_nought(text, Message("a price"))


def _above_nought(text: str, what: Message) -> float:
    value = amount(text)
    if value == 0:
        raise InputError(
            "{text} is not {what}; write a number above 0, or leave the cell empty.", text=quoted(text), what=what
        )
    return value


def repeat(text: str) -> int:
    """Counted from 1 in a table and from 0 in a record."""
    return parse_whole(text, 1, MOST_REPEATS, Message("a repeat"), "1") - 1


def epoch(text: str) -> int:
    return parse_whole(text, 0, LARGEST_EPOCH, Message("an epoch"), "0")


def count(text: str) -> int:
    return parse_whole(text, 0, 2**62, Message("a count"), "1281167")


def nodes(text: str) -> int:
    return parse_whole(text, 1, LARGEST_GPUS, Message("a number of machines"), "2")


def outcome(text: str) -> Outcome:
    """How a run ended, as it is stored or as a person reads it."""
    spelt = text.lower().replace(" ", "_")
    for each in Outcome:
        if spelt == each.value or (spelt == "timed_out" and each is Outcome.TIMEOUT):
            return each
    raise InputError(
        "{text} is not an outcome; write {names}.",
        text=quoted(text),
        names=AnyOf(*(each.value for each in Outcome)),
    )


def bottleneck(text: str) -> Bottleneck:
    for each in Bottleneck:
        if text.lower() == each.value:
            return each
    raise InputError(
        "{text} is not a bottleneck; write {names}.",
        text=quoted(text),
        names=AnyOf(*(each.value for each in Bottleneck)),
    )


def gpu(text: str) -> str | None:
    """The name of an accelerator; None for `none`."""
    return None if text.strip().lower() in NO_GPU else of_domain(Device, "gpu")(text)


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
    raise InputError("{text} is not a device; write cpu, cuda:0, emulated:P100 or emulated:300/s.", text=quoted(text))


def disk_class(text: str) -> str:
    if text.lower() in DISK_CLASSES:
        return text.lower()
    raise InputError(
        "{text} is not a class of disk; write {choices}, or nothing.",
        text=quoted(text),
        choices=AnyOf(*DISK_CLASSES),
    )


def truth(text: str) -> bool:
    """yes or no, as people and spreadsheets write it."""
    if text.lower() in ("yes", "true", "1", "no", "false", "0"):
        return text.lower() in ("yes", "true", "1")
    raise InputError("{text} is neither yes nor no; write one of them.", text=quoted(text))


def moment(text: str) -> str:
    """When a run started, as records write it."""
    if _domain(Run, "started_at").holds(text):
        return text
    try:
        read = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise InputError(
            "{text} is not a time; write one such as 2026-11-21T10:00:00+00:00, or nothing.", text=quoted(text)
        ) from None
    return read.isoformat()


def short_text(text: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise InputError(
            "{text} is longer than {longest} characters; shorten it.", text=quoted(text), longest=LONGEST_TEXT
        )
    return text


def marks(text: str) -> tuple[RunWarning | Purpose, ...]:
    """What measurements.csv says against a run's rate, joined by `; `: kinds, or the sentences of a sizer before."""
    return marks_of(text)


def stage(text: str) -> str:
    """What a run isolates."""
    if text in ISOLATED_STAGES.values():
        return text
    raise InputError(
        "{text} is not a stage; write {choices}.", text=quoted(text), choices=AnyOf(*ISOLATED_STAGES.values())
    )


class of_domain:
    """Text that a field of a record may hold; any kind of space in it counts as one."""

    def __init__(self, record: type, name: str) -> None:
        self._domain = _domain(record, name)

    def __call__(self, text: str) -> str:
        plain = re.sub(r"\s", " ", text)
        if self._domain.holds(plain):
            return plain
        raise InputError("{text} must be {wanted}.", text=quoted(text), wanted=self._domain.wanted)


def _domain(record: type, name: str) -> Domain:
    hint: Any = get_type_hints(record, include_extras=True)[name]
    for part in (hint, *getattr(hint, "__args__", ())):
        for each in getattr(part, "__metadata__", ()):
            found: Domain = each
            return found
    raise TypeError(f"{record.__name__}.{name} has no domain")


FORMATS = ("recordio", "lmdb", "folder", "text")


def mode(text: str) -> str | None:
    """What is computed of a batch, as tables call it; None for a cell that says something else."""
    return next((each for each, words in SAYS_MODE.items() if words.match(text)), None)


def data_format(text: str) -> str:
    if text.lower() in FORMATS:
        return text.lower()
    raise InputError(
        "{text} is not a form of data; write {choices}, or nothing.", text=quoted(text), choices=AnyOf(*FORMATS)
    )
