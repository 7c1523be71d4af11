"""Gates: conditions on an answer under which whoever asked for it wants the command to fail."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sizer.records.answer import Answer, InstanceOffer
from sizer.records.configuration import Bottleneck, Estimate
from sizer.records.errors import InputError
from sizer.records.messages import AnyOf
from sizer.records.units import (
    GIB,
    format_rate,
    format_seconds,
    format_share,
    format_usd,
    parse_seconds,
)

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
class Word:
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


def _money(value: float, _: Answer) -> str:
    return format_usd(value)


def _rate(value: float, answer: Answer) -> str:
    return format_rate(value, answer.sample_unit)


def _offer(answer: Answer) -> InstanceOffer | None:
    return next((offer for offer in answer.instances if offer.usd_per_hour is not None), None)


def _rate_of(answer: Answer) -> Estimate | None:
    return None if answer.rate_in_doubt else answer.throughput


DOUBTED = "the rates that its runs told are known to be wrong"
UNPRICED = "no instance type that holds the spec has a price"
_BOUNDS = tuple(each.value for each in Bottleneck)
NAMES: dict[str, GatedFigure | Word] = {
    "status": Word(lambda a: a.status, ("recommended", "at_least", "refused")),
    "provisional": Word(lambda a: str(a.provisional).lower(), ("true", "false")),
    "bottleneck": Word(lambda a: a.bottleneck.value if a.bottleneck else None, _BOUNDS),
    "next_bottleneck": Word(lambda a: a.next_bottleneck.value if a.next_bottleneck else None, _BOUNDS, "none is known"),
    "throughput": GatedFigure(lambda a: rate.value if (rate := _rate_of(a)) else None, _rate, DOUBTED),
    "throughput_low": GatedFigure(lambda a: rate.low if (rate := _rate_of(a)) else None, _rate, DOUBTED),
    "probability": GatedFigure(lambda a: a.probability, _plain),
    "vcpus": GatedFigure(lambda a: a.spec.vcpus if a.spec else None, _plain, "the table has no `vcpus`"),
    "memory_gib": GatedFigure(
        lambda a: a.spec.memory_bytes / GIB if a.spec and a.spec.memory_bytes else None,
        _plain,
        "memory was not varied",
    ),
    "gpu_count": GatedFigure(lambda a: a.spec.gpu_count if a.spec else None, _plain),
    "usd_per_hour": GatedFigure(lambda a: offer.usd_per_hour if (offer := _offer(a)) else None, _money, UNPRICED),
    "usd_per_million_samples": GatedFigure(
        lambda a: offer.usd_per_million_samples if (offer := _offer(a)) else None,
        _money,
        f"{UNPRICED}, or its rates are relative",
    ),
    "saving": GatedFigure(
        lambda a: a.baseline.saving if a.baseline else None,
        lambda value, _: format_share(value),
        "a price is unknown",
        _share,
    ),
    "job_seconds": GatedFigure(
        lambda a: a.job.seconds.value if a.job else None, lambda value, _: format_seconds(value), parse=_seconds
    ),
    "job_usd": GatedFigure(lambda a: a.job.usd if a.job else None, _money, UNPRICED),
}


def read_gate(text: str, workloads: Sequence[str], deadline: bool) -> Gate:
    """The gate that is meant; `workloads` are the names allowed before the colon. Raises InputError.

    `deadline`: whether one is asked for, without which there is no job to ask of.
    """
    workload, condition = _of_workload(text, workloads)
    match = CONDITION.fullmatch(condition)
    if match is None:
        raise InputError(
            "--fail-if {text} is not a condition; write a name, a sign and a value, such as {examples}.",
            text=repr(text),
            examples=EXAMPLES,
        )
    name, sign, value = match.group("name", "sign", "value")
    if name not in NAMES:
        raise InputError(
            "--fail-if {text}: there is no figure `{name}`; use {names}.",
            text=repr(text),
            name=name,
            names=AnyOf(*NAMES),
        )
    if name.startswith("job_") and not deadline:
        raise InputError(
            "--fail-if {text}: `{name}` needs a deadline; add --samples 1.2M --within 6h.", text=repr(text), name=name
        )
    if workload is not None and workload not in workloads:
        raise InputError(
            "--fail-if {text}: there is no workload `{workload}`; use {workloads}.",
            text=repr(text),
            workload=workload,
            workloads=AnyOf(*workloads),
        )
    return Gate(text, name, sign, _wanted(text, name, sign, value), workload)


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


def _wanted(text: str, name: str, sign: str, value: str) -> float | str:
    asked = NAMES[name]
    if isinstance(asked, Word):
        if value not in asked.choices or sign not in ("=", "==", "!="):
            raise InputError(
                "--fail-if {text}: compare `{name}` by = or != with {choices}.",
                text=repr(text),
                name=name,
                choices=AnyOf(*asked.choices),
            )
        return value
    try:
        return asked.parse(value)
    except (ValueError, InputError):
        raise InputError(
            "--fail-if {text}: `{value}` is not a value of `{name}`; write a condition such as {examples}.",
            text=repr(text),
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
    found = NAMES[gate.name].of(answer)
    if found is None:
        return None
    if isinstance(found, str) or isinstance(gate.wanted, str):
        return (found == gate.wanted) == (gate.sign != "!=")
    return SIGNS[gate.sign](found, gate.wanted)


def _found(gate: Gate, answer: Answer) -> str:
    """`train: throughput is 217 images/s`"""
    asked, found = NAMES[gate.name], NAMES[gate.name].of(answer)
    name = f"{answer.workload}: {gate.name.replace('_', ' ')}"
    if found is None:
        lacking = "there is no spec" if answer.spec is None else asked.lacking
        return f"{name} is not known ({lacking})"
    if isinstance(asked, Word) or isinstance(found, str):
        return f"{name} is {str(found).replace('_', ' ')}"
    limit = gate.wanted if isinstance(gate.wanted, float) else 0.0
    shown, beside = asked.shown(found, answer), asked.shown(limit, answer)
    return f"{name} is {shown if shown != beside or found == limit else format(found, '.6g')}"
