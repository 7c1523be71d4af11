"""Least squares for many parameter vectors at once (Levenberg-Marquardt, Marquardt 1963).

Starting points, bootstrap draws and left-out folds of a problem differ only in data, so they are solved together.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sizer.model.equation import Array

LONGEST_STEP = 1.5
"""Of a logarithm in one step: a factor of 4.5, so that a flat direction cannot throw the search away."""


def minimise(
    residuals: Callable[[Array], tuple[Array, Array]], start: Array, iterations: int = 60, tolerance: float = 1e-5
) -> tuple[Array, Array]:
    """Minimise the sum of squares of each row on its own.

    `residuals` maps parameters (R, k) to residuals (R, m) and their derivatives (R, m, k).
    Returns the parameters (R, k) and the sums of squares (R,).
    """
    theta = start.copy()
    value, slope = residuals(theta)
    cost = np.einsum("rm,rm->r", value, value)
    damping = np.full(len(theta), 1e-2)
    settled = np.zeros(len(theta), dtype=bool)
    diagonal = np.arange(theta.shape[1])
    for _ in range(iterations):
        transposed = slope.transpose(0, 2, 1)
        damped = transposed @ slope
        damped[:, diagonal, diagonal] *= 1 + damping[:, None]
        damped[:, diagonal, diagonal] += 1e-9
        step = -np.linalg.solve(damped, transposed @ value[:, :, None])[:, :, 0]
        step = np.minimum(np.maximum(step, -LONGEST_STEP), LONGEST_STEP)
        new_value, new_slope = residuals(theta + step)
        new_cost = np.einsum("rm,rm->r", new_value, new_value)
        better = new_cost < cost
        converged = ~better | (cost - new_cost < tolerance * cost)
        theta[better] += step[better]
        value[better], slope[better], cost[better] = new_value[better], new_slope[better], new_cost[better]
        settled |= converged & (better | (damping > 1e3) | (np.abs(step).max(axis=1) < tolerance))
        damping = np.minimum(np.maximum(damping * np.where(better, 0.2, 6.0), 1e-9), 1e9)
        if settled.all():
            break
    return theta, cost
