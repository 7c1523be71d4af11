"""The objective of a study file: all that `sizer recommend` can be asked for, in the units of its command line."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from sizer.records.errors import InputError
from sizer.records.study import Deadline, Objective
from sizer.records.typed_values import parse_latency
from sizer.records.units import parse_count, parse_rate, parse_seconds
from sizer.study.document import Document
from sizer.study.tiers import Figures

RATES = ("samples", "within", "at_least")
SHARES = ("prefer", "target")


def read_objective(document: Document, figures: Figures | None) -> Objective:
    """By a share of the best, by a rate or by a deadline; raises InputError for half of one, or two of them.

    So it does for a GPU that the catalogue does not know.
    """
    given = document.data.get("objective", {})
    _check_together(document, given)
    default = Objective()
    deadline = None
    if "samples" in given:
        deadline = Deadline(_parsed(document, "samples", parse_count), _parsed(document, "within", parse_seconds))
    return Objective(
        given.get("prefer", default.prefer),
        float(given.get("target", default.target)),
        deadline,
        _parsed(document, "at_least", parse_rate) if "at_least" in given else None,
        _parsed(document, "latency_p99", _latency) if "latency_p99" in given else None,
        given.get("spot", default.spot),
        tuple(_gpu(document, number, name, figures) for number, name in enumerate(given.get("gpus", default.gpus))),
    )


def _gpu(document: Document, number: int, name: str, figures: Figures | None) -> str:
    if figures is not None:
        try:
            figures.gpu(name)
        except InputError as error:
            raise document.input_error(("objective", "gpus", number), error) from None
    return name


def objective_form(objective: Objective) -> dict[str, Any]:
    """What `read_objective` reads as an equal Objective."""
    form: dict[str, Any] = {"prefer": objective.prefer, "target": objective.target}
    if objective.deadline is not None:
        form = {"samples": _spelt(objective.deadline.samples), "within": spelt_time(objective.deadline.seconds)}
    elif objective.at_least is not None:
        form = {"at_least": _spelt(objective.at_least)}
    if objective.latency_p99 is not None:
        form["latency_p99"] = _spelt(objective.latency_p99, 1000)
    return (
        form | ({"spot": True} if objective.spot else {}) | ({"gpus": list(objective.gpus)} if objective.gpus else {})
    )


def _check_together(document: Document, given: dict[str, Any]) -> None:
    if ("samples" in given) != ("within" in given):
        raise document.input_error(
            ("objective",),
            "`objective` has only one of `samples` and `within`; write both, such as {example}.",
            example="{samples: 1.2M, within: 6h}",
        )
    rate = next((name for name in RATES if name in given), None)
    share = next((name for name in SHARES if name in given), None)
    if "samples" in given and "at_least" in given:
        raise document.input_error(
            ("objective", "at_least"),
            "`samples` and `within` already say how fast it must be; leave out `at_least`.",
        )
    if rate is not None and share is not None:
        raise document.input_error(
            ("objective", share),
            "`{rate}` already asks for the cheapest spec that is fast enough; leave out `{share}`.",
            rate=rate,
            share=share,
        )


def _parsed(document: Document, name: str, parse: Any) -> float:
    """By the text as it stands, which the command line reads in the same way."""
    key = "objective", name
    try:
        found: float = parse(document.texts[key])
    except InputError as error:
        raise document.input_error(key, error) from None
    return found


def _latency(text: str) -> float:
    """Seconds of a number of milliseconds, without a rounding that writing it again would not undo."""
    parse_latency(text)
    return float(Decimal(text) / 1000)


def _spelt(value: float, factor: int = 1) -> int | str:
    """Every digit of a number; one that is not whole as text, since YAML would write it with an exponent."""
    exact = Decimal(repr(float(value))) * factor
    return int(exact) if exact == int(exact) else format(exact.normalize(), "f")


def spelt_time(seconds: float) -> str:
    """`6h`, `30m`, or seconds."""
    for size, unit in ((3600, "h"), (60, "m")):
        if seconds % size == 0:
            return f"{_spelt(seconds // size)}{unit}"
    return f"{_spelt(seconds)}s"
