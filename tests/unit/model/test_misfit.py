"""What the equation does not say: pulled to what was measured, alike near by, unknown far away."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sizer.model.misfit import OWN, Misfit, Places
from sizer.model.model import Feed, WorkloadFacts
from sizer.records.configuration import Configuration
from sizer.records.device import Device
from sizer.records.units import GIB

FACTS = WorkloadFacts("image_training", Device())
HERE = Configuration(4.0, 8 * GIB, "disk", 32)
SCALE = np.array([[0.1]])


def places(*configurations: Configuration) -> Places:
    return Places(FACTS, configurations, [Feed()] * len(configurations))


@pytest.mark.parametrize(
    "away",
    [
        {"vcpus": (4.5, 6.0, 16.0)},
        {"batch_size": (40, 64, 512)},
        {"memory_bytes": (9 * GIB, 16 * GIB, 64 * GIB)},
        {"gpu_count": (2, 4, 8)},
    ],
    ids=lambda away: next(iter(away)),
)
def test_likeness_falls_with_distance(away: dict[str, tuple[float, ...]]) -> None:
    """On every axis, from what is not a configuration's own to nothing."""
    ((name, values),) = away.items()
    row = places(HERE).covariance(places(HERE, *(replace(HERE, **{name: value}) for value in values)))[0]  # type: ignore[arg-type]
    assert row[0] == pytest.approx(1.0)
    assert 1 - OWN > row[1] > row[2] > row[3]
    assert row[3] < 0.2


@pytest.mark.parametrize("other", [replace(HERE, disk="another"), replace(HERE, gpu="T4")])
def test_another_disk_or_kind_of_accelerator_is_little_alike(other: Configuration) -> None:
    assert places(HERE).covariance(places(other))[0, 0] < 0.15


def test_a_measured_place_is_pulled_to_what_was_measured() -> None:
    """By as much as its scale counts against the noise; far from it nothing is known."""
    deviation, off = 0.02, 0.05
    misfit = Misfit.of(places(HERE), np.array([deviation]))
    there = places(HERE, replace(HERE, vcpus=5.0), replace(HERE, vcpus=400.0))
    mean, variance = misfit.known(np.array([[off]]), SCALE, there)
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
        mean, left = alone.known(residuals[:, others], scale, places(place))
        assert off[:, number] == pytest.approx(residuals[:, number] - mean[:, 0])
        assert variance[:, number] == pytest.approx(left[:, 0] + deviation[number] ** 2)


@pytest.mark.parametrize("scale", [0.01, 0.1])
def test_a_misfit_is_likeliest_where_it_is_as_large_as_its_scale(scale: float) -> None:
    """Residuals drawn with a scale are likelier under it than under a tenth or ten times of it."""
    known = places(*(replace(HERE, vcpus=vcpus) for vcpus in (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)))
    misfit = Misfit.of(known, np.full(6, 0.001))
    lower = np.linalg.cholesky(known.covariance(known))
    drawn = scale * np.random.default_rng(5).standard_normal((50, 6)) @ lower.T
    right, small, large = (
        misfit.log_likelihood(drawn, np.full((50, 1), factor * scale)).mean() for factor in (1.0, 0.1, 10.0)
    )
    assert right > max(small, large) + 2
