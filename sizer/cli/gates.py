"""Gates: conditions on an answer under which whoever asked for it wants the command to fail."""

from __future__ import annotations

import math
import operator
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sizer.model.comparison import RateChange
from sizer.records.answer import Answer
from sizer.records.messages import AnyOf, InputError
from sizer.records.prediction import Bottleneck
from sizer.records.units import GIB, format_rate, format_seconds, format_share, format_usd, parse_seconds
from sizer.words.comparison import change_name

CONDITION = re.compile(r"\s*(?P<name>\w+)\s*(?P<sign><=|>=|!=|==|=|<|>)\s*(?P<value>\S+?(?:\s*%)?)\s*")
SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
}
EXAMPLES = AnyOf("'throughput<500'", "'train:vcpus>8'", "'status!=recommended'")
EXAMPLES_OF_CHANGES = AnyOf("'throughput<-5%'", "'train:throughput_high<-5%'")

GATE_EXIT_CODE = 6
MOST_SHOWN = 8
NOTHING = "nothing of it was measured in both"


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _share(text: str) -> float:
    return _number(text.removesuffix("%")) / 100 if text.endswith("%") else _number(text)


def _change(text: str) -> float:
    """A share of a rate, which never falls by all of it: -5 is meant to be -5%."""
    share = _share(text)
    if share <= -1 or (share > 1 and not text.endswith("%")):
        raise ValueError(text)
    return share


def _seconds(text: str) -> float:
    return _number(text) if re.fullmatch(r"[\d.]+", text) else parse_seconds(text)


@dataclass(frozen=True)
class Gated:
    """What a gate may ask of an answer, or of what two studies have in common: `of` gives None where it is not known,
    for the reason `lacking`.

    `parse` raises InputError or ValueError for what is no such number. A word is one of `choices`, which only = and !=
    make sense of.
    """

    of: Callable[[Any], Any]
    shown: Callable[[float, Any], str] = lambda value, _: f"{value:g}"
    lacking: str = "there is no spec"
    parse: Callable[[str], float] = _number
    choices: tuple[str, ...] = ()


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

    met: bool
    sentence: str


def _rate(value: float, answer: Answer) -> str:
    return format_rate(value, answer.sample_unit)


def _usd(value: float, _: Answer) -> str:
    return format_usd(value)


def _of_offer(name: str) -> Callable[[Answer], float | None]:
    """A figure of the cheapest instance type."""
    return lambda answer: next(
        (getattr(offer, name) for offer in answer.instances if offer.usd_per_hour is not None), None
    )


DOUBTED = "the rates that its runs told are known to be wrong"
UNPRICED = "no instance type that holds the spec has a price"
BOUNDS = tuple(bottleneck.value for bottleneck in Bottleneck)
NAMES: dict[str, Gated] = {
    "status": Gated(lambda a: a.status, choices=("recommended", "at_least", "refused")),
    "provisional": Gated(lambda a: str(a.provisional).lower(), choices=("true", "false")),
    "bottleneck": Gated(lambda a: a.bottleneck and a.bottleneck.value, choices=BOUNDS),
    "next_bottleneck": Gated(
        lambda a: a.next_bottleneck and a.next_bottleneck.value, lacking="none is known", choices=BOUNDS
    ),
    "throughput": Gated(lambda a: a.throughput.value if a.throughput and not a.rate_in_doubt else None, _rate, DOUBTED),
    "throughput_low": Gated(
        lambda a: a.throughput.low if a.throughput and not a.rate_in_doubt else None, _rate, DOUBTED
    ),
    "probability": Gated(lambda a: a.probability),
    "vcpus": Gated(lambda a: a.spec.vcpus if a.spec else None, lacking="the table has no `vcpus`"),
    "memory_gib": Gated(
        lambda a: a.spec.memory_bytes / GIB if a.spec and a.spec.memory_bytes else None,
        lacking="memory was not varied",
    ),
    "gpu_count": Gated(lambda a: a.spec.gpu_count if a.spec else None),
    "usd_per_hour": Gated(_of_offer("usd_per_hour"), _usd, UNPRICED),
    "usd_per_million_samples": Gated(
        _of_offer("usd_per_million_samples"), _usd, f"{UNPRICED}, or its rates are relative"
    ),
    "saving": Gated(
        lambda a: a.baseline.saving if a.baseline else None, lambda v, _: format_share(v), "a price is unknown", _share
    ),
    "job_seconds": Gated(
        lambda a: a.job.seconds.value if a.job else None, lambda v, _: format_seconds(v), parse=_seconds
    ),
    "job_usd": Gated(lambda a: a.job.usd if a.job else None, _usd, UNPRICED),
}


