"""The table of frameworks on the page and in the terminal, from imported tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sizer.bundled.reports import cross_table as section
from sizer.bundled.reports.page import render
from sizer.bundled.reports.subject import Material
from sizer.recommend.cross_table import cross_table
from sizer.records.answer import Answer, CrossTable, Recommendation
from sizer.records.notes import Note, NoteKind
from sizer.records.study import Adaptive, Study
from sizer.words.page import cross_answer, cross_lines, table_comes_first
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
    (table,) = shown["tables"]
    assert table["columns"] == ["TensorFlow", "MXNet", "PyTorch"]
    rows = [row for group in table["groups"] for row in group["rows"]]
    assert [(row["name"], row["under"]) for row in rows] == [("resnet50", "batch 64"), ("alexnet", "batch 512")]
    first, second = (row["cells"] for row in rows)
    assert [cell["first"] for cell in first] == [True, False, True]
    assert first[0]["seconds"] == "320 ms"
    assert first[1]["under"] == ["rank 2, 1.11×", "180 samples/s"]
    assert [cell["heat"] for cell in second] == [5, 1, 0]
    assert second[2] == {"seconds": "out of memory", "under": [], "heat": 0, "first": False}
    assert "all with forward, backward and update, P100." in shown["notes"][0]


def test_the_terminal_says_the_same(compared: Recommendation, study: Study) -> None:
    """A line for each row."""
    assert compared.cross_table is not None
    lines = list(cross_lines(compared.cross_table, study))
    assert lines[:4] == [
        "Seconds a mini-batch:",
        "  Surely the fastest, of 2 comparisons: TensorFlow in 1; in 1 it cannot be told.",
        "  resnet50, batch 64: TensorFlow 320 ms, shares rank 1, 200 samples/s; MXNet 356 ms, rank 2, 1.11×, "
        "180 samples/s; PyTorch 337 ms, shares rank 1, 1.05×, 190 samples/s",
        "  alexnet, batch 512: TensorFlow 183 ms, rank 1, 2,800 samples/s; MXNet 366 ms, rank 2, 2.00×, "
        "1,400 samples/s; PyTorch out of memory",
    ]
    assert "2× is twice the best time of the row." in lines[4]


def rows_of(frameworks: Sequence[str], networks: Sequence[str]) -> str:
    header = "framework,network,gpu,batch_size,mode,throughput\n"
    rates = [(f, n, b, m) for f in frameworks for n in networks for b in (8, 16) for m in ("forward", "train")]
    return header + "".join(f"{f},{n},K80,{b},{m},{100 + 20 * at}\n" for at, (f, n, b, m) in enumerate(rates))


def test_rows_of_one_network_stand_together(tmp_path: Path, study: Study, material: Material) -> None:
    """Its name and its mode are said once, on the page as in the terminal."""
    found = cross_table(runs_of(tmp_path, rows_of(["mxnet", "pytorch"], ["vgg16", "alexnet"])))
    assert found is not None
    lines = list(cross_lines(found, study))
    assert lines[2:5] == [
        "  vgg16, forward",
        "    batch 8: MXNet 80 ms, rank 2, 2.60×, 100 samples/s; PyTorch 30.8 ms, rank 1, 260 samples/s",
        "    batch 16: MXNet 114 ms, rank 2, 2.14×, 140 samples/s; PyTorch 53.3 ms, rank 1, 300 samples/s",
    ]
    assert "  vgg16, training" in lines
    assert "Training is forward, backward and update." in lines[-1]
    shown = section.contents(
        replace(material, recommendation=Recommendation(study.objective, (), cross_table=found)), ()
    )
    assert shown is not None
    (table,) = shown["tables"]
    assert [group["title"] for group in table["groups"]] == [
        "vgg16, forward",
        "vgg16, training",
        "alexnet, forward",
        "alexnet, training",
    ]
    assert [row["name"] for row in table["groups"][0]["rows"]] == ["batch 8", "batch 16"]


def test_of_many_frameworks_each_network_has_its_own(tmp_path: Path, material: Material) -> None:
    """And each mode, a table of those that were measured against each other, with each set of frameworks."""
    some, others = [f"f{n}" for n in range(6)], [f"g{n}" for n in range(6)]
    text = rows_of(some, ["vgg16"]) + rows_of(others, ["vgg16"]).partition("\n")[2].replace("K80", "T4")
    found = cross_table(runs_of(tmp_path, text))
    assert found is not None
    shown = section.contents(
        replace(material, recommendation=Recommendation(material.study.objective, (), cross_table=found)), ()
    )
    assert shown is not None
    assert [table["columns"] for table in shown["tables"]] == 2 * [some, others]
    assert [table["groups"][0]["title"] for table in shown["tables"]] == 2 * ["vgg16, forward"] + 2 * [
        "vgg16, training"
    ]
    assert [row["name"] for row in shown["tables"][1]["groups"][0]["rows"]] == ["batch 8, T4", "batch 16, T4"]


def test_a_column_without_a_comparison_is_left_out(tmp_path: Path) -> None:
    """What nothing stands beside compares nothing."""
    alone = "z,lenet,K80,8,forward,900\n"
    found = cross_table(runs_of(tmp_path, rows_of(["mxnet", "pytorch"], ["vgg16"]) + alone))
    assert found is not None
    assert [column.framework for column in found.columns] == ["mxnet", "pytorch"]


def answered(count: int, table: CrossTable | None, study: Study) -> Recommendation:
    answers = tuple(Answer(f"w{number}", "refused") for number in range(count))
    return Recommendation(study.objective, answers, cross_table=table)


def test_a_study_of_many_programs_begins_with_the_table(compared: Recommendation, material: Material) -> None:
    """Its answers are a section below; a few answers come first, and so does what no table compares."""
    study, table = material.study, compared.cross_table
    assert [table_comes_first(answered(count, table, study), study) for count in (4, 5)] == [False, True]
    assert not table_comes_first(answered(5, None, study), study)
    assert not table_comes_first(answered(5, table, study), replace(study, adaptive=Adaptive()))
    notes = tuple(Note(NoteKind.OTHER, text=f"Note {number}.") for number in range(5))
    shown = render(replace(material, recommendation=answered(5, table, study), notes=notes))
    order = [shown.index(part) for part in ('id="verdict"', "Note 1.", 'id="cross-table"', 'class="answers"')]
    assert order == sorted(order)
    assert shown.count('class="answers"') == 1
    assert shown.index("3 more notes") < shown.index("Note 4.")
    assert 'href="#answers-title"' in shown


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
        (TWO.format(181, 177, 185), "Which is the fastest cannot be told, of 1 comparison."),
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


@pytest.mark.parametrize(("rate", "said"), [(179.9, "shares rank 1"), (150, "rank 2, 1.20×"), (10, "rank 2, 18×")])
def test_a_ratio_has_as_many_digits_as_mean_something(tmp_path: Path, study: Study, rate: float, said: str) -> None:
    found = cross_table(runs_of(tmp_path, TWO.format(rate, rate * 0.99, rate * 1.01)))
    assert found is not None
    (line,) = (line for line in cross_lines(found, study) if "MXNet" in line and "PyTorch" in line)
    assert f", {said}, " in line
