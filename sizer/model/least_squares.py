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
    identity = np.eye(theta.shape[1])
    for _ in range(iterations):
        transposed = slope.transpose(0, 2, 1)
        curvature = transposed @ slope
        diagonal = np.einsum("rkk->rk", curvature)
        damped = curvature + (damping[:, None] * diagonal + 1e-9)[:, :, None] * identity
        step = -np.linalg.solve(damped, transposed @ value[:, :, None])[:, :, 0]
        step = np.clip(step, -LONGEST_STEP, LONGEST_STEP)
        new_value, new_slope = residuals(theta + step)
        new_cost = np.einsum("rm,rm->r", new_value, new_value)
        better = new_cost < cost
        converged = ~better | (cost - new_cost < tolerance * cost)
        theta = np.where(better[:, None], theta + step, theta)
        value = np.where(better[:, None], new_value, value)
        slope = np.where(better[:, None, None], new_slope, slope)
        cost = np.where(better, new_cost, cost)
        settled |= converged & (better | (damping > 1e3) | (np.abs(step).max(axis=1) < tolerance))
        damping = np.clip(np.where(better, damping * 0.2, damping * 6), 1e-9, 1e9)
        if settled.all():
            break
    return theta, cost
