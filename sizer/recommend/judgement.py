"""How sure it is that a spec reaches the target, and whether the rate still rises where measuring stopped."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sizer.model import WorkloadModel
from sizer.model.equation import Array
from sizer.model.rates import predict_rates
from sizer.records import Configuration

GAIN = 0.05
"""A gain smaller than this is not worth a size."""
DOUBT = 0.1
"""The rate counts as still rising if a gain above GAIN from twice as much is at least this likely."""


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
        probability = _reaches(ratio[:, index] - math.log(target), rates.weights, spread)
        found.append(Judged(fraction, probability))
    return found


def gain_of(model: WorkloadModel, stand: Configuration, more: Configuration) -> tuple[float, float]:
    """Expected relative gain of `more` over `stand`, and how likely it is above GAIN."""
    rates = predict_rates(model, [stand, more])
    ratio = rates.draws[:, 1] - rates.draws[:, 0]
    likely = _reaches(ratio - math.log(1 + GAIN), rates.weights, math.sqrt(2) * model.misfit)
    return math.exp(float(rates.mean[1] - rates.mean[0])) - 1, likely


def rises_with_vcpus(model: WorkloadModel, best: Configuration) -> bool:
    """Whether twice the most vCPUs measured may well be faster than the best."""
    known = model.measured.vcpus
    if len(known) < 2:
        return False
    edge = replace(best, vcpus=known[-1])
    if len(known) == 2:
        return gain_of(model, replace(best, vcpus=known[0]), edge)[0] > GAIN
    at_edge = predict_rates(model, [edge, best]).mean
    if at_edge[0] < at_edge[1] + math.log(1 - GAIN):
        return False
    return gain_of(model, edge, replace(edge, vcpus=2 * known[-1]))[1] > DOUBT


def rises_with_memory(model: WorkloadModel, best: Configuration) -> bool:
    """Whether the largest memory measured was still too small for the page cache, or the last step up still paid."""
    known = model.measured.memory_bytes
    if len(known) < 2:
        return False
    edge = replace(best, memory_bytes=known[-1])
    if model.facts.natural and model.facts.data_bytes:
        return gain_of(model, edge, replace(edge, memory_bytes=2 * known[-1]))[1] > DOUBT
    return gain_of(model, replace(best, memory_bytes=known[-2]), edge)[0] > GAIN


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


def _reaches(margin: Array, weights: Array, spread: float) -> float:
    """P(margin + noise >= 0) over weighted draws, with normal noise of this spread."""
    if spread <= 0:
        return float((weights * (margin >= 0)).sum() / weights.sum())
    normal = np.array([0.5 * math.erfc(-value / (spread * math.sqrt(2))) for value in margin])
    return float((weights * normal).sum() / weights.sum())