def _signed(share: float, change: RateChange) -> str:
    return "not clearly different" if share == 0 and change.verdict == "unclear" else f"{100 * share:+.3g} %"


def _end(name: str) -> Callable[[RateChange], float | None]:
    """An end of the interval of a change; None of what does not run any more."""
    return lambda row: getattr(row.change, name) if row.change else None if row.verdict == "failed" else 0.0


FAILED = "its runs fail in B"
CHANGES: Mapping[str, Gated] = {
    "throughput": Gated(lambda row: 0.0 if row.verdict == "unclear" else _end("value")(row), _signed, FAILED, _change),
    "throughput_low": Gated(_end("low"), _signed, FAILED, _change),
    "throughput_high": Gated(_end("high"), _signed, FAILED, _change),
}
"""What a gate may ask of B against A: relative changes."""


def read_gate(text: str, workloads: Sequence[str], names: Mapping[str, Gated] = NAMES, deadline: bool = False) -> Gate:
    """The gate that is meant; `workloads` are the names allowed before the colon. Raises InputError.

    `names` is what it may ask; `deadline`: whether one is asked for, without which there is no job to ask of.
    """
    workload, condition = _of_workload(text, workloads)
    match, given, examples = (
        CONDITION.fullmatch(condition),
        repr(text),
        EXAMPLES if names is NAMES else EXAMPLES_OF_CHANGES,
    )
    if match is None:
        raise InputError(
            "--fail-if {text} is not a condition; write a name, a sign and a value, such as {examples}.",
            text=given,
            examples=examples,
        )
    name, sign, value = match.group("name", "sign", "value")
    value = "".join(value.split())  # `-5 %` as answers write it
    if name not in names:
        raise InputError(
            "--fail-if {text}: there is no figure `{name}`; use {names}.", text=given, name=name, names=AnyOf(*names)
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
    return Gate(text, name, sign, _wanted(given, name, sign, value, names[name], examples), workload)


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
    return (before.strip(), condition) if colon and not CONDITION.fullmatch(written) else (None, written)


def _wanted(given: str, name: str, sign: str, value: str, gated: Gated, examples: AnyOf) -> float | str:
    choices = gated.choices
    if choices and value in choices and sign in ("=", "==", "!="):
        return value
    if choices:
        raise InputError(
            "--fail-if {text}: compare `{name}` by = or != with {choices}.",
            text=given,
            name=name,
            choices=AnyOf(*choices),
        )
    try:
        return gated.parse(value)
    except (ValueError, InputError):
        raise InputError(
            "--fail-if {text}: `{value}` is not a value of `{name}`; write a condition such as {examples}.",
            text=given,
            value=value,
            name=name,
            examples=examples,
        ) from None


def check_gate(gate: Gate, answers: Sequence[Any], names: Mapping[str, Gated] = NAMES) -> GateResult:
    """A gate is met where no answer fulfils its condition. What is not known counts as failed, and so does nothing."""
    gated, asked = names[gate.name], [answer for answer in answers if gate.workload in (None, answer.workload)]
    values = [(answer, gated.of(answer)) for answer in asked]
    crossed = [answer for answer, value in values if value is None or SIGNS[gate.sign](value, gate.wanted)]
    clauses = [_measured(gate, gated, answer) for answer in crossed or asked]
    more = [f"{len(clauses) - MOST_SHOWN} more"] if len(clauses) > MOST_SHOWN else []
    shown = "; ".join([*clauses[:MOST_SHOWN], *more])
    verdict = "gate not met" if crossed or not asked else "gate met"
    return GateResult(bool(asked) and not crossed, f"{verdict} (fail if {gate.text}): {shown or NOTHING}")


def gate_code(findings: Sequence[GateResult]) -> int:
    """Says them on stderr; the exit code, 0 where all are met."""
    for finding in findings:
        print(f"sizer: {finding.sentence}", file=sys.stderr)
    return 0 if all(finding.met for finding in findings) else GATE_EXIT_CODE


def _measured(gate: Gate, gated: Gated, answer: Any) -> str:
    """`train: throughput is 217 images/s`"""
    value = gated.of(answer)
    subject = change_name(answer) if isinstance(answer, RateChange) else answer.workload
    name = f"{subject}: {gate.name.replace('_', ' ')}"
    if value is None:
        return f"{name} is not known ({'there is no spec' if not getattr(answer, 'spec', True) else gated.lacking})"
    if isinstance(value, str) or isinstance(gate.wanted, str):
        return f"{name} is {str(value).replace('_', ' ')}"
    shown = gated.shown(value, answer)
    hides = shown == gated.shown(gate.wanted, answer) and value != gate.wanted
    return f"{name} is {format(value, '.6g') if hides else shown}"
