"""One machine for all workloads of a study, and what each of them loses by it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from sizer.catalog.catalog import Catalog
from sizer.model.fitting import fit
from sizer.recommend.recommendation import recommend
from sizer.records.answer import Recommendation
from sizer.records.run import Run
from sizer.records.study import Objective

Curve = Callable[..., list[Run]]


@pytest.fixture
def found(curve: Curve, catalog: Catalog) -> Recommendation:
    """One that needs four vCPUs, one that needs one, and one without an answer."""
    runs = [
        *curve((1, 100), (2, 197), (4, 300), (8, 303), name="train"),
        *curve((1, 50), (2, 50), (4, 50), name="lstm"),
        *curve((1, 50), name="other"),
    ]
    return recommend(fit(runs), runs, Objective(), catalog)


def test_it_holds_them_all_and_says_what_each_loses(found: Recommendation) -> None:
    """The largest loses nothing; the smaller one pays more for the same rate."""
    shared = found.family.shared
    assert shared is not None
    assert shared.vcpus >= 4
    train, lstm = shared.losses
    assert (train.workload, lstm.workload) == ("train", "lstm")
    assert train.usd_per_hour == pytest.approx(0)
    assert train.share == pytest.approx(1, abs=0.01)
    own = next(answer for answer in found.workloads if answer.workload == "lstm").instances[0].usd_per_hour
    assert own is not None
    assert lstm.usd_per_hour == pytest.approx(shared.usd_per_hour - own)
    assert lstm.share == pytest.approx(1, abs=0.02)


def test_no_other_one_that_holds_them_costs_less(found: Recommendation) -> None:
    """Its price is that of the cheapest for the workload that needs most."""
    assert found.family.shared is not None
    (train,) = (answer for answer in found.workloads if answer.workload == "train")
    assert found.family.shared.usd_per_hour == train.instances[0].usd_per_hour


def test_a_single_answer_shares_with_nobody(curve: Curve, catalog: Catalog) -> None:
    """Nor does one beside workloads without an answer."""
    runs = [*curve((1, 100), (2, 101), (4, 100), name="train"), *curve((1, 50), name="other")]
    assert recommend(fit(runs), runs, Objective(), catalog).family.shared is None


def test_without_a_machine_that_holds_all_there_is_none(curve: Curve, catalog: Catalog) -> None:
    """An empty catalogue sells none."""
    runs = [*curve((1, 100), (2, 101), (4, 100), name="a"), *curve((1, 100), (2, 101), (4, 100), name="b")]
    assert recommend(fit(runs), runs, Objective(), replace(catalog, instance_types=())).family.shared is None
