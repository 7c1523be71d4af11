"""The table of instance types: one for all workloads, with every price's day and source."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sizer.bundled.reports.offers import instances as contents
from sizer.bundled.reports.subject import Material, subjects
from sizer.records.answer import Answer, InstanceOffer, Recommendation
from sizer.records.configuration import Estimate
from sizer.records.prediction import Spec
from sizer.records.units import GIB, RELATIVE


def offered(name: str, **others: object) -> InstanceOffer:
    """An instance type of 8 vCPUs."""
    plain = InstanceOffer("aws", name, 8.0, 32 * GIB, None, 0, 0.5, 0.7, "2026-07-20", "a list")
    return replace(plain, **others)  # type: ignore[arg-type]


def shown(material: Material, *offers: InstanceOffer, unit: str = "image") -> dict[str, object] | None:
    """What the section makes of a first workload that has these offers, and of others without an answer."""
    name = material.study.workloads[0].workload.name
    rate = Estimate(100.0, 90.0, 110.0)
    answer = Answer(name, "recommended", Spec(8.0), rate, unit, instances=offers)
    answered = replace(
        material, runs=(), recommendation=Recommendation(material.study.objective, (answer,)), disk_checks=()
    )
    return contents(answered, subjects(answered))


def test_each_row_says_what_it_costs_since_when_and_by_whom(material: Material) -> None:
    """The first is the cheapest, and says so only where it has a price."""
    found = shown(material, offered("a.large"), offered("b.large", usd_per_hour=None, usd_per_million_samples=None))
    assert found is not None
    first, second = found["rows"]  # type: ignore[misc]
    assert (first["hour"], first["million"], first["rate"]) == ("$0.50", "$0.70", "100 images/s")
    assert (first["source"], first["as_of"]) == ("a list", "as of 2026-07-20")
    assert first["is_cheapest"]
    assert not second["is_cheapest"]
    assert (second["hour"], second["million"]) == ("unknown", "")
    assert second["sorted_by"]["hour"] is None


def test_at_one_price_the_smaller_comes_first_then_names(material: Material) -> None:
    """Behind the machine that the answer names; providers are called as people write them."""
    offers = [offered(name, vcpus=vcpus) for name, vcpus in (("m.a", 8.0), ("z.b", 16.0), ("c.b", 16.0), ("y.c", 8.0))]
    found = shown(material, *offers, offered("a.a", usd_per_hour=0.6, provider="alibaba"))
    assert found is not None
    rows: list[dict[str, object]] = found["rows"]  # type: ignore[assignment]
    assert [row["name"] for row in rows] == ["m.a", "y.c", "c.b", "z.b", "a.a"]
    assert found["providers"] == ["AWS", "Alibaba Cloud"]


def test_spot_prices_have_a_column_only_where_some_are_known(material: Material) -> None:
    """The catalogue that comes with sizer has none."""
    assert shown(material, offered("a"))["has_spot"] is False  # type: ignore[index]
    assert shown(material, offered("a", usd_per_hour_spot=0.2))["has_spot"] is True  # type: ignore[index]


def test_relative_rates_cost_nothing_a_sample(material: Material) -> None:
    """Their samples are not known."""
    found = shown(material, offered("a"), unit=RELATIVE)
    assert found is not None
    assert not found["has_samples"]


@pytest.mark.parametrize("provisional", [True, False])
def test_rates_that_are_known_to_be_wrong_are_not_shown(material: Material, provisional: bool) -> None:
    """Prices an hour stay."""
    name = material.study.workloads[0].workload.name
    answer = Answer(
        name, "recommended", Spec(8.0), Estimate(1, 1, 1), provisional=provisional, instances=(offered("a"),)
    )
    for doubtful, expected in ((True, "–"), (False, "1 sample/s")):
        said = replace(answer, rate_in_doubt=doubtful)
        answered = replace(material, runs=(), recommendation=Recommendation(material.study.objective, (said,)))
        found = contents(answered, subjects(answered))
        assert found is not None
        assert found["rows"][0]["rate"].startswith(expected[:1])
        assert found["rows"][0]["hour"] == "$0.50"


def test_a_spec_that_nothing_holds_is_named(material: Material) -> None:
    """And without any spec there is no table."""
    found = shown(material)
    assert found is not None
    assert found["without"] == [material.study.workloads[0].workload.name]
    assert contents(replace(material, recommendation=None), subjects(replace(material, recommendation=None))) is None
