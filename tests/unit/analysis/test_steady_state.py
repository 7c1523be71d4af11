from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from sizer.analysis.epochs import Epochs, shown
from sizer.analysis.run_warnings import rate_change
from sizer.analysis.steady_state import steady_state
from sizer.records.run import Step
from sizer.records.study import Workload

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


NATURAL = Workload("train", "image_training", cache="natural")
EPOCH = 160
"""Samples: twenty steps of eight."""


@pytest.fixture
def reading(make_steps: Steps) -> Callable[..., list[Step]]:
    """Epochs of twenty steps: the first at 0.2 s, later ones at 0.1 s in their first half and 0.3 s in their second."""

    def make(*counts: int) -> list[Step]:
        steps: list[Step] = []
        for epoch, count in enumerate(counts):
            durations = [0.2] * count if epoch == 0 else ([0.1] * 10 + [0.3] * 10)[:count]
            steps += make_steps(durations, epoch=epoch, start=steps[-1].time if steps else 100.0)
        return steps

    return make


def test_a_memory_study_is_measured_over_whole_later_epochs(reading: Steps) -> None:
    """The start of the third epoch is faster than any whole one, so it does not count."""
    found = shown(reading(20, 20, 5), NATURAL, EPOCH)
    assert found.epochs is Epochs.WHOLE
    assert found.sufficient
    assert found.steady is not None
    assert found.steady.throughput.value == pytest.approx(40)
    assert (found.steady.measured_seconds, found.steady.intervals) == (pytest.approx(4.0), 20)
    assert found.steady.warm_up_seconds == pytest.approx(3.8)


def test_an_epoch_is_over_when_less_than_a_batch_of_it_is_left(reading: Steps) -> None:
    """A program that ends after its second epoch never shows the third; loaders may drop a last, smaller batch."""
    assert shown(reading(20, 20), NATURAL, EPOCH).epochs is Epochs.WHOLE
    assert shown(reading(20, 20), NATURAL, EPOCH + 7).epochs is Epochs.WHOLE
    assert shown(reading(20, 20), NATURAL, EPOCH + 8).epochs is Epochs.PART


@pytest.mark.parametrize("later", [(), (2,)])
def test_the_first_epoch_serves_where_no_later_one_was_reached(reading: Steps, later: tuple[int, ...]) -> None:
    """Two steps of the second are not a rate."""
    found = shown(reading(20, *later), NATURAL, EPOCH)
    assert found.epochs is Epochs.FIRST
    assert found.steady is not None
    assert found.steady.throughput.value == pytest.approx(40, rel=0.1)
