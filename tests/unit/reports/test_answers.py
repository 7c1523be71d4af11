"""The card of an answer: a doubtful one does not look sure, a job has its time and price, a baseline its saving."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from sizer.bundled.reports import Material, render
from sizer.bundled.reports.subject import subjects
from sizer.bundled.reports.verdict import card
from sizer.records.answer import Action, Baseline, Job, ReasonCode, Spec, Suggestion, reason
from sizer.records.run import Estimate
from sizer.records.study import Deadline, Objective
from sizer.words import objective_in_words

RISES = reason(ReasonCode.RISES_WITH_MEMORY, memory_bytes=2.0**30)
UNSETTLED = reason(ReasonCode.MEMORY_UNSETTLED, memory_bytes=2.0**30)
SECONDS = Estimate(15_000.0, 14_100.0, 16_200.0)
JOB = Job(1.2e6, 21_600.0, SECONDS, 0.97, 1.42, "aws c6i.xlarge")
BASELINE = Baseline(
    Spec(8.0, None, "fast"), Estimate(220.0, 210.0, 230.0), 0.97, 1.36, "aws c6i.8xlarge", 0.34, "aws c6i.2xlarge", 0.75
)

Retold = Callable[..., dict[str, Any]]


@pytest.fixture
def changed(material: Material) -> Callable[..., Material]:
    """The material with the answer of its first workload changed."""

    def changed(**changes: Any) -> Material:
        assert material.recommendation is not None
        first, *others = material.recommendation.workloads
        answers = (replace(first, **changes), *others)
        return replace(material, recommendation=replace(material.recommendation, workloads=answers))

    return changed


@pytest.fixture
def retold(changed: Callable[..., Material]) -> Retold:
    """The card of the first workload with its answer changed."""

    def retold(objective: Objective | None = None, **changes: Any) -> dict[str, Any]:
        subject = subjects(changed(**changes))[0]
        return card(replace(subject, objective=objective or subject.objective))

    return retold


def test_a_provisional_answer_is_not_green(retold: Retold, changed: Callable[..., Material]) -> None:
    """Another word, another sign, another colour, and no probability that rests on doubtful runs."""
    doubted = reason(ReasonCode.RUNS_DOUBTFUL, completed=3.0, doubtful=3.0, doubts=("contended",), repeat_how=None)
    found = retold(provisional=True, next_run=Suggestion(Action.REPEAT, doubted, repeat_how="quiet_host"))
    assert (found["status_word"], found["symbol"], found["status"]) == ("provisional", "!", "recommended provisional")
    assert found["probability"] == ""
    assert "provisional" in found["sentence"]
    assert found["next_run_title"] == "What would settle it:"
    assert found["next_run"] == "Repeat train-resnet50-p100 on a quiet host. 3 of 3 runs were contended."
    page = render(changed(provisional=True))
    assert '<article class="card recommended provisional">' in page
    style = page.partition("<style>")[2].partition("</style>")[0]
    assert style.index(".provisional { --status: var(--caution); }") > style.index(".recommended { --status:")


def test_what_is_not_settled_is_no_lower_bound(retold: Retold) -> None:
    """`at least` is for a rate that rises."""
    found = retold(status="at_least", edge="unsettled", reasons=(UNSETTLED,))
    assert (found["status_word"], found["symbol"]) == ("not settled", "?")
    assert found["spec"].endswith("so far")
    assert "at least" not in found["spec"]
    assert "lower bound" not in found["sentence"]
    rising = retold(status="at_least", edge="rising", reasons=(RISES,))
    assert rising["spec"].startswith("at least")


def test_a_job_has_its_time_and_its_price(retold: Retold) -> None:
    """With what it was asked for as the objective."""
    deadline = Objective(deadline=Deadline(1.2e6, 21_600.0))
    found = retold(deadline, job=JOB, reasons=(reason(ReasonCode.JOB_COST_UNKNOWN), reason(ReasonCode.IN_TIME)))
    facts = {label: (value, note) for label, value, note in found["facts"]}
    assert facts["1,200,000 images"] == (
        "4 h 10 min (3 h 55 min to 4 h 30 min)",
        "0.97 likely within 6 h 00 min · $1.42 on aws c6i.xlarge",
    )
    assert "Probability" not in facts
    assert found["sentence"].startswith("Of the specs that finish the job in time, the one on which it costs least.")
    assert found["reasons"] == ["In time."]
    assert objective_in_words(deadline) == (
        "The spec on which 1,200,000 samples cost least of those that finish them within 6 h 00 min."
    )


def test_a_job_without_a_price_says_so(retold: Retold) -> None:
    """Never 0."""
    found = retold(job=replace(JOB, usd=None, instance_type=None))
    (note,) = [note for label, _, note in found["facts"] if label == "1,200,000 images"]
    assert note.endswith("price unknown")


def test_nothing_in_time(retold: Retold) -> None:
    """No spec, and not for want of data."""
    found = retold(status="refused", spec=None, throughput=None, probability=None, job=replace(JOB, probability=0.001))
    assert found["status_word"] == "too late"
    assert found["sentence"] == "Nothing that was measured is in time."
    assert "1,200,000 images" in [label for label, _, _ in found["facts"]]


def test_what_it_saves(retold: Retold) -> None:
    """Share of the price and of the rate, and against what."""
    facts = {label: (value, note) for label, value, note in retold(baseline=BASELINE)["facts"]}
    assert facts["Against the largest measured"] == (
        "75 % less an hour, at 97 % of its rate",
        "8 vCPUs · disk fast (emulated)",
    )
    unknown = retold(baseline=replace(BASELINE, saving=None, usd_per_hour=None))["facts"]
    assert "price unknown, at 97 % of its rate" in [value for _, value, _ in unknown]
    named = retold(baseline=replace(BASELINE, named=True, extrapolated=True))["facts"]
    assert ("Against aws c6i.8xlarge", "75 % less an hour, at 97 % of its rate (extrapolated)") in [
        f[:2] for f in named
    ]
    same = retold(baseline=replace(BASELINE, saving=0.0, share=1.0))["facts"]
    assert not any(label.startswith("Against") for label, _, _ in same)


def test_a_spec_without_vcpus(retold: Retold, changed: Callable[..., Material]) -> None:
    """Where they are not known, the page names none in the spec."""
    assert retold(spec=Spec(None, None, "fast"))["spec"] == "disk fast (emulated)"
    assert "fast (emulated)" in render(changed(spec=Spec(None, None, "fast"), runner_up=None))


def test_accelerators_are_part_of_the_spec(retold: Retold) -> None:
    """Their count, and the kind that the device names."""
    assert retold(spec=Spec(4.0, gpu="A100", gpu_count=2))["spec"] == "4 vCPUs · 2 x A100"
    assert retold(spec=Spec(4.0, gpu_count=2))["spec"] == "4 vCPUs · 2 x emulated P100"
