"""The hatchings that tell resources apart without colour; the page holds them once, and charts refer to them."""

from __future__ import annotations

from markupsafe import Markup

from . import svg

STROKES = (
    "",
    "M-2 8 L8 -2 M4 14 L14 4",
    "M0 3 L12 3 M0 9 L12 9",
    "M3 0 L3 12 M9 0 L9 12",
    "M0 0 L12 12 M12 0 L0 12",
)
"""One for each number of a hue from 0 on; 0 is plain."""


def hatchings() -> Markup:
    """A drawing of no size that defines `hatch-1` and so on; their strokes have the colour of the page."""
    patterns = [
        svg.element(
            "pattern",
            svg.element("path", d=strokes, class_="hatch"),
            id=f"hatch-{hue}",
            width=12,
            height=12,
            patternUnits="userSpaceOnUse",
        )
        for hue, strokes in enumerate(STROKES)
        if strokes
    ]
    return svg.element("svg", svg.element("defs", *patterns), width=0, height=0, class_="unseen", aria_hidden="true")
