"""The intervals hold the truth of simulated children, and lasting falls are found where there are any."""

from __future__ import annotations

import numpy as np
import pytest
from intervals import COVERED, FALLS, FALSE_ALARMS, POWER, REQUIRED, STEADY, Case, coverage, falls_found, wilson
from simulated_runs import SAMPLES, drifting, measured, noisy, observed, stalling, throttled

RUNS, SEED = 400, 1
EVERY = 9
"""One required case of so many; the benchmark has all."""
HALVED = 80
"""Runs whose rate halves: it is found in every one of them."""


@pytest.mark.slow
@pytest.mark.parametrize("case", REQUIRED[::EVERY], ids=lambda case: f"{case.name}, {case.seconds:g} s")
def test_intervals_hold_the_true_rate(case: Case) -> None:
    """92 to 98 % of the runs, ended by the real stopping rule, have the true rate in their 95 % interval."""
    assert COVERED[0] <= coverage(case, RUNS, SEED).share <= COVERED[1]


@pytest.mark.slow
@pytest.mark.parametrize("case", STEADY[1:2], ids=lambda case: case.name)
def test_a_rate_that_does_not_fall_is_not_called_falling(case: Case) -> None:
    """At most 1 % of 400 runs with noise, drift or stalls are said to have two rates."""
    assert falls_found(case, RUNS, SEED) <= FALSE_ALARMS


@pytest.mark.slow
@pytest.mark.parametrize("case", FALLS[:1], ids=lambda case: case.name)
def test_a_spent_burst_is_found(case: Case) -> None:
    """A rate that halves is found in at least 95 % of 80 runs, wherever it happens."""
    assert falls_found(case, HALVED, SEED) >= POWER


def test_a_child_does_what_its_truth_says() -> None:
    """The mean rate of a long child is its true one."""
    random = np.random.default_rng(3)
    for child in (
        noisy(random, 2000, 0.1, correlation=0.8),
        drifting(random, 2000, 0.1, -0.1),
        stalling(random, 2000, 0.1),
        stalling(random, 2000, 0.1, regular=True),
        throttled(random, 2000, 0.01),
    ):
        times = np.cumsum(child.durations)
        assert len(times) * SAMPLES / times[-1] == pytest.approx(child.truth(0.0, times[-1]), rel=0.01)


def test_a_run_is_observed_until_it_would_be_stopped() -> None:
    """Steps arrive in time, and a run that is not precise is measured for the seconds asked for."""
    child = noisy(np.random.default_rng(4), 6.0, 0.1, spread=0.5)
    seen = observed(child, 6.0)
    assert [step.time for step in seen.steps] == pytest.approx(list(np.cumsum(child.durations)[: len(seen.steps)]))
    steady, precise = measured(child, 6.0)
    assert 6.0 <= steady.measured_seconds <= 8.0
    assert not precise


def test_the_interval_of_a_share() -> None:
    """Wilson's example: 1 of 10 has 1.8 to 40.4 %."""
    assert wilson(1, 10) == pytest.approx((0.0179, 0.4042), abs=1e-3)
