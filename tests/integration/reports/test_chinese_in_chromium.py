"""The page in Chinese, in a real browser: its letters are drawn, and all of it fits a phone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sizer.bundled.reports.page import write_report
from sizer.bundled.reports.subject import Material
from sizer.words.language import CHINESE, in_language
from tests.integration.reports.test_page_in_chromium import CUT_OFF, OUTSIDE, SMALLEST_TEXT

pytestmark = pytest.mark.slow

NOT_DRAWN = r"""
(() => {
  const canvas = new OffscreenCanvas(40, 40).getContext('2d', {willReadFrequently: true});
  canvas.font = `32px ${getComputedStyle(document.body).fontFamily}`;
  const drawn = letter => {
    canvas.clearRect(0, 0, 40, 40);
    canvas.fillText(letter, 2, 32);
    return canvas.getImageData(0, 0, 40, 40).data.join();
  };
  const nothing = [drawn('\u0378'), drawn('\u{1fffe}'), drawn(' ')];
  const letters = [...new Set(document.body.textContent.match(/[\u3001-\u9fff\uff01-\uff5e]/g))];
  return {seen: letters.length, found: letters.filter(letter => nothing.includes(drawn(letter)))};
})()
"""

OVERLAPPING = """
[...document.querySelectorAll('figure > svg')].flatMap(picture => {
  const texts = [...picture.querySelectorAll('text')].map(text => [text.textContent, text.getBoundingClientRect()]);
  return texts.flatMap(([said, box], index) => texts.slice(index + 1).filter(([, other]) =>
    Math.min(box.right, other.right) - Math.max(box.left, other.left) > 2
    && Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top) > 5).map(([also]) => `${said} | ${also}`));
})
"""


@pytest.fixture(scope="module")
def address(material: Material, tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("page") / "report.html"
    with in_language(CHINESE):
        write_report(path, material)
    return path.as_uri()


@pytest.mark.parametrize("width", [390, 1300])
def test_its_letters_are_drawn_and_everything_fits(browser: Any, address: str, width: int) -> None:
    """No letter is a box, nothing scrolls sideways, and no word of a chart leaves it or lies over another."""
    browser.open(address, width, "light")
    letters = browser.evaluate(NOT_DRAWN)
    assert letters["seen"] > 200
    if len(letters["found"]) == letters["seen"]:
        pytest.skip("there is no font with Chinese letters here; apt-get install fonts-wqy-microhei")
    assert letters["found"] == []
    assert browser.evaluate("document.documentElement.scrollWidth") == width
    assert browser.evaluate(OUTSIDE) == []
    assert browser.evaluate(SMALLEST_TEXT) >= 10
    assert browser.evaluate(OVERLAPPING) == []
    if width < 500:
        assert browser.evaluate(CUT_OFF) == []
