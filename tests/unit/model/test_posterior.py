"""The sampler finds posteriors that are known in closed form."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from sizer.model.beliefs import Belief
from sizer.model.equation import Array, Draws
from sizer.model.posterior import KEPT, sample

X = np.array([-1.0, 0.0, 1.0, 2.0])
Y = np.array([0.2, 1.1, 1.7, 3.2])
NOISE = 0.3
LINE = [Belief("slope", 0.0, 1.0), Belief("start", 1.0, 2.0)]
TOLERANCE = 4 / math.sqrt(KEPT)
"""Of a mean, in standard deviations: moved particles are not quite independent."""


def line(draws: Draws) -> Array:
    found: Array = -0.5 * (((Y - draws["slope"] * X - draws["start"]) / NOISE) ** 2).sum(axis=1)
    return found


def test_a_line_through_points_is_the_normal_that_it_is() -> None:
    """Mean, spread and correlation of a linear model with Gaussian noise (Bishop 2006, 3.49)."""
    design = np.column_stack([X, np.ones(4)])
    precision = design.T @ design / NOISE**2 + np.diag([1.0, 0.25])
    mean = np.linalg.solve(precision, design.T @ Y / NOISE**2 + np.array([0.0, 0.25]))
    covariance = np.linalg.inv(precision)
    deviation = np.sqrt(np.diag(covariance))
    found = sample(LINE, line)
    assert found.names == ("slope", "start")
    assert found.values.shape == (KEPT, 2)
    assert np.abs((found.values.mean(axis=0) - mean) / deviation).max() < TOLERANCE
    assert found.values.std(axis=0) == pytest.approx(deviation, rel=0.15)
    correlation = covariance[0, 1] / deviation.prod()
    assert np.corrcoef(found.values.T)[0, 1] == pytest.approx(correlation, abs=0.1)


@pytest.mark.parametrize("seen", [0.1, 1.0, 2.0])
def test_a_switch_has_the_probability_of_its_mixture(seen: float) -> None:
    """On with 0.3 before, when a value is that of a belief and not 0: Bayes' theorem says what it is after."""
    noise, before = 0.5, 0.3
    beliefs = [Belief("value", 0.0, 1.0), Belief("on:value", NormalDist().inv_cdf(before), 1.0)]
    there = before * NormalDist(0.0, math.hypot(1.0, noise)).pdf(seen)
    away = (1 - before) * NormalDist(0.0, noise).pdf(seen)

    def likelihood(draws: Draws) -> Array:
        value = np.where(draws.on("value"), draws["value"], 0.0)[:, 0]
        found: Array = -0.5 * ((seen - value) / noise) ** 2
        return found

    found = sample(beliefs, likelihood)
    on = found.on("value")[:, 0]
    assert on.mean() == pytest.approx(there / (there + away), abs=0.1)
    assert found["value"][on, 0].mean() == pytest.approx(seen / (1 + noise**2), abs=0.2)


@pytest.mark.parametrize("failure", [math.nan, -math.inf])
def test_where_the_likelihood_fails_nothing_is_believed(failure: float) -> None:
    """Half of a normal is left, whose mean is sqrt(2 / pi)."""
    beliefs = [Belief("value", 0.0, 1.0)]
    found = sample(beliefs, lambda draws: np.where(draws["value"][:, 0] > 0, 0.0, failure))["value"]
    assert found.min() > 0
    assert found.mean() == pytest.approx(math.sqrt(2 / math.pi), abs=0.15)


def test_what_is_not_learnt_from_stays_as_it_was_believed() -> None:
    found = sample(LINE, lambda draws: np.zeros(len(draws)))
    assert found.values.mean(axis=0) == pytest.approx([0.0, 1.0], abs=0.3)
    assert found.values.std(axis=0) == pytest.approx([1.0, 2.0], rel=0.15)


def test_it_is_the_same_each_time() -> None:
    assert (sample(LINE, line).values == sample(LINE, line).values).all()
