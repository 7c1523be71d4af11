"""A tenfold slip between two repeats: no answer that rests on it is final."""

from __future__ import annotations

from pathlib import Path

import pytest

from sizer.catalog.catalog import Catalog
from sizer.model.fitting import fit
from sizer.recommend.recommendation import recommend
from sizer.records.answer import Answer
from sizer.records.study import Objective
from sizer.words.answers import how_sure, reason_sentences
from sizer.words.names import Terms
from tests.tables import runs_of

MACHINES = "workload,gpu,throughput\na,T4,100\na,T4,101\na,V100,190\na,V100,{}\n"
CURVE = (
    "workload,vcpus,throughput\na,1,50\na,1,51\na,2,100\na,2,101\na,4,190\na,4,{}\na,8,300\na,8,301\n"
    "a,16,302\na,16,303\n"
)


def _answer(folder: Path, table: str) -> Answer:
    runs = runs_of(folder, table)
    return recommend(fit(runs), runs, Objective(), Catalog.load()).workloads[0]


@pytest.mark.parametrize("table", [MACHINES, CURVE], ids=["machines", "curve"])
def test_an_answer_beside_a_slip_is_provisional(tmp_path: Path, table: str) -> None:
    """Wherever the slip is: it moves what the answer is compared with, and how far rates are trusted."""
    answer = _answer(tmp_path, table.format(19))
    assert answer.provisional or answer.status == "at_least"
    said = " ".join(reason_sentences(answer, Terms(answer.workload, answer.sample_unit)))
    assert "are 10 times apart: one of them is a slip, and no answer is reliable until it is corrected" in said


@pytest.mark.parametrize("table", [MACHINES, CURVE], ids=["machines", "curve"])
def test_repeats_that_agree_leave_an_answer_final(tmp_path: Path, table: str) -> None:
    answer = _answer(tmp_path, table.format(191))
    assert (answer.status, answer.provisional) == ("recommended", False)


def test_how_sure_an_answer_is_names_whose_runs_lie_apart(tmp_path: Path) -> None:
    """Those of 4 vCPUs, and the answer is another size; a probability would be surer than such a table."""
    answer = _answer(tmp_path, "workload,vcpus,throughput\nj,1,100\nj,2,195\nj,4,380\nj,4,38\nj,8,500\n")
    assert answer.spec is not None
    assert answer.spec.vcpus == 8
    assert how_sure(answer) == "not known: a rate of 4 vCPUs looks like a slip"
    own = _answer(tmp_path, "workload,vcpus,throughput\nj,1,100\nj,2,195\nj,4,380\nj,8,1000\nj,8,100\n")
    assert own.spec is not None
    assert own.spec.vcpus == 8
    assert how_sure(own) == "not known: one of its own rates looks like a slip"


def test_rows_of_other_input_are_no_repeats(tmp_path: Path) -> None:
    answer = _answer(tmp_path, "workload,gpu,input,throughput\na,T4,disk,10\na,T4,synthetic,90\na,V100,disk,50\n")
    assert "times apart" not in " ".join(reason_sentences(answer, Terms("a", "sample")))
