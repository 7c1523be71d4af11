"""Plain data inside the page, for its scripts: a block that a browser neither shows nor runs."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

from markupsafe import Markup, escape

from .charts.svg import harmless

ESCAPED = {ord(each): f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"}
"""What could end the block or begin a comment in it; JSON has these in texts alone, where an escape means the same."""


def embedded(id_: str, value: Any) -> Markup:
    """The element with that id from which `JSON.parse(element.textContent)` gives the value, its texts `showable`.

    Raises ValueError for a number that JSON does not know: NaN, or an infinite one.
    """
    text = json.dumps(showable(value), ensure_ascii=False, allow_nan=False, separators=(",", ":")).translate(ESCAPED)
    return Markup(f'<script type="application/json" id="{escape(id_)}">{text}</script>')


def deflated(text: str) -> str:
    """As base64 of zlib's form, which a browser inflates by itself (`unpacked` in templates/page.js)."""
    return base64.b64encode(zlib.compress(text.encode(), level=9)).decode()


def showable(value: Any) -> Any:
    """The same data with every text in it as a page may have it: a script shows these as they are."""
    if isinstance(value, str):
        return harmless(value)
    if isinstance(value, dict):
        return {showable(key): showable(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [showable(each) for each in value]
    return value
