"""The table of frameworks on the page and in the terminal, from imported tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sizer.bundled.reports import Material
from sizer.bundled.reports import cross_table as section
from sizer.bundled.reports.page import render
from sizer.recommend.cross_table import cross_table
from sizer.records import Recommendation, Study
from sizer.words import cross_answer, cross_lines
from tests.tables import runs_of

PROGRAMS = """workload,framework,network,gpu,batch_size,mode,throughput,outcome
a,tensorflow,resnet50,P100,64,train,200,
b,tensorflow,alexnet,P100,512,train,2800,
c,mxnet,resnet50,P100,64,train,180,
d,mxnet,alexnet,P100,512,train,1400,
e,pytorch,resnet50,P100,64,train,190,
f,pytorch,alexnet,P100,512,train,,out_of_memory
"""


@pytest.fixture
def compared(tmp_path: Path, material: Material) -> Recommendation:
    return Recommendation(material.study.objective, (), cross_table=cross_table(runs_of(tmp_path, PROGRAMS)))


def test_frameworks_stand_beside_each_other(compared: Recommendation, material: Material) -> None:
    """Seconds with rank and ratio; shades go by row, and what was not measured says why."""
    shown: dict[str, Any] | None = section.contents(replace(material, recommendation=compared), ())
    assert shown is not None
    assert shown["columns"] == ["TensorFlow", "MXNet", "PyTorch"]
    assert [(row["network"], row["under"]) for row in shown["rows"]] == [
        ("resnet50", "batch 64"),
        ("alexnet", "batch 512"),
    ]
    first, second = (row["cells"] for row in shown["rows"])
    assert [cell["first"] for cell in first] == [True, False, True]
    assert first[0]["seconds"] == "320 ms"
    assert first[1]["under"] == "rank 2, 1.11 times the best time, 180 samples/s"
    assert [cell["heat"] for cell in second] == [5, 1, 0]
    assert second[2] == {"seconds": "out of memory", "under": "", "heat": 0, "first": False}
    assert "all with forward, backward and update, P100." in shown["notes"][0]


def test_the_terminal_says_the_same(compared: Recommendation, study: Study) -> None:
    """A line for each cell."""
    assert compared.cross_table is not None
    lines = list(cross_lines(compared.cross_table, study))
    assert lines[:4] == [
        "Seconds a mini-batch:",
        "  Surely the fastest, of 2 comparisons: TensorFlow in 1; in 1 it cannot be told.",
        "  resnet50, batch 64",
        "    TensorFlow: 320 ms, shares rank 1, 200 samples/s",
    ]
    assert "    PyTorch: out of memory" in lines


ALONE = """workload,framework,network,gpu,batch_size,mode,throughput
a,mxnet,resnet50,P100,64,train,200
b,mxnet,alexnet,P100,64,train,900
c,mxnet,vgg16,P100,64,train,90
"""
TWO = """workload,framework,network,gpu,batch_size,mode,throughput,throughput_low,throughput_high
a,mxnet,resnet50,P100,64,train,{},{},{}
b,pytorch,resnet50,P100,64,train,180,176,184
"""


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (TWO.format(300, 296, 304), "Surely the fastest, of 1 comparison: MXNet in 1."),
        (TWO.format(181, 177, 185), "Which is the fastest cannot be told in the one comparison."),
        (ALONE, ""),
    ],
)
def test_which_is_the_fastest_is_said_first(tmp_path: Path, table: str, said: str) -> None:
    """How often each is surely ahead of all others; nothing where no row compares two."""
    found = cross_table(runs_of(tmp_path, table))
    assert found is not None
    assert cross_answer(found) == said


def test_the_first_screen_leads_to_the_table(compared: Recommendation, material: Material) -> None:
    """What it answers stands above the rows of the workloads, and the table itself right below them."""
    shown = render(replace(material, recommendation=compared))
    assert shown.index('href="#cross-table"') < shown.index('class="answers"') < shown.index('id="cross-table"')
    assert shown.index('id="cross-table"') < shown.index('id="workload-1"')
    assert "The darker, the nearer" in shown


def test_no_table_is_no_section(material: Material) -> None:
    """Where nothing is compared."""
    assert section.contents(material, ()) is None
    assert section.contents(replace(material, recommendation=None), ()) is None


def test_of_doubtful_figures_nothing_is_sure(tmp_path: Path) -> None:
    """Runs with warnings may be slow for another reason: the answer is by their intervals, and says so."""
    found = cross_table(runs_of(tmp_path, TWO.format(300, 296, 304)))
    assert found is not None
    (only,) = found.rows
    doubted = replace(found, rows=(replace(only, cells=tuple(replace(cell, doubtful=True) for cell in only.cells)),))
    assert cross_answer(doubted) == (
        "The fastest by their intervals, of 1 comparison: MXNet in 1. Figures of 1 of them are doubtful."
    )
