"""What no form explains, as a Gaussian process over ln vCPUs, ln memory and ln batch size (kriging with a trend).

Rasmussen and Williams, *Gaussian Processes for Machine Learning*, 2006, chapters 2 and 5. Where the forms explain the
runs there is none; where they do not (a jump, a hump), it follows the runs nearby and is 0 far from them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sizer.model.coordinates import batch_of, disk_of, gpus_of, memory_of, vcpus_of
from sizer.model.equation import Array, Flags, Indices
from sizer.model.model import Residual
from sizer.records import Configuration

if TYPE_CHECKING:
    from sizer.model.observations import Noise

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
    seen = _Places(places)
    distance, alike = seen.distance(seen), seen.alike(seen)
    plain = max(_log_likelihood(0.0, s, np.zeros(len(places)), values / np.sqrt(variances), variances) for s in scales)
    found: tuple[float, float, float, float] = (-math.inf, 0.0, 0.0, 1.0)
    noisiness = np.sqrt(variances)
    for length in LENGTHS:
        # In units of the noise all amplitudes and multiples of the noise have the same eigenvectors.
        shape = _matern(distance / length) * alike / noisiness[:, None] / noisiness
        spectrum, vectors = np.linalg.eigh(shape)
        along = vectors.T @ (values / noisiness)
        for amplitude, s in itertools.product(AMPLITUDES, scales):
            likelihood = _log_likelihood(amplitude, s, np.maximum(spectrum, 0.0), along, variances)
            found = max(found, (likelihood, amplitude, length, s))
    likelihood, amplitude, length, s = found
    if likelihood < plain + 1 + math.log(len(places)):  # BIC: two parameters more, chosen among many
        return None
    return Residual(tuple(places), _rounded(values), _rounded(variances * s * s), amplitude, length)


def posterior_mean(residual: Residual, places: Sequence[Configuration]) -> Array:
    """Of ln rate over the forms' at these places (m,)."""
    known = _factorised(residual)
    mean: Array = known.covariance(places) @ known.weights
    return mean


@dataclass(frozen=True)
class LeftOpen:
    """What the process leaves open of m places: how much each has of it at the n measured ones (m, n), and the variance
    of what is its own (m,)."""

    residual: Residual
    reach: Array
    own: Array

    def variance(self) -> Array:
        """Of ln rate over the forms' (m,), exactly, where draws have it as well as there are many of them."""
        known = _factorised(self.residual)
        along = self.reach @ known.prior
        shown: Array = (self.reach * along).sum(axis=1) - ((along @ known.precision) * along).sum(axis=1)
        found: Array = self.own + np.maximum(0.0, shown)
        return found

    def between(self, count: int, some: Indices, position: Array) -> LeftOpen:
        """Of the first `count` of them, where `some` lie so far (0 to 1) towards one of the others, in their order."""
        reach, own, parts = self.reach[:count].copy(), self.own[:count].copy(), position[:, None]
        reach[some] = (1 - parts) * reach[some] + parts * self.reach[count:]
        own[some] = (1 - position) ** 2 * own[some] + position**2 * self.own[count:]
        return LeftOpen(self.residual, reach, own)


def left_open(residual: Residual, places: Sequence[Configuration]) -> LeftOpen:
    known = _factorised(residual)
    return _left_open(known, known.covariance(places))


def with_draws(
    residual: Residual, places: Sequence[Configuration], count: int, turns: Sequence[int] | None = None
) -> tuple[Array, Array, LeftOpen]:
    """`posterior_mean` (m,), draws (count, m) of how far ln rate is off the forms', and what these are drawn of.

    Joint at the measured places, and between them as far as these show; what they leave open is each place's own, or
    with `turns` (m,), 0 or 1, that of its turn.
    """
    known, random = _factorised(residual), np.random.default_rng(SEED)
    at_known, random.bit_generator.state = _drawn_at_known(residual, count)
    across = known.covariance(places)
    left = _left_open(known, across)
    own = random.standard_normal((count, len(places) if turns is None else 2))
    found: Array = at_known @ left.reach.T + (own if turns is None else own[:, turns]) * np.sqrt(left.own)
    mean: Array = across @ known.weights
    return mean, found, left


