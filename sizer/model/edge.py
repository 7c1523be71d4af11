"""Whether throughput still rises where measuring stopped, with vCPUs and with memory."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from sizer.model.equation import Array
from sizer.model.model import WorkloadModel
from sizer.model.rates import predict_rates
from sizer.records import Configuration

GAIN = 0.05
"""A gain smaller than this is not worth a size."""
SUPPORTED = 0.5
"""The rate counts as rising if a gain above GAIN is expected and likelier than not."""
DOUBT = 0.1
"""A gain above GAIN that is at least this likely leaves open whether the rate still rises."""


class Trend(Enum):
    """What the measurements say of more than the most measured."""

    FLAT = "flat"
    UNSETTLED = "unsettled"
    RISING = "rising"


@dataclass(frozen=True)
class Edge:
    """The relative gain expected of the next step beyond the most measured, and P(gain > GAIN)."""

    gain: float = 0.0
    probability: float = 0.0

    @property
    def trend(self) -> Trend:
        """Rising only where expectation and probability both say so."""
        if self.gain > GAIN and self.probability > SUPPORTED:
            return Trend.RISING
        return Trend.UNSETTLED if self.gain > GAIN or self.probability > DOUBT else Trend.FLAT


def vcpus_edge(model: WorkloadModel, best: Configuration) -> Edge:
    """What twice the most vCPUs measured would gain over the most; with two values, what the second gained.

    Nothing where the best lies clearly before the most measured.
    """
    known = model.measured.vcpus
    if len(known) < 2:
        return Edge()
    most = replace(best, vcpus=known[-1])
    if len(known) == 2:
        return _gain(model, replace(best, vcpus=known[0]), most)
    at_most, at_best = predict_rates(model, [most, best]).mean
    if at_most < at_best + math.log(1 - GAIN):
        return Edge()
    return _gain(model, most, replace(most, vcpus=2 * known[-1]))


def memory_edge(model: WorkloadModel, best: Configuration) -> Edge:
    """What twice the largest memory would gain where the page cache tells; else what the last step measured gained."""
    known = model.measured.memory_bytes
    if len(known) < 2:
        return Edge()
    largest = replace(best, memory_bytes=known[-1])
    if model.facts.natural and model.facts.data_bytes:
        return _gain(model, largest, replace(largest, memory_bytes=2 * known[-1]))
    return _gain(model, replace(best, memory_bytes=known[-2]), largest)


def _gain(model: WorkloadModel, stand: Configuration, more: Configuration) -> Edge:
    rates = predict_rates(model, [stand, more])
    margin = rates.draws[:, 1] - rates.draws[:, 0] - math.log(1 + GAIN)
    expected = math.exp(float(rates.mean[1] - rates.mean[0])) - 1
    return Edge(expected, reaches(margin, rates.weights, math.sqrt(2) * model.misfit))


def reaches(margin: Array, weights: Array, spread: float) -> float:
    """P(margin + noise >= 0) over weighted draws (D,), with normal noise of this spread."""
    if spread <= 0:
        return float((weights * (margin >= 0)).sum() / weights.sum())
    normal = np.array([0.5 * math.erfc(-value / (spread * math.sqrt(2))) for value in margin])
    return float((weights * normal).sum() / weights.sum())
