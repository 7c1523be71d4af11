"""The page as it is first seen: the answers at once, all within its width, and links that land where they lead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sizer.bundled.reports.subject import Material
from sizer.words.language import CHINESE, ENGLISH, in_language
from tests.integration.reports.conftest import PHONE

pytestmark = pytest.mark.slow

WIDTHS = (320, 390, 700, 1060, 1300)
ENDS = "[...document.querySelectorAll('.answers tbody')].map(row => row.getBoundingClientRect().bottom)"
SMALL = """
[...document.querySelectorAll('#verdict *')]
  .filter(each => each.checkVisibility() && !each.closest('.badge-says, thead'))
  .filter(each => [...each.childNodes].some(child => child.nodeType === 3 && child.textContent.trim()))
  .filter(each => parseFloat(getComputedStyle(each).fontSize) < 14).map(each => each.outerHTML)
"""
LANDED = "(id => Math.abs(document.getElementById(id).getBoundingClientRect().top))"


@pytest.fixture(scope="module", params=[ENGLISH, CHINESE])
def address(request: pytest.FixtureRequest, material: Material, written: Callable[[Material], str]) -> str:
    with in_language(request.param):
        return written(material)


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("phone", [False, True])
def test_nothing_scrolls_sideways(browser: Any, address: str, phone: bool, opened: bool) -> None:
    """At any width, closed as it comes and with everything open."""
    widths = [width for width in WIDTHS if (width < PHONE) is phone]
    page = browser.open(address, widths[0], "light")
    if opened:
        browser.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        assert browser.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize(("width", "height", "screens"), [(1300, 900, 1), (390, 844, 2)])
def test_every_answer_is_on_the_first_screen(browser: Any, address: str, width: int, height: int, screens: int) -> None:
    """The rows of four workloads; a phone has them on two screens."""
    browser.open(address, width, "light", height)
    ends = browser.evaluate(ENDS)
    assert len(ends) == 4
    assert max(ends) <= screens * height


@pytest.mark.parametrize("width", [390, 1300])
def test_nothing_of_the_first_screen_is_small(browser: Any, address: str, width: int) -> None:
    """Whatever one reads there has 14 pixels or more."""
    browser.open(address, width, "light")
    assert browser.evaluate(SMALL) == []


@pytest.mark.parametrize("width", [390, 1300])
def test_a_link_lands_where_it_leads(browser: Any, address: str, width: int) -> None:
    """Scripts draw and show parts of the page while it is loaded; the place that the address names stays in view."""
    page = browser.open(f"{address}#what-if-section", width, "light")
    page.wait_for_load_state("load")
    assert browser.evaluate(f"{LANDED}('what-if-section')") < 2


def test_escape_closes_what_a_badge_says(browser: Any, address: str) -> None:
    """Whether one points at it or came to it by keys, and it opens again."""
    page = browser.open(address, 1300, "light")
    badge = page.locator("#verdict .badge").first
    said = badge.locator(".badge-says")
    for come in (badge.hover, badge.focus):
        come()
        assert said.is_visible()
        page.keyboard.press("Escape")
        assert not said.is_visible()
        page.mouse.move(0, 0)
    badge.blur()
    badge.focus()
    assert said.is_visible()
