"""Draws throughput against a continuous axis: measured points with whiskers, the model with its band, failed runs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sizer.records import Estimate, format_number

from . import svg
from .curves import CurvePoint
from .scales import Scale, doubling_ticks, nice_ticks

WIDTH, HEIGHT = 420.0, 292.0
LEFT, RIGHT, TOP, BOTTOM = 56.0, 404.0, 26.0, 242.0
CLEAR = 1.6
"""How far beyond the measured rates the model's band may lift the y axis; what lies higher is cut off."""
CHARACTER = 6.6
"""Mean width in pixels of a character at the charts' text size."""
BOLD_CHARACTER = 7.6
BOX = 13.0
"""Half the width in pixels of the model's mark at a single place."""
DODGE = 5.0
"""Pixels between repeats of one configuration, so that their whiskers can be told apart."""


@dataclass(frozen=True)
class Point:
    """A run that gave a rate, with its 95 % interval."""

    x: float
    throughput: Estimate
    title: str


@dataclass(frozen=True)
class FailureMark:
    """A run that gave none, and how it ended in a word or two."""

    x: float
    word: str
    title: str


@dataclass(frozen=True)
class Line:
    """One series: what was measured, what failed, and what the model says."""

    points: tuple[Point, ...]
    failures: tuple[FailureMark, ...]
    stretches: tuple[tuple[CurvePoint, ...], ...] = ()

    @property
    def places(self) -> list[float]:
        return [*(point.x for point in self.points), *(failure.x for failure in self.failures)]


@dataclass(frozen=True)
class Plot:
    """What one picture shows. `unit` is what the x axis counts in, `mark` the answer's place on it with its word."""

    label: str
    x_label: str
    y_label: str
    unit: float
    lines: tuple[Line, ...]
    logarithmic: bool
    mark: tuple[float, str] | None = None

    def draw(self) -> Markup:
        x, y = self._x_scale(), self._y_scale()
        alone = len(self.lines) == 1
        groups = [_line(line, index, alone, x, y) for index, line in enumerate(self.lines)]
        return svg.drawing(
            WIDTH, HEIGHT, self.label, self._grid(y), self._x_axis(x), self._answer(x), *groups, self._failure_words(x)
        )

    def _x_scale(self) -> Scale:
        places = [place for line in self.lines for place in line.places]
        places += [point.x for line in self.lines for stretch in line.stretches for point in stretch]
        places += [self.mark[0]] if self.mark else []
        low, high = min(places), max(places)
        if self.logarithmic:
            return Scale(low / 1.2, high * 1.2, LEFT, RIGHT, logarithmic=True)
        return Scale(0.0, high * 1.06, LEFT, RIGHT)

    def _y_scale(self) -> Scale:
        measured = [point.throughput.high for line in self.lines for point in line.points]
        curve = [point for line in self.lines for stretch in line.stretches for point in stretch]
        highest = max(measured, default=1.0) or 1.0
        modelled = max([point.throughput.high for point in curve], default=0.0)
        top = max(highest, min(modelled, highest * CLEAR)) * 1.04
        return Scale(0.0, nice_ticks(top)[-1], BOTTOM, TOP)

    def _grid(self, y: Scale) -> Markup:
        parts = [svg.text(self.y_label, LEFT - 48, TOP - 12, "label", "start")]
        for tick in nice_ticks(y.high):
            parts.append(svg.line(LEFT, y(tick), RIGHT, y(tick), "axis" if tick == 0 else "grid"))
            parts.append(svg.text(format_number(tick), LEFT - 8, y(tick) + 4, "tick", "end"))
        return svg.element("g", *parts)

    def _x_axis(self, x: Scale) -> Markup:
        parts = [svg.text(self.x_label, (LEFT + RIGHT) / 2, HEIGHT - 10, "label")]
        for tick in self._x_ticks(x):
            parts.append(svg.line(x(tick), BOTTOM, x(tick), BOTTOM + 5, "axis"))
            parts.append(svg.text(self._tick_text(tick), x(tick), BOTTOM + 19, "tick"))
        return svg.element("g", *parts)

    def _x_ticks(self, x: Scale) -> list[float]:
        """The measured places themselves where there is room, otherwise round ones."""
        places = sorted({place for line in self.lines for place in line.places})
        room = (len(max(map(self._tick_text, places), key=len)) + 1.5) * CHARACTER
        if all(x(right) - x(left) >= room for left, right in itertools.pairwise(places)):
            return places
        if x.logarithmic:
            return [tick * self.unit for tick in doubling_ticks(x.low / self.unit, x.high / self.unit)]
        return [tick * self.unit for tick in nice_ticks(x.high / self.unit, 6) if tick * self.unit <= x.high]

    def _tick_text(self, tick: float) -> str:
        return format_number(tick / self.unit)

    def _answer(self, x: Scale) -> Markup:
        if self.mark is None:
            return Markup("")
        place, word = x(self.mark[0]), self.mark[1]
        half = len(word) * BOLD_CHARACTER / 2
        centre = min(max(place, LEFT + half + 30), WIDTH - half - 2)
        return svg.element(
            "g", svg.line(place, TOP - 4, place, BOTTOM, "answer"), svg.text(word, centre, TOP - 10, "answer-word")
        )

    def _failure_words(self, x: Scale) -> Markup:
        """One word for each place and way of failing, lifted where it would cover its neighbour."""
        seen: dict[tuple[float, str], int] = {}
        for line in self.lines:
            for failure in line.failures:
                seen[failure.x, failure.word] = seen.get((failure.x, failure.word), 0) + 1
        parts, taken = [], list[tuple[float, float, int]]()
        for (place, word), count in sorted(seen.items()):
            content = word if count == 1 else f"{word} ×{count}"
            half = len(content) * CHARACTER / 2
            centre = min(max(x(place), LEFT + half + 2), RIGHT - half)
            level = _free_level(centre - half, centre + half, taken)
            taken.append((centre - half, centre + half, level))
            parts.append(svg.text(content, centre, BOTTOM - 12 - 14 * level, "failure-word"))
        return svg.element("g", *parts)


