"""The answers at the top of the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from sizer.bundled.reports import Material, render
from sizer.bundled.reports.subject import subjects
from sizer.bundled.reports.verdict import card
from sizer.records.answer import Action, Prediction, ReasonCode, Suggestion, reason
from sizer.records.run import Bottleneck, Configuration, Estimate, Outcome
from sizer.records.study import Objective

RISES = reason(ReasonCode.RISES_WITH_MEMORY, memory_bytes=2.0**30)
UNSETTLED = reason(ReasonCode.MEMORY_UNSETTLED, memory_bytes=2.0**30)


@pytest.fixture
def cards(material: Material) -> dict[str, Any]:
    return {subject.name: card(subject) for subject in subjects(material)}


def test_a_recommendation_says_all_that_decides(cards: dict[str, Any]) -> None:
    """Spec, throughput with interval and unit, bottleneck, probability and runner-up are in the card."""
    found = cards["train-resnet50-p100"]
    assert found["spec"] == "2 vCPUs · 1 GiB · disk medium (emulated) · batch 32"
    facts = {label: value for label, value, _ in found["facts"]}
    assert facts["Throughput"] == "214 images/s (207–221)"
    assert facts["Bound by"] == "emulated P100"
    assert facts["Runner-up"] == "2 vCPUs · 1 GiB · disk fast (emulated) · batch 32"
    assert found["probability"] == "0.97"


def test_a_spec_that_was_not_run_says_so(cards: dict[str, Any]) -> None:
    """The answer may be a combination that no run had; the page says so."""
    assert "Predicted, not measured." in cards["train-resnet50-p100"]["sentence"]


def test_at_least_says_what_would_settle_it(cards: dict[str, Any]) -> None:
    """A rate that still rises is a lower bound, with the run that would settle it."""
    found = cards["infer-squeezenet"]
    assert found["status_word"] == "at least"
    assert found["sentence"].startswith(
        "The rate still rises at 2 vCPUs, the most measured: from 1 to 2 vCPUs it gained"
    )
    assert "lower bound" in found["sentence"]
    assert found["spec"].startswith("at least 2 vCPUs")
    assert found["probability"] == ""
    assert found["next_run_title"] == "What would settle it:"
    assert "4 vCPUs" in found["next_run"]


@pytest.fixture
def retold(material: Material) -> Callable[..., dict[str, Any]]:
    """The card of the first workload with its answer or the objective changed."""

    def retold(objective: Objective | None = None, **changes: Any) -> dict[str, Any]:
        subject = subjects(material)[0]
        assert subject.answer is not None
        answer = replace(subject.answer, **changes)
        return card(replace(subject, answer=answer, objective=objective or subject.objective))

    return retold


def test_an_extrapolated_rate_is_marked(retold: Callable[..., dict[str, Any]]) -> None:
    """What lies beyond the most measured is shown apart from what was measured."""
    configuration = Configuration(4.0, 2**30, "medium", 32)
    beyond = Prediction("x", configuration, Estimate(340, 270, 430), Bottleneck.CPU, {"cpu": 1.0}, True)
    found = retold(status="at_least", reasons=(RISES,), beyond=beyond)
    assert ("Extrapolated to 4 vCPUs", "340 images/s (270–430)", "not measured") in found["facts"]


def test_a_doubt_about_the_edge_stands_in_the_sentence(retold: Callable[..., dict[str, Any]]) -> None:
    """A recommended size beyond which it is not settled whether more pays says so, once."""
    found = retold(reasons=(UNSETTLED, reason(ReasonCode.FEWER_NOT_MEASURED, vcpus=2.0)))
    assert "It is not clear whether more memory than 1 GiB" in found["sentence"]
    assert found["reasons"] == ["Fewer than 2 vCPUs were not measured."]


def test_a_rate_that_is_known_to_be_wrong_is_not_on_the_card(retold: Callable[..., dict[str, Any]]) -> None:
    """The sentence says why, and what to correct."""
    figures = {"mistold": 3.0, "completed": 3.0, "factor": 32.0, "alike": True, "correct": "batches"}
    mistold = reason(ReasonCode.RATES_MISTOLD, **figures)
    found = retold(
        reasons=(mistold,),
        provisional=True,
        rate_in_doubt=True,
        next_run=Suggestion(Action.REPEAT, repeat_how="batches"),
    )
    assert found["throughput"] == ""
    assert "Throughput" not in {label for label, _, _ in found["facts"]}
    assert "The logs of 3 of 3 runs most likely tell a rate of batches" in found["sentence"]
    assert "give batches in place of rate in the pattern" in found["sentence"]
    assert found["next_run"].startswith("Name the group batches in the pattern of")


def test_each_objective_is_worded_by_itself(retold: Callable[..., dict[str, Any]]) -> None:
    """Only `cheapest` claims to be the cheapest, and nothing claims to keep what it is not sure to keep."""
    words = {prefer: retold(Objective(prefer))["sentence"] for prefer in ("cheapest", "balanced", "fastest")}
    assert words["cheapest"].startswith("The cheapest spec that keeps at least 95 % of the best throughput.")
    assert words["balanced"].startswith("Of the specs that keep at least 95 %")
    assert words["fastest"].startswith("The cheapest of the fastest specs")
    unsure = retold(probability=0.72)["sentence"]
    assert unsure.startswith(
        "No spec is sure to keep 95 % of the best throughput; this is the likeliest (probability 0.72"
    )
    assert "keeps at least" not in unsure


def test_one_more_instance_type_is_singular(material: Material) -> None:
    """Five offers show four, and one more."""
    assert material.recommendation is not None
    first = material.recommendation.workloads[0]
    offers = (*first.instances, *first.instances)[:5]
    answers = (replace(first, instances=offers), *material.recommendation.workloads[1:])
    page = render(replace(material, recommendation=replace(material.recommendation, workloads=answers)))
    assert "1 more instance type</summary>" in page


def test_a_refusal_says_which_run_would_help(cards: dict[str, Any]) -> None:
    """Nothing is recommended, and the next step is named."""
    found = cards["lstm-small"]
    assert (found["status"], found["spec"]) == ("refused", "")
    assert "0.5, 1 and 2 vCPUs" in found["next_run"]


def test_a_price_that_is_not_known_is_never_zero(cards: dict[str, Any]) -> None:
    """An instance type without a price says 'price unknown' and keeps its date and source."""
    (unknown,) = (offer for offer in cards["infer-squeezenet"]["offers"] if offer["name"].startswith("alibaba"))
    assert (unknown["price"], unknown["million"]) == ("price unknown", "")
    assert unknown["as_of"]
    assert unknown["source"]


def test_what_is_emulated_and_embedded_says_so(cards: dict[str, Any]) -> None:
    """The card names the emulated GPU with its rate and source, and the embedded data set."""
    what = cards["train-resnet50-p100"]["what"]
    assert "emulated P100, 219 images/s from TensorFlow performance benchmarks" in what
    assert "embedded data set" in what


def test_no_answer_is_not_called_as_a_run_that_was_refused(cards: dict[str, Any]) -> None:
    """`refused` is an outcome of runs; of this workload none was refused, and none failed."""
    found = cards["lstm-small"]
    assert found["status_word"] == "no answer"
    assert found["failed_log"] == ""


def test_where_runs_failed_the_card_leads_to_why_and_to_a_log(material: Material) -> None:
    """Advice to see a log says which, and is not given twice."""
    assert material.recommendation is not None
    advice, outcomes = Suggestion(Action.RETRY), {"outcomes": ("crashed",), "counts": (2.0,)}
    answers = tuple(
        replace(each, reasons=(reason(ReasonCode.NO_RUN_COMPLETED, **outcomes),), next_run=advice)
        if each.status == "refused"
        else each
        for each in material.recommendation.workloads
    )
    runs = tuple(
        replace(run, outcome=Outcome.CRASHED, throughput=None)
        for run in material.runs
        if "lstm" in run.spec.workload.name
    )
    recommendation = replace(material.recommendation, workloads=answers)
    failed = replace(material, runs=runs, recommendation=recommendation)
    found = next(card(subject) for subject in subjects(failed) if subject.name == "lstm-small")
    assert found["failed_log"] == f"logs/{runs[0].id}.log"
    assert found["reasons"] == ["Not enough data: no run of lstm-small completed (2 crashed)."]
    help_ = render(failed).partition("What would help:")[2].partition("</p>")[0]
    assert 'href="#failures"' in help_
    assert found["failed_log"] in help_
