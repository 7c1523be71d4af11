"""Offers of a size on a curve, where it is known how fast the CPU was that it was measured on."""

from __future__ import annotations

from collections.abc import Callable

from sizer.catalog.catalog import Catalog
from sizer.model.fitting import fit
from sizer.recommend.recommendation import recommend
from sizer.records.device import REFERENCE, Processor
from sizer.records.prediction import ReasonCode
from sizer.records.run import Demand, Run
from sizer.records.study import Objective


def test_offers_have_the_rate_there(make_run: Callable[..., Run]) -> None:
    """On a host half as fast as AWS c6i, in the order of what the work costs there."""
    demand = Demand(core_seconds=0.01)
    runs = [make_run(100.0 * vcpus, vcpus, demand=demand) for vcpus in (1.0, 2.0, 4.0)]
    host = Processor("", "host", {name: rate / 2 for name, rate in REFERENCE.items()}, 0.0, 4.0, 4.0, "avx2")
    (answer,) = recommend(fit(runs, None, [host]), runs, Objective(), Catalog.load()).workloads
    moved = [offer for offer in answer.instances if offer.throughput is not None and offer.usd_per_hour is not None]
    costs = [offer.usd_per_million_samples for offer in moved if len(offer.notes) == 1]
    assert len(costs) > 3
    assert costs == sorted(costs)
    rates = [offer.throughput.value / offer.vcpus for offer in moved if offer.throughput is not None]
    assert all(60.0 < rate < 320.0 for rate in rates)
    assert {note.code for offer in moved for note in offer.notes} >= {ReasonCode.TRANSFERRED}
