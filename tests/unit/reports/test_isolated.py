"""Runs that isolate a stage are shown as what they are, and nowhere as rates of the workload."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sizer.bundled.reports.page import contents, render
from sizer.bundled.reports.subject import Material
from sizer.records.run import Cause, CauseKind, Demand, Estimate, Failure, Outcome, Run, RunWarning, WarningKind
from sizer.records.study import Limits, Purpose

NAME = "train-resnet50-p100"


@pytest.fixture
def stage(material: Material) -> Run:
    """A replay that is ten times as fast as any run of its workload."""
    run = next(run for run in material.runs if run.outcome is Outcome.COMPLETED and run.spec.workload.name == NAME)
    workload = replace(run.spec.workload, input="replay", cache="cold")
    spec = replace(run.spec, workload=workload, limits=Limits(2.0, None, "slow"), purpose=Purpose.ISOLATES_DISK)
    return replace(
        run,
        spec=spec,
        configuration=replace(run.configuration, disk="slow"),
        throughput=Estimate(9000.0, 8900.0, 9100.0),
        demand=Demand(read_bytes=100_000.0, read_ios=2.0),
        warnings=(RunWarning(WarningKind.CONTENDED, {"cores": 0.5}),),
    )


def test_they_have_a_table_of_their_own(material: Material, stage: Run) -> None:
    """Stage, configuration, rate, and what the model learns from it with the figures of the disk."""
    shown = contents(replace(material, runs=(*material.runs, stage)))
    (row,) = next(section for section in shown["workloads"]["sections"] if section["name"] == NAME)["isolated"]
    assert row["stage"] == "Disk"
    assert row["rate"][0].startswith("9,000 images/s")
    assert "900 MB/s and 18,000 IOPS" in row["tells"][0]
    assert row["rate"][1] == "contended"
    assert "What was isolated" in render(replace(material, runs=(*material.runs, stage)))
    assert "What was isolated" not in render(material)


def test_nothing_else_counts_them(material: Material, stage: Run) -> None:
    """Charts, the table of configurations, and what tells of trust stay as they were without."""
    before, after = contents(material), contents(replace(material, runs=(*material.runs, stage)))
    for name in ("facts", "warnings"):
        assert after["doubts"][name] == before["doubts"][name], name
    for section, name in (("verdict", "warned_count"), ("verdict", "rows"), ("verdict", "family")):
        assert after[section][name] == before[section][name], name
    assert after["measurement"]["steady_state"] == before["measurement"]["steady_state"]
    for old, new in zip(before["workloads"]["sections"], after["workloads"]["sections"], strict=True):
        assert {**new, "isolated": []} == {**old, "isolated": []}


def test_the_list_of_all_runs_says_what_they_are(material: Material, stage: Run) -> None:
    """They are runs of the study as others."""
    shown = contents(replace(material, runs=(*material.runs, stage)))
    states = [run["state"] for group in shown["runs"]["runs"] for run in group["runs"]]
    assert "isolating the disk" in states


def test_one_that_failed_says_why(material: Material, stage: Run) -> None:
    """In its table, and among the failures."""
    failed = replace(
        stage,
        outcome=Outcome.CRASHED,
        throughput=None,
        demand=None,
        error=Failure(Cause(CauseKind.EXIT_STATUS, {"status": 71})),
    )
    shown = contents(replace(material, runs=(*material.runs, failed)))
    (row,) = next(section for section in shown["workloads"]["sections"] if section["name"] == NAME)["isolated"]
    assert (row["rate"][0], row["tells"][0]) == ("crashed", "the workload ended with exit status 71")
    assert any(stage.id in each["ids"] for each in shown["doubts"]["failures"])
