"""Text and attributes of charts, whatever they hold."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from sizer.bundled.reports.charts import svg


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "\"'><img src=x>", "]]>", "&amp;", "{{7*7}}"])
def test_markup_is_text(text: str) -> None:
    """In a text, a tooltip, a label, a description and a class."""
    drawn = str(svg.drawing(1, 1, text, svg.text(text, 0, 0, text), svg.marker(0, 1, 1, "", text), description=text))
    root = ElementTree.fromstring(drawn)
    assert root.get("aria-label") == text
    assert [each.text for each in root.iter() if each.tag in ("desc", "text", "title")] == [text, text, text]
    assert [each.get("class") for each in root.iter("text")] == [text]


@pytest.mark.parametrize("mark", ["\u202e", "\u2067", "\u200f", "\x00", "\x1b", "\ud800"])
def test_what_would_turn_or_break_the_line_is_shown_as_unknown(mark: str) -> None:
    """Marks of direction and control characters; a drawing with them would be no XML or read backwards."""
    root = ElementTree.fromstring(str(svg.text(f"a{mark}b", 0, 0, "")))
    assert root.text == "a\ufffdb"
