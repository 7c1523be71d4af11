"""What a study file asks for, read and written: its objective, all that `sizer recommend` can be asked for, and the
adaptive plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sizer.records.study import Adaptive, Deadline, Interruptions, Objective
from sizer.records.units import parse_count, parse_factor, parse_latency, parse_rate, parse_seconds
from sizer.study.document import Document

if TYPE_CHECKING:
    from sizer.catalog.catalog import Catalog


def read_objective(document: Document, figures: Catalog | None) -> Objective:
    """By a share of the best, by a rate or by a deadline; raises InputError for what is none, and for a GPU that the
    catalogue does not know."""
    given = document.entry("objective")
    read = {name: given.parsed(name, parse) for name, (parse, _) in AMOUNTS.items() if name in given}
    read |= {name: given[name] for name in ("prefer", "spot", "baseline") if name in given}
    read |= {"target": float(given["target"])} if "target" in given else {}
    deadline = Deadline(read.pop("samples"), read.pop("within")) if "within" in read else None
    lost = [read.pop(name, None) for name in ("interruptions_per_hour", "checkpoint_minutes")]
    for number, name in enumerate(given.get("gpus", ())):
        with given.errors_at("gpus", number):
            if figures is not None:
                figures.gpu(name)
    interruptions = None if None in lost else Interruptions(*lost)
    return Objective(**read, deadline=deadline, gpus=tuple(given.get("gpus", ())), interruptions=interruptions)


def objective_form(objective: Objective) -> dict[str, Any]:
    """What `read_objective` reads as an equal Objective."""
    form: dict[str, Any] = {"latency_p99": objective.latency_p99}
    if objective.deadline is not None:
        form |= {"samples": objective.deadline.samples, "within": objective.deadline.seconds}
    elif objective.at_least is not None:
        form["at_least"] = objective.at_least
    else:
        form = {"prefer": objective.prefer, "target": objective.target, **form}
    form |= {"spot": objective.spot or None, "gpus": list(objective.gpus) or None, "baseline": objective.baseline}
    form |= {} if objective.samples is None else {"samples": objective.samples}
    if objective.interruptions is not None:
        lost = objective.interruptions
        form |= {"interruptions_per_hour": lost.per_hour, "checkpoint_minutes": lost.checkpoint_seconds}
    return {
        name: AMOUNTS[name][1](value) if name in AMOUNTS else value for name, value in form.items() if value is not None
    }


def read_adaptive(document: Document) -> Adaptive | None:
    """None where every run is asked for; raises InputError for a budget that is no time."""
    given = document.entry("measure")
    if given.get("plan") != "adaptive":
        return None
    budget = given.parsed("budget", parse_seconds) if "budget" in given else None
    return Adaptive(budget, int(given["runs"]) if "runs" in given else None)


def adaptive_form(adaptive: Adaptive | None) -> dict[str, Any]:
    """What `read_adaptive` reads as an equal record."""
    if adaptive is None:
        return {}
    budget = {} if adaptive.budget is None else {"budget": spelt_time(adaptive.budget)}
    return {"plan": "adaptive"} | budget | ({} if adaptive.runs is None else {"runs": adaptive.runs})


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


AMOUNTS: Mapping[str, tuple[Callable[[str], Any], Callable[[float], int | str]]] = {
    "samples": (parse_count, _spelt),
    "within": (parse_seconds, spelt_time),
    "at_least": (parse_rate, _spelt),
    "latency_p99": (_latency, lambda seconds: _spelt(seconds, 1000)),
    "interruptions_per_hour": (parse_factor, _spelt),
    "checkpoint_minutes": (lambda text: 60 * parse_factor(text), lambda seconds: _spelt(seconds / 60)),
}
"""How each amount of an objective is read from its text, which the command line reads in the same way, and written."""
