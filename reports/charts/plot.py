"""A measured quantity against a continuous axis, and under it, on the same axis, what goes with it: where the time of a
sample goes, or what went on meanwhile.

Measured points have whiskers, the model a line with its band, failed runs a cross; what the accelerator or the disk
allows is a line with its name.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from markupsafe import Markup

from sizer.records.prediction import Estimate
from sizer.records.units import format_number
from sizer.words.language import _

from . import svg
from .legend import Figure, Key, key, series_class, series_key
from .svg import BOLD, CHARACTER, Scale, cut, doubling_ticks, nice_ticks, ticks_between, width

WIDTH = 420.0
LEFT, RIGHT, TOP, BOTTOM = 56.0, 404.0, 26.0, 242.0
PILES_TOP, PILES_BOTTOM = 282.0, 362.0
STRIP_TOP, STRIP_HEIGHT, STRIP_AXIS = BOTTOM + 14, 18.0, BOTTOM + 40
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
MOST_STRETCHES = 200
"""Of which each can be pointed at. More would be less than two pixels wide, so those of a series are one mark."""
LINE = 14.0
"""Pixels from one line of words to the next."""
WIDEST_PILE, THINNEST = 26.0, 1.5
"""Pixels; where places crowd, piles are as narrow as leaves a gap between them."""


@dataclass(frozen=True)
class Point:
    """A run that gave a value, with its 95 % interval."""

    x: float
    value: Estimate
    title: str


@dataclass(frozen=True)
class FailureMark:
    """A run that gave none, and how it ended in a word or two."""

    x: float
    word: str
    title: str


@dataclass(frozen=True)
class CurvePoint:
    """The predicted value at x, with its 90 % interval for a new run."""

    x: float
    value: Estimate
    extrapolated: bool


@dataclass(frozen=True)
class Line:
    """One series: its `name` in the legend and the number of its colour and shape, what was measured, what failed, what
    the model says, and (x, value) of what would be ideal.

    One that `is_light` stands beside what the picture is about: its points are hollow.
    """

    points: tuple[Point, ...]
    failures: tuple[FailureMark, ...] = ()
    stretches: tuple[tuple[CurvePoint, ...], ...] = ()
    ideal: tuple[tuple[float, float], ...] = ()
    is_light: bool = False
    name: str = ""
    series: int = 0

    @property
    def places(self) -> list[float]:
        return [*(point.x for point in self.points), *(failure.x for failure in self.failures)]

    @property
    def curve(self) -> list[CurvePoint]:
        return [point for stretch in self.stretches for point in stretch]


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
class Stretch:
    """What went on from `start` to `end`; that of no `series` is neutral, and what failed is a cross."""

    start: float
    end: float
    title: str
    series: int | None = None
    failed: bool = False


@dataclass(frozen=True)
class Plot:
    """What one picture shows. `unit` is what the x axis counts in; piles are counted in `pile_unit` seconds.

    The y axis begins at 0; with a `band` of usual values it holds these and the values alone. `ideal` and `knee_name`
    are what the legend calls the ideal lines and the knee, `usual` and `strips` the band and each series of the strip.
    """

    title: str
    x_label: str
    y_label: str
    unit: float
    lines: tuple[Line, ...]
    logarithmic: bool = False
    marks: tuple[PlaceMark, ...] = ()
    ceilings: tuple[Ceiling, ...] = ()
    knee: tuple[float, float] | None = None
    knee_name: str = ""
    ideal: str = ""
    piles: tuple[Pile, ...] = ()
    pile_label: str = ""
    pile_unit: float = 1e-3
    stops: tuple[Stop, ...] = ()
    band: tuple[float, float] | None = None
    usual: str = ""
    strip: tuple[Stretch, ...] = ()
    strips: tuple[tuple[int | None, str], ...] = ()
    description: str = ""

    def figure(self, caption: str = "", question: str = "", answer: str = "") -> Figure:
        """The picture with its legend, and what stands under it."""
        return Figure(self.title, self.draw(), tuple(self.keys()), caption, question, answer)

    def keys(self) -> Iterator[Key]:
        """What each mark that is drawn means."""
        alone = self.is_alone
        model = series_class(0, alone) if alone else "neutral"
        curve = [point for line in self.lines for point in line.curve]
        for line in self.lines:
            if line.points and line.name:
                whisker = any(point.value.has_interval for point in line.points)
                kind = series_class(line.series, alone, line.is_light)
                yield series_key(line.series, line.name, kind, whisker)
        if curve:
            yield key("model", _("model, 90 % for a new run"), model)
        if any(point.extrapolated for point in curve):
            yield key("extrapolated", _("extrapolated"), model)
        if any(line.ideal for line in self.lines):
            yield key("ideal", self.ideal)
        if self.band is not None:
            yield key("usual", self.usual)
        yield from (key("stretch", name, series_class(index)) for index, name in self.strips)
        if any(line.failures for line in self.lines) or any(stretch.failed for stretch in self.strip):
            yield key("failed", _("failed run"))
        yield from (key("answer", mark.word) for mark in self.marks if mark.is_answer)
        if self.knee is not None:
            yield key("knee", self.knee_name)
        for hue, name in sorted({(part.hue, part.name) for pile in self.piles for part in pile.parts}):
            yield key("part", name, f"hue-{hue}")

    @property
    def is_alone(self) -> bool:
        """Whether the picture is about one series."""
        return sum(not line.is_light for line in self.lines) == 1 and self.band is None

    def draw(self) -> Markup:
        marks = sorted(self.marks, key=lambda mark: not mark.is_answer)
        words = [(self.x(mark.x), width(mark.word, BOLD if mark.is_answer else 1.0)) for mark in marks]
        placed = _without_overlap(words, max(LEFT + 30, LEFT - 42 + width(self.y_label)), WIDTH - 2)
        if self.strip:  # a study may have stood still often: of words that would meet, the first
            marks = [
                replace(mark, word="" if level else mark.word) for mark, (_, level) in zip(marks, placed, strict=True)
            ]
            placed = [(centre, 0) for centre, _level in placed]
        above = LINE * max((level for _centre, level in placed), default=0)
        return svg.drawing(
            WIDTH,
            self._lowest + UNDER_AXIS + above,
            f"{self.title}, {self.y_label}",
            self._grid(),
            self._x_axis(),
            self._stops(),
            *self._piles(),
            *self._strip(),
            *self._ceilings(),
            *(self._mark(mark, *place) for mark, place in zip(marks, placed, strict=True)),
            *(self._line(line) for line in sorted(self.lines, key=lambda line: not line.is_light)),
            self._knee(),
            self._failure_words(),
            description=self.description,
            top=-above,
        )

    @property
    def _lowest(self) -> float:
        return PILES_BOTTOM if self.piles else STRIP_AXIS if self.strip else BOTTOM

    @cached_property
    def x(self) -> Scale:
        places = [place for line in self.lines for place in (*line.places, *(point.x for point in line.curve))]
        places += [mark.x for mark in self.marks] + [stretch.end for stretch in self.strip]
        low, high = min(places), max(places)
        if self.logarithmic:
            return Scale(low / 1.2, high * 1.2, LEFT, RIGHT, logarithmic=True)
        return Scale(0.0, (high or 1.0) * (1.01 if self.strip else 1.06), LEFT, RIGHT)

    @cached_property
    def y_ticks(self) -> list[float]:
        """Round values around all that is drawn; intervals that reach far out are cut off."""
        values = [point.value for line in self.lines for point in line.points]
        highest = max((value.high for value in values), default=1.0) or 1.0
        if self.band is not None:
            middles = [*(value.value for value in values), *self.band]
            low, high = min(middles), max(middles)
            room = high - low or abs(high) or 1.0
            return ticks_between(
                max(low - room, min([low, *(value.low for value in values)])), min(high + room, max(high, highest))
            )
        modelled = [point.value.high for line in self.lines for point in line.curve]
        modelled += [rate for line in self.lines for _x, rate in line.ideal]
        ceilings = [ceiling.throughput for ceiling in self.ceilings if ceiling.throughput <= highest * CLEAR]
        top = max(highest, min(max(modelled, default=0.0), highest * CLEAR), *ceilings, 0.0)
        return nice_ticks(top * 1.04)

    @cached_property
    def y(self) -> Scale:
        return Scale(self.y_ticks[0], self.y_ticks[-1], BOTTOM, TOP)

    def _grid(self) -> Markup:
        parts = [svg.text(self.y_label, LEFT - 48, TOP - 12, "label", "start")]
        if self.band is not None:
            upper, lower = self.y(self.band[1]), self.y(self.band[0])
            parts.append(svg.rectangle(LEFT, upper, RIGHT - LEFT, lower - upper, "usual"))
        for tick in self.y_ticks:
            parts.append(svg.line(LEFT, self.y(tick), RIGHT, self.y(tick), "axis" if tick == 0 else "grid"))
            parts.append(svg.text(format_number(tick), LEFT - 8, self.y(tick) + 4, "tick", "end"))
        return svg.element("g", *parts)

    def _x_axis(self) -> Markup:
        lowest = self._lowest
        parts = [svg.text(self.x_label, (LEFT + RIGHT) / 2, lowest + 40, "label")]
        parts += [svg.line(LEFT, lowest, RIGHT, lowest, "axis")] if self.strip else []
        for tick in self._x_ticks():
            parts.append(svg.line(self.x(tick), lowest, self.x(tick), lowest + 5, "axis"))
            parts.append(svg.text(self._tick_text(tick), self.x(tick), lowest + 19, "tick"))
            if self.piles:
                parts.append(svg.line(self.x(tick), BOTTOM, self.x(tick), BOTTOM + 5, "axis"))
        return svg.element("g", *parts)

    def _x_ticks(self) -> list[float]:
        """The measured places themselves where there is room, otherwise round ones; of time always these."""
        places = sorted({place for line in self.lines for place in line.places})
        room = (len(max(map(self._tick_text, places), key=len)) + 1.5) * CHARACTER
        between = (self.x(right) - self.x(left) for left, right in itertools.pairwise(places))
        if not self.strip and all(pixels >= room for pixels in between):
            return places
        if self.x.logarithmic:
            return [tick * self.unit for tick in doubling_ticks(self.x.low / self.unit, self.x.high / self.unit)]
        return [tick * self.unit for tick in nice_ticks(self.x.high / self.unit, 6) if tick * self.unit <= self.x.high]

    def _tick_text(self, tick: float) -> str:
        return format_number(tick / self.unit)

    def _stops(self) -> Markup:
        """Columns that nobody sees until they are pointed at; each reaches half-way to its neighbours."""
        stops = sorted(self.stops, key=lambda stop: stop.x)
        places = [self.x(stop.x) for stop in stops]
        edges = [LEFT, *((a + b) / 2 for a, b in itertools.pairwise(places)), RIGHT]
        height = self._lowest - TOP
        columns = [
            svg.rectangle(left, TOP, right - left, height, "stop", svg.tooltip(stop.words), data_at=place)
            for stop, place, left, right in zip(stops, places, edges, edges[1:], strict=False)
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

    def _strip(self) -> Iterator[Markup]:
        """What went on, along the axis."""
        for series in sorted({stretch.series for stretch in self.strip}, key=str):
            bars = [stretch for stretch in self.strip if stretch.series == series and not stretch.failed]
            ends = [(self.x(bar.start), max(self.x(bar.end) - self.x(bar.start) - 0.5, THINNEST)) for bar in bars]
            if len(self.strip) <= MOST_STRETCHES:
                marks = [
                    svg.rectangle(left, STRIP_TOP, across, STRIP_HEIGHT, "stretch", svg.tooltip(bar.title))
                    for bar, (left, across) in zip(bars, ends, strict=True)
                ]
            else:
                down = f"v{STRIP_HEIGHT:.0f}"
                steps = "".join(
                    f"M{left:.1f} {STRIP_TOP:.0f}h{across:.1f}{down}h-{across:.1f}z" for left, across in ends
                )
                marks = [svg.element("path", d=steps, class_="stretch")]
            yield svg.element("g", *marks, class_=series_class(series))
        for stretch in self.strip:
            if stretch.failed:
                middle = self.x((stretch.start + stretch.end) / 2)
                yield svg.cross(middle, STRIP_TOP + STRIP_HEIGHT / 2, "failure", stretch.title)

    def _ceilings(self) -> Iterator[Markup]:
        """Lines with their names above them, or below the lower one of two that are close."""
        shown = sorted(
            (ceiling for ceiling in self.ceilings if ceiling.throughput <= self.y.high), key=lambda c: -c.throughput
        )
        last = -LINE
        for ceiling in shown:
            height = self.y(ceiling.throughput)
            above = height - 5 >= last + LINE
            last = height - 5 if above else height + LINE - 1
            yield svg.element(
                "g",
                svg.line(LEFT, height, RIGHT, height, "ceiling"),
                svg.text(cut(ceiling.name, RIGHT - LEFT - 8), RIGHT - 4, last, "ceiling-word", "end"),
            )

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
        counts = Counter((failure.x, failure.word) for line in self.lines for failure in line.failures)
        words = [(place, word if count == 1 else f"{word} ×{count}") for (place, word), count in sorted(counts.items())]
        placed = _without_overlap([(self.x(place), width(word)) for place, word in words], LEFT + 2, RIGHT)
        parts = [
            svg.text(word, centre, BOTTOM - 12 - LINE * level, "failure-word")
            for (_place, word), (centre, level) in zip(words, placed, strict=True)
        ]
        return svg.element("g", *parts)

    def _line(self, line: Line) -> Markup:
        behind = []
        if line.ideal:
            behind = [svg.path([(self.x(place), self._inside(rate)) for place, rate in line.ideal], "ideal")]
        behind += [mark for stretch in line.stretches for mark in self._curve(stretch)]
        parts = [svg.window(LEFT, TOP, RIGHT, BOTTOM, *behind), *self._points(line)]
        parts += [svg.cross(self.x(run.x), BOTTOM - 1, "failure", run.title) for run in line.failures]
        return svg.element("g", *parts, class_=series_class(line.series, self.is_alone, line.is_light))

    def _curve(self, stretch: Sequence[CurvePoint]) -> Iterator[Markup]:
        """The model's line with its band; at one place alone a box."""
        kind = " extrapolated" if stretch[0].extrapolated else ""
        ends = [(self.x(point.x), point.value) for point in stretch]
        if len(ends) == 1:
            ends = [(ends[0][0] - BOX, ends[0][1]), (ends[0][0] + BOX, ends[0][1])]
        upper = [(place, self._inside(value.high)) for place, value in ends]
        lower = [(place, self._inside(value.low)) for place, value in reversed(ends)]
        yield svg.path([*upper, *lower], f"band{kind}", closed=True)
        yield svg.path([(place, self._inside(value.value)) for place, value in ends], f"model{kind}")

    def _points(self, line: Line) -> Iterator[Markup]:
        drawn: Counter[float] = Counter()
        totals = Counter(point.x for point in line.points)
        for point in line.points:
            apart = min(DODGE, CROWD / max(totals[point.x] - 1, 1))
            place = self.x(point.x) + apart * (drawn[point.x] - (totals[point.x] - 1) / 2)
            drawn[point.x] += 1
            if point.value.has_interval:
                low, high = (min(max(end, self.y.low), self.y.high) for end in (point.value.low, point.value.high))
                yield svg.line(place, self.y(low), place, self.y(high), "whisker")
            few = totals[point.x] <= MOST_TITLED and len(line.points) <= MOST_POINTS
            title, kind = (point.title, "point") if few or not self.stops else ("", "point untitled")
            yield svg.marker(line.series, place, self.y(point.value.value), kind, title)

    def _inside(self, value: float) -> float:
        """A height that may leave the window, but not by so much that drawing it costs precision."""
        return self.y(min(max(value, self.y.low), 3 * self.y.high))


def _without_overlap(words: Iterable[tuple[float, float]], left: float, right: float) -> list[tuple[float, int]]:
    """Of words by their place and width the middle and on which line each stands, so that no two meet."""
    taken: list[tuple[float, float, int]] = []
    for place, across in words:
        centre = min(max(place, left + across / 2), right - across / 2)
        start, end = centre - across / 2, centre + across / 2
        used = {level for other, other_end, level in taken if other < end + 4 and start < other_end + 4}
        taken.append((start, end, next(level for level in itertools.count() if level not in used)))
    return [((start + end) / 2, level) for start, end, level in taken]


def _pile(pile: Pile, place: float, half: float, y: Scale) -> Markup:
    below, drawn = 0.0, []
    for part in pile.parts:
        upper, lower = y(below + part.seconds), y(below)
        below += part.seconds
        area = (place - half, upper, 2 * half, lower - upper)
        marks = (svg.tooltip(part.title), svg.rectangle(*area, "part"), svg.rectangle(*area, "hatched"))
        drawn.append(svg.element("g", *marks, class_=f"hue-{part.hue}"))
    return svg.element("g", *drawn)
