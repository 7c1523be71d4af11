"""The few shapes that serve all workloads of the study: what each further one buys, and what is used of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from typing import Any

from sizer.records.family import Family, FamilyShape, Step
from sizer.records.units import format_usd
from sizer.words import family as words
from sizer.words.language import _, percent, small_share

from .charts.legend import Figure, key, series_class
from .charts.rows import Bar, Row, Rows
from .subject import Material, Subject

MOST_DRAWN = 3.0
"""A share of the cost of each workload's best shape."""


def contents(material: Material, _subjects: Sequence[Subject]) -> dict[str, Any] | None:
    """The family of the recommendation; None where it has none, as of a single workload."""
    family = material.recommendation.family if material.recommendation is not None else None
    if family is None or not family.shapes:
        return None
    return {
        "headline": words.headline(family),
        "sure": words.how_sure(family),
        "figures": [_curve(family), _used(family)] if len(family.curve) > 1 else [_used(family)],
        "shapes": [_shape_row(one, family) for one in family.shapes],
        "penalties": words.penalty_lines(family),
        "beside": list(words.beside_lines(family)),
        "again": words.asked_again(material.folder),
    }


def _shape_row(one: FamilyShape, family: Family) -> dict[str, Any]:
    return {
        "shape": words.shape_name(one.shape),
        "hour": (format_usd(one.usd_per_hour), words.price_basis(one, family)),
        "workloads": words.served_by(one, family),
        "idle": words.idle_in_words(one.idle),
    }


def _curve(family: Family) -> Figure:
    """What all workloads cost together with one shape, two and so on."""
    rows = tuple(_step(step, family) for step in family.curve)
    chart = Rows(_("What each further shape buys"), _("cost above the best shape of each, %"), rows)
    keys = (key("bar", _("all workloads together"), "series-0 alone"),)
    return Figure(_("What each further shape buys"), chart.draw(), keys)


def _step(step: Step, family: Family) -> Row:
    """A bar, but of what is so dear that no other bar could be seen beside it."""
    more, *beside = words.step_in_words(step, family.max_penalty)
    drawn = step.more is not None and step.more <= MOST_DRAWN
    bar = Bar(100 * (step.more or 0.0), small_share(step.more or 0.0)) if drawn else Bar(None, "–")
    is_answer, figures = step.shapes == len(family.shapes), tuple(beside) if drawn else (more, *beside)
    return Row(words.shapes_counted(count=step.shapes), (bar,), figures=figures, is_answer=is_answer)


def _used(family: Family) -> Figure:
    """The share of each shape that its workloads use."""
    names = (_("vCPUs"), _("memory"), _("MB/s of the disk"), _("accelerators"))
    rows = []
    for one in family.shapes:
        shape = one.shape
        had = shape.vcpus, shape.memory_bytes, one.disk_bytes_per_second, shape.gpu_count
        bars = [_share_used(left, there) for left, there in zip(astuple(one.idle), had, strict=True)]
        rows.append(Row(words.shape_name(one.shape), tuple(bars), beside=words.served_by(one, family)))
    chart = Rows(_("What is used of each shape"), _("used, %"), tuple(rows))
    keys = tuple(key("bar", name, series_class(index)) for index, name in enumerate(names))
    return Figure(_("What is used of each shape"), chart.draw(), keys)


def _share_used(idle: float | None, had: float | None) -> Bar:
    if idle is None or not had:
        return Bar(None, "–")
    return Bar(100 * (1 - idle / had), percent(1 - idle / had))
