"""A rate that fell for good, and what only looks like one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from sizer.analysis.rate_change import rate_change
from sizer.records.run import Step

Steps = Callable[..., list[Step]]


def noise(count: int, seed: int = 1, spread: float = 0.05) -> np.ndarray:
    return np.exp(np.random.default_rng(seed).normal(0, spread, count))


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_both_rates_and_the_time_between_them_are_told(make_steps: Steps, share: float) -> None:
    """80 samples/s that become 40 after a share of the time: both with an interval, and when."""
    before = round(600 * 2 * share / (1 + share))
    durations = np.where(np.arange(600) < before, 0.1, 0.2) * noise(600)
    change = rate_change(make_steps(list(durations)))
    assert change is not None
    assert change.before.value == pytest.approx(80, rel=0.03)
    assert change.after.value == pytest.approx(40, rel=0.03)
    assert change.before.low < change.before.value < change.before.high
    assert change.seconds == pytest.approx(durations[1:before].sum(), abs=3.0)


@pytest.mark.parametrize("after", [0.103, 0.05])
def test_a_small_fall_and_a_rise_are_none(make_steps: Steps, after: float) -> None:
    """3 % is what a shared host does of its own; a rate that rises is warm-up."""
    assert rate_change(make_steps(list(np.where(np.arange(600) < 300, 0.1, after) * noise(600)))) is None


def test_a_slow_drift_is_no_fall(make_steps: Steps) -> None:
    """A line explains it better than two rates."""
    assert rate_change(make_steps(list(np.linspace(0.1, 0.15, 600) * noise(600)))) is None


def test_few_steps_tell_nothing(make_steps: Steps) -> None:
    """Without steps, and with ten of them, there is no change to be found."""
    assert rate_change([]) is None
    assert rate_change(make_steps([0.1] * 5 + [0.2] * 5)) is None
