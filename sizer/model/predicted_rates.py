"""The members' answers at many configurations at once, with draws that show their uncertainty."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sizer.model.equation import CPU, Array, solve
from sizer.model.feeds import with_usual_accelerator
from sizer.model.model import WhatIf, WorkloadModel, deviation_of
from sizer.model.residual import drawn, posterior
from sizer.model.stages import build_design
from sizer.records import Configuration


@dataclass(frozen=True)
class PredictedRates:
    """Ln throughput of n configurations: `mean` (n,), `draws` (D, n) of `weights` (D,), and `shares` (n, stages)."""

    mean: Array
    draws: Array
    weights: Array
    shares: Array
    contention: Array
    read_is_iops: NDArray[np.bool_]

    def between(self, position: float) -> PredictedRates:
        """One configuration this far (0 to 1) from the first of these two to the second; at 0 one is enough."""
        if position == 0:
            return self.of(0, 1)

        def blend(values: Array) -> Array:
            mixed: Array = (1 - position) * values[..., :1] + position * values[..., 1:]
            return mixed

        shares = (1 - position) * self.shares[:1] + position * self.shares[1:]
        return PredictedRates(
            blend(self.mean), blend(self.draws), self.weights, shares, blend(self.contention), self.read_is_iops
        )

    def of(self, index: int, count: int) -> PredictedRates:
        """So many neighbouring configurations of them, from this one on."""
        some = slice(index, index + count)
        return PredictedRates(
            self.mean[some],
            self.draws[:, some],
            self.weights,
            self.shares[some],
            self.contention[some],
            self.read_is_iops[some],
        )

    def variance(self) -> Array:
        """Of the parameters alone, (n,)."""
        centre = (self.weights[:, None] * self.draws).sum(axis=0)
        spread: Array = (self.weights[:, None] * (self.draws - centre) ** 2).sum(axis=0)
        off: Array = centre - self.mean
        total: Array = spread + off * off
        return total


def predict_rates(
    model: WorkloadModel,
    configurations: Sequence[Configuration],
    what_if: WhatIf | None = None,
    together: int | None = None,
) -> PredictedRates:
    """The members' weighted answer for many configurations at once; asks nothing about whether they were measured.

    `together`: what the runs leave open is drawn for so many at a time, as if the next were asked for alone.
    """
    configurations = [with_usual_accelerator(model.measured, configuration) for configuration in configurations]
    means, draws, weights, shares, contention = [], [], [], [], []
    for member in model.members:
        design = build_design(model.facts, model.measured, member.structure, configurations, what_if)
        found = solve(member.structure, member.vectors, design)
        means.append(member.weight * found.log_rate[0])
        shares.append(member.weight * found.shares[0])
        contention.append(member.weight * found.shares[0, :, CPU] * found.contention[0])
        draws.append(found.log_rate[1:])
        weights.append(np.full(len(member.draws), member.weight / len(member.draws)))
    mean, rates = _sum(means), np.concatenate(draws)
    if model.residual is not None:
        mean = mean + posterior(model.residual, configurations)[0]
        rates = rates + drawn(model.residual, configurations, len(rates), together)
    return PredictedRates(mean, rates, np.concatenate(weights), _sum(shares), _sum(contention), design.read_is_iops)


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
