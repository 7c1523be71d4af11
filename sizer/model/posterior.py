"""What is believed after the runs: tempered particles (sequential Monte Carlo), seeded.

Particles drawn from the beliefs are weighed by a power of the likelihood that rises from 0 to 1, by as much at a time
as leaves half of them counting; each time they are resampled and moved. Del Moral, Doucet and Jasra 2006.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from sizer.model.beliefs import Belief
from sizer.model.equation import Draws

Array = NDArray[np.float64]

PARTICLES = 800
KEPT = 256
MOVES = 15
"""Moves of all particles at each temperature."""
LAST = 2
"""Times as many at the last one."""
AFRESH = 3
"""Every third move draws one quantity of each particle from its belief, so that switches change."""
SEED = 20181


def sample(
    beliefs: Sequence[Belief], log_likelihood: Callable[[Draws], Array], count: int = PARTICLES, moves: int = MOVES
) -> Draws:
    """KEPT vectors from the posterior, by so many particles, each moved so often at a temperature.

    The likelihood takes R vectors and gives (R,).
    """
    random = np.random.default_rng(SEED)
    names = tuple(each.name for each in beliefs)
    mean = np.array([each.mean for each in beliefs])
    deviation = np.array([each.deviation for each in beliefs])

    def likelihood(standard: Array) -> Array:
        found = log_likelihood(Draws(names, mean + deviation * standard))
        return np.where(np.isfinite(found), found, -1e9)

    particles = random.standard_normal((count, len(names)))
    value, power = likelihood(particles), 0.0
    while power < 1:
        power, chosen = _resampled(value, power, random)
        particles, value = particles[chosen], value[chosen]
        mover = _Mover(names, particles, power, likelihood, random)
        for move in range(moves if power < 1 else LAST * moves):
            particles, value = mover.moved(particles, value, afresh=move % AFRESH == AFRESH - 1)
    kept = random.permutation(count)[:KEPT]
    return Draws(names, mean + deviation * particles[kept])


def _resampled(value: Array, power: float, random: np.random.Generator) -> tuple[float, NDArray[np.intp]]:
    """The next power, and which particles (systematic resampling) go on with it."""

    def weights(to: float) -> Array:
        found: Array = np.exp((to - power) * (value - value.max()))
        return found / float(found.sum())

    def counting(to: float) -> float:
        return 1 / float((weights(to) ** 2).sum())

    low, high = power, 1.0
    if counting(high) < 0.5 * len(value):
        for _ in range(30):
            middle = (low + high) / 2
            low, high = (low, middle) if counting(middle) < 0.5 * len(value) else (middle, high)
        high = max(low, power + 1e-6)
    ticks = (random.random() + np.arange(len(value))) / len(value)
    return high, np.searchsorted(np.cumsum(weights(high)), ticks).clip(0, len(value) - 1)


class _Mover:
    """Moves particles so that what they are drawn from stays as it is (Metropolis)."""

    def __init__(
        self,
        names: Sequence[str],
        particles: Array,
        power: float,
        likelihood: Callable[[Array], Array],
        random: np.random.Generator,
    ) -> None:
        self._switches = [place for place, name in enumerate(names) if name.startswith("on:")]
        covariance = np.atleast_2d(np.cov(particles.T))
        self._lower = np.linalg.cholesky(covariance + 1e-6 * np.eye(len(names)))
        self._power = power
        self._likelihood = likelihood
        self._random = random

    def moved(self, particles: Array, value: Array, afresh: bool) -> tuple[Array, Array]:
        """The particles after one move, with their likelihoods."""
        tried = self._afresh(particles) if afresh else self._beside(particles)
        there = self._likelihood(tried)
        log_ratio = self._power * (there - value)
        if not afresh:
            log_ratio = log_ratio - 0.5 * (tried**2 - particles**2).sum(axis=1)
        taken = np.log(self._random.random(len(value))) < log_ratio
        return np.where(taken[:, None], tried, particles), np.where(taken, there, value)

    def _beside(self, particles: Array) -> Array:
        count, width = particles.shape
        scale = np.exp(self._random.uniform(np.log(0.1), 0.0, (count, 1))) * 2.38 / np.sqrt(width)
        found: Array = particles + scale * (self._random.standard_normal((count, width)) @ self._lower.T)
        return found

    def _afresh(self, particles: Array) -> Array:
        """One quantity, or one switch, from its belief."""
        count, width = particles.shape
        among = self._switches if self._switches and self._random.random() < 0.5 else list(range(width))
        found = particles.copy()
        chosen = np.array(among)[self._random.integers(0, len(among), count)]
        found[np.arange(count), chosen] = self._random.standard_normal(count)
        return found
