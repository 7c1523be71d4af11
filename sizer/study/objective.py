"""What a study file asks for: its objective, all that `sizer recommend` can be asked for, and the adaptive plan."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sizer.records.study import Adaptive, Deadline, Objective
from sizer.records.units import parse_count, parse_latency, parse_rate, parse_seconds
from sizer.study.document import Document, Key

if TYPE_CHECKING:
    from sizer.catalog.catalog import Catalog

RATES = ("samples", "within", "at_least")
SHARES = ("prefer", "target")


def read_objective(document: Document, figures: Catalog | None) -> Objective:
    """By a share of the best, by a rate or by a deadline; raises InputError for half of one, or two of them.

    So it does for a GPU that the catalogue does not know.
    """
    given = document.data.get("objective", {})
    _check_together(document, given)
    default = Objective()
    deadline = None

    def parsed(name: str, parse: Callable[[str], float]) -> float:
        return _parsed(document, ("objective", name), parse)

    if "samples" in given:
        deadline = Deadline(parsed("samples", parse_count), parsed("within", parse_seconds))
    return Objective(
        given.get("prefer", default.prefer),
        float(given.get("target", default.target)),
        deadline,
        parsed("at_least", parse_rate) if "at_least" in given else None,
        parsed("latency_p99", _latency) if "latency_p99" in given else None,
        given.get("spot", default.spot),
        _gpus(document, figures),
    )


def _gpus(document: Document, figures: Catalog | None) -> tuple[str, ...]:
    names = tuple(document.data.get("objective", {}).get("gpus", ()))
    for number, name in enumerate(names):
        if figures is not None:
            with document.errors_at(("objective", "gpus", number)):
                figures.gpu(name)
    return names


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


def _parsed(document: Document, key: Key, parse: Callable[[str], float]) -> float:
    """By the text as it stands, which the command line reads in the same way."""
    with document.errors_at(key):
        return parse(document.texts[key])


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


BOUNDS = ("budget", "runs")


def read_adaptive(document: Document) -> Adaptive | None:
    """None where every run is asked for; raises InputError for bounds of a plan that is not adaptive, and for a budget
    that is no time."""
    given = document.data.get("measure", {})
    if given.get("plan") != "adaptive":
        for name in BOUNDS:
            if name in given:
                raise document.input_error(
                    ("measure", name), "`{name}` is for an adaptive plan; write `plan: adaptive` beside it.", name=name
                )
        return None
    budget = _parsed(document, ("measure", "budget"), parse_seconds) if "budget" in given else None
    return Adaptive(budget, int(given["runs"]) if "runs" in given else None)


def adaptive_form(adaptive: Adaptive | None) -> dict[str, Any]:
    """What `read_adaptive` reads as an equal record."""
    if adaptive is None:
        return {}
    form: dict[str, Any] = {"plan": "adaptive"}
    if adaptive.budget is not None:
        form["budget"] = spelt_time(adaptive.budget)
    return form if adaptive.runs is None else form | {"runs": adaptive.runs}
