"""The answers at the top of the page."""

from __future__ import annotations

from typing import Any

import pytest

from sizer.bundled.reports import Material
from sizer.bundled.reports.subject import subjects
from sizer.bundled.reports.verdict import card


@pytest.fixture
def cards(material: Material) -> dict[str, Any]:
    return {subject.name: card(subject) for subject in subjects(material)}


def test_a_recommendation_says_all_that_decides(cards: dict[str, Any]) -> None:
    """Spec, throughput with interval and unit, bottleneck, probability and runner-up are in the card."""
    found = cards["train-resnet50-p100"]
    assert found["spec"] == "2 vCPUs · 1 GiB memory · medium (emulated) · batch 32"
    facts = {label: value for label, value, _ in found["facts"]}
    assert facts["Throughput"] == "214 images/s (207–221)"
    assert facts["Held back by"] == "accelerator (emulated P100)"
    assert facts["Runner-up"] == "2 vCPUs · 1 GiB memory · fast (emulated) · batch 32"
    assert found["probability"] == "0.97"


def test_a_spec_that_was_not_run_says_so(cards: dict[str, Any]) -> None:
    """The answer may be a combination that no run had; the reader is told."""
    assert "was not run" in cards["train-resnet50-p100"]["sentence"]


def test_at_least_says_what_would_settle_it(cards: dict[str, Any]) -> None:
    """A rate that still rises is a lower bound, with the run that would settle it."""
    found = cards["infer-squeezenet"]
    assert found["status_word"] == "at least"
    assert "still rises" in found["sentence"]
    assert found["next_run_title"] == "What would settle it"
    assert "4 vCPUs" in found["next_run"]


def test_a_refusal_says_which_run_would_help(cards: dict[str, Any]) -> None:
    """Nothing is recommended, and the next step is named."""
    found = cards["lstm-small"]
    assert (found["status"], found["spec"]) == ("refused", "")
    assert "--preset standard" in found["next_run"]


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
