"""How sure it is that a spec reaches the target, and how many vCPUs keep a known accelerator busy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sizer.model import WorkloadModel
from sizer.model.edge import reaches
from sizer.model.equation import Array
from sizer.model.rates import predict_rates
from sizer.records import Configuration


@dataclass(frozen=True)
class Judged:
    """One configuration against the best: expected rate over best, and P(rate >= target x best)."""

    fraction: float
    probability: float


def judge(model: WorkloadModel, stands: Sequence[Configuration], best: Configuration, target: float) -> list[Judged]:
    """Each configuration against the best one.

    Both come from the same draw of the parameters: what is uncertain about both alike does not count. The model's own
    misfit does, once for each of the two.
    """
    rates = predict_rates(model, [*stands, best])
    ratio = rates.draws[:, :-1] - rates.draws[:, -1:]
    found = []
    for index, stand in enumerate(stands):
        fraction = math.exp(float(rates.mean[index] - rates.mean[-1]))
        same = (stand.vcpus, stand.disk) == (best.vcpus, best.disk)
        spread = 0.0 if same else math.sqrt(2) * model.misfit
        probability = reaches(ratio[:, index] - math.log(target), rates.weights, spread)
        found.append(Judged(fraction, probability))
    return found


def vcpus_of_ceiling(model: WorkloadModel) -> tuple[float, float, float] | None:
    """(value, low, high) of the vCPUs that keep a known accelerator busy: its rate x the core-seconds of a sample."""
    found, weights = [], []
    for member in model.members:
        if "accelerator" not in member.names:
            return None
        rate, ceiling = member.names.index("rate"), member.names.index("accelerator")
        draws = np.array(member.draws)
        found.append(np.exp(draws[:, ceiling] - draws[:, rate]))
        weights.append(np.full(len(draws), member.weight))
    values, weight = np.concatenate(found), np.concatenate(weights)
    low, value, high = _quantiles(values, weight, (0.05, 0.5, 0.95))
    return value, low, high


def _quantiles(values: Array, weights: Array, at: Sequence[float]) -> list[float]:
    order = np.argsort(values)
    cumulated = np.cumsum(weights[order]) / weights.sum()
    return [float(values[order][min(int(np.searchsorted(cumulated, q)), len(values) - 1)]) for q in at]
