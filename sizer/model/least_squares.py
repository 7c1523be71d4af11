"""Least squares for many parameter vectors at once (Levenberg-Marquardt, Marquardt 1963).

Starting points, forms, bootstrap draws and left-out folds differ only in data, so they are solved together; a vector
that has settled is left where it is, and the others go on without it.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from sizer.model.equation import Array, Indices

LONGEST_STEP = 1.5
"""Of a logarithm in one step: a factor of 4.5, so that a flat direction cannot throw the search away."""
TOLERANCE = 1e-6
"""A vector has settled whose sum of squares fell by less than this share of it in one step, or which moved by less.
With 1e-8 fits take a tenth longer, and 99 in 100 predictions are the same to 0.03 %."""


class Squares(Protocol):
    """What is made small: data residuals, and how far R parameter vectors are off what is believed of them."""

    mean: Array
    """What is believed (R or 1, K)."""
    sure: Array
    """How surely (R, K): 1 over the standard deviation of each belief."""

    def __call__(self, theta: Array) -> tuple[Array, Array]:
        """Residuals (R, m) at parameters (R, K), and their derivatives (R, K, m)."""

    def only(self, rows: Indices) -> Squares:
        """The same for some of the vectors."""


def minimise(squares: Squares, start: Array, iterations: int = 60) -> tuple[Array, Array]:
    """Minimise the sum of squares of each vector on its own. Returns the parameters (R, K) and the sums (R,)."""
    found, costs, left = start.copy(), np.empty(len(start)), np.arange(len(start))
    theta = start.copy()
    cost, normal, right = _normal(squares, theta, *squares(theta))
    damping = np.full(len(theta), 1e-2)
    diagonal = np.arange(theta.shape[1])
    for _ in range(iterations):
        damped = normal.copy()
        damped[:, diagonal, diagonal] = damped[:, diagonal, diagonal] * (1 + damping[:, None]) + 1e-9
        step = -np.linalg.solve(damped, right[:, :, None])[:, :, 0]
        step = np.minimum(np.maximum(step, -LONGEST_STEP), LONGEST_STEP)
        trial = theta + step
        new_cost, new_normal, new_right = _normal(squares, trial, *squares(trial))
        better = new_cost < cost
        small = np.abs(step).max(axis=1) < TOLERANCE
        settled = np.where(better, cost - new_cost < TOLERANCE * cost, (damping > 1e3) | small)
        theta[better], cost[better] = trial[better], new_cost[better]
        normal[better], right[better] = new_normal[better], new_right[better]
        damping = np.minimum(np.maximum(damping * np.where(better, 0.2, 6.0), 1e-9), 1e9)
        if settled.any():
            found[left[settled]], costs[left[settled]] = theta[settled], cost[settled]
            rows = np.flatnonzero(~settled)
            if not rows.size:
                return found, costs
            squares, left = squares.only(rows), left[rows]
            theta, cost, normal, right = theta[rows], cost[rows], normal[rows], right[rows]
            damping = damping[rows]
    found[left], costs[left] = theta, cost
    return found, costs


def _normal(squares: Squares, theta: Array, value: Array, slope: Array) -> tuple[Array, Array, Array]:
    """Sum of squares (R,), and the normal equations: matrix (R, K, K) and right-hand side (R, K)."""
    off = (theta - squares.mean) * squares.sure
    cost: Array = np.einsum("rm,rm->r", value, value) + np.einsum("rk,rk->r", off, off)
    normal: Array = slope @ slope.transpose(0, 2, 1)
    diagonal = np.arange(theta.shape[1])
    normal[:, diagonal, diagonal] += squares.sure * squares.sure
    right: Array = np.matmul(slope, value[:, :, None])[:, :, 0] + squares.sure * off
    return cost, normal, right
