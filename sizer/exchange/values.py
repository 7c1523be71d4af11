"""What a cell of measurements.csv may be: text -> value, within the bounds that records have, and the way back.

Each reader raises InputError, whose one sentence says what is wrong and what to type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from decimal import Decimal
from enum import Enum
from typing import Any, get_type_hints

from sizer.records.configuration import Bottleneck
from sizer.records.device import Device
from sizer.records.domains import LARGEST_BYTES, LARGEST_GPUS, SMALLEST, Domain
from sizer.records.kinds import FORWARD, FORWARD_BACKWARD, TRAIN
from sizer.records.messages import AnyOf, InputError, Message, quoted
from sizer.records.run import Run, RunWarning, WarningKind
from sizer.records.run_kinds import ISOLATED_STAGES, SEARCHES, Outcome, Purpose
from sizer.records.units import GIB, format_bytes, parse_number, parse_whole

Reader = Callable[[str], Any]

SLOWEST, FASTEST = 1e-9, 1e18
"""Samples/s; 1e18 is what a workload may name as a step's samples."""
LONGEST_TEXT = 100
NO_GPU = frozenset(
    {"", "cpu", "cpu only", "cpu-only", "none", "no", "no gpu", "without", "n/a", "na", "nan", "null", "nil"}
    | {"0", "-", "--", "–", "—", "/", "无"}
)
_MODES = {
    FORWARD_BACKWARD: re.compile(r"(forward|fwd)\W*(and|_)?\W*(backward|bwd)", re.IGNORECASE),
    FORWARD: re.compile("forward|fwd|infer|eval|predict|scor|serv", re.IGNORECASE),
    TRAIN: re.compile("train|fine-?tun", re.IGNORECASE),
}
"""How a cell begins that says what is computed of a batch."""


def _number(
    low: float, high: float, refusal: Callable[[str], InputError], example: str = "1.5", nought: bool = True
) -> Reader:
    def read(text: str) -> float:
        value = parse_number(text, example)
        if low <= value <= high or (nought and value == 0):
            return value
        raise refusal(quoted(text))

    return read


def _one_of(choices: Iterable[str | Enum], refusal: Callable[[str, AnyOf], InputError], **also: object) -> Reader:
    """One of a closed list, in any case, or of other words for them."""
    by_name = {str(choice.value if isinstance(choice, Enum) else choice): choice for choice in choices}

    def read(text: str) -> object:
        found = (by_name | also).get(text.lower().replace(" ", "_"))
        if found is None:
            raise refusal(quoted(text), AnyOf(*by_name))
        return found

    return read


def _above_nought(what: Message) -> Reader:
    def refusal(text: str) -> InputError:
        return InputError(
            "{text} is not {what}; write a number above 0, or leave the cell empty.", text=text, what=what
        )

    return _number(1e-60, FASTEST, refusal, nought=False)


amount = _number(
    1e-60,
    FASTEST,
    lambda text: InputError(
        "{text} is not an amount that can be measured; write a number from 0 to {largest}.",
        text=text,
        largest=f"{FASTEST:g}",
    ),
)
rate = _number(
    SLOWEST,
    FASTEST,
    lambda text: InputError(
        "{text} is not the rate of a run that completed; write samples a second, above 0.", text=text
    ),
    "183.5",
    nought=False,
)
share = _number(
    SMALLEST,
    1,
    lambda text: InputError("{text} is no share; write a number from 0 to 1, such as 0.05.", text=text),
    "0.05",
)
seconds, usd = _above_nought(Message("a time")), _above_nought(Message("a price"))
outcome = _one_of(
    Outcome,
    lambda text, names: InputError("{text} is not an outcome; write {names}.", text=text, names=names),
    timed_out=Outcome.TIMEOUT,
)
bottleneck = _one_of(
    Bottleneck, lambda text, names: InputError("{text} is not a bottleneck; write {names}.", text=text, names=names)
)
disk_class = _one_of(
    ("nvme", "ssd", "standard"),
    lambda text, choices: InputError(
        "{text} is not a class of disk; write {choices}, or nothing.", text=text, choices=choices
    ),
)
stage = _one_of(
    ISOLATED_STAGES.values(),
    lambda text, choices: InputError("{text} is not a stage; write {choices}.", text=text, choices=choices),
)
data_format = _one_of(
    ("recordio", "lmdb", "folder", "text"),
    lambda text, choices: InputError(
        "{text} is not a form of data; write {choices}, or nothing.", text=text, choices=choices
    ),
)


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
    value: float = amount(text) * GIB
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


def milliseconds(text: str) -> float:
    """Seconds of a number of milliseconds, digit by digit as well."""
    seconds(text)
    return float(Decimal(text).scaleb(-3))


def scaled(value: float, digits: int) -> str:
    """The way back from `megabytes` (-6 digits) and `milliseconds` (3)."""
    return format(Decimal(repr(float(value))).scaleb(digits).normalize(), "f")


def repeat(text: str) -> int:
    """Counted from 1 in a table and from 0 in a record."""
    return parse_whole(text, 1, 10**9, Message("a repeat"), "1") - 1


def epoch(text: str) -> int:
    return parse_whole(text, 0, 10**9, Message("an epoch"), "0")


def count(text: str) -> int:
    return parse_whole(text, 0, 2**62, Message("a count"), "1281167")


def nodes(text: str) -> int:
    return parse_whole(text, 1, LARGEST_GPUS, Message("a number of machines"), "2")


def gpu(text: str) -> str | None:
    """The name of an accelerator; None for `none`."""
    return None if text.strip().lower() in NO_GPU else str(of_domain(Device, "gpu")(text))


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
        return datetime.fromisoformat(text.replace("Z", "+00:00")).isoformat()
    except ValueError:
        raise InputError(
            "{text} is not a time; write one such as 2026-11-21T10:00:00+00:00, or nothing.", text=quoted(text)
        ) from None


def mode(text: str) -> str | None:
    """What is computed of a batch, as tables call it; None for a cell that says something else."""
    return next((each for each, begins in _MODES.items() if begins.match(text)), None)


def short_text(text: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise InputError(
            "{text} is longer than {longest} characters; shorten it.", text=quoted(text), longest=LONGEST_TEXT
        )
    return text


def marks(text: str) -> tuple[RunWarning | Purpose, ...]:
    """What measurements.csv says against a run's rate: kinds joined by `; `; of any other word the text is kept."""
    return tuple(_mark(word) for word in text.split("; "))


def _mark(word: str) -> RunWarning | Purpose:
    if word in {purpose.value for purpose in SEARCHES}:
        return Purpose(word)
    if word in {kind.value for kind in WarningKind}:
        return RunWarning(WarningKind(word))
    return RunWarning(WarningKind.OTHER, text=word)


def of_domain(record: type, name: str) -> Reader:
    """Text that a field of a record may hold; any kind of space in it counts as one."""
    domain = _domain(record, name)

    def read(text: str) -> str:
        plain = re.sub(r"\s", " ", text)
        if domain.holds(plain):
            return plain
        raise InputError("{text} must be {wanted}.", text=quoted(text), wanted=domain.wanted)

    return read


def _domain(record: type, name: str) -> Domain:
    hint: Any = get_type_hints(record, include_extras=True)[name]
    for part in (hint, *getattr(hint, "__args__", ())):
        for domain in getattr(part, "__metadata__", ()):
            return domain  # type: ignore[no-any-return]
    raise TypeError(f"{record.__name__}.{name} has no domain")
