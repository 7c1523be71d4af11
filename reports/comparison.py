"""The page of two studies beside each other: how the studies differ, then each rate with its change and interval."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from sizer.model.comparison import Comparison, RateChange
from sizer.records.prediction import Estimate
from sizer.words import comparison as words
from sizer.words.language import _, interval, signed

from . import page
from .charts import svg

WIDTH, HEIGHT, END = 180.0, 18.0, 5.0
"""Pixels of an interval's picture, and what is left free at its ends."""
WIDEST = 1.0
"""Change up to which the pictures reach at the most: beyond it, nothing else would be seen."""


def render(comparison: Comparison, created_at: str, version: str) -> str:
    """The whole page as one HTML text that loads nothing."""
    changes = (*comparison.means, *comparison.differences)
    ends = [abs(end) for row in changes if row.change for end in (row.change.low, row.change.high)]
    reach = min(WIDEST, max(ends, default=WIDEST))
    cells = map(words.difference_cells, comparison.study_differences)
    values = {
        "studies": [words.study_line(*pair) for pair in zip("AB", comparison.studies, strict=True)],
        "differences": [{"what": label, "a": before, "b": after} for label, before, after in cells],
        "whence": words.whence(comparison),
        "rows": [_row(row, reach) for row in changes],
        "notes": words.notes(comparison),
    }
    section = Markup(page.templates().get_template("comparison.html").render(values))
    before, after = (study.name for study in comparison.studies)
    return page.framed(_("{before} and {after}", before=before, after=after), [section], created_at, version)


def _row(row: RateChange, reach: float) -> dict[str, Any]:
    before, after = words.rates_of(row)
    change = interval(row.change, signed) if row.change else ""
    return {
        "what": (words.change_name(row), words.moved_line(row)),
        "verdict": words.verdict_name(row),
        "a": before,
        "b": after,
        "change": change,
        "picture": _picture(row.change, row.verdict, reach, change) if row.change else "",
    }


def _picture(change: Estimate, verdict: str, reach: float, label: str) -> Markup:
    """The change with its interval about the line of no change."""
    shares = (max(-1.0, min(1.0, value / reach)) for value in (change.low, change.value, change.high))
    low, x, high = (WIDTH / 2 + share * (WIDTH / 2 - END) for share in shares)
    series, middle = {"slower": 1, "faster": 2}.get(verdict, 0), HEIGHT / 2
    drawn = [
        svg.line(WIDTH / 2, 0, WIDTH / 2, HEIGHT, "no-change"),
        svg.line(low, middle, high, middle, "whisker"),
        svg.marker(series, x, middle, "point", label),
    ]
    return svg.drawing(WIDTH, HEIGHT, label, svg.element("g", *drawn, class_=f"series-{series}"))
