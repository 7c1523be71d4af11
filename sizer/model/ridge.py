"""Coefficients drawn to nothing by their error: ridge regression, its strength by what all of them together say.

Each is believed to be normal about 0 with one deviation, which is the one that makes what was found most likely
(empirical Bayes: Morris 1983, "Parametric empirical Bayes inference"). What chance explains becomes 0, and one that is
little sure becomes small; of two that tell nearly the same, what they tell together is kept. Of a single one, what is
left is the part of its square that is not error: James and Stein's estimator, the positive part.
"""

from __future__ import annotations

import numpy as np

from sizer.model.equation import Array

ROUNDS = 100
"""Of one after another, until the strength settles, which takes a few."""


def drawn_to_nothing(found: Array, covariance: Array) -> tuple[Array, Array]:
    """Of coefficients (K,) and their covariance (K, K), none of which may be below 0: what is left of each, and the
    covariance of that, where those that are 0 are known to be 0."""
    kept, precision = np.arange(found.size), np.linalg.inv(covariance)
    while kept.size:
        own = np.linalg.inv(precision[np.ix_(kept, kept)])
        # What those kept are where the others are 0.
        middle = own @ precision[kept] @ found
        left, errors = _left(middle, own)
        if (left > 0).all():
            values, whole = np.zeros(found.size), np.zeros(covariance.shape)
            values[kept], whole[np.ix_(kept, kept)] = left, errors
            return values, whole
        kept = np.delete(kept, int(np.argmin(left)))
    return np.zeros(found.size), np.zeros(covariance.shape)


def _left(middle: Array, covariance: Array) -> tuple[Array, Array]:
    chance, axes = np.linalg.eigh(covariance)
    squares, believed = (axes.T @ middle) ** 2, 0.0
    for _ in range(ROUNDS):
        weights = (chance + believed) ** -2.0
        before, believed = believed, max(0.0, float(weights @ (squares - chance) / weights.sum()))
        if abs(believed - before) <= 1e-9 * believed:
            break
    kept = axes * (believed / (chance + believed)) @ axes.T
    return kept @ middle, kept @ covariance
