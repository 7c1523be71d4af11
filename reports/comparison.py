"""The page of two studies beside each other: in what they are unlike, then each difference with its interval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from sizer.model.comparison import Compared, Comparison, Unlike
from sizer.words import comparison as words
from sizer.words.comparison import Described
from sizer.words.language import _

from . import page
from .charts import svg

WIDTH, HEIGHT, END = 180.0, 18.0, 5.0
"""Pixels of an interval's picture, and what is left free at its ends."""
WIDEST = 1.0
"""Change up to which the pictures reach at the most: beyond it, nothing else would be seen."""


def render(
    studies: tuple[Described, Described],
    unlike: Sequence[Unlike],
    comparison: Comparison,
    created_at: str,
    version: str,
) -> str:
    """The whole page as one HTML text that loads nothing."""
    compared = (*comparison.means, *comparison.differences)
    ends = [abs(end) for its in compared if its.change for end in (its.change.low, its.change.high)]
    reach = min(WIDEST, max(ends, default=WIDEST))
    counts = Counter(its.workload for its in comparison.differences if its.change and its.stage is None)
    only = (("A", comparison.only_before), ("B", comparison.only_after))
    values = {
        "studies": [words.study_in_words(letter, study) for letter, study in zip("AB", studies, strict=True)],
        "unlike": [dict(zip(("what", "a", "b"), words.unlike_cells(its), strict=True)) for its in unlike],
        "unlike_sentence": words.unlike_sentences(unlike, studies),
        "rows": [_row(its, reach, counts) for its in compared],
        "cautions": words.cautions(comparison) if comparison.differences else [words.nothing_shared()],
        "only": [words.only_line(letter, absent) for letter, absent in only if absent],
    }
    section = Markup(page.templates().get_template("comparison.html").render(values))
    title = _("{before} and {after}", before=studies[0].name, after=studies[1].name)
    return page.framed(title, [section], created_at, version)


def _row(compared: Compared, reach: float, counts: Counter[str]) -> dict[str, Any]:
    before, after = words.rates_of(compared)
    change = compared.change
    name = words.compared_name(compared)
    if compared.configuration is None:
        name = words.mean_of(compared, counts[compared.workload])
    return {
        "what": (name, words.moved_line(compared) if compared.verdict != "unclear" else ""),
        "verdict": words.verdict_name(compared),
        "a": before,
        "b": after,
        "change": words.change_in_words(change) if change else "",
        "picture": _interval(compared, reach) if change else "",
    }


def _interval(compared: Compared, reach: float) -> Markup:
    """The change with its interval about the line of no change."""
    change, middle = compared.change, HEIGHT / 2
    assert change is not None, "only a change is drawn"

    def x(value: float) -> float:
        return WIDTH / 2 + max(-1.0, min(1.0, value / reach)) * (WIDTH / 2 - END)

    series = {"slower": 1, "faster": 2}.get(compared.verdict, 0)
    drawn = [
        svg.line(x(0), 0, x(0), HEIGHT, "no-change"),
        svg.line(x(change.low), middle, x(change.high), middle, "whisker"),
        svg.marker(series, x(change.value), middle, "point", words.change_in_words(change)),
    ]
    label = words.change_in_words(change)
    return svg.drawing(WIDTH, HEIGHT, label, svg.element("g", *drawn, class_=f"series-{series}"))
