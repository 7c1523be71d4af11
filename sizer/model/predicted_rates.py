"""The members' answers at many configurations at once, with draws that show their uncertainty."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sizer.model.equation import CPU, Array, Indices, solve
from sizer.model.feeds import with_usual_accelerator
from sizer.model.model import WhatIf, WorkloadModel, deviation_of
from sizer.model.residual import LeftOpen, posterior_mean, with_draws
from sizer.model.stages import build_rows
from sizer.records import Configuration


@dataclass(frozen=True)
class PredictedRates:
    """Ln throughput of n configurations: `mean` (n,), `draws` (D, n) of `weights` (D,), and `shares` (n, stages).

    `curves` (D, n) are the same draws with the mean of what no form explains, of which `left_open` says the rest.
    """

    mean: Array
    draws: Array
    weights: Array
    shares: Array
    contention: Array
    read_is_iops: NDArray[np.bool_]
    curves: Array
    left_open: LeftOpen | None = None

    def between(self, some: Indices, position: Array) -> PredictedRates:
        """All but the last of them, which are as many as `some`: each of these lies so far (0 to 1) towards one of
        the last, in their order."""
        count = len(self.mean) - len(some)

        def mixed(values: Array) -> Array:
            """Configurations along the last axis."""
            found = values[..., :count].copy()
            found[..., some] = (1 - position) * found[..., some] + position * values[..., count:]
            return found

        draws = mixed(self.draws)
        return PredictedRates(
            mixed(self.mean),
            draws,
            self.weights,
            mixed(self.shares.T).T,
            mixed(self.contention),
            self.read_is_iops[:count],
            draws if self.left_open is None else mixed(self.curves),
            None if self.left_open is None else self.left_open.between(count, some, position),
        )

    def variance(self) -> Array:
        """Of the parameters, and of what no form explains, (n,): without the noise of a run."""
        centre = (self.weights[:, None] * self.curves).sum(axis=0)
        spread: Array = (self.weights[:, None] * (self.curves - centre) ** 2).sum(axis=0)
        off: Array = centre - self.mean
        total: Array = spread + off * off
        return total if self.left_open is None else total + self.left_open.variance()


def predict_rates(
    model: WorkloadModel,
    configurations: Sequence[Configuration],
    what_if: WhatIf = WhatIf(),
    turns: Sequence[int] | None = None,
) -> PredictedRates:
    """The members' weighted answer for many configurations at once; asks nothing about whether they were measured.

    What the runs leave open of a configuration is drawn for each by itself. With `turns` (n,), 0 or 1, those of one
    turn have the same draws, and are as if asked for in pairs: what such a pair gives does not depend on the others.
    """
    configurations = [with_usual_accelerator(model.measured, configuration) for configuration in configurations]
    rows = build_rows(model.facts, model.measured, configurations, what_if)
    means, draws, weights, shares, contention = [], [], [], [], []
    for member in model.members:
        found = solve(member.structure, member.vectors, rows.design(member.structure))
        means.append(member.weight * found.log_rate[0])
        shares.append(member.weight * found.shares[0])
        contention.append(member.weight * found.shares[0, :, CPU] * found.contention[0])
        draws.append(found.log_rate[1:])
        weights.append(np.full(len(member.draws), member.weight / len(member.draws)))
    mean, curves, left_open = _sum(means), np.concatenate(draws), None
    rates = curves
    if model.residual is not None:
        off, drawn, left_open = with_draws(model.residual, configurations, len(curves), turns)
        mean, rates, curves = mean + off, curves + drawn, curves + off
    free = rows.design(model.members[-1].structure).read_is_iops
    weighed = np.concatenate(weights)
    return PredictedRates(mean, rates, weighed, _sum(shares), _sum(contention), free, curves, left_open)


def mean_rates(model: WorkloadModel, configurations: Sequence[Configuration]) -> Array:
    """The `mean` (n,) of `predict_rates` alone."""
    configurations = [with_usual_accelerator(model.measured, configuration) for configuration in configurations]
    rows = build_rows(model.facts, model.measured, configurations)
    means = [
        each.weight * solve(each.structure, each.vectors[:1], rows.design(each.structure)).log_rate[0]
        for each in model.members
    ]
    mean = _sum(means)
    return mean if model.residual is None else mean + posterior_mean(model.residual, configurations)


def own_effects(model: WorkloadModel, configurations: Sequence[Configuration], mean: Array) -> tuple[Array, Array]:
    """What each configuration has beyond the fitted curve: mean (n,) and variance (n,) of ln rate over `mean` (n,).

    The model's misfit is a property of each configuration, so where one was measured its own runs show it: a normal
    belief of that spread, updated by how far their mean lies off the curve.
    """
    believed = model.misfit**2
    effects, variances = np.zeros(len(configurations)), np.full(len(configurations), believed)
    for index, configuration in enumerate(configurations):
        rate = model.measured.rate_at(with_usual_accelerator(model.measured, configuration))
        if rate is not None:
            known = (rate.deviation or deviation_of(model.noise, rate.runs)) ** 2
            kept = believed / (believed + known)
            effects[index] = kept * (math.log(rate.usual) - mean[index])
            variances[index] = kept * known
    return effects, variances


def _sum(parts: Sequence[Array]) -> Array:
    total: Array = np.sum(np.stack(parts), axis=0)
    return total
