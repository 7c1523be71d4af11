from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from sizer.records import Step
from sizer.steady_state import steady_state

Steps = Callable[..., list[Step]]


def test_constant_steps_give_their_rate_exactly(make_steps: Steps) -> None:
    """8 samples every 0.1 s are 80 samples/s, with no doubt left."""
    steady = steady_state(make_steps([0.1] * 50))
    assert steady is not None
    assert steady.throughput.value == pytest.approx(80)
    assert steady.relative_half_width < 1e-6


def test_warm_up_is_cut(make_steps: Steps) -> None:
    """Slow first steps do not lower the rate, and their time is said."""
    steady = steady_state(make_steps([3.0, 2.0, 1.0, 0.5] + [0.1] * 60))
    assert steady is not None
    assert steady.throughput.value == pytest.approx(80, rel=0.01)
    assert steady.warm_up_seconds == pytest.approx(3.5, abs=0.3)


def test_too_few_steps_give_no_rate(make_steps: Steps) -> None:
    """Three steps are two intervals: not enough."""
    assert steady_state(make_steps([0.1] * 3)) is None
    assert steady_state([]) is None


def test_later_epochs_are_measured_alone(make_steps: Steps) -> None:
    """From epoch 1 on means that the slow first epoch has no part in the rate."""
    first = make_steps([1.0] * 10)
    later = make_steps([0.1] * 30, epoch=1, start=first[-1].time)
    steady = steady_state(first + later, first_epoch=1)
    assert steady is not None
    assert steady.throughput.value == pytest.approx(80)


def test_the_interval_covers_the_truth_of_correlated_noise(make_steps: Steps) -> None:
    """With AR(1) noise (rho 0.6) the 95 % interval holds the true rate in at least 85 of 100 runs."""
    random = np.random.default_rng(7)
    covered = 0
    for _ in range(100):
        noise = np.zeros(400)
        for index in range(1, 400):
            noise[index] = 0.6 * noise[index - 1] + random.normal(0, 0.1)
        durations = 0.05 * np.exp(noise)
        steady = steady_state(make_steps(list(durations)))
        assert steady is not None
        truth = 8 / (0.05 * np.exp(0.1**2 / (1 - 0.6**2) / 2))
        covered += steady.throughput.low <= truth <= steady.throughput.high
    assert covered >= 85


def test_steps_of_unequal_size_are_weighed_by_their_samples(make_steps: Steps) -> None:
    """A last, smaller batch counts as what it is."""
    steps = [replace(step, samples=4 if index % 2 else 8) for index, step in enumerate(make_steps([0.1] * 100))]
    steady = steady_state(steps)
    assert steady is not None
    assert steady.throughput.value == pytest.approx(60, rel=0.02)
