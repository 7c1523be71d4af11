"""A figure, and the keys that say what the marks of its chart mean."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from . import svg


@dataclass(frozen=True)
class Key:
    """A small picture of a mark, its meaning, and the class that gives it the colours that the mark has."""

    svg: Markup
    text: str
    kind: str = "neutral"


@dataclass(frozen=True)
class Figure:
    """A picture with its heading, its legend, the sentences under it, and a question that it answers."""

    title: str
    svg: Markup
    keys: tuple[Key, ...]
    caption: str = ""
    question: str = ""
    answer: str = ""


def _interval(left: float) -> tuple[Markup, ...]:
    ends = (svg.line(end, 4, end, 10, "interval") for end in (left, 25))
    return svg.line(left, 7, 25, 7, "interval"), *ends


BAND = svg.rectangle(1, 2, 24, 10, "band")

MARKS = {
    "answer": (svg.line(13, 0, 13, 14, "answer"),),
    "bar": (svg.rectangle(1, 3, 24, 8, "bar"),),
    "candidate": (svg.line(13, 4, 13, 10, "candidate"),),
    "ceiling": (svg.line(13, 0, 13, 14, "ceiling"),),
    "extrapolated": (svg.line(1, 7, 25, 7, "model extrapolated"),),
    "failed": (svg.cross(13, 7, "failure", ""),),
    "ideal": (svg.line(1, 12, 25, 2, "ideal"),),
    "knee": (svg.element("circle", cx=13, cy=7, r=5.5, class_="knee"),),
    "measured bar": (svg.rectangle(0, 3, 19, 8, "bar"), *_interval(12)),
    "measured cell": (
        svg.rectangle(3, 1, 20, 12, "cell measured"),
        svg.marker(0, 13.0, 7.0, "point", ""),
    ),
    "model": (BAND, svg.line(1, 7, 25, 7, "model")),
    "model of a bar": (BAND, svg.line(13, 0, 13, 14, "model")),
    "modelled cell": (svg.rectangle(3, 1, 20, 12, "cell modelled"),),
    "part": (svg.rectangle(4, 1, 18, 12, "part"), svg.rectangle(4, 1, 18, 12, "hatched")),
    "small bar": (svg.rectangle(1, 3, 17, 8, "small-bar"), *_interval(11)),
    "small predicted bar": (svg.rectangle(1, 3, 17, 8, "small-frame"), *_interval(11)),
    "stretch": (svg.rectangle(4, 1, 18, 12, "stretch"),),
    "usual": (svg.rectangle(1, 2, 24, 10, "usual"),),
}
"""Each mark of a chart as it looks in a key of 26 by 14 pixels."""


def key(mark: str, text: str, kind: str = "neutral") -> Key:
    """What one of MARKS means, in the colours of `kind`."""
    return _key(MARKS[mark], text, kind)


def series_key(index: int, text: str, kind: str, whisker: bool = True) -> Key:
    """A measured point of the series with that index, with its whisker where one has an interval."""
    marks = [svg.line(13, 1, 13, 13, "whisker")] if whisker else []
    return _key((*marks, svg.marker(index, 13.0, 7.0, "point", "")), text, kind)


def series_class(index: int | None, alone: bool = False, light: bool = False) -> str:
    """The class that colours a series; that of none is neutral, and a `light` one stands beside what is shown."""
    if index is None:
        return "neutral"
    return f"series-{index % 4}" + (" light" if light else " alone" if alone else "")


def _key(marks: tuple[Markup, ...], text: str, kind: str) -> Key:
    return Key(svg.element("svg", *marks, viewBox="0 0 26 14", aria_hidden="true"), text, kind)
