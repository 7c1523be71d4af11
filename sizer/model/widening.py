"""How wide an interval must be: what configurations that are left out say (conformal: Lei et al. 2018)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import stdtrit

from sizer.model.coordinates import vcpus_of
from sizer.model.equation import Array, Flags, solve
from sizer.model.least_squares import minimise
from sizer.model.model import NORMAL_90, Residual, WorkloadModel
from sizer.model.observations import Noise, Observation
from sizer.model.problem import Fitted
from sizer.model.residual import MOST, posterior
from sizer.records import Configuration

FOLDS = 24
"""Configurations are left out one at a time up to this many, then in this many groups."""
FEWEST = 4
"""Configurations below which leaving one out says nothing."""
FEWEST_DEGREES = 2.0
"""Degrees of freedom, at the least, with which scatter about a curve shows the noise: with fewer, all is possible."""


def widening(
    model: WorkloadModel,
    kept: Sequence[tuple[Fitted, float]],
    observations: Sequence[Observation],
    main: Flags,
    left_out: Array | None,
) -> float:
    """How many standard deviations make 90 %; `left_out` (n,) is what each row is predicted to be without it, in ln."""
    target = kept[0][0].problem.target
    n = int(main.sum())
    if left_out is None:  # of so few rows all is belief, which the draws have
        return NORMAL_90
    places = [o.configuration for o in observations]
    counts = _inner(places, main)
    variance = _draw_variance(model, kept)
    if model.residual is not None:
        variance = variance + posterior(model.residual, places)[1]
    deviation = math.sqrt(model.noise**2 + float(np.median(variance)))
    scores = np.sort(np.abs(left_out - target)[counts] / deviation)
    rank = math.ceil(0.9 * (scores.size + 1))
    score = float(scores[rank - 1]) if rank <= scores.size else float(scores[-1]) if scores.size else 0.0
    few = 1 + 1 / n
    return min(max(score, NORMAL_90 * few), 2.5 * NORMAL_90)


def widening_of_noise(kept: Sequence[tuple[Fitted, float]], main: Flags, noise: Noise) -> float:
    """How many standard deviations of the noise make 90 %: Student's t where only scatter about the curve shows it.

    What the curve takes up is gone for the noise, and so is one more for the choice of its form.
    """
    if noise.measured:
        return NORMAL_90
    return float(stdtrit(max(FEWEST_DEGREES, int(main.sum()) - kept[0][0].effective - 1), 0.95))


def _inner(places: Sequence[Configuration], main: Flags) -> Flags:
    """Rows inside the range of what remains without them."""
    vcpus = np.array([vcpus_of(place) for place in places])
    inside = main & (vcpus > vcpus[main].min()) & (vcpus < vcpus[main].max())
    return inside if inside.sum() >= 3 else main


def predicted_without(
    kept: Sequence[tuple[Fitted, float]], places: Sequence[Configuration], main: Flags, residual: Residual | None
) -> Array | None:
    """Ln of what each row is predicted to be by the same forms fitted without it (n,); None of fewer than FEWEST."""
    if int(main.sum()) < FEWEST:
        return None
    problem = kept[0][0].problem
    n = problem.target.size
    fold = np.arange(n) % FOLDS
    folds = int(fold.max()) + 1
    included = (fold[None] != np.arange(folds)[:, None]).astype(float)
    everywhere = np.zeros((folds, n))
    for fitted, weight in kept:
        own = fitted.problem
        residuals = own.residuals(own.target[None], own.belief.mean[None], included)
        thetas, _ = minimise(residuals, np.repeat(fitted.theta[None], folds, axis=0), iterations=20)
        everywhere += weight * solve(own.structure, thetas, own.design).log_rate
    prediction: Array = everywhere[fold, np.arange(n)]
    if residual is None or n > MOST:
        return prediction
    for index in range(folds):
        known, asked = main & (fold != index), main & (fold == index)
        if not asked.any():
            continue
        near = replace(
            residual,
            places=tuple(place for place, use in zip(places, known, strict=True) if use),
            values=tuple((problem.target - everywhere[index])[known]),
            variances=tuple(problem.deviation[known] ** 2),
        )
        prediction[asked] += posterior(near, [p for p, use in zip(places, asked, strict=True) if use])[0]
    return prediction


def _draw_variance(model: WorkloadModel, kept: Sequence[tuple[Fitted, float]]) -> Array:
    """Variance of ln throughput over the members' draws at each observation (n,)."""
    variance = np.zeros(kept[0][0].problem.target.size)
    for member, (fitted, weight) in zip(model.members, kept, strict=True):
        log_rate = solve(member.structure, member.vectors[1:], fitted.problem.design).log_rate
        variance += weight * log_rate.var(axis=0)
    return variance
