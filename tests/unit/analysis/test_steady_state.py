from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from sizer.analysis.steady_state import steady_state
from sizer.records.run import Step

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


def test_later_epochs_are_measured_alone(make_steps: Steps) -> None:
    """From epoch 1 on means that the slow first epoch has no part in the rate."""
    first = make_steps([1.0] * 10)
    later = make_steps([0.1] * 30, epoch=1, start=first[-1].time)
    steady = steady_state(first + later, first_epoch=1)
    assert steady is not None
    assert steady.throughput.value == pytest.approx(80)


def test_a_fading_warm_up_is_cut_to_its_end(make_steps: Steps) -> None:
    """What MSER leaves of an exponential is a bias larger than the interval."""
    noise = np.exp(np.random.default_rng(2).normal(0, 0.02, 600))
    steady = steady_state(make_steps(list(0.1 * noise * (1 + np.exp(-np.arange(600) / 30)))))
    assert steady is not None
    assert steady.throughput.value == pytest.approx(80, rel=0.005)
    assert 10 < steady.warm_up_seconds < 35


def test_a_stall_among_ordinary_steps_is_not_warm_up(make_steps: Steps) -> None:
    """Cutting it would leave a rate that is too high, and too sure."""
    durations = [0.1] * 100
    durations[20] = durations[70] = 1.0
    steady = steady_state(make_steps(durations))
    assert steady is not None
    assert steady.warm_up_seconds == 0.0
    assert steady.throughput.low < 8 * 99 / 11.7 < steady.throughput.high


def test_correlated_noise_widens_the_interval(make_steps: Steps) -> None:
    """Neighbours that are alike (AR(1), 0.8) tell less: three times the half-width of independent ones."""
    random = np.random.default_rng(4)
    shocks, noise = random.normal(0, 0.1, 600), np.zeros(600)
    for index in range(1, 600):
        noise[index] = 0.8 * noise[index - 1] + 0.6 * shocks[index]
    plain, correlated = (steady_state(make_steps(list(0.1 * np.exp(values)))) for values in (shocks, noise))
    assert plain is not None
    assert correlated is not None
    assert 2 < correlated.relative_half_width / plain.relative_half_width < 5


def test_lines_that_come_at_once_are_of_one_moment() -> None:
    """Whoever reads them was held up for 2 s: what was done in these is neither left out nor done in no time."""
    held_up = [0.1] * 10 + [2.0] + [0.0] * 19
    told = [Step(time, round(80 * took), 0.0, 0) for time, took in zip(np.cumsum(held_up), held_up, strict=True)]
    counted = [replace(step, samples=8) for step in told]
    for steps in (told, counted):
        steady = steady_state(steps)
        assert steady is not None
        assert steady.throughput.value == pytest.approx(80, rel=0.03)
    assert steady_state([replace(step, time=told[0].time) for step in told]) is None
