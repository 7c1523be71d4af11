"""What a study file says of the adaptive plan: `plan`, `budget` and `runs` under `measure`."""

from __future__ import annotations

from typing import Any

from sizer.records.adaptive import Adaptive
from sizer.records.errors import InputError
from sizer.records.units import parse_seconds
from sizer.study.document import Document
from sizer.study.objective import spelt_time

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
    budget = None
    if "budget" in given:
        key = "measure", "budget"
        try:
            budget = parse_seconds(document.texts[key])
        except InputError as error:
            raise document.input_error(key, error) from None
    return Adaptive(budget, int(given["runs"]) if "runs" in given else None)


def adaptive_form(adaptive: Adaptive | None) -> dict[str, Any]:
    """What `read_adaptive` reads as an equal record."""
    if adaptive is None:
        return {}
    form: dict[str, Any] = {"plan": "adaptive"}
    if adaptive.budget is not None:
        form["budget"] = spelt_time(adaptive.budget)
    return form if adaptive.runs is None else form | {"runs": adaptive.runs}
