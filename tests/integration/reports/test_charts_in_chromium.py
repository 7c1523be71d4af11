"""The page's charts in a real browser: pointing, keys, both schemes, print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sizer.bundled.reports.page import write_report
from sizer.bundled.reports.subject import Material

pytestmark = pytest.mark.slow

POINTED = """
(async () => {
  const chart = document.querySelectorAll('figure svg.chart')[0], mark = chart.querySelector('.stop');
  chart.scrollIntoView({block: 'center'});
  const box = mark.getBoundingClientRect();
  const at = {bubbles: true, clientX: box.left + 1, clientY: box.top + 5};
  mark.dispatchEvent(new PointerEvent('pointermove', at));
  const tip = document.querySelector('.tip'), place = tip.getBoundingClientRect();
  const found = {words: tip.textContent, hidden: tip.textContent === '',
    lines: chart.querySelectorAll('.crosshair').length,
    titles: chart.querySelectorAll('title').length,
    inside: place.left >= 0 && place.right <= innerWidth + 1 && place.width > 20,
    near: Math.abs(place.left - box.left) < 400};
  chart.dispatchEvent(new PointerEvent('pointerleave', at));
  return {...found, after: tip.textContent === '', left: chart.querySelectorAll('.crosshair').length};
})()
"""

KEYS = """
(() => {
  const chart = document.querySelectorAll('figure svg.chart')[0], tip = document.querySelector('.tip'), told = [];
  chart.focus();
  for (const key of ['ArrowRight', 'ArrowRight', 'ArrowLeft', 'End', 'Home', 'Escape']) {
    chart.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
    told.push(tip.textContent || null);
  }
  return {told, focused: document.activeElement === chart, role: tip.getAttribute('role')};
})()
"""

COLOURS = """
[...new Set(['.point', '.band', '.part', '.cell', '.bar', '.chart text'].flatMap(name =>
  [...document.querySelectorAll('figure ' + name)].map(each => name + getComputedStyle(each).fill)))].sort()
"""


@pytest.fixture(scope="module")
def address(material: Material, tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("charts") / "report.html"
    write_report(path, material)
    return path.as_uri()


@pytest.mark.parametrize("width", [1300, 390])
def test_pointing_tells_at_once(browser: Any, address: str, width: int) -> None:
    """What is known at that place, within the window, with a line through the chart; both go with the pointer."""
    browser.open(address, width, "light")
    found = browser.evaluate(POINTED)
    assert found["words"].startswith("0.5 vCPU\n")
    assert "model" in found["words"]
    assert "measured" in found["words"]
    assert found == found | {
        "hidden": False,
        "lines": 1,
        "titles": 0,
        "inside": True,
        "near": True,
        "after": True,
        "left": 0,
    }


def test_arrow_keys_go_from_place_to_place(browser: Any, address: str) -> None:
    """To the right, back, to either end, and away; a screen reader is told, as the words are a status."""
    browser.open(address, 1300, "light")
    found = browser.evaluate(KEYS)
    first, second, back, last, home, gone = found["told"]
    assert first == back == home
    assert len({first, second, last}) == 3
    assert gone is None
    assert found["focused"]
    assert found["role"] == "status"


def test_one_drawing_serves_light_and_dark(browser: Any, address: str) -> None:
    """The colours of every kind of mark change with the scheme."""
    found = {}
    for scheme in ("light", "dark"):
        browser.open(address, 1300, scheme)
        found[scheme] = set(browser.evaluate(COLOURS))
    assert len(found["light"]) > 10
    assert found["light"] & found["dark"] == set()


def test_hatchings_are_there_for_every_resource(browser: Any, address: str) -> None:
    """Each drawing that a style refers to is in the page."""
    browser.open(address, 1300, "light")
    missing = browser.evaluate("""
    [...document.querySelectorAll('svg.chart .hatched')].map(each => getComputedStyle(each).fill)
      .map(fill => /#([\\w-]+)/.exec(fill)).filter(match => match && !document.getElementById(match[1])).length
    """)
    assert missing == 0
    assert browser.evaluate("document.querySelectorAll('svg.chart .hatched').length") > 10


def test_a_printed_page_has_its_charts(browser: Any, address: str) -> None:
    """A chart has a size on paper, and no tip lies over it."""
    browser.open(address, 1300, "light")
    browser.page.emulate_media(media="print")
    sizes = browser.evaluate("[...document.querySelectorAll('figure > svg')].map(each => each.clientWidth)")
    tip = browser.evaluate("getComputedStyle(document.querySelector('.tip')).display")
    assert min(sizes[:4]) > 200
    assert tip == "none"
