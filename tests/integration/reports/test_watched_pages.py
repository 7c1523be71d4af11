"""That the tests of the page would notice: whatever a page loads, runs, says or stumbles over is a fault of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

POLICY = """<meta http-equiv="Content-Security-Policy" content="default-src 'none'">"""


@pytest.mark.parametrize(
    ("markup", "fault"),
    [
        ('<img src="other.png">', "request: file:"),
        ('<link rel="stylesheet" href="https://example.org/style.css">', "request: https:"),
        (POLICY + "<script>document.title = 'owned'</script>", "error: Executing inline script violates"),
        (POLICY + "<p style='color: red'>", "error: Applying inline style violates"),
        (POLICY + '<img src="other.png">', "error: Loading the image"),
        ("<script>console.log('here')</script>", "log: here"),
        ("<script>nowhere()</script>", "error: "),
    ],
)
def test_a_fault_of_a_page_is_noticed(browser: Any, tmp_path: Path, markup: str, fault: str) -> None:
    """Requests, refusals of the page's policy, words on the console, errors of a script."""
    (tmp_path / "page.html").write_text(f"<!doctype html>{markup}")
    browser.open((tmp_path / "page.html").as_uri(), 1300, "light")
    faults, browser.faults = browser.faults, []
    assert any(each.startswith(fault) for each in faults), faults
