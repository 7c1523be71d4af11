"""Throughput against a continuous axis, and under it, on the same axis, where the time of a sample goes.

Measured points have whiskers, the model a line with its band, failed runs a cross; what the accelerator or the disk
allows is a line with its name.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from markupsafe import Markup

from sizer.records.configuration import Estimate
from sizer.records.units import format_number

from . import svg
from .svg import BOLD, CHARACTER, Scale, cut, doubling_ticks, nice_ticks, width

WIDTH = 420.0
LEFT, RIGHT, TOP, BOTTOM = 56.0, 404.0, 26.0, 242.0
PILES_TOP, PILES_BOTTOM = 282.0, 362.0
UNDER_AXIS = 50.0
"""Height in pixels of the lowest axis' ticks and name."""
CLEAR = 1.6
"""How far beyond the measured rates the model's band or a ceiling may lift the y axis; what lies higher is cut off."""
BOX = 13.0
"""Half the width in pixels of the model's mark at a single place."""
DODGE, CROWD = 5.0, 22.0
"""Pixels between repeats of one configuration, so that their whiskers are seen apart, and of all of them at most."""
MOST_TITLED = 12
"""Repeats of a configuration that are told apart by pointing; of more the place tells what they gave."""
MOST_POINTS = 40
"""Of a series, each of which can be pointed at; of more the places of the axis tell what was measured there."""
LINE = 14.0
"""Pixels from one line of words to the next."""
WIDEST_PILE = 26.0
"""Pixels; where places crowd, piles are as narrow as leaves a gap between them."""


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
class CurvePoint:
    """The predicted rate at x, with its 90 % interval for a new run."""

    x: float
    throughput: Estimate
    extrapolated: bool


@dataclass(frozen=True)
class Line:
    """One series: what was measured, what failed, what the model says, and (x, rate) of what would be ideal.

    One that `is_light` stands beside what the picture is about: its points are hollow.
    """

    points: tuple[Point, ...]
    failures: tuple[FailureMark, ...]
    stretches: tuple[tuple[CurvePoint, ...], ...] = ()
    ideal: tuple[tuple[float, float], ...] = ()
    is_light: bool = False

    @property
    def places(self) -> list[float]:
        return [*(point.x for point in self.points), *(failure.x for failure in self.failures)]


@dataclass(frozen=True)
class Ceiling:
    """A rate that one resource alone would allow, and its name."""

    throughput: float
    name: str


@dataclass(frozen=True)
class PlaceMark:
    """A place on the axis with its name: the answer, or a limit of the workload's."""

    x: float
    word: str
    is_answer: bool = False


@dataclass(frozen=True)
class Part:
    """The time of a sample that goes to one resource; `hue` is the number of its colour and hatching."""

    name: str
    seconds: float
    hue: int
    title: str


@dataclass(frozen=True)
class Pile:
    """Where the time of a sample goes at one place of the axis, the lowest part first."""

    x: float
    parts: tuple[Part, ...]

    @property
    def seconds(self) -> float:
        return sum(part.seconds for part in self.parts)


@dataclass(frozen=True)
class Stop:
    """A place of the axis with what is known there, which pointing shows."""

    x: float
    words: str


