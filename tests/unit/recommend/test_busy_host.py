"""What runs beside other programs do not show is not told as if they did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from sizer.model.fitting import fit
from sizer.model.prediction import predict
from sizer.model.runs import is_starved
from sizer.recommend.recommendation import recommend
from sizer.records.answer import Answer
from sizer.records.configuration import Bottleneck
from sizer.records.prediction import ReasonCode
from sizer.records.run import Demand, Evidence, EvidenceKind, LimitedBy, LimitedByKind, Run
from sizer.records.study import Objective
from sizer.words.names import terms_of
from sizer.words.reasons import reason_sentences
from tests.modelled import contended
from tests.tables import stored_catalog

BUSY = Evidence(Bottleneck.CPU, {"cpu": 1.0}, EvidenceKind.BUSIEST)
OTHERS = 1.6


@pytest.fixture
def runs(make_run: Callable[..., Run]) -> list[Run]:
    """Of an inference at 0.5, 1 and 2 vCPUs, the last beside programs that left it one of the host's two CPUs."""
    demand = Demand(core_seconds=0.0092)
    quiet = [make_run(rate, vcpus, demand=demand, evidence=BUSY) for vcpus, rate in ((0.5, 52.6), (1.0, 108.0))]
    return [*quiet, on_host(contended(make_run(110.0, 2.0, demand=demand), OTHERS), 2)]


def on_host(run: Run, cpus: int | None) -> Run:
    return replace(run, limited_by=LimitedBy(LimitedByKind.SIZER, host_cpus=cpus))


def asked(runs: Sequence[Run], **objective: Any) -> Answer:
    return recommend(fit(runs), runs, Objective(**objective), stored_catalog()).workloads[0]


@pytest.mark.parametrize(
    ("cpus", "stall", "starved"), [(2, None, True), (8, None, False), (None, None, False), (8, 0.004, True)]
)
def test_a_run_is_starved_where_the_host_was_full_or_it_waited(
    cpus: int | None, stall: float | None, starved: bool, runs: list[Run]
) -> None:
    """It used one of its two CPUs, others 1.6: of 2 of the host that is all, of 8 its waiting tells."""
    demand = Demand(core_seconds=0.0092, cpu_stall=stall)
    assert is_starved(on_host(replace(runs[-1], demand=demand), cpus)) is starved
    assert not is_starved(replace(runs[-1], conditions=replace(runs[-1].conditions, other_cores=0.0)))


def test_a_rate_without_its_vcpus_is_a_lower_bound(runs: list[Run]) -> None:
    """One vCPU made 108 images/s: that two made 110 says nothing against 200, and no answer is sure of it."""
    model = fit(runs)
    two = predict(model.workloads[0], runs[-1].configuration).throughput
    assert two.value > 110
    assert two.low < 160
    assert two.high > 200
    answer = asked(runs)
    assert answer.provisional
    assert ReasonCode.RUNS_STARVED in {reason.code for reason in answer.reasons}
    said = reason_sentences(answer.reasons, terms_of(model.workloads[0]))
    assert any(each.startswith("Measured there were 110 images/s while something else used 1.6 cores") for each in said)


def test_nothing_is_answered_where_no_run_had_its_vcpus(runs: list[Run]) -> None:
    starved = [
        replace(runs[-1], configuration=replace(runs[-1].configuration, batch_size=size)) for size in (8, 16, 32)
    ]
    answer = asked(starved)
    assert answer.status == "refused"
    assert ReasonCode.RUNS_STARVED in {reason.code for reason in answer.reasons}


def test_the_same_on_a_host_of_its_own_is_a_plateau(runs: list[Run]) -> None:
    quiet = [
        replace(
            run, spec=replace(run.spec, repeat=repeat), warnings=(), conditions=replace(run.conditions, other_cores=0.0)
        )
        for run in runs
        for repeat in range(3)
    ]
    answer = asked(quiet)
    said = reason_sentences(answer.reasons, terms_of(fit(quiet).workloads[0]))
    assert not any("something else used" in each or "may be off by" in each for each in said)
    assert answer.spec.vcpus == 1


def test_a_rate_that_is_likely_given_is_no_refusal_where_it_still_rises(
    curve: Callable[..., list[Run]],
) -> None:
    """ "No machine gives 180, the likeliest gives 190" would be no sentence."""
    runs = curve((0.5, 50), (1, 100), (2, 190), spread=0.1)
    answer = asked(runs, at_least=180.0)
    assert (answer.status, answer.provisional) == ("recommended", True)
    assert 0.5 < answer.probability < 0.9
    assert answer.next_run is not None
    assert ReasonCode.NONE_ENOUGH not in {reason.code for reason in answer.reasons}


def test_what_is_not_sold_has_no_cost(curve: Callable[..., list[Run]]) -> None:
    runs = curve((0.25, 60), (0.5, 100), (1, 101), (2, 101))
    for spot in (False, True):
        answer = asked(runs, at_least=90.0, spot=spot)
        said = {each.spec.vcpus: each.why[0].code for each in answer.rejected}
        assert said[0.5] is ReasonCode.GIVES


def test_spot_prices_that_nobody_knows_are_not_told_as_known(curve: Callable[..., list[Run]]) -> None:
    """No price list of this repository has one of these machines."""
    answer = asked(curve((1, 100), (2, 197), (4, 300), (8, 303)), spot=True)
    (prices,) = (reason for reason in answer.reasons if reason.code is ReasonCode.PRICES)
    assert prices.has("known") is any(offer.usd_per_hour is not None for offer in answer.instances)
