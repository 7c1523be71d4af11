"""The page where no script runs, as in a mail client or behind a strict policy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sizer.bundled.reports.page import write_report
from sizer.bundled.reports.subject import Material

pytestmark = pytest.mark.slow

SHOWN = """
(() => {
  const folded = node => node.parentElement.closest('details:not([open]), [hidden]');
  const sizes = name => [...document.querySelectorAll(name)].filter(each => !folded(each))
    .map(each => each.getBoundingClientRect()).map(box => [Math.round(box.width), Math.round(box.height)]);
  return {tables: sizes('main table tbody'), charts: sizes('figure > svg.chart'), runs: sizes('.runs > details')};
})()
"""

DRAWN = """
['svg.chart', 'svg.chart title', 'svg.chart[tabindex]'].map(name => document.querySelectorAll(name).length)
"""


@pytest.fixture(scope="module")
def address(material: Material, tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("without") / "report.html"
    write_report(path, material)
    return path.as_uri()


@pytest.mark.parametrize("width", [1300, 390])
def test_without_javascript_the_verdict_and_all_tables_are_seen(browser: Any, address: str, width: int) -> None:
    """They have a size, as has the line of each run; the answers are in words."""
    page = browser.open(address, width, "light", java_script_enabled=False)
    verdict = page.locator("#verdict").inner_text()
    for word in ("train-resnet50-p100", "recommended", "at least", "no answer", "214 images/s", "emulated P100"):
        assert word in verdict
    shown = browser.evaluate(SHOWN)
    assert len(shown["tables"]) > 5
    assert min(height for _, height in shown["tables"]) > 20
    assert len(shown["charts"]) > 5
    assert all(chart_width > min(300, width - 40) and height > 60 for chart_width, height in shown["charts"])
    assert len(shown["runs"]) == 56
    assert min(height for _, height in shown["runs"]) > 20


def test_without_javascript_a_run_opens(browser: Any, address: str) -> None:
    """By a click on its line, and by a link to it."""
    page = browser.open(address, 1300, "light", java_script_enabled=False)
    page.locator(".runs > details > summary").nth(3).click()
    assert page.locator(".evidence").nth(3).is_visible()
    page.locator("#failures a").first.click()
    assert page.locator(".runs > details[open]").count() == 2


def test_without_javascript_charts_say_what_they_say(browser: Any, address: str) -> None:
    """Drawings, and words of marks as titles, which the script takes over where it runs."""
    browser.open(address, 1300, "light")
    charts, titles, reached = browser.evaluate(DRAWN)
    assert reached == charts
    browser.open(address, 1300, "light", java_script_enabled=False)
    assert browser.evaluate(DRAWN)[:2] == [charts, titles]
    assert charts >= 12
    assert titles > 200, "the script takes over those of a chart once it is pointed at"
