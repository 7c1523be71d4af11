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

from sizer.records.device import Device
from sizer.records.domains import LARGEST_BYTES, LARGEST_GPUS, SMALLEST, Domain
from sizer.records.kinds import FORWARD, FORWARD_BACKWARD, TRAIN
from sizer.records.messages import AnyOf, InputError, Message, quoted
from sizer.records.prediction import Bottleneck
from sizer.records.run import Run, RunWarning, WarningKind
from sizer.records.run_kinds import ISOLATED_STAGES, SEARCHES, Outcome, Purpose
from sizer.records.units import GIB, parse_number, parse_whole

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


def _refusal(text: str, what: Message, wanted: Message | AnyOf) -> InputError:
    return InputError("{text} is not {what}; write {wanted}.", text=quoted(text), what=what, wanted=wanted)


def _number(
    what: Message, wanted: Message, low: float, high: float, example: str = "1.5", nought: bool = False
) -> Reader:
    """Numbers from `low` to `high`, and 0 where `nought` is one of them."""

    def read(text: str) -> float:
        value = parse_number(text, example)
        if low <= value <= high or (nought and value == 0):
            return value
        raise _refusal(text, what, wanted)

    return read


def _one_of(what: Message, choices: Iterable[str | Enum], **also: object) -> Reader:
    """One of a closed list, in any case, or of other words for them."""
    by_name = {str(choice.value if isinstance(choice, Enum) else choice): choice for choice in choices}

    def read(text: str) -> object:
        value = (by_name | also).get(text.lower().replace(" ", "_"))
        if value is None:
            raise _refusal(text, what, AnyOf(*by_name))
        return value

    return read


_TINIEST = 1e-60
_SAMPLES, _ABOVE_NOUGHT = Message("samples a second, above 0"), Message("a number above 0, or leave the cell empty")
amount = _number(Message("an amount"), Message("a number from 0 to 1e18"), _TINIEST, FASTEST, nought=True)
rate = _number(Message("the rate of a run that completed"), _SAMPLES, SLOWEST, FASTEST, "183.5")
share = _number(Message("a share"), Message("a number from 0 to 1"), SMALLEST, 1, "0.05", nought=True)
seconds = _number(Message("a time"), _ABOVE_NOUGHT, _TINIEST, FASTEST)
usd = _number(Message("a price"), _ABOVE_NOUGHT, _TINIEST, FASTEST)
outcome = _one_of(Message("an outcome"), Outcome, timed_out=Outcome.TIMEOUT)
bottleneck = _one_of(Message("a bottleneck"), Bottleneck)
disk_class = _one_of(Message("a class of disk"), ("nvme", "ssd", "standard"))
stage = _one_of(Message("a stage"), ISOLATED_STAGES.values())
data_format = _one_of(Message("a form of data"), ("recordio", "lmdb", "folder", "text"))
_yes_or_no = _one_of(Message("yes or no"), ("yes", "no"), true="yes", false="no", **{"1": "yes", "0": "no"})


def truth(text: str) -> bool:
    """yes or no, as people and spreadsheets write it."""
    return bool(_yes_or_no(text) == "yes")


def end_of_interval(text: str) -> float:
    """An end of an interval of a rate; infinite where too little was measured, as sizer itself writes it."""
    if text in ("inf", "-inf"):
        return float(text)
    value = parse_number(text, "180.2")
    if value != 0 and not _TINIEST <= abs(value) <= FASTEST:
        raise _refusal(text, Message("an end of a rate's interval"), Message("samples a second"))
    return value


def gib(text: str) -> int:
    """Bytes of a number of GiB, of data."""
    value: float = amount(text) * GIB
    if value > LARGEST_BYTES:
        raise _refusal(f"{text} GiB", Message("a size of data"), Message("GiB (2^30 bytes)"))
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
    raise _refusal(text, Message("a device"), AnyOf("cpu", "cuda:0", "emulated:P100", "emulated:300/s"))


def moment(text: str) -> str:
    """When a run started, as records write it."""
    if _domain(Run, "started_at").holds(text):
        return text
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).isoformat()
    except ValueError:
        wanted = Message("one such as 2026-11-21T10:00:00+00:00, or leave the cell empty")
        raise _refusal(text, Message("a time"), wanted) from None


def mode(text: str) -> str | None:
    """What is computed of a batch, as tables call it; None for a cell that says something else."""
    return next((mode for mode, begins in _MODES.items() if begins.match(text)), None)


def short_text(text: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise InputError(
            "{text} is longer than {longest} characters; shorten it.", text=quoted(text), longest=LONGEST_TEXT
        )
    return text


def marks(text: str) -> tuple[RunWarning | Purpose, ...]:
    """What measurements.csv says against a run's rate: kinds joined by `; `; of any other word the text is kept."""
    of_kind = {purpose.value: purpose for purpose in SEARCHES} | {kind.value: RunWarning(kind) for kind in WarningKind}
    return tuple(of_kind.get(word) or RunWarning(WarningKind.OTHER, text=word) for word in text.split("; "))


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
