"""What happened when: values with their whiskers over time, the band they usually lie in, and beneath, on the same
axis, a strip of what went on and what failed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from markupsafe import Markup

from sizer.records.configuration import Estimate
from sizer.records.units import format_number

from . import svg
from .svg import Scale, nice_ticks, ticks_between, width

WIDTH = 420.0
LEFT, RIGHT, TOP, BOTTOM = 56.0, 404.0, 34.0, 190.0
STRIP_TOP, STRIP_BOTTOM = 204.0, 222.0
AXIS = 230.0
HEIGHT = AXIS + 48.0
THINNEST = 1.5
"""Pixels of the narrowest bar in the strip."""
MOST_BARS = 200
"""Bars of which each can be pointed at. More would be less than two pixels wide, so those of a series are one mark."""
NEAR = 0.4
"""Pixels between bars that are drawn as one where there are so many."""
WIDEST_WHISKERS = 1.0
"""How far whiskers may lift the y axis beyond the values, against the range of these; what lies beyond is cut off."""
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Moment:
    """A value at a time, with its interval; `series` is the number of its colour and shape."""

    x: float
    value: Estimate
    title: str
    series: int = 0


@dataclass(frozen=True)
class Stretch:
    """What went on from `start` to `end`; that of no `series` is neutral."""

    start: float
    end: float
    title: str
    series: int | None = None
    failed: bool = False


@dataclass(frozen=True)
class Break:
    """A place at which time was left out, and in words how much."""

    x: float
    word: str


@dataclass(frozen=True)
class Times:
    """What one picture shows; `unit` is what the x axis counts in, `band` the usual values."""

    label: str
    x_label: str
    y_label: str
    unit: float
    moments: tuple[Moment, ...]
    stretches: tuple[Stretch, ...]
    band: tuple[float, float] | None = None
    breaks: tuple[Break, ...] = ()
    description: str = ""

    def draw(self) -> Markup:
        return svg.drawing(
            WIDTH,
            HEIGHT,
            self.label,
            self._grid(),
            self._x_axis(),
            *self._breaks(),
            *self._strip(),
            svg.window(LEFT, TOP, RIGHT, BOTTOM, *self._whiskers()),
            *self._points(),
            description=self.description,
        )

    @cached_property
    def x(self) -> Scale:
        ends = [*(each.end for each in self.stretches), *(each.x for each in self.moments)]
        return Scale(0.0, (max(ends, default=0.0) or 1.0) * 1.01, LEFT, RIGHT)

    @cached_property
    def y_ticks(self) -> list[float]:
        """Round values around all that is drawn."""
        values = [moment.value.value for moment in self.moments]
        low, high = min([*values, *(self.band or ())]), max([*values, *(self.band or ())])
        room = (high - low) * WIDEST_WHISKERS or abs(high) or 1.0
        low = max(low - room, min([low, *(moment.value.low for moment in self.moments)]))
        high = min(high + room, max([high, *(moment.value.high for moment in self.moments)]))
        return ticks_between(low, high)

    @cached_property
    def y(self) -> Scale:
        return Scale(self.y_ticks[0], self.y_ticks[-1], BOTTOM, TOP)

    def _grid(self) -> Markup:
        parts = [svg.text(self.y_label, LEFT - 48, TOP - 22, "label", "start")]
        if self.band is not None:
            upper, lower = self.y(self.band[1]), self.y(self.band[0])
            parts.append(svg.rectangle(LEFT, upper, RIGHT - LEFT, lower - upper, "usual"))
        for tick in self.y_ticks:
            height = self.y(tick)
            parts += [
                svg.line(LEFT, height, RIGHT, height, "grid"),
                svg.text(format_number(tick), LEFT - 8, height + 4, "tick", "end"),
            ]
        return svg.element("g", *parts)

    def _x_axis(self) -> Markup:
        parts = [
            svg.line(LEFT, AXIS, RIGHT, AXIS, "axis"),
            svg.text(self.x_label, (LEFT + RIGHT) / 2, AXIS + 40, "label"),
        ]
        for tick in nice_ticks(self.x.high / self.unit, 6):
            if tick * self.unit <= self.x.high * (1 + TOLERANCE):
                place = self.x(tick * self.unit)
                parts += [svg.line(place, AXIS, place, AXIS + 5, "axis")]
                parts += [svg.text(format_number(tick), place, AXIS + 19, "tick")]
        return svg.element("g", *parts)

    def _breaks(self) -> Iterator[Markup]:
        """A line each; of words that would meet, the first."""
        free = LEFT
        for each in self.breaks:
            place, half = self.x(each.x), width(each.word) / 2
            yield svg.line(place, TOP - 6, place, AXIS, "limit")
            centre = min(max(place, LEFT + half), WIDTH - half - 2)
            if centre - half >= free:
                free = centre + half + 6
                yield svg.text(each.word, centre, TOP - 9, "limit-word")

    def _strip(self) -> Iterator[Markup]:
        went_well = [each for each in self.stretches if not each.failed]
        if len(went_well) <= MOST_BARS:
            for each in went_well:
                yield svg.element("g", self._bar(each), class_=_series(each.series))
        else:
            for series in sorted({each.series for each in went_well}, key=str):
                yield svg.element(
                    "g", self._bars(each for each in went_well if each.series == series), class_=_series(series)
                )
        for each in self.stretches:
            if each.failed:
                middle = self.x((each.start + each.end) / 2)
                yield svg.cross(middle, (STRIP_TOP + STRIP_BOTTOM) / 2, "failure", each.title)

    def _bar(self, stretch: Stretch) -> Markup:
        left = self.x(stretch.start)
        across = max(self.x(stretch.end) - left - 0.5, THINNEST)
        said = [svg.tooltip(stretch.title)] if stretch.title else []
        return svg.rectangle(left, STRIP_TOP, across, STRIP_BOTTOM - STRIP_TOP, "stretch", *said)

    def _bars(self, stretches: Iterable[Stretch]) -> Markup:
        """All of a series as one mark; those that nobody could tell apart are one bar."""
        joined: list[tuple[float, float]] = []
        for left, right in sorted((self.x(each.start), self.x(each.end)) for each in stretches):
            if joined and left <= joined[-1][1] + NEAR:
                joined[-1] = joined[-1][0], max(right, joined[-1][1])
            else:
                joined.append((left, max(right, left + NEAR)))
        height = STRIP_BOTTOM - STRIP_TOP
        steps = [f"M{left:.1f} {STRIP_TOP:.0f}h{right - left:.1f}v{height:.0f}H{left:.1f}z" for left, right in joined]
        return svg.element("path", d="".join(steps), class_="stretch")

    def _whiskers(self) -> Iterator[Markup]:
        for each in self.moments:
            if each.value.has_interval:
                place = self.x(each.x)
                low, high = (
                    self.y(min(max(end, self.y.low), self.y.high)) for end in (each.value.low, each.value.high)
                )
                yield svg.element("g", svg.line(place, low, place, high, "whisker"), class_=_series(each.series))

    def _points(self) -> Iterator[Markup]:
        for each in self.moments:
            mark = svg.marker(each.series % 4, self.x(each.x), self.y(each.value.value), "point", each.title)
            yield svg.element("g", mark, class_=_series(each.series))


def _series(index: int | None) -> str:
    return "neutral" if index is None else f"series-{index % 4}"
