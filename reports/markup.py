"""What several parts of the page are built of: tables, badges, lists of facts, and data for the page's scripts."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

from sizer.words.verdict import Badge

from .charts.svg import harmless

IN_MARKS = re.compile(r"`([^`]+)`")
ESCAPED = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
"""What could end the block or begin a comment in it; JSON has these in texts alone, where an escape means the same."""
EXACT = 1e15
"""Below it a number without a fraction is the same in Python and JavaScript."""

Column = tuple[str, str, str]
"""The key of its cells in a row, its title, and the classes of its cells; `head` names the row."""


def shown(text: object) -> str:
    """A text, escaped, as a page may have it; markup as it is."""
    # As a plain text: what is added to Markup would be escaped.
    return str.__str__(text) if isinstance(text, Markup) else str.__str__(escape(harmless(str(text))))


def table(label: str, columns: Sequence[Column], rows: Sequence[Mapping[str, Any]]) -> Markup:
    """A table that scrolls by itself, without the columns in which no row says anything.

    A cell is a text, or a pair of one with what stands under it. A row with `is_answer` is marked, and one with
    `nothing` has this sentence in the place of all cells but its heads.
    """
    if not any(row.get("nothing") for row in rows):
        columns = [column for column in columns if column[2] == "head" or any(any(_cell(row, column)) for row in rows)]
    titles = "".join(f'<th scope="col"{_class(_number(kind))}>{shown(title)}</th>' for _key, title, kind in columns)
    body = "\n".join(_row(columns, row) for row in rows)
    head = f"<thead><tr>{titles}</tr></thead>"
    return scrolled(label, Markup(f"<table>\n{head}\n<tbody>\n{body}\n</tbody>\n</table>"))


def scrolled(label: str, content: Markup) -> Markup:
    """What may be wider than the page."""
    return Markup(f'<div class="scroll" role="region" aria-label="{shown(label)}" tabindex="0">{content}</div>')


def _row(columns: Sequence[Column], row: Mapping[str, Any]) -> str:
    cells = []
    for column in columns:
        _key, title, kind = column
        text, under = _cell(row, column)
        inside = shown(text) + (f'<span class="under">{shown(under)}</span>' if under else "")
        if kind == "head":
            cells.append(f'<th scope="row">{inside}</th>')
        elif not row.get("nothing"):
            cells.append(f'<td{_class(kind)} data-label="{shown(title)}">{inside or "–"}</td>')
    if row.get("nothing"):
        cells.append(f'<td class="wide" colspan="{len(columns) - len(cells)}">{shown(row["nothing"])}</td>')
    return f"<tr{_class('answer-row' if row.get('is_answer') else '')}>{''.join(cells)}</tr>"


def _cell(row: Mapping[str, Any], column: Column) -> tuple[object, object]:
    cell = row.get(column[0], "")
    return cell if isinstance(cell, tuple) else (cell, "")


def _class(names: str) -> str:
    return f' class="{names}"' if names else ""


def _number(kind: str) -> str:
    return "number" if kind == "number" else ""


def badge(value: Badge) -> Markup:
    """A word with its explanation, which pointing at it shows."""
    symbol = f'<span aria-hidden="true">{shown(value.symbol)}</span> ' if value.symbol else ""
    why = shown(value.explanation)
    says = f'<span class="badge-says" aria-hidden="true">{why}</span>'
    start = f'<button type="button" class="badge {value.kind}" aria-description="{why}">'
    return Markup(f"{start}{symbol}{shown(value.word)}{says}</button>")


def facts(rows: Iterable[Sequence[object]]) -> Markup:
    """Label, value and, where there is one, a remark of each."""
    items = ""
    for label, value, *remark in rows:
        under = f'<span class="under">{shown(remark[0])}</span>' if remark and remark[0] else ""
        items += f"<div><dt>{shown(label)}</dt><dd>{shown(value)}{under}</dd></div>\n"
    return Markup(f'<dl class="facts">\n{items}</dl>')


def linked(text: str) -> Markup:
    """An address as a link, another text as it is."""
    address = shown(text)
    is_address = text.startswith(("https://", "http://"))
    return Markup(f'<a href="{address}" rel="noreferrer">{address}</a>' if is_address else address)


def coded(text: str) -> Markup:
    """A sentence in which what is to be typed, `sizer resume DIR`, looks like it; nothing else in it becomes markup."""
    return Markup(IN_MARKS.sub(r"<code>\1</code>", shown(str(text))))


def embedded(id_: str, value: Any) -> Markup:
    """Data for a script, as a block that a browser neither shows nor runs: the element with that id from which
    `JSON.parse(element.textContent)` gives the value, its texts `showable`.

    Raises ValueError for a number that JSON does not know: NaN, or an infinite one.
    """
    text = json.dumps(showable(value), ensure_ascii=False, allow_nan=False, separators=(",", ":")).translate(ESCAPED)
    return Markup(f'<script type="application/json" id="{escape(id_)}">{text}</script>')


def deflated(text: str) -> str:
    """As base64 of zlib's form, which a browser inflates by itself (`unpacked` in templates/page.js)."""
    return base64.b64encode(zlib.compress(text.encode(), level=9)).decode()


def showable(value: Any) -> Any:
    """The same data with every text in it as a page may have it, and whole numbers without their `.0`."""
    if isinstance(value, str):
        return harmless(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT:
        return int(value)
    if isinstance(value, dict):
        return {showable(key): showable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [showable(item) for item in value]
    return value
