"""One rate among its candidates, small enough to stand in a row of a table; the words stand beside it."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from sizer.records import Estimate

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
    """The answer's rate from 0 to the best of its candidates, with a tick for each of them.

    `measured` is the bar, the rate of runs with just this configuration, None where there are none; `interval` lies
    over it. `predicted` is the model's rate with its 90 % interval for a new run, drawn as the model is elsewhere.
    """

    label: str
    candidates: tuple[Candidate, ...]
    measured: float | None = None
    interval: Estimate | None = None
    predicted: Estimate | None = None

    def draw(self) -> Markup:
        x, middle = self._x, TOP + BAR / 2
        parts = [svg.rectangle(EDGE, TOP, WIDTH - 2 * EDGE, BAR, "track")]
        if self.measured is not None:
            parts.append(svg.rectangle(EDGE, TOP, x(self.measured) - EDGE, BAR, "small-bar"))
        if self.predicted is not None:
            low, high = x(max(0.0, self.predicted.low)), x(self.predicted.high)
            place = x(self.predicted.value)
            if self.measured is None:
                parts.append(svg.rectangle(EDGE, TOP, place - EDGE, BAR, "small-frame"))
            parts.append(svg.rectangle(low, TOP, high - low, BAR, "band"))
            parts.append(svg.line(place, TOP - 1, place, TOP + BAR + 1, "model"))
        if self.interval is not None and self.interval.has_interval:
            low, high = x(max(0.0, self.interval.low)), x(self.interval.high)
            parts.append(svg.line(low, middle, high, middle, "interval"))
            parts += [svg.line(each, middle - 3, each, middle + 3, "interval") for each in (low, high)]
        for each in self.candidates:
            tick = svg.line(x(each.rate), TOP + BAR + 2, x(each.rate), TOP + BAR + 2 + TICK, "candidate")
            parts.append(svg.element("g", *([svg.tooltip(each.title)] if each.title else []), tick))
        return svg.drawing(WIDTH, HEIGHT, self.label, svg.element("g", *parts, class_="series-0 alone"))

    def _x(self, rate: float) -> float:
        # An interval that reaches beyond the best candidate is drawn whole; a very wide one does not push all aside.
        drawn = [estimate for estimate in (self.interval, self.predicted) if estimate is not None]
        best = max([each.rate for each in self.candidates] + [each.value for each in drawn] + [self.measured or 0.0])
        highest = max([best] + [min(each.high, 1.5 * best) for each in drawn]) or 1.0
        return EDGE + min(rate / highest, 1.0) * (WIDTH - 2 * EDGE)
