"""Draws throughput by machine: one bar a machine with the interval of its rate, the machines of a kind together."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from sizer.records import Estimate, format_number

from . import svg
from .plot import CHARACTER
from .scales import Scale, nice_ticks

WIDTH, LEFT, RIGHT, TOP = 420.0, 8.0, 404.0, 6.0
BOLD = 1.15
"""How much wider bold letters are."""
SHORTEST = 50.0
"""Pixels below which a name that is cut says nothing."""
HEADING, ROW, BAR = 26.0, 38.0, 10.0
"""Heights in pixels of a kind's heading, of a machine's row and of its bar."""


@dataclass(frozen=True)
class Bar:
    """A machine: what it is, what it is called where it is rented, its rate with the interval, and that in words."""

    name: str
    instance: str
    throughput: Estimate
    rate: str
    title: str
    is_answer: bool = False


@dataclass(frozen=True)
class BarGroup:
    """The machines with one kind of accelerator; without a heading where that says nothing."""

    heading: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class BarChart:
    """All that one picture shows."""

    label: str
    x_label: str
    groups: tuple[BarGroup, ...]

    def draw(self) -> Markup:
        highest = max(bar.throughput.high for group in self.groups for bar in group.bars)
        longest = max(_width(bar.rate) for group in self.groups for bar in group.bars)
        x = Scale(0.0, nice_ticks(highest * 1.02)[-1], LEFT + 6, RIGHT - longest - 16)
        parts, top = [], TOP
        for group in self.groups:
            if group.heading:
                parts.append(svg.text(group.heading, LEFT + 6, top + 15, "kind", "start"))
                top += HEADING
            for bar in group.bars:
                parts.append(_bar(bar, top, x))
                top += ROW
        bottom = top + 4
        return svg.drawing(WIDTH, bottom + 42, self.label, self._grid(x, bottom), *parts)

    def _grid(self, x: Scale, bottom: float) -> Markup:
        parts = [svg.line(LEFT, bottom, x(x.high) + 6, bottom, "axis")]
        for tick in nice_ticks(x.high):
            parts.append(svg.line(x(tick), bottom, x(tick), bottom + 5, "axis"))
            parts.append(svg.text(format_number(tick), x(tick), bottom + 18, "tick"))
        parts.append(svg.text(self.x_label, (x(0) + x(x.high)) / 2, bottom + 37, "label"))
        return svg.element("g", *parts)


def _bar(bar: Bar, top: float, x: Scale) -> Markup:
    name = _cut(bar.name, RIGHT - LEFT - 10, BOLD)
    room = RIGHT - LEFT - 18 - _width(name, BOLD)
    instance = _cut(bar.instance, room) if room > SHORTEST else ""
    words = svg.element(
        "text",
        svg.element("tspan", name, class_="row-name answer-word" if bar.is_answer else "row-name"),
        *([svg.element("tspan", instance, dx=8)] if instance else []),
        x=LEFT + 6,
        y=top + 13,
        text_anchor="start",
    )
    upper, lower, middle = top + 20, top + 20 + BAR, top + 20 + BAR / 2
    rate, end = bar.throughput, x(bar.throughput.value)
    area = [(x(0), upper), (end, upper), (end, lower), (x(0), lower)]
    return svg.element(
        "g",
        svg.element("title", bar.title),
        words,
        svg.text(bar.rate, RIGHT - 4, middle + 4, "tick", "end"),
        svg.line(x(0), middle, x(x.high), middle, "grid"),
        svg.path(area, "bar answer-bar" if bar.is_answer else "bar", closed=True),
        svg.line(x(rate.low), middle, x(rate.high), middle, "interval"),
        svg.line(x(rate.low), middle - 3, x(rate.low), middle + 3, "interval"),
        svg.line(x(rate.high), middle - 3, x(rate.high), middle + 3, "interval"),
        class_="series-0",
    )


def _width(text: str, weight: float = 1.0) -> float:
    """About how many pixels it takes: capitals are wider than small letters, and Chinese characters wider still."""
    return weight * sum(13.0 if ord(each) > 0x2E7F else 8.4 if each.isupper() else CHARACTER for each in text)


def _cut(text: str, room: float, weight: float = 1.0) -> str:
    """A text that fits into so many pixels; its end, which distinguishes sizes of one family, is kept."""
    if _width(text, weight) <= room:
        return text
    for most in range(len(text) - 1, 1, -1):
        shorter = f"{text[: most // 2]}…{text[len(text) - (most - most // 2 - 1) :]}"
        if _width(shorter, weight) <= room:
            return shorter
    return ""
