"""Least squares for many parameter vectors at once (Levenberg-Marquardt, Marquardt 1963).

Starting points, bootstrap draws and left-out folds of a problem differ only in data, so they are solved together.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sizer.model.equation import Array, Indices

LONGEST_STEP = 1.5
"""Of a logarithm in one step: a factor of 4.5, so that a flat direction cannot throw the search away."""


def minimise(
    residuals: Callable[[Array, Indices], tuple[Array, Array]],
    start: Array,
    iterations: int = 60,
    tolerance: float = 1e-5,
) -> tuple[Array, Array]:
    """Minimise the sum of squares of each row on its own.

    `residuals` maps parameters (R, k) of the rows with these numbers (R,) to residuals (R, m) and their derivatives
    (R, m, k). Returns the parameters (R, k) and the sums of squares (R,).
    """
    theta, moving = start.copy(), np.arange(len(start))
    value, slope = residuals(theta, moving)
    cost = np.einsum("rm,rm->r", value, value)
    damping = np.full(len(theta), 1e-2)
    diagonal = np.arange(theta.shape[1])
    for _ in range(iterations):
        transposed = slope.transpose(0, 2, 1)
        damped = transposed @ slope
        damped[:, diagonal, diagonal] *= 1 + damping[:, None]
        damped[:, diagonal, diagonal] += 1e-9
        step = -np.linalg.solve(damped, transposed @ value[:, :, None])[:, :, 0]
        step = np.minimum(np.maximum(step, -LONGEST_STEP), LONGEST_STEP)
        new_value, new_slope = residuals(theta[moving] + step, moving)
        new_cost, old_cost = np.einsum("rm,rm->r", new_value, new_value), cost[moving]
        better = new_cost < old_cost
        theta[moving[better]] += step[better]
        cost[moving[better]] = new_cost[better]
        converged = ~better | (old_cost - new_cost < tolerance * old_cost)
        settled = converged & (better | (damping > 1e3) | (np.abs(step).max(axis=1) < tolerance))
        if settled.all():
            break
        value[better], slope[better] = new_value[better], new_slope[better]
        damping = np.minimum(np.maximum(damping * np.where(better, 0.2, 6.0), 1e-9), 1e9)
        if settled.any():
            left = ~settled
            moving, value, slope, damping = moving[left], value[left], slope[left], damping[left]
    return theta, cost
