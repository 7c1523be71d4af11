"""What a person reads of the runs that isolate a stage."""

from __future__ import annotations

from pathlib import Path

import pytest

from sizer.api import StudyPlan
from sizer.cli.dry_run import lines
from sizer.plan.run_order import plan
from sizer.plan.two_epochs import two_epoch_passes
from sizer.records.study import Limits, Measure, Purpose, RunSpec, Workload
from sizer.study.parse import parse_study
from sizer.study.presets import HostSize

HOST = HostSize(2, 8 * 2**30)
STUDY = """
isolate: true
workloads: [{name: train, kind: image_training, device: {emulate: {samples_per_second: 100}}}]
axes: {vcpus: [0.5, 1, 2]}
measure: {repeats: 1, seconds: 10}
"""


def planned(study_text: str) -> StudyPlan:
    study = parse_study(study_text, "study.yaml", None, HOST, None)
    return StudyPlan(study, plan(study, HOST), (), Path("s"), passes=two_epoch_passes(study, HOST))


def found(study_text: str) -> list[str]:
    return list(lines(planned(study_text), {"HOME": "/root"}))


def test_the_data_of_the_pass_is_prepared_with_that_of_the_plan() -> None:
    """Its workload is measured `natural`, and its cap is not known before other runs have shown what it needs."""
    states = {(spec.purpose, spec.workload.cache) for spec in planned(STUDY).left}
    assert (Purpose.TWO_EPOCHS, "natural") in states


def test_a_dry_run_lists_them_with_what_they_are_for() -> None:
    """Each by itself, each kind explained once, the pass that follows, and a program once for all of them."""
    listed = found(STUDY)
    text = "\n".join(listed)
    assert sum("isolating the input pipeline, repeat 1" in line for line in listed) == 3
    assert sum("isolating the disk, repeat 1" in line for line in listed) == 1
    assert text.count("runs isolating the disk show the disk alone") == 1
    assert "then 1 run of two epochs of `train` under a memory cap that holds half of its data" in text
    assert sum(line.startswith("runs: `train`") for line in listed) == 1
    assert "memory caps" in listed[-1]


def test_their_time_is_counted() -> None:
    """Five runs more, and the reference again, which three runs alone do without."""
    counts = [
        next(line for line in found(text) if " runs, about " in line)
        for text in (STUDY, STUDY.replace("isolate: true", ""))
    ]
    assert [count.split()[0] for count in counts] == ["9", "3"]


@pytest.mark.parametrize(
    ("purpose", "words"),
    [
        (Purpose.ISOLATES_DISK, ", isolating the disk"),
        (Purpose.TWO_EPOCHS, ", isolating the page cache"),
        (Purpose.ASKED, ""),
    ],
)
def test_a_line_about_a_run_names_its_stage(purpose: Purpose, words: str) -> None:
    """So it is not taken for the workload as asked for."""
    from sizer.words.runs import run_in_words

    spec = RunSpec(Workload("train", "image_training"), 32, Limits(2.0), Measure(), purpose=purpose)
    assert run_in_words(spec) == f"train 2 vCPUs, batch 32{words}"
