"""Draws throughput by disk tier: one row a tier, with its figures, measured dots and the model's estimate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from sizer.records import Estimate, format_number

from . import svg
from .plot import BOLD_CHARACTER, CHARACTER, CLEAR, FailureMark, Point
from .scales import Scale, nice_ticks

WIDTH, LEFT, RIGHT, TOP = 420.0, 8.0, 404.0, 8.0
TRACK = 42.0
"""Where in a row the first series lies."""
SPREAD = 13.0
"""Pixels between the series of one row."""


@dataclass(frozen=True)
class Dots:
    """One series in a row. `predicted` is the model's rate with its 90 % interval for a new run."""

    points: tuple[Point, ...]
    failures: tuple[FailureMark, ...]
    predicted: Estimate | None = None


@dataclass(frozen=True)
class TierRow:
    """A disk tier: its name, its figures in words, what is worth saying at the right, and one Dots for each series."""

    name: str
    figures: str
    remark: str
    series: tuple[Dots, ...]
    is_answer: bool = False


@dataclass(frozen=True)
class DotChart:
    """All that one picture shows."""

    label: str
    x_label: str
    rows: tuple[TierRow, ...]

    def draw(self) -> Markup:
        height = TRACK + SPREAD * max(len(row.series) for row in self.rows) + 3
        bottom = TOP + height * len(self.rows) + 4
        x = Scale(0.0, nice_ticks(self._highest() * 1.04)[-1], LEFT + 6, RIGHT - 10)
        rows = [self._row(row, TOP + height * index, x) for index, row in enumerate(self.rows)]
        return svg.drawing(WIDTH, bottom + 42, self.label, self._grid(x, bottom), *rows)

    def _highest(self) -> float:
        dots = [dots for row in self.rows for dots in row.series]
        highest = max((point.throughput.high for each in dots for point in each.points), default=1.0) or 1.0
        modelled = max((each.predicted.high for each in dots if each.predicted is not None), default=0.0)
        return max(highest, min(modelled, highest * CLEAR))

    def _grid(self, x: Scale, bottom: float) -> Markup:
        parts = [svg.line(LEFT, bottom, RIGHT, bottom, "axis")]
        for tick in nice_ticks(x.high):
            parts.append(svg.line(x(tick), bottom, x(tick), bottom + 5, "axis"))
            parts.append(svg.text(format_number(tick), x(tick), bottom + 18, "tick"))
        parts.append(svg.text(self.x_label, (LEFT + RIGHT) / 2, bottom + 37, "label"))
        return svg.element("g", *parts)

    def _row(self, row: TierRow, top: float, x: Scale) -> Markup:
        alone = len(row.series) == 1
        name = _cut(row.name, RIGHT - LEFT - 18 - len(row.remark) * CHARACTER)
        tracks = [top + TRACK + SPREAD * index for index in range(len(row.series))]
        parts = [
            svg.text(name, LEFT + 6, top + 13, "row-name answer-word" if row.is_answer else "row-name", "start"),
            svg.text(row.remark, RIGHT - 4, top + 13, "tick", "end"),
            svg.text(row.figures, LEFT + 6, top + 28, "figures", "start"),
            *(svg.line(x(0), track, RIGHT - 10, track, "grid") for track in tracks),
        ]
        for index, (dots, track) in enumerate(zip(row.series, tracks, strict=True)):
            parts.append(
                svg.element(
                    "g", *_marks(dots, index, track, x), class_=f"series-{index % 4}" + (" alone" if alone else "")
                )
            )
        return svg.element("g", *parts)


def _cut(name: str, room: float) -> str:
    """A name that fits into so many pixels; its end, which tells tiers of one family apart, is kept."""
    most = int(room / BOLD_CHARACTER)
    return name if len(name) <= most else f"{name[: most // 2]}…{name[len(name) - (most - most // 2 - 1) :]}"


def _marks(dots: Dots, index: int, height: float, x: Scale) -> Iterator[Markup]:
    if dots.predicted is not None:
        low, middle, high = (
            x(min(max(each, 0), x.high)) for each in (dots.predicted.low, dots.predicted.value, dots.predicted.high)
        )
        area = [(low, height - 5), (high, height - 5), (high, height + 5), (low, height + 5)]
        yield svg.path(area, "band", closed=True)
        yield svg.line(middle, height - 6, middle, height + 6, "model")
    if dots.points:
        furthest = max(point.throughput.value for point in dots.points)
        yield svg.line(x(0), height, x(furthest), height, "stem")
    for point in dots.points:
        yield svg.line(x(point.throughput.low), height, x(point.throughput.high), height, "whisker")
        yield svg.marker(index, x(point.throughput.value), height, "point", point.title)
    for failure in dots.failures:
        yield svg.cross(x(0) + 5, height, "failure", failure.title)
        yield svg.text(failure.word, x(0) + 14, height + 4, "failure-word", "start")
