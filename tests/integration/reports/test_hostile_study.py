"""Texts that want to be code, to turn their neighbours around or to break out of their box, everywhere on the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sizer.bundled.reports.runs import all_runs
from sizer.bundled.reports.subject import Material
from tests.hostile_study import HOSTILE, hostile

pytestmark = pytest.mark.slow

OUTSIDE = """
(() => {
  document.querySelectorAll('details').forEach(each => { each.open = true; });
  const width = document.documentElement.clientWidth, found = new Set();
  const scrolls = node => { for (let each = node; each; each = each.parentElement) {
    const style = getComputedStyle(each);
    if (style.overflowX !== 'visible' || style.position === 'fixed' || style.clipPath !== 'none') return true; } };
  for (const node of document.querySelectorAll('body *')) {
    const box = node.getBoundingClientRect();
    if (box.width && (box.right > width + 1 || box.left < -1) && !scrolls(node))
      found.add(node.tagName + '.' + (node.getAttribute('class') || '') + ' in '
        + (node.closest('section, header, article') || document.body).id + ': ' + node.textContent.trim().slice(0, 40));
  }
  return [...found].slice(0, 30);
})()
"""

FOREIGN = """
(() => {
  const all = [...document.querySelectorAll('*')];
  return {
    scripts: document.querySelectorAll('script:not([type*=json])').length,
    pictures: document.images.length, frames: frames.length,
    handlers: all.filter(each => each.getAttributeNames().some(name => name.startsWith('on'))).length,
    addresses: all.map(each => each.getAttribute('href') || each.getAttribute('src') || '#')
      .filter(each => !/^(#|https:|http:|data:)/.test(each)),
  };
})()
"""


@pytest.fixture(scope="module", params=HOSTILE)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def address(kind: str, material: Material, written: Callable[[Material], str]) -> str:
    with pytest.MonkeyPatch.context() as patched:
        # A curve of few points is the same to a name, and each model here is another one.
        patched.setattr("sizer.bundled.reports.figures.series.POINTS", 6)
        patched.setattr(all_runs, "MOST_IN_PLACE", 0 if kind == "markup" else 1000)
        return written(hostile(material, HOSTILE[kind]))


def test_hostile_texts_are_shown_and_never_run(browser: Any, address: str, kind: str) -> None:
    """No script, no element, no address of theirs; nothing turns round; nothing is wider than the screen."""
    # Chromium lays out long words for half a minute; what holds them on a phone holds them on a wider screen.
    for width, scheme in ((390, "dark"),) if kind == "long" else ((1300, "light"), (390, "dark")):
        page = browser.open(address, width, scheme)
        outside = browser.evaluate(OUTSIDE)
        page.locator(".evidence:empty").first.wait_for(state="detached")
        assert HOSTILE[kind][:6].strip("\u202e") in page.locator("main").inner_text()
        assert not page.title().startswith("owned")
        assert browser.evaluate(FOREIGN) == {"scripts": 1, "pictures": 0, "frames": 0, "handlers": 0, "addresses": []}
        assert not set(page.content()) & set("\u202e\u2067\u200f\x07\x1b")
        assert outside == []
        assert browser.evaluate("document.documentElement.scrollWidth") == width