class _Places:
    """Configurations as the process sees them: `logs` (n, 4) of their numbers, and their disks and accelerators."""

    def __init__(self, places: Sequence[Configuration]) -> None:
        rows = [(vcpus_of(c), max(1, memory_of(c)), max(1, batch_of(c)), max(1, gpus_of(c))) for c in places]
        self.logs: Array = np.log(np.array(rows, dtype=float).reshape(len(places), 4))
        self.disks = [disk_of(each) for each in places]
        self.gpus = [each.gpu for each in places]

    def distance(self, other: _Places) -> Array:
        """In e-folds (n, m)."""
        total = np.zeros((len(self.logs), len(other.logs)))
        for mine, its in zip(self.logs.T, other.logs.T, strict=True):
            if (mine[:1] != its).any() or (mine != mine[:1]).any():
                total += (mine[:, None] - its) ** 2
        found: Array = np.sqrt(total)
        return found

    def alike(self, other: _Places) -> Array:
        """Which part of what is left at the one is left at the other, by their names alone (n, m)."""
        disk, gpu = _equal(self.disks, other.disks), _equal(self.gpus, other.gpus)
        kept: Array = np.where(disk, 1.0, OTHER_KIND) * np.where(gpu, 1.0, OTHER_KIND)
        return kept


def _equal(one: Sequence[str | None], other: Sequence[str | None]) -> Flags:
    """Which names of the one are those of the other."""
    codes = {name: code for code, name in enumerate({*one, *other})}
    mine, its = np.array([codes[name] for name in one]), np.array([codes[name] for name in other])
    equal: Flags = mine[:, None] == its[None]
    return equal


@dataclass(frozen=True)
class _Factorised:
    """Of the measured places: what asking for others needs again and again, made when it is first asked for."""

    residual: Residual

    @cached_property
    def places(self) -> _Places:
        return _Places(self.residual.places)

    def covariance(self, places: Sequence[Configuration]) -> Array:
        """Of what is left there with what is left at the measured ones."""
        return _covariance(self.residual, _Places(places), self.places)

    @cached_property
    def prior(self) -> Array:
        return _covariance(self.residual, self.places, self.places)

    @cached_property
    def precision(self) -> Array:
        """Inverse of prior and noise together (n, n)."""
        found: Array = np.linalg.inv(self.prior + np.diag(np.array(self.residual.variances)))
        return found

    @cached_property
    def weights(self) -> Array:
        """Of the measured places in the mean elsewhere (n,)."""
        found: Array = self.precision @ np.array(self.residual.values)
        return found

    @cached_property
    def inverse(self) -> Array:
        """Of the prior alone (n, n)."""
        found: Array = np.linalg.inv(self.prior + JITTER * self.residual.amplitude**2 * np.eye(len(self.prior)))
        return found

    @cached_property
    def mean(self) -> Array:
        """Of the process at the measured places themselves (n,)."""
        found: Array = self.prior @ self.weights
        return found

    @cached_property
    def roots(self) -> Array:
        """Of its covariance there (n, n)."""
        values, vectors = np.linalg.eigh(self.prior - self.prior @ self.precision @ self.prior)
        found: Array = vectors * np.sqrt(np.maximum(values, 0.0))
        return found


def _left_open(known: _Factorised, across: Array) -> LeftOpen:
    reach = across @ known.inverse
    own = np.maximum(0.0, known.residual.amplitude**2 - (reach * across).sum(axis=1))
    return LeftOpen(known.residual, reach, own)


def _factorised(residual: Residual) -> _Factorised:
    found = residual.kept.get("factorised")
    if not isinstance(found, _Factorised):
        found = residual.kept["factorised"] = _Factorised(residual)
    return found


def _drawn_at_known(residual: Residual, count: int) -> tuple[Array, Any]:
    """Draws (count, n) of the process at the measured places, and where the random numbers go on behind them."""
    if count not in residual.kept:
        known, random = _factorised(residual), np.random.default_rng(SEED)
        drawn = known.mean + random.standard_normal((count, len(known.mean))) @ known.roots.T
        residual.kept[count] = drawn, random.bit_generator.state
    found: tuple[Array, Any] = residual.kept[count]
    return found


def _covariance(residual: Residual, one: _Places, other: _Places) -> Array:
    shape: Array = _matern(one.distance(other) / residual.length) * one.alike(other)
    return residual.amplitude**2 * shape


def _matern(distance: Array) -> Array:
    """Once differentiable: a knee is sharper than what a smoother one could follow."""
    scaled = math.sqrt(3) * distance
    shape: Array = (1 + scaled) * np.exp(-scaled)
    return shape


def _log_likelihood(amplitude: float, scale: float, spectrum: Array, along: Array, variances: Array) -> float:
    """Of values with these coordinates along the eigenvectors of the process (n,), in units of their noise."""
    spread = amplitude**2 * spectrum + scale**2
    return float(-0.5 * (along**2 / spread + np.log(spread) + np.log(variances)).sum())


def _thinned(count: int) -> list[int]:
    return [int(i) for i in np.unique(np.linspace(0, count - 1, min(count, MOST)).round())] if count else []


def _rounded(values: Array) -> tuple[float, ...]:
    return tuple(float(f"{value:.6g}") for value in values)
