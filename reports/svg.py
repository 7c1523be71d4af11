"""The few SVG elements that charts are drawn with; every text and attribute is escaped here."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup, escape

Attribute = str | float | int | None


def element(name: str, *children: Markup | str, **attributes: Attribute) -> Markup:
    """One element; `class_` becomes `class`, `stroke_width` becomes `stroke-width`, None leaves an attribute out."""
    written = Markup("").join(
        Markup(' {}="{}"').format(_name(key), _value(value)) for key, value in attributes.items() if value is not None
    )
    return Markup("<{}{}>{}</{}>").format(Markup(name), written, Markup("").join(map(escape, children)), Markup(name))


def text(content: str, x: float, y: float, class_: str, anchor: str = "middle") -> Markup:
    """A line of text with its baseline at (x, y)."""
    return element("text", content, x=x, y=y, class_=class_, text_anchor=anchor)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def path(points: Iterable[tuple[float, float]], class_: str, closed: bool = False) -> Markup:
    """A polyline through (x, y) points, closed to an area where asked."""
    steps = " ".join(f"{'L' if index else 'M'}{_value(x)} {_value(y)}" for index, (x, y) in enumerate(points))
    return element("path", d=f"{steps} Z" if closed else steps, class_=class_)


def marker(shape: int, x: float, y: float, class_: str, title: str) -> Markup:
    """A measured point; its shape distinguishes the series without colour. `title` is shown on pointing at it."""
    outlines = (
        [(-3.6, -3.6), (3.6, -3.6), (3.6, 3.6), (-3.6, 3.6)],
        [(0, -4.8), (4.6, 3.4), (-4.6, 3.4)],
        [(0, -5), (5, 0), (0, 5), (-5, 0)],
    )
    tooltip = element("title", title)
    if shape % 4 == 0:
        return element("circle", tooltip, cx=x, cy=y, r=4, class_=class_)
    steps = " ".join(
        f"{'L' if index else 'M'}{_value(x + dx)} {_value(y + dy)}"
        for index, (dx, dy) in enumerate(outlines[shape % 4 - 1])
    )
    return element("path", tooltip, d=f"{steps} Z", class_=class_)


def cross(x: float, y: float, class_: str, title: str) -> Markup:
    """The mark of a run that gave no rate."""
    step = f"M{_value(x - 4)} {_value(y - 4)} L{_value(x + 4)} {_value(y + 4)} "
    step += f"M{_value(x + 4)} {_value(y - 4)} L{_value(x - 4)} {_value(y + 4)}"
    return element("path", element("title", title), d=step, class_=class_)


def window(left: float, top: float, right: float, bottom: float, *children: Markup) -> Markup:
    """Children in the coordinates of the picture, cut off at the window's edges."""
    width, height = right - left, bottom - top
    box = f"{_value(left)} {_value(top)} {_value(width)} {_value(height)}"
    return element("svg", *children, x=left, y=top, width=width, height=height, viewBox=box)


def drawing(width: float, height: float, label: str, *children: Markup) -> Markup:
    """A whole picture that scales with its box and is read out as `label`."""
    return element("svg", *children, viewBox=f"0 0 {_value(width)} {_value(height)}", role="img", aria_label=label)


def _name(key: str) -> Markup:
    return Markup(key if key == "viewBox" else key.rstrip("_").replace("_", "-"))


def _value(value: Attribute) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)