def _free_level(left: float, right: float, taken: Sequence[tuple[float, float, int]]) -> int:
    used = {level for other_left, other_right, level in taken if left < other_right + 4 and other_left < right + 4}
    return next(level for level in range(len(taken) + 1) if level not in used)


def _line(line: Line, index: int, alone: bool, x: Scale, y: Scale) -> Markup:
    parts = [svg.window(LEFT, TOP, RIGHT, BOTTOM, *_stretches(line, x, y)), *_points(line, index, x, y)]
    parts += [svg.cross(x(each.x), BOTTOM - 1, "failure", each.title) for each in line.failures]
    return svg.element("g", *parts, class_=f"series-{index % 4}" + (" alone" if alone else ""))


def _stretches(line: Line, x: Scale, y: Scale) -> Iterator[Markup]:
    for stretch in line.stretches:
        kind = " extrapolated" if stretch[0].extrapolated else ""
        if len(stretch) == 1:
            yield from _box(stretch[0], kind, x, y)
            continue
        upper = [(x(each.x), _inside(y, each.throughput.high)) for each in stretch]
        lower = [(x(each.x), _inside(y, each.throughput.low)) for each in reversed(stretch)]
        yield svg.path([*upper, *lower], f"band{kind}", closed=True)
        yield svg.path([(x(each.x), _inside(y, each.throughput.value)) for each in stretch], f"model{kind}")


def _box(point: CurvePoint, kind: str, x: Scale, y: Scale) -> Iterator[Markup]:
    """The model at one place alone."""
    left, right = x(point.x) - BOX, x(point.x) + BOX
    low, high = _inside(y, point.throughput.low), _inside(y, point.throughput.high)
    yield svg.path([(left, low), (left, high), (right, high), (right, low)], f"band{kind}", closed=True)
    middle = _inside(y, point.throughput.value)
    yield svg.line(left, middle, right, middle, f"model{kind}")


def _points(line: Line, index: int, x: Scale, y: Scale) -> Iterator[Markup]:
    repeats: dict[float, int] = {}
    totals = {place: sum(point.x == place for point in line.points) for place in line.places}
    for point in line.points:
        number = repeats.get(point.x, 0)
        repeats[point.x] = number + 1
        place = x(point.x) + DODGE * (number - (totals[point.x] - 1) / 2)
        yield svg.line(place, y(point.throughput.low), place, y(point.throughput.high), "whisker")
        yield svg.marker(index, place, y(point.throughput.value), "point", point.title)


def _inside(y: Scale, value: float) -> float:
    """A height that may leave the window, but not by so much that drawing it costs precision."""
    return y(min(max(value, y.low), 3 * y.high))
