"""What is believed after the runs, and the misfit of what was measured."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest

from sizer.model.beliefs import Belief
from sizer.model.equation import Array, Draws
from sizer.model.model import Feed, WorkloadFacts
from sizer.model.posterior import KEPT, OWN, Misfit, Places, sample
from sizer.records.configuration import Configuration
from sizer.records.device import Device
from sizer.records.units import GIB

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


FACTS = WorkloadFacts("image_training", Device())
HERE = Configuration(4.0, 8 * GIB, "disk", 32)
SCALE = np.array([[0.1]])


def places(*configurations: Configuration) -> Places:
    return Places(FACTS, configurations, [Feed()] * len(configurations))


def test_a_measured_place_is_pulled_to_what_was_measured() -> None:
    """By as much as its scale counts against the noise; far from it nothing is known."""
    deviation, off = 0.02, 0.05
    misfit = Misfit.of(places(HERE), np.array([deviation]))
    there = places(HERE, replace(HERE, vcpus=5.0), replace(HERE, vcpus=400.0))
    mean, variance = misfit.conditional(np.array([[off]]), SCALE, there)
    weight = 0.1**2 / (0.1**2 + deviation**2)
    assert mean[0, 0] == pytest.approx(weight * off)
    assert variance[0, 0] == pytest.approx(0.1**2 * (1 - weight))
    assert mean[0, 0] > mean[0, 1] > 0.5 * OWN * mean[0, 0]
    assert mean[0, 2] == pytest.approx(0.0, abs=1e-9)
    assert variance[0, 0] < variance[0, 1] < variance[0, 2] == pytest.approx(0.1**2)


def test_left_out_is_what_the_others_tell() -> None:
    """The formula in one step is the same as to learn from the others alone."""
    random = np.random.default_rng(2)
    known = [replace(HERE, vcpus=vcpus, batch_size=batch) for vcpus in (1.0, 2.0, 3.0, 6.0) for batch in (16, 32)]
    deviation = random.uniform(0.01, 0.05, len(known))
    residuals = 0.1 * random.standard_normal((3, len(known)))
    scale = np.array([[0.03], [0.1], [0.4]])
    off, variance = Misfit.of(places(*known), deviation).left_out(residuals, scale)
    for number, place in enumerate(known):
        others = np.arange(len(known)) != number
        alone = Misfit.of(places(*(each for each in known if each != place)), deviation[others])
        mean, left = alone.conditional(residuals[:, others], scale, places(place))
        assert off[:, number] == pytest.approx(residuals[:, number] - mean[:, 0])
        assert variance[:, number] == pytest.approx(left[:, 0] + deviation[number] ** 2)
