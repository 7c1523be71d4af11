"""A page of many runs, on which the evidence of a run is unpacked when its line is opened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sizer.bundled.reports.page import write_report
from sizer.bundled.reports.runs import all_runs
from sizer.bundled.reports.subject import Material
from sizer.records.run import Outcome

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def plain(material: Material, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page as it is of few runs."""
    path: Path = tmp_path_factory.mktemp("plain") / "report.html"
    write_report(path, material)
    return path.as_uri()


@pytest.fixture(scope="module")
def packed(material: Material, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The same as if 56 runs were many."""
    path: Path = tmp_path_factory.mktemp("packed") / "report.html"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(all_runs, "MOST_IN_PLACE", len(material.runs) - 1)
        write_report(path, material)
    return path.as_uri()


def test_opening_a_line_shows_the_evidence_of_its_run(browser: Any, plain: str, packed: str) -> None:
    """The same that a page of few runs shows, of every run; before that it is not there."""
    page = browser.open(plain, 1300, "light")
    expected = [each.inner_html().strip() for each in page.locator(".evidence").all()]
    page = browser.open(packed, 1300, "light")
    assert page.get_by_text("scripts are off here").count() == 0
    assert page.locator(".evidence:not(:empty)").count() == 0
    page.locator(".runs > details > summary").nth(20).click()
    page.locator(".evidence:not(:empty)").wait_for()
    browser.evaluate("document.querySelectorAll('.runs > details').forEach(each => { each.open = true; })")
    page.locator(".evidence:empty").first.wait_for(state="detached")
    assert [each.inner_html().strip() for each in page.locator(".evidence").all()] == expected
    assert len(expected) == 56


def test_a_link_to_a_run_shows_its_evidence(browser: Any, packed: str, material: Material) -> None:
    """As the address of the page, and on it."""
    first, second = [run for run in material.runs if run.outcome is not Outcome.COMPLETED][:2]
    page = browser.open(f"{packed}#run-{first.id}", 390, "light")
    page.locator(f"#run-{first.id} h4, #run-{first.id} .fine").first.wait_for()
    browser.evaluate(f"location.hash = 'run-{second.id}'")
    page.locator(f"#run-{second.id} .fine").wait_for()
    assert page.locator(".evidence:not(:empty)").count() == 2


@pytest.mark.parametrize("width", [390, 1300])
def test_the_last_run_is_in_view_where_a_link_leads_to_it(browser: Any, packed: str, width: int) -> None:
    """Before its evidence is there the page ends right behind it."""
    page = browser.open(packed, width, "light")
    last = page.locator(".evidence").last.get_attribute("id")
    page = browser.open(f"{packed}#{last}", width, "light")
    page.locator(f"#{last}:not(:empty)").wait_for()
    assert 0 <= browser.evaluate(f"document.getElementById('{last}').getBoundingClientRect().top") < 700


def test_without_javascript_a_page_of_many_runs_says_what_is_missing(browser: Any, packed: str, plain: str) -> None:
    """The line of every run is there; on a page of few runs nothing is missing."""
    page = browser.open(packed, 1300, "light", java_script_enabled=False)
    assert page.get_by_text("scripts are off here").is_visible()
    assert page.locator(".runs > details > summary").count() == 56
    page = browser.open(plain, 1300, "light", java_script_enabled=False)
    assert page.get_by_text("scripts are off here").count() == 0
