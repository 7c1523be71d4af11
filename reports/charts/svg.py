"""The few SVG elements that charts are drawn with; every text and attribute is escaped here.

An element has a class and no style of its own: colours stand in the style sheet as variables, so that one drawing
serves light, dark and print, and a policy that forbids style attributes has nothing to complain of.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
    """What pointing at the element around it shows; nothing of no words."""
    return element("title", readable(content)) if content else Markup("")


def readable(content: str, longest: int = LONGEST) -> str:
    """The text as `harmless` makes it, and not longer than anyone reads."""
    return harmless(content if len(content) <= longest else f"{content[: longest // 2]}…{content[-longest // 2 :]}")


def harmless(content: str) -> str:
    """The text without what would turn its neighbours around or break a drawing.

    Lines are kept apart; control characters and marks of direction are shown as what cannot be shown.
    """
    if content.isprintable():
        return content
    kinds = ((character, unicodedata.category(character) in ("Cc", "Cs")) for character in content)
    return "".join("�" if (is_control and one not in "\n\t") or one in TURNING else one for one, is_control in kinds)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def path(points: Iterable[tuple[float, float]], class_: str, closed: bool = False, title: str = "") -> Markup:
    """A polyline through (x, y) points, closed to an area where asked; `title` is shown on pointing at it."""
    steps = " ".join(f"{'L' if index else 'M'}{_value(x)} {_value(y)}" for index, (x, y) in enumerate(points))
    return element("path", tooltip(title), d=f"{steps} Z" if closed else steps, class_=class_)


def rectangle(
    left: float, top: float, width: float, height: float, class_: str, *children: Markup, **more: Attribute
) -> Markup:
    return element("rect", *children, x=left, y=top, width=width, height=height, class_=class_, **more)


OUTLINES = (
    ((-3.6, -3.6), (3.6, -3.6), (3.6, 3.6), (-3.6, 3.6)),
    ((0.0, -4.8), (4.6, 3.4), (-4.6, 3.4)),
    ((0.0, -5.0), (5.0, 0.0), (0.0, 5.0), (-5.0, 0.0)),
)
"""Of the markers of the second series and of those after it."""


def marker(shape: int, x: float, y: float, class_: str, title: str) -> Markup:
    """A measured point; its shape distinguishes the series without colour. `title` is shown on pointing at it."""
    if shape % 4 == 0:
        return element("circle", tooltip(title), cx=x, cy=y, r=4, class_=class_)
    return path([(x + dx, y + dy) for dx, dy in OUTLINES[shape % 4 - 1]], class_, closed=True, title=title)


def cross(x: float, y: float, class_: str, title: str) -> Markup:
    """The mark of a run that gave no rate."""
    step = f"M{_value(x - 4)} {_value(y - 4)} L{_value(x + 4)} {_value(y + 4)} "
    step += f"M{_value(x + 4)} {_value(y - 4)} L{_value(x - 4)} {_value(y + 4)}"
    return element("path", tooltip(title), d=step, class_=class_)


def window(left: float, top: float, right: float, bottom: float, *children: Markup) -> Markup:
    """Children in the coordinates of the picture, cut off at the window's edges."""
    width, height = right - left, bottom - top
    box = f"{_value(left)} {_value(top)} {_value(width)} {_value(height)}"
    return element("svg", *children, x=left, y=top, width=width, height=height, viewBox=box)


def drawing(
    width: float, height: float, label: str, *children: Markup, description: str = "", top: float = 0.0
) -> Markup:
    """A picture from `top` to `top + height` that scales with its box; read out as `label`, then as `description`."""
    parts = [element("desc", readable(description, LONGEST_DESCRIPTION))] if description else []
    box = f"0 {_value(top)} {_value(width)} {_value(height)}"
    named = {"role": "img", "aria_label": readable(label, LONGEST_DESCRIPTION), "class_": "chart"}
    return element("svg", *parts, *children, viewBox=box, **named)


@cache
def _name(key: str) -> str:
    return key if key in ("viewBox", "patternUnits") else key.rstrip("_").replace("_", "-")


