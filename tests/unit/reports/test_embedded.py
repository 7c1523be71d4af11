"""Data that a page's scripts read."""

from __future__ import annotations

import json
import math
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.bundled.reports.markup import embedded, showable


class Elements(HTMLParser):
    """What an HTML parser makes of a block: its elements, and the text in the last one."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.begun: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.begun.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@given(st.recursive(st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_what_is_embedded_comes_back(value: object) -> None:
    """Whatever is in it, in one element of plain data, with its texts as a page may have them."""
    found = Elements(embedded("series", value))
    assert found.begun == [("script", {"type": "application/json", "id": "series"})]
    assert json.loads(found.text) == showable(value)


@pytest.mark.parametrize("text", ["</script><script>alert(1)</script>", "<!--<script>", "]]>", "a & b", "\u2028"])
def test_no_text_ends_the_block(text: str) -> None:
    """Neither its end nor a comment can be written into it."""
    block = embedded("series", {"name": text})
    inside = re.fullmatch(r"<script [^>]*>(.*)</script>", block, re.DOTALL)
    assert inside is not None
    assert not set("<>&\u2028") & set(inside[1])
    assert json.loads(inside[1]) == {"name": text}


def test_an_id_is_no_code() -> None:
    """It is an attribute, whatever it holds."""
    assert Elements(embedded('"><b>', 1)).begun == [("script", {"type": "application/json", "id": '"><b>'})]


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_json_does_not_know_is_refused(value: float) -> None:
    """A browser could not read the block."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        embedded("series", [value])


def test_texts_turn_nothing_round() -> None:
    """A script shows them as they are, in keys and in values."""
    assert showable({"a\u202eb": ["c\x07", ("d", 1, None)]}) == {"a�b": ["c�", ["d", 1, None]]}
