"""Answers from a busy host are judged by those from the quiet one."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean

import pytest
from busy import Pair, are_apart, judge, twin_of
from busy_studies import FOLDER, STUDIES, TWINS
from grid_data import load_grid

from sizer.records.answer import Answer
from sizer.records.configuration import Estimate
from sizer.records.prediction import ReasonCode, Spec

GIB = 2**30


def answer(vcpus: float, status: str = "recommended", **known: object) -> Answer:
    """With a spec of so many vCPUs, and a rate of 100."""
    made = Answer("job", status, Spec(vcpus), Estimate(100.0, 90.0, 110.0))
    return replace(made, **known)


@pytest.mark.parametrize(
    ("busy", "kept", "apart"),
    [
        (Spec(2.0, 8 * GIB, "nvme"), 1.0, False),
        (Spec(2.0, 8 * GIB, "slow"), 0.91, False),
        (Spec(2.0, 8 * GIB, "slow"), 0.89, True),
        (Spec(1.0, 8 * GIB, "nvme"), 0.99, True),
        (Spec(4.0, 8 * GIB, "nvme"), 1.0, True),
        (Spec(2.0, 4 * GIB, "nvme"), 1.0, True),
        (Spec(2.0, None, "nvme"), 1.0, False),
    ],
)
def test_what_is_as_good_as_another(busy: Spec, kept: float, apart: bool) -> None:
    """Within a tenth of its rate, and of its size where both say it."""
    assert are_apart(Spec(2.0, 8 * GIB, "nvme"), busy, kept) is apart


@pytest.mark.parametrize(
    ("quiet", "busy", "verdict"),
    [
        (answer(2.0), answer(1.0), "WRONG"),
        (answer(2.0, "at_least"), answer(1.0), "WRONG"),
        (answer(1.0), answer(2.0), "WRONG"),
        (answer(2.0), answer(1.0, provisional=True), "not said"),
        (answer(2.0), answer(1.0, "at_least"), "not said"),
        (answer(2.0), answer(2.0), "as good"),
        (answer(2.0), answer(2.0, provisional=True), "held back"),
        (answer(2.0, "at_least"), answer(2.0, "at_least"), "as good"),
        (answer(2.0), answer(1.0, "refused", spec=None), "refused"),
        (answer(2.0, "refused", spec=None), answer(1.0), "no yardstick"),
        (answer(2.0, "at_least", probability=0.6), answer(1.0), "no yardstick"),
        (answer(2.0, provisional=True), answer(1.0), "no yardstick"),
    ],
)
def test_only_a_plain_answer_is_wrong(quiet: Answer, busy: Answer, verdict: str) -> None:
    """One that is provisional, or a lower bound, is none to act on."""
    kept = None if quiet.spec is None or busy.spec is None else 1.0
    assert Pair("one-thread", quiet, busy, kept).verdict == verdict


@pytest.mark.parametrize("name", STUDIES)
def test_twins_are_of_one_study(name: str) -> None:
    """The same runs were asked for, and in the busy one others used the host, which each run tells."""
    quiet, busy = (load_grid(FOLDER / name / f"{twin}.jsonl") for twin in TWINS)
    assert {run.id for run in quiet} == {run.id for run in busy}
    assert len({run.spec.workload.name for run in quiet}) == 1
    assert (
        fmean(run.conditions.other_cores or 0.0 for run in busy)
        > 0.4
        > fmean(run.conditions.other_cores or 0.0 for run in quiet)
    )


def test_nothing_of_the_measuring_host_s_folders_is_in_the_files() -> None:
    """As of the measured grid."""
    files = [path for path in FOLDER.rglob("*") if path.suffix in (".jsonl", ".yaml")]
    assert len(files) == 3 * len(STUDIES)
    for path in files:
        assert not [word for word in ("/tmp", "/root", "/home", "/var", "/work") if word in path.read_text()]


def test_the_rate_of_a_spec_is_that_on_the_quiet_host() -> None:
    """Half of the vCPUs of a job that uses all of them make about half of it there."""
    quiet = twin_of("infer-mxnet", "quiet")
    assert quiet.answer.spec == Spec(2.0)
    assert quiet.rate(Spec(1.0)) == pytest.approx(0.5 * quiet.rate(Spec(2.0)), rel=0.2)


@pytest.mark.parametrize("name", STUDIES)
def test_no_study_on_a_busy_host_is_sure_of_another_spec(name: str) -> None:
    """Nor is one told without a word of the host."""
    pair = judge(name)
    assert pair.verdict != "WRONG"
    assert ReasonCode.RUNS_STARVED in {reason.code for reason in pair.busy.reasons}
