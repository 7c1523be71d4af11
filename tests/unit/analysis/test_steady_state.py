from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from sizer.analysis.steady_state import mean_rate, steady_state
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


def test_a_drift_is_not_taken_for_noise(make_steps: Steps) -> None:
    """The mean of a rate that falls evenly by a tenth is known about as well as one that does not."""
    noise = np.exp(np.random.default_rng(3).normal(0, 0.05, 300))
    still, falling = (
        steady_state(make_steps(list(durations * noise))) for durations in (0.1, np.linspace(0.1, 0.11, 300))
    )
    assert still is not None
    assert falling is not None
    assert falling.relative_half_width < 2 * still.relative_half_width


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


def test_rare_stalls_make_the_interval_lopsided(make_steps: Steps) -> None:
    """More of them may have been missed than can have come too many."""
    durations = [0.1] * 300
    for index in (80, 110, 190, 260):
        durations[index] = 1.0
    steady = steady_state(make_steps(durations))
    assert steady is not None
    rate = steady.throughput
    assert rate.value - rate.low > 1.5 * (rate.high - rate.value) > 0


def test_all_steps_count_where_none_is_warm_up(make_steps: Steps) -> None:
    """`mean_rate` takes its steps as they are."""
    steady = mean_rate(make_steps([1.0] * 10 + [0.1] * 10), began=99.0)
    assert steady is not None
    assert steady.throughput.value == pytest.approx(8 * 19 / 10)
    assert (steady.intervals, steady.warm_up_seconds) == (19, 2.0)


def test_steps_of_unequal_size_are_weighed_by_their_samples(make_steps: Steps) -> None:
    """A last, smaller batch counts as what it is."""
    steps = [replace(step, samples=4 if index % 2 else 8) for index, step in enumerate(make_steps([0.1] * 100))]
    steady = steady_state(steps)
    assert steady is not None
    assert steady.throughput.value == pytest.approx(60, rel=0.02)


def test_a_few_stalls_do_not_settle_a_rate(make_steps: Callable[..., list[Step]]) -> None:
    """Two stalls in six seconds: how many there will be in the next six is anybody's guess."""
    random = np.random.default_rng(1)
    even = [float(each) for each in random.normal(0.1, 0.005, 60)]
    stalled = [each + (0.15 if number in (11, 42) else 0.0) for number, each in enumerate(even)]
    quiet, uneven = steady_state(make_steps(even)), steady_state(make_steps(stalled))
    assert quiet is not None
    assert uneven is not None
    assert (quiet.settled, uneven.settled) == (True, False)


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


def test_a_program_that_tells_nothing_any_more_has_the_rate_of_all_its_time() -> None:
    """Not that of the time in which it told none, which would be 0."""
    steps = [Step(second, 8 if second < 10 else 0, 0.0, 0) for second in range(40)]
    steady = steady_state(steps)
    assert steady is not None
    assert steady.throughput.value == pytest.approx(9 * 8 / 39)
