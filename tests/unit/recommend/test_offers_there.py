"""Instance types where it is known how fast the CPU was that sizes were measured on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.catalog.catalog import Catalog
from sizer.catalog.machines import InstanceType
from sizer.catalog.processors import processor_of
from sizer.model.fitting import fit
from sizer.model.model import Model
from sizer.recommend.recommendation import recommend
from sizer.records.answer import Answer
from sizer.records.device import REFERENCE, Processor
from sizer.records.kinds import PREPROCESSING
from sizer.records.prediction import ReasonCode
from sizer.records.run import Demand, Run
from sizer.records.study import Deadline, Objective
from sizer.words.answers import headline
from sizer.words.names import terms_of
from sizer.words.reasons.phrasing import reason_sentences
from tests.tables import runs_of


def _host(speed: float) -> Processor:
    """Whole cores, so many times as fast as AWS c6i."""
    return Processor("", "host", {name: rate * speed for name, rate in REFERENCE.items()}, 0.0, 8.0, 8.0, "avx2")


def _runs(make_run: Callable[..., Run]) -> list[Run]:
    """100 images/s by each vCPU, which decode them."""
    demand = Demand(core_seconds=0.01)
    return [
        make_run(100.0 * count, count, demand=demand, kind=PREPROCESSING, repeat=number)
        for count in (1.0, 2.0, 4.0, 8.0)
        for number in (0, 1)
    ]


def _of_families(*families: str) -> Catalog:
    catalog = Catalog.load()
    own = (one for one in catalog.instance_types if one.name.rpartition(".")[0] in families)
    return replace(catalog, instance_types=tuple(own))


def _asked(model: Model, runs: list[Run], objective: Objective, *families: str) -> Answer:
    (answer,) = recommend(model, runs, objective, _of_families(*families)).workloads
    return answer


def test_offers_have_the_rate_there(make_run: Callable[..., Run]) -> None:
    """On a host half as fast as AWS c6i, in the order of what the work costs there."""
    demand = Demand(core_seconds=0.01)
    runs = [make_run(100.0 * vcpus, vcpus, demand=demand) for vcpus in (1.0, 2.0, 4.0)]
    host = replace(_host(0.5), vcpus=4.0, cores=4.0)
    (answer,) = recommend(fit(runs, None, [host]), runs, Objective(), Catalog.load()).workloads
    moved = [offer for offer in answer.instances if offer.throughput is not None and offer.usd_per_hour is not None]
    costs = [offer.usd_per_million_samples or 0.0 for offer in moved if len(offer.notes) == 1]
    assert len(costs) > 3
    assert costs == sorted(costs)
    rates = [offer.throughput.value / offer.vcpus for offer in moved if offer.throughput is not None]
    assert all(60.0 < rate < 320.0 for rate in rates)
    assert {note.code for offer in moved for note in offer.notes} >= {ReasonCode.TRANSFERRED}


@pytest.mark.parametrize(
    ("speed", "needed", "vcpus"),
    [
        (0.25, 250.0, 2),
        (1.0, 250.0, 8),  # four hyperthreads are no four cores
        (2.0, 170.0, 8),
    ],
)
def test_a_rate_is_met_on_what_is_rented(
    make_run: Callable[..., Run], speed: float, needed: float, vcpus: float
) -> None:
    """By the rule of all answers, with the rates of the instance type, which is named."""
    runs = _runs(make_run)
    model = fit(runs, None, [_host(speed)])
    answer = _asked(model, runs, Objective(at_least=needed), "aws c6i")
    first, moved = answer.instances[0], next(one for one in answer.reasons if one.code is ReasonCode.TRANSFERRED)
    assert answer.spec is not None
    assert (answer.status, answer.spec.vcpus) == ("recommended", vcpus)
    assert (first.vcpus, first.throughput) == (vcpus, answer.throughput)
    assert answer.probability is not None
    assert answer.probability >= 0.9
    terms = terms_of(model.workloads[0])
    assert f"{vcpus} vCPUs (aws {first.instance_type})" in headline(answer, terms)
    here = 4.0 if needed > 200 else 2.0
    assert moved.number("vcpus") == here
    assert f"By its rate on host, {here:g} vCPUs would be chosen." in " ".join(reason_sentences([moved], terms))
    assert answer.costs is not None
    rows = [row.instance_type for row in answer.costs.rows if row.throughput == answer.throughput]
    assert rows == [first.called("aws")]


def test_where_no_type_is_fast_enough_the_likeliest_is_named(make_run: Callable[..., Run]) -> None:
    """Though eight vCPUs here would be."""
    runs = _runs(make_run)
    model = fit(runs, None, [_host(2.0)])
    terms = terms_of(model.workloads[0])
    for objective in (Objective(at_least=600.0), Objective(deadline=Deadline(600.0 * 3600, 3600.0))):
        answer = _asked(model, runs, objective, "aws c6i")
        sentences = reason_sentences(answer.reasons, terms)
        assert answer.status != "recommended"
        assert sentences[0].startswith("No instance type of a size that was measured ")
        assert "8 vCPUs (aws c6i.2xlarge)" in sentences[0]
        assert "By its rate on host, 8 vCPUs would be chosen." in sentences[1]


def test_what_is_cheaper_an_hour_and_fast_enough_is_named(make_run: Callable[..., Run]) -> None:
    """Four whole cores of c8a, beside eight vCPUs of c7a on which the work costs no more."""
    runs = _runs(make_run)
    catalog = _of_families("aws c7a", "aws c8a")
    dear = {"aws c8a.xlarge": 0.33, "aws c8a.2xlarge": 0.9}
    types = tuple(replace(one, price_per_hour=dear.get(one.name, one.price_per_hour)) for one in catalog.instance_types)
    catalog = replace(catalog, instance_types=types)
    (answer,) = recommend(fit(runs, None, [_host(1.0)]), runs, Objective(at_least=450.0), catalog).workloads
    assert answer.instances[0].called("aws") == "aws c7a.2xlarge"
    assert answer.rejected[0].instance_type == "aws c8a.xlarge"
    assert answer.rejected[0].why[0].number("saving") > 0.1


def test_money_goes_by_rates_there(make_run: Callable[..., Run]) -> None:
    """Also where a share of the best rate is asked for: the baseline, the table of costs and the options."""
    runs = _runs(make_run)
    model = fit(runs, None, [_host(2.0)])
    answer = _asked(model, runs, Objective(baseline="aws/c7a.2xlarge"), "aws c6i", "aws c7a")
    assert answer.baseline is not None
    assert answer.baseline.throughput.value == pytest.approx(800 * 1.235 / 2, rel=0.05)
    assert answer.costs is not None
    costs = {row.instance_type: row for row in answer.costs.rows}
    assert costs["aws c7a.2xlarge"].is_baseline
    assert costs["aws c7a.large"].throughput.value == pytest.approx(200 * 1.235 / 2, rel=0.1)
    option = answer.options[0]
    assert option.usd_per_hour is not None
    assert option.usd_per_million_samples == pytest.approx(option.usd_per_hour / 3600 / option.throughput.value * 1e6)
    assert option.instance_type == answer.instances[0].called("aws")


@pytest.mark.parametrize(("at_least", "first"), [(None, "c6i.2xlarge"), (350.0, "c8a.2xlarge")])
def test_a_table_of_one_type_has_its_prices(tmp_path: Path, at_least: float | None, first: str) -> None:
    """What was measured there costs what types with that CPU do; a rate that is asked for is one of a type."""
    runs = runs_of(tmp_path, "vcpus,throughput\n2,98\n4,190\n8,360\n")
    home = processor_of(Catalog.load().called("aws/c6i.2xlarge")[0])
    assert home is not None
    catalog = _of_families("aws c6i", "aws c8a")
    asked = Objective(at_least=at_least) if at_least else Objective()
    (answer,) = recommend(fit(runs, None, [home]), runs, asked, catalog).workloads
    assert answer.costs is not None
    names = [row.instance_type for row in answer.costs.rows]
    own = ["aws c6i.large", "aws c6i.xlarge", "aws c6i.2xlarge"]
    assert names == own if at_least is None else f"aws {first}" in names
    priced = [one.instance_type for one in answer.alternatives] or [answer.instances[0].called("aws")]
    assert f"aws {first}" in priced


def test_without_a_rate_there_the_size_is_by_rates_here(make_run: Callable[..., Run]) -> None:
    """Where the host was not probed, or nobody measured the CPUs of the types; or no rate is asked for."""
    runs = _runs(make_run)
    unknown = replace(
        _of_families("aws c6i"), instance_types=(InstanceType("x", "y8", 8.0, 2**34, price_per_hour=1.0),)
    )
    asked, probed = Objective(at_least=250.0), fit(runs, None, [_host(2.0)])
    cases = ((fit(runs), asked, _of_families("aws c6i")), (probed, asked, unknown))
    for model, objective, catalog in (*cases, (probed, Objective(), _of_families("aws c6i"))):
        (answer,) = recommend(model, runs, objective, catalog).workloads
        assert answer.throughput is not None
        assert answer.spec is not None
        assert answer.spec.vcpus is not None
        assert ReasonCode.TRANSFERRED not in {one.code for one in answer.reasons}
        assert "(" not in headline(answer, terms_of(model.workloads[0])).partition(",")[0]
        assert answer.throughput.value == pytest.approx(100.0 * answer.spec.vcpus, rel=0.05)
