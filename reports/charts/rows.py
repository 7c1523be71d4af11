"""Throughput by things that have no numbers, disk tiers or machines: a row each, with a bar for each series."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from markupsafe import Markup

from sizer.records.configuration import Estimate
from sizer.records.units import format_number

from . import svg
from .plot import CLEAR, FailureMark, Point
from .svg import BOLD, Scale, cut, nice_ticks, width

WIDTH, LEFT, RIGHT, TOP = 420.0, 8.0, 404.0, 6.0
SHORTEST = 50.0
"""Pixels below which a name that is cut says nothing."""
SPACED = 1.3
"""How much wider the letters of a heading are, which are bold, larger and spaced."""
HEADING, NAME, LINE, GAP = 26.0, 20.0, 16.0, 8.0
"""Heights in pixels of a heading, of a row's name, of a line of words under it, and of what lies between rows."""
BAR, STRIP, BETWEEN = 10.0, 5.0, 4.0
"""Heights in pixels of a measured bar, of the model's strip under it, and of what lies between bars."""


@dataclass(frozen=True)
class Bar:
    """One series of a row: the rate that the bar shows, the interval over it, and that in words.

    `interval` is drawn over the bar; where each run is, its own does. `predicted` is the model's rate with its 90 %
    interval for a new run.
    """

    throughput: float | None
    rate: str = ""
    interval: Estimate | None = None
    points: tuple[Point, ...] = ()
    failures: tuple[FailureMark, ...] = ()
    predicted: Estimate | None = None

    @property
    def height(self) -> float:
        return BAR + BETWEEN + (STRIP + 1 if self.predicted is not None else 0.0)

    @property
    def measured_high(self) -> float:
        highs = [point.throughput.high for point in self.points]
        return max([*highs, self.interval.high if self.interval is not None else 0.0])


@dataclass(frozen=True)
class Row:
    """What is compared: its name, what stands beside that and under it, its bars, and the rate it would allow alone."""

    name: str
    bars: tuple[Bar, ...]
    beside: str = ""
    figures: tuple[str, ...] = ()
    title: str = ""
    is_answer: bool = False
    ceiling: float | None = None
    ceiling_title: str = ""

    @property
    def height(self) -> float:
        return self.above + sum(bar.height for bar in self.bars) + GAP

    @property
    def above(self) -> float:
        """What the words take before the first bar."""
        return NAME + LINE * len(self.figures)


@dataclass(frozen=True)
class RowGroup:
    """Rows of one kind; without a heading where that says nothing."""

    heading: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Rows:
    """All that one picture shows."""

    label: str
    x_label: str
    groups: tuple[RowGroup, ...]
    description: str = ""

    def draw(self) -> Markup:
        parts, top = [], TOP
        for group in self.groups:
            if group.heading:
                heading = cut(group.heading, RIGHT - LEFT - 10, SPACED)
                parts.append(svg.text(heading, LEFT + 6, top + 15, "kind", "start"))
                top += HEADING
            for row in group.rows:
                parts.append(self._row(row, top))
                top += row.height
        bottom = top - GAP / 2
        return svg.drawing(WIDTH, bottom + 42, self.label, self._grid(bottom), *parts, description=self.description)

    @property
    def _bars(self) -> list[Bar]:
        return [bar for group in self.groups for row in group.rows for bar in row.bars]

    @cached_property
    def x(self) -> Scale:
        highest = max((bar.measured_high for bar in self._bars), default=1.0) or 1.0
        modelled = max((bar.predicted.high for bar in self._bars if bar.predicted is not None), default=0.0)
        ceilings = [row.ceiling for group in self.groups for row in group.rows if row.ceiling is not None]
        shown = [each for each in ceilings if each <= highest * CLEAR]
        longest = max((width(bar.rate) for bar in self._bars), default=0.0)
        ticks = nice_ticks(max(highest, min(modelled, highest * CLEAR), *shown, 0.0) * 1.02)
        return Scale(0.0, ticks[-1], LEFT + 6, RIGHT - longest - 16)

    def _grid(self, bottom: float) -> Markup:
        x = self.x
        parts = [svg.line(LEFT, bottom, x(x.high) + 6, bottom, "axis")]
        for tick in nice_ticks(x.high):
            parts.append(svg.line(x(tick), bottom, x(tick), bottom + 5, "axis"))
            parts.append(svg.text(format_number(tick), x(tick), bottom + 18, "tick"))
        parts.append(svg.text(self.x_label, (x(0) + x(x.high)) / 2, bottom + 37, "label"))
        return svg.element("g", *parts)

    def _row(self, row: Row, top: float) -> Markup:
        alone = len(row.bars) == 1
        parts = [svg.tooltip(row.title)] if row.title else []
        parts.append(_names(row, top))
        for number, words in enumerate(row.figures):
            height = top + 28 + LINE * number
            parts.append(svg.text(cut(words, RIGHT - LEFT - 6), LEFT + 6, height, "figures", "start"))
        place = top + row.above
        for index, bar in enumerate(row.bars):
            marks = self._marks(bar, index, place, row.is_answer)
            parts.append(svg.element("g", *marks, class_=f"series-{index % 4}" + (" alone" if alone else "")))
            place += bar.height
        if row.ceiling is not None and row.ceiling <= self.x.high:
            parts.append(self._ceiling(row, top + row.above - 3, place))
        return svg.element("g", *parts)

    def _ceiling(self, row: Row, top: float, bottom: float) -> Markup:
        place = self.x(row.ceiling or 0.0)
        said = [svg.tooltip(row.ceiling_title)] if row.ceiling_title else []
        return svg.element("g", *said, svg.line(place, top, place, bottom, "ceiling"))

    def _marks(self, bar: Bar, index: int, top: float, is_answer: bool) -> Iterator[Markup]:
        x, middle, strip = self.x, top + BAR / 2, top + BAR + 1
        yield svg.line(x(0), middle, x(x.high), middle, "grid")
        if bar.throughput is not None:
            yield svg.rectangle(x(0), top, x(bar.throughput) - x(0), BAR, "bar answer-bar" if is_answer else "bar")
        if bar.predicted is not None:
            low, value, high = (
                x(min(max(each, 0.0), x.high)) for each in (bar.predicted.low, bar.predicted.value, bar.predicted.high)
            )
            yield svg.rectangle(low, strip, high - low, STRIP, "band")
            yield svg.line(value, strip - 1, value, strip + STRIP + 1, "model")
        if bar.interval is not None:
            low, high = x(bar.interval.low), x(bar.interval.high)
            yield svg.line(low, middle, high, middle, "interval")
            yield svg.line(low, middle - 3, low, middle + 3, "interval")
            yield svg.line(high, middle - 3, high, middle + 3, "interval")
        for point in bar.points:
            if point.throughput.has_interval:
                yield svg.line(x(point.throughput.low), middle, x(point.throughput.high), middle, "whisker")
            yield svg.marker(index, x(point.throughput.value), middle, "point", point.title)
        for failure in bar.failures:
            yield svg.cross(x(0) + 5, middle, "failure", failure.title)
            yield svg.text(failure.word, x(0) + 14, middle + 4, "failure-word", "start")
        if bar.rate:
            yield svg.text(bar.rate, RIGHT - 4, middle + 4, "tick", "end")


