"""The few SVG elements that charts are drawn with; every text and attribute is escaped here.

An element has a class and no style of its own: colours stand in the style sheet as variables, so that one drawing
serves light, dark and print, and a policy that forbids style attributes has nothing to complain of.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import cache

from markupsafe import Markup, escape

Attribute = str | float | int | None
TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Marks that reverse the direction of what comes after them."""
LONGEST = 300
"""Characters of a text that are shown: what points at a mark says a line or two, and a name may have ten thousand."""
LONGEST_DESCRIPTION = 6000
"""Of what is read out of a whole chart."""


def element(name: str, *children: Markup | str, **attributes: Attribute) -> Markup:
    """One element; `class_` becomes `class`, `stroke_width` becomes `stroke-width`, None leaves an attribute out."""
    written = "".join([f' {_name(key)}="{_written(value)}"' for key, value in attributes.items() if value is not None])
    inside = "".join(map(escape, children))
    return Markup(f"<{name}{written}>{inside}</{name}>" if inside else f"<{name}{written}/>")


def text(content: str, x: float, y: float, class_: str, anchor: str = "middle") -> Markup:
    """A line of text with its baseline at (x, y)."""
    return element("text", readable(content), x=x, y=y, class_=class_, text_anchor=anchor)


def tooltip(content: str) -> Markup:
    """What pointing at the element around it shows."""
    return element("title", readable(content))


def readable(content: str, longest: int = LONGEST) -> str:
    """The text as `harmless` makes it, and not longer than anyone reads."""
    return harmless(content if len(content) <= longest else f"{content[: longest // 2]}…{content[-longest // 2 :]}")


def harmless(content: str) -> str:
    """The text without what would turn its neighbours around or break a drawing.

    Lines are kept apart; control characters and marks of direction are shown as what cannot be shown.
    """
    if content.isprintable():
        return content
    return "".join("�" if each in TURNING or _is_control(each) else each for each in content)


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs") and character not in "\n\t"


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def path(points: Iterable[tuple[float, float]], class_: str, closed: bool = False) -> Markup:
    """A polyline through (x, y) points, closed to an area where asked."""
    steps = " ".join(f"{'L' if index else 'M'}{_value(x)} {_value(y)}" for index, (x, y) in enumerate(points))
    return element("path", d=f"{steps} Z" if closed else steps, class_=class_)


def rectangle(left: float, top: float, width: float, height: float, class_: str, *children: Markup) -> Markup:
    return element("rect", *children, x=left, y=top, width=width, height=height, class_=class_)


def marker(shape: int, x: float, y: float, class_: str, title: str) -> Markup:
    """A measured point; its shape distinguishes the series without colour. `title` is shown on pointing at it."""
    outlines = (
        [(-3.6, -3.6), (3.6, -3.6), (3.6, 3.6), (-3.6, 3.6)],
        [(0, -4.8), (4.6, 3.4), (-4.6, 3.4)],
        [(0, -5), (5, 0), (0, 5), (-5, 0)],
    )
    said = [tooltip(title)] if title else []
    if shape % 4 == 0:
        return element("circle", *said, cx=x, cy=y, r=4, class_=class_)
    steps = " ".join(
        f"{'L' if index else 'M'}{_value(x + dx)} {_value(y + dy)}"
        for index, (dx, dy) in enumerate(outlines[shape % 4 - 1])
    )
    return element("path", *said, d=f"{steps} Z", class_=class_)


def cross(x: float, y: float, class_: str, title: str) -> Markup:
    """The mark of a run that gave no rate."""
    step = f"M{_value(x - 4)} {_value(y - 4)} L{_value(x + 4)} {_value(y + 4)} "
    step += f"M{_value(x + 4)} {_value(y - 4)} L{_value(x - 4)} {_value(y + 4)}"
    return element("path", *([tooltip(title)] if title else []), d=step, class_=class_)


def window(left: float, top: float, right: float, bottom: float, *children: Markup) -> Markup:
    """Children in the coordinates of the picture, cut off at the window's edges."""
    width, height = right - left, bottom - top
    box = f"{_value(left)} {_value(top)} {_value(width)} {_value(height)}"
    return element("svg", *children, x=left, y=top, width=width, height=height, viewBox=box)


def drawing(
    width: float, height: float, label: str, *children: Markup, description: str = "", top: float = 0.0
) -> Markup:
    """A picture from `top` to `top + height` that scales with its box; read out as `label`, then as `description`."""
    said = [element("desc", readable(description, LONGEST_DESCRIPTION))] if description else []
    box = f"0 {_value(top)} {_value(width)} {_value(height)}"
    return element(
        "svg",
        *said,
        *children,
        viewBox=box,
        role="img",
        aria_label=readable(label, LONGEST_DESCRIPTION),
        class_="chart",
    )


@cache
def _name(key: str) -> str:
    return key if key in ("viewBox", "patternUnits") else key.rstrip("_").replace("_", "-")


def _written(value: Attribute) -> str:
    """An attribute's value between its quotes; a number has nothing to escape."""
    return escape(value) if isinstance(value, str) else _value(value)


def _value(value: Attribute) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)