@dataclass(frozen=True)
class Plot:
    """What one picture shows. `unit` is what the x axis counts in; piles are counted in `pile_unit` seconds."""

    label: str
    x_label: str
    y_label: str
    unit: float
    lines: tuple[Line, ...]
    logarithmic: bool
    marks: tuple[PlaceMark, ...] = ()
    ceilings: tuple[Ceiling, ...] = ()
    knee: tuple[float, float] | None = None
    piles: tuple[Pile, ...] = ()
    pile_label: str = ""
    pile_unit: float = 1e-3
    stops: tuple[Stop, ...] = ()
    description: str = ""

    @property
    def is_alone(self) -> bool:
        """Whether the picture is about one series."""
        return sum(not line.is_light for line in self.lines) == 1

    def draw(self) -> Markup:
        marks = list(self._placed_marks())
        above = LINE * max((level for _, _, level in marks), default=0)
        ordered = sorted(enumerate(self.lines), key=lambda each: not each[1].is_light)
        lines = [_line(line, index, self.is_alone, self.x, self.y) for index, line in ordered]
        return svg.drawing(
            WIDTH,
            self._lowest + UNDER_AXIS + above,
            self.label,
            self._grid(),
            self._x_axis(),
            self._stops(),
            *self._piles(),
            *self._ceilings(),
            *(self._mark(mark, centre, level) for mark, centre, level in marks),
            *lines,
            self._knee(),
            self._failure_words(),
            description=self.description,
            top=-above,
        )

    @property
    def _lowest(self) -> float:
        return PILES_BOTTOM if self.piles else BOTTOM

    @cached_property
    def x(self) -> Scale:
        places = [place for line in self.lines for place in line.places]
        places += [point.x for line in self.lines for stretch in line.stretches for point in stretch]
        places += [mark.x for mark in self.marks]
        low, high = min(places), max(places)
        if self.logarithmic:
            return Scale(low / 1.2, high * 1.2, LEFT, RIGHT, logarithmic=True)
        return Scale(0.0, high * 1.06, LEFT, RIGHT)

    @cached_property
    def y(self) -> Scale:
        measured = [point.throughput.high for line in self.lines for point in line.points]
        curve = [point for line in self.lines for stretch in line.stretches for point in stretch]
        highest = max(measured, default=1.0) or 1.0
        modelled = max([point.throughput.high for point in curve], default=0.0)
        modelled = max([modelled, *(rate for line in self.lines for _x, rate in line.ideal)])
        ceilings = [each.throughput for each in self.ceilings if each.throughput <= highest * CLEAR]
        top = max(highest, min(modelled, highest * CLEAR), *ceilings, 0.0) * 1.04
        return Scale(0.0, nice_ticks(top)[-1], BOTTOM, TOP)

    def _grid(self) -> Markup:
        parts = [svg.text(self.y_label, LEFT - 48, TOP - 12, "label", "start")]
        for tick in nice_ticks(self.y.high):
            parts.append(svg.line(LEFT, self.y(tick), RIGHT, self.y(tick), "axis" if tick == 0 else "grid"))
            parts.append(svg.text(format_number(tick), LEFT - 8, self.y(tick) + 4, "tick", "end"))
        return svg.element("g", *parts)

    def _x_axis(self) -> Markup:
        lowest = self._lowest
        parts = [svg.text(self.x_label, (LEFT + RIGHT) / 2, lowest + 40, "label")]
        for tick in self._x_ticks():
            parts.append(svg.line(self.x(tick), lowest, self.x(tick), lowest + 5, "axis"))
            parts.append(svg.text(self._tick_text(tick), self.x(tick), lowest + 19, "tick"))
            if self.piles:
                parts.append(svg.line(self.x(tick), BOTTOM, self.x(tick), BOTTOM + 5, "axis"))
        return svg.element("g", *parts)

    def _x_ticks(self) -> list[float]:
        """The measured places themselves where there is room, otherwise round ones."""
        places = sorted({place for line in self.lines for place in line.places})
        room = (len(max(map(self._tick_text, places), key=len)) + 1.5) * CHARACTER
        if all(self.x(right) - self.x(left) >= room for left, right in itertools.pairwise(places)):
            return places
        if self.x.logarithmic:
            return [tick * self.unit for tick in doubling_ticks(self.x.low / self.unit, self.x.high / self.unit)]
        return [tick * self.unit for tick in nice_ticks(self.x.high / self.unit, 6) if tick * self.unit <= self.x.high]

    def _tick_text(self, tick: float) -> str:
        return format_number(tick / self.unit)

    def _stops(self) -> Markup:
        """Columns that nobody sees until they are pointed at; each reaches half-way to its neighbours."""
        found = sorted(self.stops, key=lambda stop: stop.x)
        places = [self.x(stop.x) for stop in found]
        edges = [LEFT, *((a + b) / 2 for a, b in itertools.pairwise(places)), RIGHT]
        columns = [
            svg.element(
                "rect",
                svg.tooltip(stop.words),
                x=left,
                y=TOP,
                width=right - left,
                height=self._lowest - TOP,
                class_="stop",
                data_at=place,
            )
            for stop, place, left, right in zip(found, places, edges, edges[1:], strict=False)
        ]
        return svg.element("g", *columns)

    def _piles(self) -> Iterator[Markup]:
        if not self.piles:
            return
        top = nice_ticks(max(pile.seconds for pile in self.piles) * 1.02 / self.pile_unit, 3)[-1] * self.pile_unit
        y = Scale(0.0, top, PILES_BOTTOM, PILES_TOP)
        yield svg.text(self.pile_label, LEFT - 48, PILES_TOP - 12, "label", "start")
        for tick in nice_ticks(top / self.pile_unit, 3):
            height = y(tick * self.pile_unit)
            yield svg.line(LEFT, height, RIGHT, height, "axis" if tick == 0 else "grid")
            yield svg.text(format_number(tick), LEFT - 8, height + 4, "tick", "end")
        places = sorted(self.x(pile.x) for pile in self.piles)
        nearest = min((right - left for left, right in itertools.pairwise(places)), default=WIDEST_PILE)
        half = min(WIDEST_PILE, max(nearest * 0.8, 3.0)) / 2
        for pile in self.piles:
            yield _pile(pile, self.x(pile.x), half, y)

    def _ceilings(self) -> Iterator[Markup]:
        """Lines with their names above them, or below the lower one of two that are close."""
        shown = sorted((each for each in self.ceilings if each.throughput <= self.y.high), key=lambda c: -c.throughput)
        last = -LINE
        for each in shown:
            height = self.y(each.throughput)
            above = height - 5 >= last + LINE
            last = height - 5 if above else height + LINE - 1
            yield svg.element(
                "g",
                svg.line(LEFT, height, RIGHT, height, "ceiling"),
                svg.text(cut(each.name, RIGHT - LEFT - 8), RIGHT - 4, last, "ceiling-word", "end"),
            )

    def _placed_marks(self) -> Iterator[tuple[PlaceMark, float, int]]:
        """Each mark with the middle of its word and on which line that stands, so that no two words meet."""
        taken: list[tuple[float, float, int]] = []
        for mark in sorted(self.marks, key=lambda mark: not mark.is_answer):
            half = width(mark.word, BOLD if mark.is_answer else 1.0) / 2
            centre = min(max(self.x(mark.x), LEFT + half + 30), WIDTH - half - 2)
            level = _free_level(centre - half, centre + half, taken)
            taken.append((centre - half, centre + half, level))
            yield mark, centre, level

    def _mark(self, mark: PlaceMark, centre: float, level: int) -> Markup:
        kind, place = "answer" if mark.is_answer else "limit", self.x(mark.x)
        return svg.element(
            "g",
            svg.line(place, TOP - 4 - LINE * level, place, self._lowest, kind),
            svg.text(mark.word, centre, TOP - 10 - LINE * level, f"{kind}-word"),
        )

    def _knee(self) -> Markup:
        if self.knee is None:
            return Markup("")
        return svg.element("circle", cx=self.x(self.knee[0]), cy=self.y(self.knee[1]), r=7, class_="knee")

    def _failure_words(self) -> Markup:
        """One word for each place and way of failing, lifted where it would cover its neighbour."""
        seen: dict[tuple[float, str], int] = {}
        for line in self.lines:
            for failure in line.failures:
                seen[failure.x, failure.word] = seen.get((failure.x, failure.word), 0) + 1
        parts, taken = [], list[tuple[float, float, int]]()
        for (place, word), count in sorted(seen.items()):
            content = word if count == 1 else f"{word} ×{count}"
            half = len(content) * CHARACTER / 2
            centre = min(max(self.x(place), LEFT + half + 2), RIGHT - half)
            level = _free_level(centre - half, centre + half, taken)
            taken.append((centre - half, centre + half, level))
            parts.append(svg.text(content, centre, BOTTOM - 12 - LINE * level, "failure-word"))
        return svg.element("g", *parts)


