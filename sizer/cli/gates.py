"""Gates: conditions on an answer under which whoever asked for it wants the command to fail."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sizer.records.answer import Answer, InstanceOffer
from sizer.records.configuration import Bottleneck, Estimate
from sizer.records.messages import AnyOf, InputError
from sizer.records.units import GIB, format_rate, format_seconds, format_share, format_usd, parse_seconds

CONDITION = re.compile(r"\s*(?P<name>\w+)\s*(?P<sign><=|>=|!=|==|=|<|>)\s*(?P<value>\S+)\s*")
SIGNS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
}
EXAMPLES = AnyOf("'throughput<500'", "'train:vcpus>8'", "'status!=recommended'")


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _share(text: str) -> float:
    return _number(text.removesuffix("%")) / 100 if text.endswith("%") else _number(text)


def _seconds(text: str) -> float:
    return _number(text) if re.fullmatch(r"[\d.]+", text) else parse_seconds(text)


@dataclass(frozen=True)
class GatedFigure:
    """A number of an answer that a gate may ask for; `of` gives None where it is not known, for the reason `lacking`.

    `parse` raises InputError or ValueError for what is no such number.
    """

    of: Callable[[Answer], float | None]
    shown: Callable[[float, Answer], str]
    lacking: str = "there is no spec"
    parse: Callable[[str], float] = _number


@dataclass(frozen=True)
class GatedWord:
    """A word of an answer that a gate may ask for, of a closed list; only = and != make sense of it."""

    of: Callable[[Answer], str | None]
    choices: tuple[str, ...]
    lacking: str = "there is no spec"


@dataclass(frozen=True)
class Gate:
    """One condition, of every workload or of one; fulfilled means that the command fails."""

    text: str
    name: str
    sign: str
    wanted: float | str
    workload: str | None = None


@dataclass(frozen=True)
class GateResult:
    """Whether a gate is met by all answers that it asks of, in one sentence with what was found."""

    gate: Gate
    met: bool
    sentence: str


def _plain(value: float, _: Answer) -> str:
    return f"{value:g}"


def _usd(value: float, _: Answer) -> str:
    return format_usd(value)


def _in_unit(value: float, answer: Answer) -> str:
    return format_rate(value, answer.sample_unit)


def _offer(answer: Answer) -> InstanceOffer | None:
    return next((offer for offer in answer.instances if offer.usd_per_hour is not None), None)


def _rate(answer: Answer) -> Estimate | None:
    return None if answer.rate_in_doubt else answer.throughput


DOUBTED = "the rates that its runs told are known to be wrong"
UNPRICED = "no instance type that holds the spec has a price"
NO_SAMPLE_PRICE = f"{UNPRICED}, or its rates are relative"
BOUNDS = tuple(bottleneck.value for bottleneck in Bottleneck)
NAMES: dict[str, GatedFigure | GatedWord] = {
    "status": GatedWord(lambda a: a.status, ("recommended", "at_least", "refused")),
    "provisional": GatedWord(lambda a: str(a.provisional).lower(), ("true", "false")),
    "bottleneck": GatedWord(lambda a: a.bottleneck.value if a.bottleneck else None, BOUNDS),
    "next_bottleneck": GatedWord(
        lambda a: a.next_bottleneck.value if a.next_bottleneck else None, BOUNDS, "none is known"
    ),
    "throughput": GatedFigure(lambda a: rate.value if (rate := _rate(a)) else None, _in_unit, DOUBTED),
    "throughput_low": GatedFigure(lambda a: rate.low if (rate := _rate(a)) else None, _in_unit, DOUBTED),
    "probability": GatedFigure(lambda a: a.probability, _plain),
    "vcpus": GatedFigure(lambda a: a.spec.vcpus if a.spec else None, _plain, "the table has no `vcpus`"),
    "memory_gib": GatedFigure(
        lambda a: a.spec.memory_bytes / GIB if a.spec and a.spec.memory_bytes else None, _plain, "memory was not varied"
    ),
    "gpu_count": GatedFigure(lambda a: a.spec.gpu_count if a.spec else None, _plain),
    "usd_per_hour": GatedFigure(lambda a: offer.usd_per_hour if (offer := _offer(a)) else None, _usd, UNPRICED),
    "usd_per_million_samples": GatedFigure(
        lambda a: offer.usd_per_million_samples if (offer := _offer(a)) else None, _usd, NO_SAMPLE_PRICE
    ),
    "saving": GatedFigure(
        lambda a: a.baseline.saving if a.baseline else None, lambda v, _: format_share(v), "a price is unknown", _share
    ),
    "job_seconds": GatedFigure(
        lambda a: a.job.seconds.value if a.job else None, lambda v, _: format_seconds(v), parse=_seconds
    ),
    "job_usd": GatedFigure(lambda a: a.job.usd if a.job else None, _usd, UNPRICED),
}


def read_gate(text: str, workloads: Sequence[str], deadline: bool) -> Gate:
    """The gate that is meant; `workloads` are the names allowed before the colon. Raises InputError.

    `deadline`: whether one is asked for, without which there is no job to ask of.
    """
    workload, condition = _of_workload(text, workloads)
    match, given = CONDITION.fullmatch(condition), repr(text)
    if match is None:
        raise InputError(
            "--fail-if {text} is not a condition; write a name, a sign and a value, such as {examples}.",
            text=given,
            examples=EXAMPLES,
        )
    name, sign, value = match.group("name", "sign", "value")
    if name not in NAMES:
        names = AnyOf(*NAMES)
        raise InputError(
            "--fail-if {text}: there is no figure `{name}`; use {names}.", text=given, name=name, names=names
        )
    if name.startswith("job_") and not deadline:
        raise InputError(
            "--fail-if {text}: `{name}` needs a deadline; add --samples 1.2M --within 6h.", text=given, name=name
        )
    if workload is not None and workload not in workloads:
        raise InputError(
            "--fail-if {text}: there is no workload `{workload}`; use {workloads}.",
            text=given,
            workload=workload,
            workloads=AnyOf(*workloads),
        )
    return Gate(text, name, sign, _wanted(given, name, sign, value), workload)


def _of_workload(text: str, workloads: Sequence[str]) -> tuple[str | None, str]:
    """The workload before the colon, and the condition behind it; None where the text is a condition of all.

    A name may hold colons, spaces and signs itself, so the longest that is known comes first.
    """
    written = text.strip()
    for name in sorted(workloads, key=len, reverse=True):
        colon, condition = written[len(name) :].lstrip()[:1], written[len(name) :].lstrip()[1:]
        if written.startswith(name) and colon == ":" and CONDITION.fullmatch(condition):
            return name, condition
    before, colon, condition = written.rpartition(":")
    if colon and not CONDITION.fullmatch(written):
        return before.strip(), condition
    return None, written


def _wanted(given: str, name: str, sign: str, value: str) -> float | str:
    asked = NAMES[name]
    if isinstance(asked, GatedWord):
        if value in asked.choices and sign in ("=", "==", "!="):
            return value
        raise InputError(
            "--fail-if {text}: compare `{name}` by = or != with {choices}.",
            text=given,
            name=name,
            choices=AnyOf(*asked.choices),
        )
    try:
        return asked.parse(value)
    except (ValueError, InputError):
        raise InputError(
            "--fail-if {text}: `{value}` is not a value of `{name}`; write a condition such as {examples}.",
            text=given,
            value=value,
            name=name,
            examples=EXAMPLES,
        ) from None


def check_gate(gate: Gate, answers: Sequence[Answer]) -> GateResult:
    """A gate is met where no answer fulfils its condition. What is not known counts as failed."""
    asked = [answer for answer in answers if gate.workload in (None, answer.workload)]
    crossed = [answer for answer in asked if _fulfils(gate, answer) is not False]
    found = "; ".join(_found(gate, answer) for answer in crossed or asked)
    verdict = "gate not met" if crossed else "gate met"
    return GateResult(gate, not crossed, f"{verdict} (fail if {gate.text}): {found}")


def _fulfils(gate: Gate, answer: Answer) -> bool | None:
    value = NAMES[gate.name].of(answer)
    if value is None:
        return None
    if isinstance(value, str) or isinstance(gate.wanted, str):
        return (value == gate.wanted) == (gate.sign != "!=")
    return SIGNS[gate.sign](value, gate.wanted)


def _found(gate: Gate, answer: Answer) -> str:
    """`train: throughput is 217 images/s`"""
    asked, value = NAMES[gate.name], NAMES[gate.name].of(answer)
    name = f"{answer.workload}: {gate.name.replace('_', ' ')}"
    if value is None:
        return f"{name} is not known ({'there is no spec' if answer.spec is None else asked.lacking})"
    if isinstance(asked, GatedWord) or isinstance(value, str):
        return f"{name} is {str(value).replace('_', ' ')}"
    limit = gate.wanted if isinstance(gate.wanted, float) else 0.0
    shown, beside = asked.shown(value, answer), asked.shown(limit, answer)
    return f"{name} is {shown if shown != beside or value == limit else format(value, '.6g')}"
