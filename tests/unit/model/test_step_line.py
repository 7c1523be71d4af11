"""The time of a step as launch + slope x batch: what it finds, how sure it is, and when it says that no line fits."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.model.step_line import step_line
from sizer.records.batch_sizes import StepFit

BATCHES = (8, 16, 32, 64, 128)


def noisy(launch: float, slope: float, batches: tuple[int, ...], repeats: int, noise: float, seed: int) -> list[float]:
    """Seconds of the steps of each run, off by a share of their own."""
    draw = random.Random(seed)
    times = [launch + slope * batch for batch in batches for _ in range(repeats)]
    return [time * math.exp(draw.gauss(0, noise)) for time in times]


def samples(batches: tuple[int, ...], repeats: int) -> list[int]:
    return [batch for batch in batches for _ in range(repeats)]


@given(
    st.floats(1e-5, 1.0),
    st.floats(1e-6, 0.1),
    st.lists(st.integers(1, 4096), min_size=3, max_size=6, unique=True),
)
def test_a_line_without_noise_is_found(launch: float, slope: float, batches: list[int]) -> None:
    """Launch and slope to a thousandth of the time of the step that shows them best."""
    found = step_line(batches, [launch + slope * batch for batch in batches], None)
    assert found.fit is StepFit.AFFINE
    assert found.launch is not None
    assert found.slope is not None
    assert found.launch.value == pytest.approx(launch, rel=1e-3, abs=1e-4 * slope * min(batches))
    assert found.slope.value == pytest.approx(slope, rel=1e-3, abs=1e-4 * launch / max(batches))


@pytest.mark.parametrize(("batches", "repeats"), [(BATCHES, 3), ((16, 64, 256), 1), ((16, 64), 3), (BATCHES, 1)])
def test_the_intervals_hold_the_truth(batches: tuple[int, ...], repeats: int) -> None:
    """Of 90 % at least 85 % do, with repeats or without, with two sizes or five."""
    launch, slope, noise = 0.020, 0.001, 0.02
    held = 0
    for seed in range(400):
        found = step_line(samples(batches, repeats), noisy(launch, slope, batches, repeats, noise, seed), None)
        if found.launch is None or found.slope is None:
            continue
        held += found.launch.low <= launch <= found.launch.high
        held += found.slope.low <= slope <= found.slope.high
    assert held >= 0.85 * 800


def test_two_sizes_are_no_test_of_a_line() -> None:
    """A line goes through any two, and once each they show no interval either."""
    found = step_line([16, 32], [0.03, 0.05], None)
    assert found.fit is StepFit.UNTESTED
    assert found.launch is not None
    assert not found.launch.has_interval
    assert found.launch.value == pytest.approx(0.01)
    known = step_line([16, 32], [0.03, 0.05], 0.02).launch
    assert known is not None
    assert known.low < 0.01 < known.high


def test_three_single_runs_are_told_apart_from_many() -> None:
    """One degree of freedom makes an interval six times as wide as the noise."""
    few = step_line((8, 32, 128), noisy(0.02, 0.001, (8, 32, 128), 1, 0.02, 1), 0.02).launch
    many = step_line(samples((8, 32, 128), 5), noisy(0.02, 0.001, (8, 32, 128), 5, 0.02, 1), 0.02).launch
    assert few is not None
    assert many is not None
    assert few.high - few.low > 3 * (many.high - many.low)


@given(st.integers(0, 300))
def test_a_launch_below_zero_is_none(seed: int) -> None:
    """A rate that does not depend on the batch gives no negative time, and its interval holds 0."""
    found = step_line(samples(BATCHES, 2), noisy(0.0, 0.001, BATCHES, 2, 0.02, seed), None)
    if found.launch is not None:
        assert found.launch.value >= found.launch.low >= 0.0


def test_what_is_no_line_is_said() -> None:
    """A step that becomes slower for each sample from some batch on, with repeats, with known noise, and without."""
    bent = {batch: (0.02 + 0.001 * batch) * (1.0 if batch < 128 else 1.5) for batch in BATCHES}
    draw = random.Random(4)
    repeated = [bent[batch] * math.exp(draw.gauss(0, 0.01)) for batch in BATCHES for _ in range(3)]
    assert step_line(samples(BATCHES, 3), repeated, None).fit is StepFit.NOT_AFFINE
    assert step_line(BATCHES, list(bent.values()), 0.01, repeated=True).fit is StepFit.NOT_AFFINE
    lone = step_line(BATCHES, list(bent.values()), None)
    assert (lone.fit, lone.launch, lone.slope) == (StepFit.NOT_AFFINE, None, None)


def test_a_larger_batch_that_is_slower_is_no_line() -> None:
    """Also where only two sizes were measured: no launch is below nothing."""
    assert step_line([16, 16, 16, 64, 64, 64], [0.16, 0.161, 0.159, 0.96, 0.95, 0.97], None).fit is StepFit.NOT_AFFINE


def test_a_line_is_seldom_denied() -> None:
    """Noise alone makes a line look bent in no more than one of ten studies."""
    denied = sum(
        step_line(samples(BATCHES, 3), noisy(0.02, 0.001, BATCHES, 3, 0.03, seed), None).fit is StepFit.NOT_AFFINE
        for seed in range(300)
    )
    assert denied <= 30
