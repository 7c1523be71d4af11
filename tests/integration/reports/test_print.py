"""The page on paper: what Chromium prints of it, read back by poppler."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from sizer.bundled.reports.page import write_report
from sizer.bundled.reports.subject import Material
from sizer.cli import main

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("pdftotext") is None, reason="needs pdftotext; apt-get install poppler-utils"),
]

MARGIN = 36.0
"""Points."""
FOLDED_AWAY = """
(() => {
  document.querySelectorAll('.unseen-title').forEach(each => each.remove());
  const seen = each => [...each.children].some(child => child.tagName !== 'SUMMARY' && child.checkVisibility());
  return [...document.querySelectorAll('main details:not([open])')].filter(each => !each.matches('.runs *, .meaning'))
    .filter(each => !seen(each)).map(each => each.textContent.slice(0, 60));
})()
"""


@dataclass(frozen=True)
class Sheet:
    """One page of paper: its size in points, and its words with the right edge of each."""

    width: float
    words: list[tuple[str, float]]

    @property
    def text(self) -> str:
        """All of its words, without the spaces between them: words without a break are broken anywhere."""
        return "".join(word for word, _ in self.words)


@dataclass(frozen=True)
class Print:
    sheets: list[Sheet]
    folded: list[str]
    """What is closed and not printed."""
    shown: list[str]
    """The words that the page shows a printer."""


def sheets_of(pdf: Path) -> list[Sheet]:
    """As poppler reads them."""
    words = pdf.with_suffix(".words")
    subprocess.run(["pdftotext", "-bbox", pdf, words], check=True, timeout=300)
    return [
        Sheet(float(sheet.attrib["width"]), [(word.text or "", float(word.attrib["xMax"])) for word in sheet])
        for sheet in ElementTree.parse(words).iter("{http://www.w3.org/1999/xhtml}page")
    ]


@pytest.fixture(scope="module", params=["A4", pytest.param("Letter", marks=pytest.mark.long)])
def printed(
    request: pytest.FixtureRequest, browser: Any, material: Material, tmp_path_factory: pytest.TempPathFactory
) -> Print:
    folder: Path = tmp_path_factory.mktemp("printed")
    write_report(folder / "report.html", material)
    page = browser.open((folder / "report.html").as_uri(), 1300, "dark")
    margins = dict.fromkeys(("top", "right", "bottom", "left"), f"{MARGIN / 72}in")
    page.pdf(path=folder / "report.pdf", format=request.param, margin=margins)
    page.emulate_media(media="print")
    folded = browser.evaluate(FOLDED_AWAY)
    return Print(sheets_of(folder / "report.pdf"), folded, page.locator("body").inner_text().split())


def test_workloads_without_an_answer_share_sheets(browser: Any, tmp_path: Path) -> None:
    """One with an answer begins a new one."""
    rows = "".join(f"failed{number},T4,8,,out_of_memory\n" for number in range(9))
    answered = "".join(f"{name},{gpu},8,{rate},\n" for name in "ab" for gpu, rate in (("T4", 100), ("V100", 300)))
    (tmp_path / "t.csv").write_text(f"workload,gpu,batch_size,throughput,outcome\n{rows}{answered}")
    assert main(["import", str(tmp_path / "t.csv"), "--out", str(tmp_path / "s")]) == 0
    assert main(["report", str(tmp_path / "s")]) == 0
    page = browser.open((tmp_path / "s" / "report.html").as_uri(), 1300, "light")
    page.pdf(path=tmp_path / "t.pdf", format="A4")
    sheets = [sheet.text for sheet in sheets_of(tmp_path / "t.pdf")]
    counts = [sheet.count("Norunofthisworkloadcompleted") for sheet in sheets]
    assert sum(counts) == 9
    assert max(counts) > 3
    assert sum(sheet.startswith(("ameasured", "bmeasured")) for sheet in sheets) == 2


def test_what_is_printed(printed: Print) -> None:
    """The answer for every workload stands on the first sheet; no word reaches into the margin or is lost: one may be
    broken, and a sheet may end within it. What is folded away is printed but for the evidence of each run, of which
    there may be a thousand, and the words that explain it."""
    for word in ("train-resnet50-p100", "recommended", "infer-squeezenet", "preprocess", "2vCPUs", "0.97"):
        assert word in printed.sheets[0].text
    for sheet in printed.sheets:
        assert [word for word, right in sheet.words if right > sheet.width - MARGIN + 1] == []
    text = "".join(sheet.text for sheet in printed.sheets)
    assert len(printed.shown) > 1500
    assert [word for word in printed.shown if re.search(r"\w", word) and word not in text] == []
    assert printed.folded == []
    assert "Allruns,eachwithitsevidence" in text
    assert "core-ms" not in text
    assert "Whatthewordsmean" not in text
