"""The variances of shared effects that make published figures most likely, by their marginal likelihood."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from sizer.catalog.shared_effects import Effect, overlap

Array = NDArray[np.float64]
Figure = TypeVar("Figure")
Variances = TypeVar("Variances")

PRIOR_DEVIATION = 1.0
"""Of ln variance around the prior's: without one, effects with few labels run to 0 or beyond all reason."""


def fitted(
    kind: Callable[..., Variances],
    effects: Callable[[Variances], Sequence[Effect[Figure]]],
    figures: Sequence[Figure],
    values: Sequence[float],
    prior: Sequence[float],
    prior_deviation: float = PRIOR_DEVIATION,
) -> Variances:
    """Variances of `kind`, whose fields are those of its effects in their order, then the noise.

    Effects beyond these fields have a variance of their own, which stays. `prior` are the variances that are likely
    before any figure is seen.
    """
    start, residuals = np.log(prior), np.array(values)
    made = effects(kind(*prior))
    shared = [overlap(effect, figures, figures) for effect in made]
    free = len(prior) - 1
    fixed = sum(
        (effect.variance * part for effect, part in zip(made[free:], shared[free:], strict=True)),
        start=np.zeros((len(figures), len(figures))),
    )
    parts = [*shared[:free], np.eye(len(figures))]

    def cost(logs: Array) -> tuple[float, Array]:
        variances = np.exp(logs)
        total = fixed + sum(variance * part for variance, part in zip(variances, parts, strict=True))
        inverse = np.linalg.inv(total)
        weights = inverse @ residuals
        towards = (logs - start) / prior_deviation
        spread = inverse - np.outer(weights, weights)
        slopes = [
            0.5 * variance * float((spread * part).sum()) for variance, part in zip(variances, parts, strict=True)
        ]
        value = (
            0.5 * float(residuals @ weights) + 0.5 * float(np.linalg.slogdet(total)[1]) + 0.5 * float(towards @ towards)
        )
        return value, np.array(slopes) + towards / prior_deviation

    found = minimize(cost, start, jac=True, method="L-BFGS-B", bounds=[(math.log(1e-4), math.log(10.0))] * len(prior))
    return kind(*(float(f"{value:.3g}") for value in np.exp(found.x)))