def _names(row: Row, top: float) -> Markup:
    name = cut(row.name, RIGHT - LEFT - 10, BOLD)
    room = RIGHT - LEFT - 18 - width(name, BOLD)
    beside = cut(row.beside, room) if room > SHORTEST else ""
    return svg.element(
        "text",
        svg.element("tspan", svg.readable(name), class_="row-name answer-word" if row.is_answer else "row-name"),
        *([svg.element("tspan", svg.readable(beside), dx=8)] if beside else []),
        x=LEFT + 6,
        y=top + 13,
        text_anchor="start",
    )


SMALL_WIDTH, SMALL_HEIGHT = 200.0, 19.0
SMALL_TOP, SMALL_BAR, TICK = 2.0, 9.0, 5.0
"""Pixels above the bar, of the bar, and of the ticks under it."""
EDGE = 2.0
"""Pixels left at both ends, so that a line at the end of the scale is drawn whole."""


@dataclass(frozen=True)
class Candidate:
    """A rate that the answer was chosen from, and what pointing at its tick says."""

    rate: float
    title: str


@dataclass(frozen=True)
class SmallBar:
    """The answer's rate with its interval, from 0 to the best of its candidates, with a tick for each of them.

    The bar is as long as the rate that stands beside it; `predicted` is one that no run had, with a dashed frame.
    """

    label: str
    rate: Estimate
    candidates: tuple[Candidate, ...]
    predicted: bool = False

    def draw(self) -> Markup:
        x, middle, rate = self._x, SMALL_TOP + SMALL_BAR / 2, self.rate
        bar = "small-frame" if self.predicted else "small-bar"
        parts = [
            svg.rectangle(EDGE, SMALL_TOP, SMALL_WIDTH - 2 * EDGE, SMALL_BAR, "track"),
            svg.rectangle(EDGE, SMALL_TOP, x(rate.value) - EDGE, SMALL_BAR, bar),
        ]
        if rate.has_interval:
            low, high = x(max(0.0, rate.low)), x(rate.high)
            parts.append(svg.line(low, middle, high, middle, "interval"))
            parts += [svg.line(each, middle - 3, each, middle + 3, "interval") for each in (low, high)]
        for each in self.candidates:
            tick = svg.line(
                x(each.rate), SMALL_TOP + SMALL_BAR + 2, x(each.rate), SMALL_TOP + SMALL_BAR + 2 + TICK, "candidate"
            )
            parts.append(svg.element("g", *([svg.tooltip(each.title)] if each.title else []), tick))
        return svg.drawing(SMALL_WIDTH, SMALL_HEIGHT, self.label, svg.element("g", *parts, class_="series-0 alone"))

    def _x(self, rate: float) -> float:
        # An interval that reaches beyond the best candidate is drawn whole; a very wide one does not push all aside.
        best = max([each.rate for each in self.candidates] + [self.rate.value])
        highest = max(best, min(self.rate.high, 1.5 * best)) or 1.0
        return EDGE + min(rate / highest, 1.0) * (SMALL_WIDTH - 2 * EDGE)
