"""Throughput by things that have no numbers, disk tiers or machines: a row each, with a bar for each series."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from markupsafe import Markup

from sizer.records.prediction import Estimate
from sizer.records.units import format_number

from . import svg
from .legend import series_class
from .plot import CLEAR, FailureMark, Point
from .svg import BOLD, Scale, cut, nice_ticks, width

WIDTH, LEFT, RIGHT, TOP = 420.0, 8.0, 404.0, 6.0
SHORTEST_NAME = 50.0
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
        highs = [point.value.high for point in self.points]
        return max([*highs, self.throughput or 0.0, self.interval.high if self.interval is not None else 0.0])


@dataclass(frozen=True)
class Row:
    """What is compared: its name, what stands beside that and under it, its bars, and the rate it would allow alone;
    `heading` stands above it where the row before has another one."""

    name: str
    bars: tuple[Bar, ...]
    beside: str = ""
    figures: tuple[str, ...] = ()
    title: str = ""
    is_answer: bool = False
    ceiling: float | None = None
    ceiling_title: str = ""
    heading: str = ""

    @property
    def above(self) -> float:
        """What the words take before the first bar."""
        return NAME + LINE * len(self.figures)


@dataclass(frozen=True)
class Rows:
    """All that one picture shows."""

    label: str
    x_label: str
    rows: tuple[Row, ...]
    description: str = ""

    def draw(self) -> Markup:
        parts, top, heading = [], TOP, ""
        for row in self.rows:
            if row.heading != heading:
                heading = row.heading
                parts.append(svg.text(cut(heading, RIGHT - LEFT - 10, SPACED), LEFT + 6, top + 15, "kind", "start"))
                top += HEADING
            parts.append(self._row(row, top))
            top += row.above + sum(bar.height for bar in row.bars) + GAP
        bottom = top - GAP / 2
        return svg.drawing(WIDTH, bottom + 42, self.label, self._grid(bottom), *parts, description=self.description)

    @property
    def bars(self) -> list[Bar]:
        return [bar for row in self.rows for bar in row.bars]

    @property
    def shows_ceilings(self) -> bool:
        """Whether a rate that a row would allow alone is low enough to be drawn."""
        return any(row.ceiling is not None and row.ceiling <= self.x.high for row in self.rows)

    @cached_property
    def x(self) -> Scale:
        highest = max((bar.measured_high for bar in self.bars), default=1.0) or 1.0
        modelled = max((bar.predicted.high for bar in self.bars if bar.predicted is not None), default=0.0)
        ceilings = [row.ceiling for row in self.rows if row.ceiling is not None and row.ceiling <= highest * CLEAR]
        longest = max((width(bar.rate) for bar in self.bars), default=0.0)
        ticks = nice_ticks(max(highest, min(modelled, highest * CLEAR), *ceilings, 0.0) * 1.02)
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
        parts = [svg.tooltip(row.title), _names(row, top)]
        for number, words in enumerate(row.figures):
            height = top + 28 + LINE * number
            parts.append(svg.text(cut(words, RIGHT - LEFT - 6), LEFT + 6, height, "figures", "start"))
        place = top + row.above
        for index, bar in enumerate(row.bars):
            marks = self._marks(bar, index, place, row.is_answer)
            parts.append(svg.element("g", *marks, class_=series_class(index, alone=len(row.bars) == 1)))
            place += bar.height
        if row.ceiling is not None and row.ceiling <= self.x.high:
            at = self.x(row.ceiling)
            line = svg.line(at, top + row.above - 3, at, place, "ceiling")
            parts.append(svg.element("g", svg.tooltip(row.ceiling_title), line))
        return svg.element("g", *parts)

    def _marks(self, bar: Bar, index: int, top: float, is_answer: bool) -> Iterator[Markup]:
        x, middle, strip = self.x, top + BAR / 2, top + BAR + 1
        yield svg.line(x(0), middle, x(x.high), middle, "grid")
        if bar.throughput is not None:
            yield svg.rectangle(x(0), top, x(bar.throughput) - x(0), BAR, "bar answer-bar" if is_answer else "bar")
        if bar.predicted is not None:
            ends = (bar.predicted.low, bar.predicted.value, bar.predicted.high)
            low, value, high = (x(min(max(end, 0.0), x.high)) for end in ends)
            yield svg.rectangle(low, strip, high - low, STRIP, "band")
            yield svg.line(value, strip - 1, value, strip + STRIP + 1, "model")
        if bar.interval is not None:
            yield from _interval(x(bar.interval.low), x(bar.interval.high), middle)
        for point in bar.points:
            if point.value.has_interval:
                yield svg.line(x(point.value.low), middle, x(point.value.high), middle, "whisker")
            yield svg.marker(index, x(point.value.value), middle, "point", point.title)
        for failure in bar.failures:
            yield svg.cross(x(0) + 5, middle, "failure", failure.title)
            yield svg.text(failure.word, x(0) + 14, middle + 4, "failure-word", "start")
        if bar.rate:
            yield svg.text(bar.rate, RIGHT - 4, middle + 4, "tick", "end")


def _interval(low: float, high: float, middle: float) -> list[Markup]:
    ends = [svg.line(end, middle - 3, end, middle + 3, "interval") for end in (low, high)]
    return [svg.line(low, middle, high, middle, "interval"), *ends]


def _names(row: Row, top: float) -> Markup:
    name = cut(row.name, RIGHT - LEFT - 10, BOLD)
    room = RIGHT - LEFT - 18 - width(name, BOLD)
    beside = cut(row.beside, room) if room > SHORTEST_NAME else ""
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


def small_bar(label: str, rate: Estimate, candidates: Sequence[tuple[float, str]], predicted: bool) -> Markup:
    """The answer's rate with its interval, from 0 to the best of its candidates, with a tick for each of them: its rate
    and what pointing at it says.

    The bar is as long as the rate that stands beside it; `predicted` is one that no run had, with a dashed frame.
    """
    # An interval that reaches beyond the best candidate is drawn whole; a very wide one does not push all aside.
    best = max([rate.value, *(own for own, _title in candidates)])
    highest = max(best, min(rate.high, 1.5 * best)) or 1.0

    def x(value: float) -> float:
        return EDGE + min(max(value, 0.0) / highest, 1.0) * (SMALL_WIDTH - 2 * EDGE)

    under = SMALL_TOP + SMALL_BAR + 2
    parts = [
        svg.rectangle(EDGE, SMALL_TOP, SMALL_WIDTH - 2 * EDGE, SMALL_BAR, "track"),
        svg.rectangle(EDGE, SMALL_TOP, x(rate.value) - EDGE, SMALL_BAR, "small-frame" if predicted else "small-bar"),
        *(_interval(x(rate.low), x(rate.high), SMALL_TOP + SMALL_BAR / 2) if rate.has_interval else []),
    ]
    for own, title in candidates:
        tick = svg.line(x(own), under, x(own), under + TICK, "candidate")
        parts.append(svg.element("g", svg.tooltip(title), tick))
    return svg.drawing(SMALL_WIDTH, SMALL_HEIGHT, label, svg.element("g", *parts, class_="series-0 alone"))
