"""What axe-core, which knows the rules of WCAG, finds in the page."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from sizer.bundled.reports.page import render
from sizer.bundled.reports.subject import Material

pytestmark = pytest.mark.slow

SEVERE = {"serious", "critical"}


def kinds(page: str) -> set[tuple[str, str]]:
    """The elements of a page by name and class."""
    return set(re.findall(r'<(\w+)(?:\s[^>]*?class="([^"]*)")?', page))


@pytest.fixture(scope="module")
def address(material: Material, written: Callable[[Material], str]) -> str:
    """The page of half of the runs, which has every kind of element that it has of all: axe looks at each of them."""
    few = [run for run in material.runs if run.spec.repeat == 0 or run.spec.limits.vcpus == 0.5 or run.warnings]
    fewer = replace(material, runs=tuple(few))
    assert kinds(render(fewer)) == kinds(render(material))
    return written(fewer)


@pytest.mark.parametrize(("width", "scheme"), [(1300, "light"), (390, "dark")])
def test_nothing_keeps_a_reader_out(browser: Any, address: str, width: int, scheme: str) -> None:
    """No violation that axe calls serious or critical, with everything opened that opens, a badge too."""
    page = browser.open(address, width, scheme)
    browser.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    page.locator("#verdict .badge").first.focus()
    found = Axe().run(page).response["violations"]
    assert [
        (each["id"], node["target"], node["failureSummary"])
        for each in found
        if each["impact"] in SEVERE
        for node in each["nodes"]
    ] == []


def test_axe_finds_what_is_wrong(browser: Any, tmp_path: Path) -> None:
    """A field that nobody names and grey words on grey are both found."""
    (tmp_path / "page.html").write_text(
        '<!doctype html><title>t</title><input><p style="background:#888;color:#999">grey'
    )
    violations = Axe().run(browser.open((tmp_path / "page.html").as_uri(), 1300, "light")).response["violations"]
    assert {"label", "color-contrast"} <= {violation["id"] for violation in violations if violation["impact"] in SEVERE}
