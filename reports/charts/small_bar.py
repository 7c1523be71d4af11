"""One rate among its candidates, small enough to stand in a row of a table; the words stand beside it."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from sizer.records.configuration import Estimate

from . import svg

WIDTH, HEIGHT = 200.0, 19.0
TOP, BAR, TICK = 2.0, 9.0, 5.0
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
        x, middle, rate = self._x, TOP + BAR / 2, self.rate
        bar = "small-frame" if self.predicted else "small-bar"
        parts = [
            svg.rectangle(EDGE, TOP, WIDTH - 2 * EDGE, BAR, "track"),
            svg.rectangle(EDGE, TOP, x(rate.value) - EDGE, BAR, bar),
        ]
        if rate.has_interval:
            low, high = x(max(0.0, rate.low)), x(rate.high)
            parts.append(svg.line(low, middle, high, middle, "interval"))
            parts += [svg.line(each, middle - 3, each, middle + 3, "interval") for each in (low, high)]
        for each in self.candidates:
            tick = svg.line(x(each.rate), TOP + BAR + 2, x(each.rate), TOP + BAR + 2 + TICK, "candidate")
            parts.append(svg.element("g", *([svg.tooltip(each.title)] if each.title else []), tick))
        return svg.drawing(WIDTH, HEIGHT, self.label, svg.element("g", *parts, class_="series-0 alone"))

    def _x(self, rate: float) -> float:
        # An interval that reaches beyond the best candidate is drawn whole; a very wide one does not push all aside.
        best = max([each.rate for each in self.candidates] + [self.rate.value])
        highest = max(best, min(self.rate.high, 1.5 * best)) or 1.0
        return EDGE + min(rate / highest, 1.0) * (WIDTH - 2 * EDGE)
