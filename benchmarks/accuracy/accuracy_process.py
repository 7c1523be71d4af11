"""A plain Gaussian process over ln rate, as CherryPick (Alipourfard et al., NSDI 2017) has it: Matern 5/2. Pure.

Constant mean, one length an axis; amplitude, lengths and noise by the highest marginal likelihood (Rasmussen and
Williams 2006, 5.4).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sizer.model import batch_of, disk_of, gpus_of, memory_of, vcpus_of
from sizer.records.configuration import Configuration

Array = NDArray[np.float64]

JITTER = 1e-8


@dataclass(frozen=True)
class Hyperparameters:
    """Standard deviation of the process, its length along each axis (k,), and standard deviation of the noise."""

    amplitude: float
    lengths: Array
    noise: float

    @classmethod
    def of(cls, theta: Array) -> Hyperparameters:
        """From their logarithms (k + 2,)."""
        return cls(math.exp(theta[0]), np.exp(theta[1:-1]), math.exp(theta[-1]))

    def covariance(self, one: Array, other: Array) -> Array:
        """Between places (n, k) and (m, k)."""
        gaps = (one[:, None] - other[None]) / self.lengths
        apart = np.sqrt(5 * (gaps**2).sum(axis=2))
        found: Array = self.amplitude**2 * (1 + apart + apart**2 / 3) * np.exp(-apart)
        return found

    def noisy(self, places: Array) -> Array:
        """Of what was measured there."""
        found: Array = self.covariance(places, places) + np.eye(len(places)) * (self.noise**2 + JITTER)
        return found


Belief = tuple[Array, Array]
"""Mean and standard deviation of ln rate."""


def process(means: Mapping[Configuration, float]) -> Callable[[Sequence[Configuration]], Array]:
    """Samples per second anywhere, from the mean ln rate of each measured configuration."""
    fitted = fitted_process(means)

    def answers(asked: Sequence[Configuration]) -> Array:
        found: Array = np.exp(fitted(asked)[0])
        return found

    return answers


def fitted_process(means: Mapping[Configuration, float]) -> Callable[[Sequence[Configuration]], Belief]:
    """What it believes of ln rate anywhere, without the noise of a run."""
    configurations, target = list(means), np.array(list(means.values()))
    disks = list(dict.fromkeys(disk_of(configuration) for configuration in configurations))
    places, centre = _places(configurations, disks), float(target.mean())
    best = _likeliest(places, target - centre)
    inverse = np.linalg.inv(best.noisy(places))

    def answers(asked: Sequence[Configuration]) -> Belief:
        covariance = best.covariance(_places(asked, disks), places)
        variance = best.amplitude**2 - np.einsum("ij,jk,ik->i", covariance, inverse, covariance)
        return centre + covariance @ inverse @ (target - centre), np.sqrt(np.maximum(variance, JITTER))

    return answers


def _likeliest(places: Array, known: Array) -> Hyperparameters:
    from scipy.optimize import minimize

    axes = places.shape[1]
    spread = math.log(float(known.std()) + 0.05)
    starts = (
        np.array([spread, *[0.5] * axes, math.log(0.05)]),
        np.array([spread + 0.7, *[2.0] * axes, math.log(0.02)]),
    )
    bounds = [(-4.0, 3.0), *[(-2.0, 4.0)] * axes, (math.log(0.005), math.log(0.5))]
    found = [minimize(_unlikely, start, args=(places, known), bounds=bounds) for start in starts]
    return Hyperparameters.of(min(found, key=lambda each: float(each.fun)).x)


def _unlikely(theta: Array, places: Array, known: Array) -> float:
    """Minus ln of the marginal likelihood, but for a constant."""
    from scipy.linalg import cho_factor, cho_solve

    try:
        factor = cho_factor(Hyperparameters.of(theta).noisy(places), lower=True)
    except np.linalg.LinAlgError:
        return 1e9
    return float(0.5 * known @ cho_solve(factor, known) + np.log(np.diag(factor[0])).sum())


def _places(configurations: Sequence[Configuration], disks: Sequence[str]) -> Array:
    """Axes in ln, and one for each disk but the first; an axis that does not vary does no harm."""
    return np.array(
        [
            [
                math.log(vcpus_of(configuration)),
                math.log(memory_of(configuration)),
                math.log(batch_of(configuration)),
                math.log(max(1, gpus_of(configuration))),
                *(float(configuration.disk == disk) for disk in disks[1:]),
            ]
            for configuration in configurations
        ]
    )
