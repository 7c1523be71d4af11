"""The keys that say what the marks of a chart mean."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from sizer.words.language import _

from . import svg


@dataclass(frozen=True)
class Key:
    """A small picture of a mark, its meaning, and the class that gives it the colours that the mark has."""

    svg: Markup
    text: str
    kind: str = "neutral"


def series(index: int, text: str, alone: bool, light: bool = False, whisker: bool = True) -> Key:
    """A measured point of the series with that index, with its whisker where one has an interval; hollow of a `light`
    series."""
    marks = [svg.line(13, 1, 13, 13, "whisker")] if whisker else []
    kind = " light" if light else " alone" if alone else ""
    return Key(_small(*marks, svg.marker(index, 13.0, 7.0, "point", "")), text, f"series-{index % 4}{kind}")


def stretch(index: int | None, text: str) -> Key:
    """What went on, in a strip along the axis of time."""
    return Key(
        _small(svg.rectangle(4, 1, 18, 12, "stretch")), text, "neutral" if index is None else f"series-{index % 4}"
    )


def usual(text: str) -> Key:
    """The band that values usually lie in."""
    return Key(_small(svg.rectangle(1, 2, 24, 10, "usual")), text)


def measured_bar(text: str) -> Key:
    """A bar with its interval."""
    return Key(_small(svg.rectangle(0, 3, 19, 8, "bar"), *_interval(12)), text, "series-0 alone")


def small_bar(text: str, predicted: bool = False) -> Key:
    """A rate among its candidates, with its interval."""
    bar = svg.rectangle(1, 3, 17, 8, "small-frame" if predicted else "small-bar")
    return Key(_small(bar, *_interval(11)), text, "series-0 alone")


def _interval(left: float) -> list[Markup]:
    ends = [svg.line(end, 4, end, 10, "interval") for end in (left, 25)]
    return [svg.line(left, 7, 25, 7, "interval"), *ends]


def candidate(text: str) -> Key:
    """The tick of one that the answer was chosen from."""
    return Key(_small(svg.line(13, 4, 13, 10, "candidate")), text)


def bar(index: int, text: str) -> Key:
    """A bar of the series with that index."""
    return Key(_small(svg.rectangle(1, 3, 24, 8, "bar")), text, f"series-{index % 4}")


def model(alone: bool, upright: bool = False) -> Key:
    """The model's line with its band, or what it says of one bar."""
    band = svg.rectangle(1, 2, 24, 10, "band")
    middle = svg.line(13, 0, 13, 14, "model") if upright else svg.line(1, 7, 25, 7, "model")
    return Key(_small(band, middle), _("model, 90 % for a new run"), _whose(alone))


def extrapolated(alone: bool) -> Key:
    return Key(_small(svg.line(1, 7, 25, 7, "model extrapolated")), _("extrapolated"), _whose(alone))


def ideal(text: str) -> Key:
    """A thin line of what would be ideal."""
    return Key(_small(svg.line(1, 12, 25, 2, "ideal")), text)


def failed() -> Key:
    return Key(_small(svg.cross(13, 7, "failure", "")), _("failed run"))


def answer(word: str) -> Key:
    """The dotted line at the place of the answer, called as in the picture."""
    return Key(_small(svg.line(13, 0, 13, 14, "answer")), word)


def knee(text: str) -> Key:
    return Key(_small(svg.element("circle", cx=13, cy=7, r=5.5, class_="knee")), text)


def ceiling(text: str, upright: bool = False) -> Key:
    """What one resource alone would allow."""
    drawn = svg.line(13, 0, 13, 14, "ceiling") if upright else svg.line(1, 7, 25, 7, "ceiling")
    return Key(_small(drawn), text)


def part(hue: int, text: str) -> Key:
    """A resource by its colour and hatching."""
    return Key(_small(svg.rectangle(4, 1, 18, 12, "part"), svg.rectangle(4, 1, 18, 12, "hatched")), text, f"hue-{hue}")


def cell(is_measured: bool, text: str) -> Key:
    """How a place that was measured, or one that only the model knows, is framed; the former has a point."""
    frame = svg.rectangle(3, 1, 20, 12, f"cell {'measured' if is_measured else 'modelled'}")
    return Key(_small(frame, *([svg.marker(0, 13.0, 7.0, "point", "")] if is_measured else [])), text)


def _whose(alone: bool) -> str:
    return "series-0 alone" if alone else "neutral"


def _small(*marks: Markup) -> Markup:
    return svg.element("svg", *marks, viewBox="0 0 26 14", aria_hidden="true")


@dataclass(frozen=True)
class Figure:
    """A picture with its heading, its legend, the sentences under it, and a question that it answers."""

    title: str
    svg: Markup
    keys: tuple[Key, ...]
    caption: str = ""
    question: str = ""
    answer: str = ""
