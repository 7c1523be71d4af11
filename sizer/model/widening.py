"""How wide an interval must be: what configurations that are left out say (conformal: Lei et al. 2018)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import stdtrit

from sizer.model.coordinates import vcpus_of
from sizer.model.equation import Array, Flags, solve, solve_forms
from sizer.model.least_squares import minimise
from sizer.model.model import NORMAL_90, Residual, WorkloadModel
from sizer.model.observations import Noise, Observation
from sizer.model.problem import Fitted, Residuals, forms_of, side_by_side, solved_together
from sizer.model.residual import MOST, left_open, posterior_mean
from sizer.records import Configuration

FOLDS = 24
"""Configurations are left out one at a time up to this many, then in this many groups."""
FEWEST = 4
"""Configurations below which leaving one out says nothing."""
FEW_RATES = 4
"""Rates alone up to which leaving one out shows what three cannot foretell, and not how far off a place between all of
them may be. Widened by it, intervals between four are half again as wide and hold 2 % more of real curves
(`benchmarks/curves/README.md`)."""
FEWEST_DEGREES = 2.0
"""Degrees of freedom, at the least, with which scatter about a curve shows the noise: with fewer, all is possible."""


def widening(
    model: WorkloadModel,
    kept: Sequence[tuple[Fitted, float]],
    observations: Sequence[Observation],
    main: Flags,
    left_out: Array | None,
) -> float:
    """How many standard deviations make 90 %; `left_out` (n,) is what each row is predicted to be without it, in ln.

    From FEW_RATES alone all is belief that real curves taught, and the draws have it.
    """
    target = kept[0][0].problem.target
    n = int(main.sum())
    few = 1 + 1 / n
    if model.facts.core_seconds is None and n <= FEW_RATES:
        return NORMAL_90
    if left_out is None:
        return NORMAL_90 * few
    places = [o.configuration for o in observations]
    counts = _inner(places, main)
    variance = _draw_variance(model, kept)
    if model.residual is not None:
        variance = variance + left_open(model.residual, places).variance()
    deviation = math.sqrt(model.noise**2 + float(np.median(variance)))
    scores = np.sort(np.abs(left_out - target)[counts] / deviation)
    rank = math.ceil(0.9 * (scores.size + 1))
    score = float(scores[rank - 1]) if rank <= scores.size else float(scores[-1]) if scores.size else 0.0
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
    problems = [fitted.problem for fitted, _ in kept]
    for numbers in solved_together(problems):
        some = [problems[number] for number in numbers]
        forms = forms_of(some, [folds] * len(some))
        means = side_by_side(forms, [each.belief.mean[None] for each in some])[forms.of]
        residuals = Residuals(some, forms, problem.target[None], means, np.tile(included, (len(some), 1)))
        start = side_by_side(forms, [np.repeat(kept[number][0].theta[None], folds, axis=0) for number in numbers])
        thetas, _ = minimise(residuals, start, iterations=20)
        rates = solve_forms(forms, thetas, some[0].design).log_rate.reshape(len(some), folds, n)
        everywhere += np.tensordot([kept[number][1] for number in numbers], rates, axes=1)
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
        prediction[asked] += posterior_mean(near, [p for p, use in zip(places, asked, strict=True) if use])
    return prediction


def _draw_variance(model: WorkloadModel, kept: Sequence[tuple[Fitted, float]]) -> Array:
    """Variance of ln throughput over the members' draws at each observation (n,)."""
    variance = np.zeros(kept[0][0].problem.target.size)
    for member, (fitted, weight) in zip(model.members, kept, strict=True):
        log_rate = solve(member.structure, member.vectors[1:], fitted.problem.design).log_rate
        variance += weight * log_rate.var(axis=0)
    return variance
