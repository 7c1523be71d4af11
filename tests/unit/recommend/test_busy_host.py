"""What runs beside other programs do not show is not told as if they did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from sizer.catalog import Catalog
from sizer.model import Edge, Trend, best_measured, fit, predict, vcpus_edge
from sizer.model.trend import SeenGain
from sizer.recommend import recommend
from sizer.records import (
    Answer,
    Bottleneck,
    Demand,
    Evidence,
    EvidenceKind,
    Objective,
    Reason,
    ReasonCode,
    Run,
)
from sizer.words import Terms, doubt_sentence, how_sure, reason_sentences, terms_of
from tests.modelled import contended

BUSY = Evidence(Bottleneck.CPU, {"cpu": 1.0}, EvidenceKind.BUSIEST)
OTHERS = 1.6
TERMS = Terms("train", "image")


@pytest.fixture
def runs(make_run: Callable[..., Run]) -> list[Run]:
    """Of an inference at 0.5, 1 and 2 vCPUs, the last beside programs that left it one of the host's two CPUs."""
    demand = Demand(core_seconds=0.0092)
    quiet = [make_run(rate, vcpus, demand=demand, evidence=BUSY) for vcpus, rate in ((0.5, 52.6), (1.0, 108.0))]
    return [*quiet, contended(make_run(110.0, 2.0, demand=demand), OTHERS)]


def asked(runs: Sequence[Run], **objective: Any) -> Answer:
    return recommend(fit(runs), runs, Objective(**objective), Catalog.load()).workloads[0]


def test_a_run_that_may_be_off_by_more_than_it_shows_is_no_rise(runs: list[Run]) -> None:
    """By the curve it is nearly sure that two gain; by the runs themselves 2 %, give or take a third."""
    model = fit(runs)
    workload = model.workloads[0]
    edge = vcpus_edge(workload, best_measured(workload).configuration)
    assert edge.seen is not None
    assert not edge.seen.is_clear
    assert edge.trend is Trend.UNSETTLED
    answer = asked(runs)
    said = reason_sentences(answer, terms_of(workload))
    assert (answer.status, answer.edge) == ("at_least", "unsettled")
    assert said[0].startswith("The runs do not show whether more vCPUs pay: from 1 to 2 vCPUs the rate changed by +2 %")
    assert "which may be off by" in said[0]
    assert any(each.startswith("Measured there were 110 images/s while something else used 1.6 cores") for each in said)
    assert how_sure(answer).endswith("; the runs at these sizes do not show it")
    assert "by the fitted curve that fewer" in how_sure(answer)


def test_the_same_on_a_host_of_its_own_is_a_plateau(runs: list[Run]) -> None:
    quiet = [replace(run, warnings=(), other_cores=0.0) for run in runs]
    answer = asked(quiet)
    said = reason_sentences(answer, terms_of(fit(quiet).workloads[0]))
    assert not any("something else used" in each or "may be off by" in each for each in said)
    assert answer.spec is not None
    assert answer.spec.vcpus == 1


def test_a_rise_that_is_more_than_the_runs_may_be_off_is_one() -> None:
    clear, unclear = Edge(0.8, 0.99, SeenGain(0.7, 0.3, 0.7)), Edge(0.8, 0.99, SeenGain(0.18, 0.3, -0.02))
    assert (clear.trend, unclear.trend) == (Trend.RISING, Trend.UNSETTLED)
    assert clear.rises_likely
    assert unclear.rises_likely
    assert not Edge(0.8, 0.99, SeenGain(0.02, 0.3, 0.02)).rises_likely


def test_beyond_a_rise_that_is_not_clear_no_gain_is_held_possible(runs: list[Run]) -> None:
    """Its interval reaches from what two vCPUs give."""
    model = fit(runs).workloads[0]
    two = best_measured(model)
    four = predict(model, replace(two.configuration, vcpus=4.0)).throughput
    assert four.low <= two.throughput.value <= four.value


@pytest.mark.parametrize("code", [ReasonCode.RISES_WITH_VCPUS, ReasonCode.VCPUS_UNSETTLED])
def test_a_gain_from_which_drift_was_taken_says_that_of_the_medians(code: ReasonCode) -> None:
    figures = {"vcpus": 2.0, "before": 1.0, "gain": 0.8, "seen": 0.18, "raw": -0.02, "worth": 0.05, "probability": 0.9}
    answer = Answer("train", "at_least", edge="rising", reasons=(Reason(code, figures),))
    (said,) = reason_sentences(answer, TERMS)
    assert "18 %" in said
    assert "(-2 % by their plain medians)" in said
    assert ("0–80 %" in doubt_sentence(answer, TERMS)) == (code is ReasonCode.RISES_WITH_VCPUS)


def test_a_rate_that_is_likely_given_is_no_refusal_where_it_still_rises(
    curve: Callable[..., list[Run]],
) -> None:
    """ "No machine gives 180, the likeliest gives 190" would be no sentence."""
    runs = curve((0.5, 50), (1, 100), (2, 190), spread=0.1)
    answer = asked(runs, at_least=180.0)
    assert (answer.status, answer.provisional) == ("recommended", True)
    assert answer.probability is not None
    assert 0.5 < answer.probability < 0.9
    assert answer.next_run is not None
    assert ReasonCode.NO_MACHINE_ENOUGH not in {each.code for each in answer.reasons}


def test_what_is_not_sold_has_no_cost(curve: Callable[..., list[Run]]) -> None:
    runs = curve((0.25, 60), (0.5, 100), (1, 101), (2, 101))
    for spot in (False, True):
        answer = asked(runs, at_least=90.0, spot=spot)
        said = {each.spec.vcpus: each.why[0].code for each in answer.rejected}
        assert said[0.5] is ReasonCode.GIVES


def test_spot_prices_that_nobody_knows_are_not_told_as_known(curve: Callable[..., list[Run]]) -> None:
    """No price list of this repository has one of these machines."""
    answer = asked(curve((1, 100), (2, 197), (4, 300), (8, 303)), spot=True)
    codes = {each.code for each in answer.reasons}
    priced = any(offer.usd_per_hour is not None for offer in answer.instances)
    assert (ReasonCode.SPOT_PRICES in codes, ReasonCode.NO_SPOT_PRICES in codes) == (priced, not priced)


def test_the_doubt_is_of_what_more_would_give_and_not_of_what_is_enough(runs: list[Run]) -> None:
    """One vCPU is surely enough for a third of the best; a fall that the runs do show is no doubt of theirs."""
    answer = asked(runs, target=0.3)
    assert answer.spec is not None
    assert answer.spec.vcpus == 1
    assert how_sure(answer).endswith("to reach the target")
    assert SeenGain(-0.44, 0.33, -0.44).is_clear
    assert not SeenGain(-0.2, 0.33, -0.2).is_clear
