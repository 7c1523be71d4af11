"""The simulator that models are judged by agrees with theory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from accuracy_network import Stations, Variability, hit_share, rates

PLAIN = Stations(
    samples=1.0,
    slots=8,
    holders=64,
    cores=1,
    chunks=1,
    blocking=False,
    disk=0.0,
    latency=0.0,
    lock=0.0,
    cpu=0.01,
    write=0.0,
    accelerator=0.0,
)
STEADY = Variability(0.0, 0.0, 0.0)


def simulated(stations: Stations, variability: Variability = STEADY) -> float:
    seeds = range(1 if variability == STEADY else 3)
    return float(np.mean([rates([stations], variability, np.random.default_rng(seed))[0] for seed in seeds]))


def test_each_station_serves_as_it_should() -> None:
    """c cores of 10 ms a sample serve 100 c samples a second. A worker that waits 30 ms for the disk and computes 10 ms
    serves 25; with enough that prefetch the slower is the rate. A lock of 2 ms bounds any number of cores at 500."""
    one = replace(PLAIN, blocking=True, holders=1, slots=16, latency=0.03)
    ahead, locked = replace(PLAIN, slots=64, latency=0.03), replace(PLAIN, lock=0.002, slots=64)
    for stations, expected in (
        *((replace(PLAIN, cores=cores, slots=2 * cores), 100.0 * cores) for cores in (1, 4, 32)),
        (one, 25.0),
        (replace(one, holders=2, cores=2), 50.0),
        (ahead, 100.0),
        (replace(ahead, holders=2), 2 / 0.03),
        (replace(locked, cores=16), 500.0),
        (locked, 1 / 0.012),
    ):
        assert simulated(stations) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("customers", [1, 2, 5, 12])
def test_exponential_stations_agree_with_mean_value_analysis(customers: int) -> None:
    """Three exponential single servers in a ring are a product-form network: Reiser and Lavenberg 1980 is exact."""
    ring = replace(PLAIN, slots=customers, disk=0.006, accelerator=0.008)
    # The slot is free when the accelerator takes the ticket, so the one being served is one customer more.
    exact = mean_value_analysis([0.006, 0.01, 0.008], customers)
    rate = simulated(ring, Variability(1.0, 1.0, 1.0))
    assert rate >= 0.99 * exact
    assert rate <= 1.02 * mean_value_analysis([0.006, 0.01, 0.008], customers + 1)


def mean_value_analysis(demands: list[float], customers: int) -> float:
    queue, rate = np.zeros(len(demands)), 0.0
    for number in range(1, customers + 1):
        waiting = np.array(demands) * (1 + queue)
        rate = number / waiting.sum()
        queue = rate * waiting
    return rate


def test_a_page_cache_keeps_what_theory_says() -> None:
    """Shuffled reads over a least-recently-used list hit about 1 - u + u ln u; in order nothing until all fits."""
    unseen = 0.5
    assert hit_share(0.5, False, 0.0) == pytest.approx(1 - unseen + unseen * np.log(unseen), abs=0.06)
    assert hit_share(0.9, True, 0.0) == 0.0
    assert hit_share(1.0, True, 0.0) == 1.0
