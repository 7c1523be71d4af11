"""What several parts of the page are built of beside `templates/macros.html`: badges, links, and data for scripts.

Of the macros, `scrolled` is around what may be wider than the page, and `facts` are a label, a value and perhaps a
remark each. A `table` scrolls by itself. Its cells are texts, or pairs of one with what stands under it; a row with
`is_answer` is marked, and one with `nothing` has this sentence in the place of all cells but its heads.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Mapping, Sequence
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


def filled_columns(columns: Sequence[Column], rows: Sequence[Mapping[str, Any]]) -> Sequence[Column]:
    """Those in which some row says anything, and all where one has a sentence in the place of its cells."""
    if any(row.get("nothing") for row in rows):
        return columns
    filled = {key for row in rows for key, cell in row.items() if (any(cell) if isinstance(cell, tuple) else cell)}
    return [column for column in columns if column[2] == "head" or column[0] in filled]


def badge(value: Badge) -> Markup:
    """A word with its explanation, which pointing at it shows."""
    symbol = f'<span aria-hidden="true">{shown(value.symbol)}</span> ' if value.symbol else ""
    why = shown(value.explanation)
    says = f'<span class="badge-says" aria-hidden="true">{why}</span>'
    start = f'<button type="button" class="badge {value.kind}" aria-description="{why}">'
    return Markup(f"{start}{symbol}{shown(value.word)}{says}</button>")


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
