"""Throughput against accelerators beside perfect scaling, from imported tables."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.bundled.reports.figures.scaling import accelerator_chart
from sizer.bundled.reports.subject import Material, Subject
from sizer.records.study import Objective, Study
from tests.tables import runs_of

COUNTS = """workload,gpu,gpu_count,throughput
job,P100,1,200
job,P100,2,390
job,P100,4,720
job,V100,1,400
job,V100,1,380
job,V100,8,2400
job,K80,1,50
"""

Subjects = Callable[[str], tuple[Subject, ...]]


@pytest.fixture
def subjects_of(tmp_path: Path, study: Study) -> Subjects:
    """The workloads of a table, without model and answer."""

    def subjects_of(table: str) -> tuple[Subject, ...]:
        runs = runs_of(tmp_path, table)
        names = list(dict.fromkeys(run.spec.workload.name for run in runs))
        return tuple(
            Subject(name, study, Objective(), tuple(run for run in runs if run.spec.workload.name == name))
            for name in names
        )

    return subjects_of


def test_each_kind_has_its_line_of_perfect_scaling(subjects_of: Subjects) -> None:
    """Kinds with one count have none; of a count the fastest run's machine is shown."""
    (subject,) = subjects_of(COUNTS)
    figure = accelerator_chart(subject)
    assert figure is not None
    assert [key.text for key in figure.keys] == ["V100", "P100", "perfect scaling from the fewest"]
    root = ElementTree.fromstring(str(figure.svg))
    assert sum(each.get("class") == "ideal" for each in root.iter()) == 2
    told = [each.text or "" for each in root.iter() if each.tag == "title"]
    assert any(re.match(r"4 x P100: 720 samples/s.*, 90 % of perfect scaling from 1$", each) for each in told)
    assert any(each.startswith("1 x V100: 390 samples/s") for each in told), "repeats of one machine are put together"


def test_one_count_is_no_chart(subjects_of: Subjects, material: Material) -> None:
    """Nor is a job on the CPU."""
    (subject,) = subjects_of("workload,gpu,gpu_count,throughput\njob,P100,1,200\njob,V100,1,400\n")
    assert accelerator_chart(subject) is None
    assert accelerator_chart(replace(subject, runs=material.runs)) is None
