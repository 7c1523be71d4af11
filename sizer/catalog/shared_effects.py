"""Published figures as sums of what they share, a Gaussian process over labels, and what they say of another one.

Each `Effect` adds to every figure a quantity that all figures with the same label have in common, times the `size` that
each figure gives it: a network's own level, a GPU's own, what a TFLOP/s more is worth. A figure of a new combination
follows from the effects it shares with known ones; what it shares with none widens its interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Figure = TypeVar("Figure")


@dataclass(frozen=True)
class Effect(Generic[Figure]):
    """What figures with one label share. `variance` is the square of how far such quantities lie apart."""

    variance: float
    label: Callable[[Figure], Hashable]
    size: Callable[[Figure], float] | None = None


@dataclass(frozen=True)
class Expected:
    """A figure that is not known: its mean, and the standard deviation of a newly published one around it."""

    mean: float
    deviation: float


@dataclass(frozen=True, eq=False)
class SharedEffects(Generic[Figure]):
    """Known figures with their values. `noise` is the variance of what a figure shares with none."""

    figures: Sequence[Figure]
    values: Sequence[float]
    effects: Sequence[Effect[Figure]]
    noise: float
    mean: float

    def expected(self, figure: Figure) -> Expected:
        """What the known figures say of this one."""
        return self.several([figure])[0]

    def several(self, asked: Sequence[Figure]) -> list[Expected]:
        """The same of many."""
        shared = covariance(self.effects, asked, self.figures)
        means = self.mean + shared @ (self._inverse @ self._residuals)
        own = covariance(self.effects, asked, asked).diagonal() + self.noise
        variances = own - np.einsum("ij,jk,ik->i", shared, self._inverse, shared)
        return [
            Expected(float(mean), math.sqrt(max(float(variance), 0.0)))
            for mean, variance in zip(means, variances, strict=True)
        ]

    @cached_property
    def _residuals(self) -> Array:
        return np.array(self.values, dtype=float) - self.mean

    @cached_property
    def _inverse(self) -> Array:
        shared = covariance(self.effects, self.figures, self.figures)
        inverse: Array = np.linalg.inv(shared + self.noise * np.eye(len(self.figures)))
        return inverse


def covariance(effects: Sequence[Effect[Figure]], these: Sequence[Figure], those: Sequence[Figure]) -> Array:
    """What figures share, (these, those)."""
    total = np.zeros((len(these), len(those)))
    for effect in effects:
        total += effect.variance * overlap(effect, these, those)
    return total


def overlap(effect: Effect[Figure], these: Sequence[Figure], those: Sequence[Figure]) -> Array:
    """The same of one effect, of variance one."""
    codes: dict[Hashable, int] = {}
    one, other = (
        np.array([codes.setdefault(effect.label(run), len(codes)) for run in some]) for some in (these, those)
    )
    same: Array = (one[:, None] == other[None]).astype(float)
    if effect.size is not None:
        sizes = [np.array([effect.size(figure) for figure in some]) for some in (these, those)]
        same = same * sizes[0][:, None] * sizes[1][None]
    return same
