"""Whatever a study, a workload or a run file calls itself, the page has the elements that it would have anyway."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from sizer.bundled.reports.page import render
from sizer.bundled.reports.subject import Material
from tests.hostile_study import HOSTILE, hostile

EVIL = HOSTILE["markup"]
PLAIN = "x" * len(EVIL)


class Skeleton(HTMLParser):
    """Elements with the names of their attributes, and where links lead."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.links: list[str] = []
        self.saved: list[str] = []
        self.styles: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, tuple(name for name, _ in attrs)))
        found = [value or "" for name, value in attrs if name in ("href", "src", "action", "xlink:href")]
        if "download" in dict(attrs):
            self.saved += found
        else:
            self.links += found
        self.styles += [value or "" for name, value in attrs if name == "style"]


@pytest.fixture(autouse=True)
def _short_curves(monkeypatch: pytest.MonkeyPatch) -> None:
    """A curve of few points has the same elements, and each model here is another one."""
    monkeypatch.setattr("sizer.bundled.reports.figures.series.POINTS", 6)


@pytest.mark.slow
def test_no_text_becomes_an_element_or_an_attribute(material: Material) -> None:
    """Of names, units, errors, last words, warnings, paths and reasons; a link is inside the page, a source's, or saves
    a file that the page holds.
    """
    evil, plain = (render(hostile(material, text)) for text in (EVIL, PLAIN))
    assert plain.count(PLAIN) > 100
    assert EVIL not in evil
    assert Skeleton(evil).elements == Skeleton(plain).elements
    assert all(link.startswith(("#", "https://", "http://")) for link in Skeleton(evil).links)
    assert all(link.startswith("data:application/gzip;base64,") for link in Skeleton(evil).saved)
    assert len(Skeleton(evil).saved) == 2
    assert "owned" not in "".join(Skeleton(evil).styles)