def _written(value: Attribute) -> str:
    """An attribute's value between its quotes; a number has nothing to escape."""
    return escape(value) if isinstance(value, str) else _value(value)


def _value(value: Attribute) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


CHARACTER = 6.6
"""Mean width in pixels of a character at the charts' text size, in the widest font that the style sheet names."""
BOLD = 1.15
"""How much wider bold letters are."""


def width(text: str, weight: float = 1.0) -> float:
    """About how many pixels it takes: capitals are wider than small letters, and Chinese characters wider still, as is
    the sign that is drawn for what cannot be shown.
    """
    return weight * sum(
        13.0 if _is_wide(character) else 8.4 if character.isupper() else CHARACTER for character in text
    )


def _is_wide(character: str) -> bool:
    return ord(character) > 0x2E7F or not (character.isprintable() or character.isspace())


def cut(text: str, room: float, weight: float = 1.0) -> str:
    """A text that fits into so many pixels; its end, which distinguishes sizes of one family, is kept."""
    if width(text, weight) <= room:
        return text
    # Even of the narrowest letters no more would fit.
    for most in range(min(len(text) - 1, int(room / (CHARACTER * weight)) + 1), 1, -1):
        shorter = f"{text[: most // 2]}…{text[len(text) - (most - most // 2 - 1) :]}"
        if width(shorter, weight) <= room:
            return shorter
    return ""


STROKES = ("", "M-2 8 L8 -2 M4 14 L14 4", "M0 3 L12 3 M0 9 L12 9", "M3 0 L3 12 M9 0 L9 12", "M0 0 L12 12 M12 0 L0 12")
"""One for each number of a hue from 0 on; 0 is plain."""


def hatchings() -> Markup:
    """A drawing of no size that defines `hatch-1` and so on; their strokes have the colour of the page."""
    size: dict[str, Attribute] = {"width": 12, "height": 12, "patternUnits": "userSpaceOnUse"}
    patterns = [
        element("pattern", element("path", d=strokes, class_="hatch"), id=f"hatch-{hue}", **size)
        for hue, strokes in enumerate(STROKES)
        if strokes
    ]
    return element("svg", element("defs", *patterns), width=0, height=0, class_="unseen", aria_hidden="true")


WIDE_RANGE = 8.0
"""From this ratio of largest to smallest on, an axis is logarithmic."""


@dataclass(frozen=True)
class Scale:
    """Maps low..high to start..end, in pixels; `start` may be the larger one."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        low, high, value = (math.log(number) if self.logarithmic else number for number in (self.low, self.high, value))
        return self.start + (value - low) / (high - low) * (self.end - self.start)


def is_wide(values: Sequence[float]) -> bool:
    """Whether values that are all positive span so wide a range that a linear axis would crowd the small ones."""
    return min(values) > 0 and max(values) / min(values) >= WIDE_RANGE


def nice_ticks(high: float, wanted: int = 5) -> list[float]:
    """Round values from 0 to the first one at or above `high`, in steps of 1, 2, 2.5 or 5 times a power of ten."""
    if high <= 0:
        return [0.0, 1.0]
    raw = high / wanted
    power = 10.0 ** math.floor(math.log10(raw))
    step = power * next(factor for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * (1 - 1e-9))
    return [index * step for index in range(math.ceil(high / step - 1e-9) + 1)]


def ticks_between(low: float, high: float, wanted: int = 4) -> list[float]:
    """Round values from the last one at or below `low` to the first one at or above `high`."""
    step = nice_ticks(high - low, wanted)[1] if high > low else abs(high) or 1.0
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [index * step for index in range(first, max(last, first + 1) + 1)]


def doubling_ticks(low: float, high: float, most: int = 7) -> list[float]:
    """Powers of two (of four, of eight ... where those are too many) within low..high."""
    first, last = math.ceil(math.log2(low) - 1e-9), math.floor(math.log2(high) + 1e-9)
    stride = max(1, math.ceil((last - first + 1) / most))
    return [2.0**power for power in range(first, last + 1, stride)]