def _free_level(left: float, right: float, taken: Sequence[tuple[float, float, int]]) -> int:
    used = {level for other_left, other_right, level in taken if left < other_right + 4 and other_left < right + 4}
    return next(level for level in range(len(taken) + 1) if level not in used)


def _pile(pile: Pile, place: float, half: float, y: Scale) -> Markup:
    below, drawn = 0.0, []
    for part in pile.parts:
        upper, lower = y(below + part.seconds), y(below)
        below += part.seconds
        area = (place - half, upper, 2 * half, lower - upper)
        drawn.append(
            svg.element(
                "g",
                svg.tooltip(part.title),
                svg.rectangle(*area, "part"),
                svg.rectangle(*area, "hatched"),
                class_=f"hue-{part.hue}",
            )
        )
    return svg.element("g", *drawn)


def _line(line: Line, index: int, alone: bool, x: Scale, y: Scale) -> Markup:
    behind = [svg.path([(x(place), _inside(y, rate)) for place, rate in line.ideal], "ideal")] if line.ideal else []
    behind += _stretches(line, x, y)
    parts = [svg.window(LEFT, TOP, RIGHT, BOTTOM, *behind), *_points(line, index, x, y)]
    parts += [svg.cross(x(each.x), BOTTOM - 1, "failure", each.title) for each in line.failures]
    kind = " light" if line.is_light else " alone" if alone else ""
    return svg.element("g", *parts, class_=f"series-{index % 4}{kind}")


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
    totals = Counter(point.x for point in line.points)
    for point in line.points:
        number = repeats.get(point.x, 0)
        repeats[point.x] = number + 1
        apart = min(DODGE, CROWD / max(totals[point.x] - 1, 1))
        place = x(point.x) + apart * (number - (totals[point.x] - 1) / 2)
        if point.throughput.has_interval:
            yield svg.line(place, y(point.throughput.low), place, y(point.throughput.high), "whisker")
        is_titled = totals[point.x] <= MOST_TITLED and len(line.points) <= MOST_POINTS
        title, kind = (point.title, "point") if is_titled else ("", "point untitled")
        yield svg.marker(index, place, y(point.throughput.value), kind, title)


def _inside(y: Scale, value: float) -> float:
    """A height that may leave the window, but not by so much that drawing it costs precision."""
    return y(min(max(value, y.low), 3 * y.high))
