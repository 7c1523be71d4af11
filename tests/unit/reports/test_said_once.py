"""No sentence stands twice on a page: who reads one again as if it were new trusts the page less."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from sizer.bundled.reports.material import Material
from sizer.bundled.reports.page import render
from sizer.cli import main
from sizer.records.study import Note, NoteKind

LONG = 6
"""Words; what is shorter is a label."""
WITHIN = frozenset({"p", "li", "dd", "figcaption", "h2", "h3", "h4"})
"""What holds sentences. Tables and what is folded away are looked up, not read from one end to the other."""
UNREAD = frozenset({"table", "details", "script", "style", "svg"})
UNREAD_CLASSES = frozenset({"badge-says", "legend"})
EXPECTED = (
    r"The rate still rises at .*, the most measured\.",  # of each workload's model
    r"Each of \d+ configurations was predicted by a fit to the others:.*",  # the same
    r"At .*\.",  # what two charts have in common
    r".* · .*",  # what a workload is, over its section and over its runs
)
"""Said again on purpose, in another place that is read by itself."""

MACHINES = """workload,gpu,gpu_count,vcpus,usd_per_hour,throughput
one,T4,1,4,0.5,100
one,V100,1,8,3.0,250
one,V100,4,32,12.0,900
two,T4,1,4,0.5,200
two,V100,1,8,3.0,450
"""
NO_PRICE = """workload,gpu,gpu_count,throughput
bert,FooChip,1,100
bert,FooChip,2,190
bert,BarChip,1,45
"""
RISING = """workload,vcpus,throughput
a,2,100
a,4,190
"""
ALL_FAILED = """workload,vcpus,memory_gib,throughput,outcome
a,2,4,,out_of_memory
a,4,4,,crashed
"""


class Sentences(HTMLParser):
    """The long sentences of a page, each with the section of the workload that it stands in; empty outside of one."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self._open: list[tuple[str, str]] = []
        self._text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in WITHIN:
            self._end()
        known = dict(attrs)
        if tag not in ("meta", "br", "input"):
            self._open.append((tag, known.get("aria-labelledby") or known.get("class") or ""))

    def handle_endtag(self, tag: str) -> None:
        if tag in WITHIN:
            self._end()
        self._open.pop()

    def handle_data(self, data: str) -> None:
        tags = {tag for tag, _name in self._open}
        if WITHIN & tags and not UNREAD & tags and not any(name in UNREAD_CLASSES for _tag, name in self._open):
            self._text += data

    def _end(self) -> None:
        where = next((name for _tag, name in self._open if re.fullmatch(r"workload-\d+", name)), "")
        said = re.sub(r"\s+", " ", self._text).strip()
        self._text = ""
        self.found += [(where, each) for each in re.split(r"(?<=[.;?!]) ", said) if len(each.split()) > LONG]


def repeated(page: str) -> list[str]:
    """Sentences that stand twice in one workload's section, or twice outside of these."""
    twice = [said for (_where, said), count in Counter(Sentences(page).found).items() if count > 1]
    return [said for said in twice if not any(re.fullmatch(known, said) for known in EXPECTED)]


@pytest.fixture
def imported(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """The page that `import` makes of a table."""
    (tmp_path / "table.csv").write_text(request.param)
    assert main(["import", str(tmp_path / "table.csv"), "--out", str(tmp_path / "study")]) == 0
    return (tmp_path / "study" / "report.html").read_text("utf-8")


@pytest.mark.parametrize("imported", [MACHINES, NO_PRICE, RISING, ALL_FAILED], indirect=True)
def test_the_page_of_a_table_says_nothing_twice(imported: str) -> None:
    """Machines with prices, without, and runs that all failed."""
    assert Sentences(imported).found
    assert repeated(imported) == []


@pytest.mark.parametrize("imported", [MACHINES], indirect=True)
def test_what_a_table_of_machines_means_is_said_under_the_first(imported: str) -> None:
    """Its columns mean the same in every workload's section."""
    assert imported.count("The least cost of a million samples first.") == 1


def test_the_page_of_a_study_says_nothing_twice(material: Material) -> None:
    """As it is, and before anything has been recommended."""
    assert repeated(render(material)) == []
    assert repeated(render(replace(material, recommendation=None, model=None))) == []


def test_what_a_host_does_not_allow_is_said_apart_from_what_follows(material: Material) -> None:
    """The note tells the command; that memory was not varied is said by the workloads that it is true of."""
    assert "not varied" not in render(replace(material, notes=(Note(NoteKind.NO_MEMORY_AXIS, fix="sudo sizer demo"),)))


@pytest.mark.parametrize("imported", [NO_PRICE], indirect=True)
def test_nothing_without_a_price_is_called_cheap(imported: str) -> None:
    """It is called by what it is."""
    shown = re.sub(r"<(style|script)>.*?</\1>", "", imported, flags=re.DOTALL)
    assert [said for _where, said in Sentences(shown).found if "cheap" in said.lower()] == []
    assert "Cheapest" not in shown
    assert "Most for each accelerator" in shown


@pytest.mark.parametrize("imported", [NO_PRICE.replace("gpu,", "GPU model,", 1), MACHINES, ALL_FAILED], indirect=True)
def test_no_mark_stands_literally_in_a_note(imported: str) -> None:
    """What is set apart looks like code."""
    notes = imported.partition('<ul class="notes">')[2].partition("</ul>")[0]
    assert "`" not in notes
    assert "<code>" in notes or "Imported" in notes
