"""The keys that say what the marks of a chart mean."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from sizer.words import _

from . import svg


@dataclass(frozen=True)
class Key:
    """A small picture of a mark, and its meaning."""

    svg: Markup
    text: str


def series_key(index: int) -> Markup:
    """A measured point of the series with that index, with its whisker."""
    return _small(svg.line(13, 1, 13, 13, "whisker"), svg.marker(index, 13.0, 7.0, "point", ""))


def bar_key() -> Markup:
    """A machine's bar with its interval."""
    area = [(0, 3), (19, 3), (19, 11), (0, 11)]
    return _small(
        svg.path(area, "bar", closed=True),
        svg.line(12, 7, 25, 7, "interval"),
        svg.line(12, 4, 12, 10, "interval"),
        svg.line(25, 4, 25, 10, "interval"),
    )


def explained(
    has_model: bool, is_by_disk: bool, has_extrapolation: bool, has_failures: bool, answer: str
) -> tuple[Key, ...]:
    """What the picture shows beside measured points; `answer` is '' where it is not marked."""
    keys = []
    if has_model:
        band = svg.path([(1, 2), (25, 2), (25, 12), (1, 12)], "band", closed=True)
        middle = svg.line(13, 0, 13, 14, "model") if is_by_disk else svg.line(1, 7, 25, 7, "model")
        keys.append(Key(_small(band, middle), _("model, 90 % for a new run")))
    if has_extrapolation:
        keys.append(Key(_small(svg.line(1, 7, 25, 7, "model extrapolated")), _("extrapolated")))
    if has_failures:
        keys.append(Key(_small(svg.cross(13, 7, "failure", "")), _("failed run")))
    if answer and not is_by_disk:
        keys.append(Key(_small(svg.line(13, 0, 13, 14, "answer")), answer))
    return tuple(keys)


def _small(*marks: Markup) -> Markup:
    return svg.element("svg", *marks, viewBox="0 0 26 14", aria_hidden="true")
