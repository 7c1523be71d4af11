"""The files that the page carries, as a browser saves them."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sizer.bundled.reports.page import write_report
from sizer.bundled.reports.subject import Material
from sizer.exchange.measurements import write_tables

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def address(material: Material, tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("downloads") / "report.html"
    table, rows = write_tables(material.runs)
    write_report(path, replace(material, measurements_csv=table, measurements_json=rows))
    return path.as_uri()


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_a_click_saves_the_table(browser: Any, address: str, material: Material, kind: str) -> None:
    """Plain where scripts run, compressed where they do not."""
    expected = dict(zip(("csv", "json"), write_tables(material.runs), strict=True))[kind]
    for scripts in (True, False):
        page = browser.open(address, 1300, "light", java_script_enabled=scripts)
        with page.expect_download() as waiting:
            page.locator(f".downloads a[download$='.{kind}.gz']").click()
        saved, name = Path(waiting.value.path()).read_bytes(), waiting.value.suggested_filename
        if scripts:
            assert (saved.decode(), name) == (expected, f"{material.study.name}.{kind}")
        else:
            assert (gzip.decompress(saved).decode(), name) == (expected, f"{material.study.name}.{kind}.gz")
