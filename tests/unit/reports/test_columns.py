"""Columns of which no row says anything are left out, everywhere by one rule."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from sizer.bundled.reports.runs import all_runs
from sizer.cli import main
from sizer.records.run import Bottleneck, Evidence, EvidenceKind

TABLE = """workload,vcpus,throughput
job,1,100
job,2,190
job,4,350
"""


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("table")
    (folder / "table.csv").write_text(TABLE)
    assert main(["import", str(folder / "table.csv"), "--out", str(folder / "s")]) == 0
    return (folder / "s" / "report.html").read_text("utf-8")


def test_tables_of_an_imported_study_have_no_empty_columns(imported: str) -> None:
    """Neither one of dashes nor one of `not accounted`, nor lines of runs that say so each."""
    for table in re.findall(r"<table>.*?</table>", imported, re.S):
        cells = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.S) for row in re.findall(r"<tr.*?</tr>", table, re.S)]
        for column in zip(*cells[1:], strict=False):
            assert {re.sub("<[^>]*>", "", cell).strip() for cell in column} - {"", "–", "not accounted", "unknown"}
    listed = imported[imported.index('id="runs"') :]
    lines = re.findall(r"<details><summary>(.*?)</summary>", listed, re.S)
    assert len(lines) == 3
    assert not any("not accounted" in line for line in lines)
    assert not any(re.search(r"<span>\s*</span>", line) for line in lines)
    assert "repeat 1" not in listed


def _evidence(share: float, kind: EvidenceKind = EvidenceKind.BUSIEST) -> Evidence:
    return Evidence(Bottleneck.CPU, {"cpu": share}, kind, {"cpu": share})


def test_evidence_beside_a_mean_is_the_mean_of_the_same_runs() -> None:
    """And where repeats were bound by different things, in how many of them."""
    assert all_runs.evidence_agreed([_evidence(0.9), _evidence(0.7)]) == "the vCPUs 80 % busy"
    serial = Evidence(Bottleneck.SERIAL, {}, EvidenceKind.SERIAL, {"cores": 0.8, "vcpus": 2.0})
    assert all_runs.evidence_agreed([serial, replace(serial, figures={"cores": 1.0, "vcpus": 2.0})]) == (
        "0.90 of 2 vCPU busy, and nothing else is"
    )
    assert all_runs.evidence_agreed([_evidence(0.9), serial, _evidence(0.7)]) == (
        "in 2 of 3 runs the vCPUs 80 % busy; in 1 of 3 runs 0.80 of 2 vCPU busy, and nothing else is"
    )
    assert all_runs.evidence_agreed([]) == ""
