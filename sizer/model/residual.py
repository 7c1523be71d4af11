"""What no form explains, as a Gaussian process over ln vCPUs, ln memory and ln batch size (kriging with a trend).

Rasmussen and Williams, *Gaussian Processes for Machine Learning*, 2006, chapters 2 and 5. Where the forms explain the
runs there is none; where they do not (a jump, a hump), it follows the runs nearby and is 0 far from them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sizer.model.coordinates import batch_of, disk_of, gpus_of, memory_of, vcpus_of
from sizer.model.equation import Array, Flags
from sizer.model.model import Residual
from sizer.model.observations import Noise
from sizer.records import Configuration

FEWEST = 6
"""Configurations below which what is left cannot be distinguished from noise."""
MOST = 300
"""Configurations that are looked at: its cost grows with their cube."""
AMPLITUDES = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64)
LENGTHS = (0.3, 0.6, 1.2, 2.4)
"""In e-folds of the axes: from less than half a doubling to three and a half."""
REPEATED, MEASURED, ASSUMED = (1.0, 1.4), (1.0, 1.4, 2.0, 3.0), (0.1, 0.2, 0.4, 0.7, 1.0, 1.4, 2.0, 3.0)
"""Multiples of the noise that are tried where repeats show it, where only what moved within runs did, and else."""
JITTER = 1e-6
SEED = 20183
OTHER_KIND = 0.3
"""How much of what is left on one disk or accelerator is left on another, too."""


def fit_residual(places: Sequence[Configuration], values: Array, variances: Array, noise: Noise) -> Residual | None:
    """The process that makes `values` (n,), ln measured over ln fitted, likeliest; None where noise explains them."""
    chosen = _thinned(len(places))
    places, values, variances = [places[i] for i in chosen], values[chosen], variances[chosen]
    if len(places) < FEWEST:
        return None
    scales = REPEATED if noise.repeated else MEASURED if noise.measured else ASSUMED
    distance = _distance(places, places)
    alike = _alike(places, places)
    plain = max(_log_likelihood(np.diag(variances * s * s), values) for s in scales)
    found: tuple[float, float, float, float] = (-math.inf, 0.0, 0.0, 1.0)
    for length in LENGTHS:
        shape = _matern(distance / length) * alike
        for amplitude, s in itertools.product(AMPLITUDES, scales):
            likelihood = _log_likelihood(amplitude**2 * shape + np.diag(variances * s * s), values)
            found = max(found, (likelihood, amplitude, length, s))
    likelihood, amplitude, length, s = found
    if likelihood < plain + 1 + math.log(len(places)):  # BIC: two parameters more, chosen among many
        return None
    return Residual(tuple(places), _rounded(values), _rounded(variances * s * s), amplitude, length)


def posterior(residual: Residual, places: Sequence[Configuration]) -> tuple[Array, Array]:
    """Mean and variance of ln rate over the forms' at these places, each (m,)."""
    known = _factorised(residual)
    across = _covariance(residual, places, residual.places)
    mean: Array = across @ known.weights
    explained = np.einsum("mn,nk,mk->m", across, known.precision, across, optimize=True)
    variance: Array = np.maximum(0.0, residual.amplitude**2 - explained)
    return mean, variance


def drawn(residual: Residual, places: Sequence[Configuration], count: int, together: int | None = None) -> Array:
    """Draws (count, m) of how far ln rate is off the forms'.

    Joint at the measured places, and between them as far as these show; what they leave open is each place's own.
    `together`: of so many places only, as if the next ones were asked for alone.
    """
    known, random = _factorised(residual), np.random.default_rng(SEED)
    at_known = known.mean + random.standard_normal((count, len(known.mean))) @ known.roots.T
    across = _covariance(residual, places, residual.places)
    reach = across @ known.inverse
    left = np.sqrt(np.maximum(0.0, residual.amplitude**2 - np.einsum("mn,mn->m", reach, across)))
    own = random.standard_normal((count, together or len(places)))
    found: Array = at_known @ reach.T + np.tile(own, len(places) // own.shape[1]) * left
    return found


@dataclass(frozen=True)
class _Factorised:
    """Of the measured places: what asking for others needs again and again.

    `precision` inverts prior and noise together, `inverse` the prior alone; `weights` are `precision` x values; `mean`
    and `roots` (n, n) are those of the process at the places themselves.
    """

    precision: Array
    inverse: Array
    weights: Array
    mean: Array
    roots: Array


@lru_cache(maxsize=16)
def _factorised(residual: Residual) -> _Factorised:
    prior = _covariance(residual, residual.places, residual.places)
    precision = np.linalg.inv(prior + np.diag(np.array(residual.variances)))
    weights = precision @ np.array(residual.values)
    values, vectors = np.linalg.eigh(prior - prior @ precision @ prior)
    inverse = np.linalg.inv(prior + JITTER * residual.amplitude**2 * np.eye(len(prior)))
    return _Factorised(precision, inverse, weights, prior @ weights, vectors * np.sqrt(np.maximum(values, 0.0)))


def _covariance(residual: Residual, one: Sequence[Configuration], other: Sequence[Configuration]) -> Array:
    shape: Array = _matern(_distance(one, other) / residual.length) * _alike(one, other)
    return residual.amplitude**2 * shape


def _matern(distance: Array) -> Array:
    """Once differentiable: a knee is sharper than what a smoother one could follow."""
    scaled = math.sqrt(3) * distance
    shape: Array = (1 + scaled) * np.exp(-scaled)
    return shape


def _distance(one: Sequence[Configuration], other: Sequence[Configuration]) -> Array:
    mine, its = _logs(one), _logs(other)
    total: Array = np.sqrt(((mine[:, None] - its[None]) ** 2).sum(axis=2))
    return total


def _logs(places: Sequence[Configuration]) -> Array:
    rows = [(vcpus_of(c), max(1, memory_of(c)), max(1, batch_of(c)), max(1, gpus_of(c))) for c in places]
    logs: Array = np.log(np.array(rows, dtype=float).reshape(len(places), 4))
    return logs


def _alike(one: Sequence[Configuration], other: Sequence[Configuration]) -> Array:
    disk = _equal([disk_of(a) for a in one], [disk_of(b) for b in other])
    gpu = _equal([a.gpu for a in one], [b.gpu for b in other])
    kept: Array = np.where(disk, 1.0, OTHER_KIND) * np.where(gpu, 1.0, OTHER_KIND)
    return kept


def _equal(one: Sequence[str | None], other: Sequence[str | None]) -> Flags:
    """Which names of the one are those of the other."""
    codes = {name: code for code, name in enumerate({*one, *other})}
    mine, its = np.array([codes[name] for name in one]), np.array([codes[name] for name in other])
    equal: Flags = mine[:, None] == its[None]
    return equal


def _log_likelihood(covariance: Array, values: Array) -> float:
    lower = np.linalg.cholesky(covariance + 1e-12 * np.eye(len(values)))
    whitened = np.linalg.solve(lower, values)
    return float(-0.5 * whitened @ whitened - np.log(np.diag(lower)).sum())


def _thinned(count: int) -> list[int]:
    return [int(i) for i in np.unique(np.linspace(0, count - 1, min(count, MOST)).round())] if count else []


def _rounded(values: Array) -> tuple[float, ...]:
    return tuple(float(f"{value:.6g}") for value in values)
