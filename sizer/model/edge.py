"""Whether throughput still rises where measuring stopped, with vCPUs and with memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from statistics import mean

import numpy as np

from sizer.model.ceilings import at_known_ceiling
from sizer.model.coordinates import batch_of, memory_of, vcpus_of
from sizer.model.equation import Array
from sizer.model.feeds import with_usual_accelerator
from sizer.model.model import WorkloadModel
from sizer.model.predicted_rates import predict_rates
from sizer.model.trend import GAIN, Edge
from sizer.records import Configuration


def vcpus_edge(model: WorkloadModel, best: Configuration) -> Edge:
    """The edge on the best's disk, memory, batch size and accelerators; found once for each model."""
    found = model.vcpus_edges.get(best)
    if found is None:
        found = model.vcpus_edges[best] = _vcpus_edge(model, best)
    return found


def _vcpus_edge(model: WorkloadModel, best: Configuration) -> Edge:
    """What the last doubling of vCPUs gained; where a known ceiling binds, what the next would gain.

    What the curve does beyond the most measured is not asked of the fit: three points that still rise fit a cap just
    above the last as well as no cap. Nothing where the best lies clearly before the most measured.
    """
    known = model.measured.vcpus
    if len(known) < 2:
        return Edge()
    most = replace(best, vcpus=known[-1])
    at_most, at_best = predict_rates(model, [most, best]).mean
    if at_most < at_best + math.log(1 - GAIN):
        return Edge()
    if at_known_ceiling(model, most):
        agreed = model.measured.evidence_at(most) is not None
        return replace(_gain(model, most, replace(most, vcpus=2 * known[-1])), predicted=True, agreed=agreed)
    less = replace(best, vcpus=before_the_last_doubling(model))
    return replace(_gain(model, less, most), seen=_seen(model, less, most))


def before_the_last_doubling(model: WorkloadModel) -> float:
    """Half of the most vCPUs measured, or the fewest where less than a doubling was measured."""
    known = model.measured.vcpus
    return known[0] if len(known) == 2 else max(known[0], known[-1] / 2)


def batch_edge(model: WorkloadModel, best: Configuration) -> Edge:
    """What the last step of the batch size gained at the best; through fewer than three values nothing is said."""
    batches = model.measured.batch_size
    if len(batches) < 3 or batch_of(best) != batches[-1]:
        return Edge()
    best = with_usual_accelerator(model.measured, best)
    return _gain(model, replace(best, batch_size=batches[-2]), best)


def memory_edge(model: WorkloadModel, best: Configuration) -> Edge:
    """What twice the largest memory would gain where the page cache shows it; else the gain of the last step."""
    known = model.measured.memory_bytes
    if len(known) < 2:
        return Edge()
    largest = replace(best, memory_bytes=known[-1])
    if model.facts.natural and model.facts.data_bytes:
        return _gain(model, largest, replace(largest, memory_bytes=2 * known[-1]))
    return _gain(model, replace(best, memory_bytes=known[-2]), largest)


def _gain(model: WorkloadModel, configuration: Configuration, more: Configuration) -> Edge:
    rates, doublings = predict_rates(model, [configuration, more]), _doublings(configuration, more)
    margin = rates.draws[:, 1] - rates.draws[:, 0] - doublings * math.log(1 + GAIN)
    return Edge(
        _per_doubling(float(rates.mean[1] - rates.mean[0]), doublings),
        reaches(margin, rates.weights, math.sqrt(2) * model.misfit),
    )


def _doublings(configuration: Configuration, more: Configuration) -> float:
    """Less than one where less than a doubling of the vCPUs lies between; else the step is taken as one."""
    return (
        min(1.0, math.log2(vcpus_of(more) / vcpus_of(configuration)))
        if vcpus_of(more) > vcpus_of(configuration)
        else 1.0
    )


def _per_doubling(log_gain: float, doublings: float) -> float:
    return math.exp(log_gain / doublings) - 1


def _seen(model: WorkloadModel, less: Configuration, most: Configuration) -> float | None:
    """The mean gain between the two sizes over the runs that differ in nothing else, on the disk of these two."""
    gains = list(_seen_gains(model, less, most))
    return _per_doubling(mean(gains), _doublings(less, most)) if gains else None


def _seen_gains(model: WorkloadModel, less: Configuration, most: Configuration) -> Iterator[float]:
    known = {rate.configuration: rate.usual for rate in model.measured.rates}
    most = with_usual_accelerator(model.measured, most)
    for configuration, rate in known.items():
        before = known.get(replace(configuration, vcpus=less.vcpus))
        if (
            before
            and replace(configuration, memory_bytes=most.memory_bytes) == most
            and _same_memory(model, configuration, most)
        ):
            yield math.log(rate / before)


def _same_memory(model: WorkloadModel, configuration: Configuration, other: Configuration) -> bool:
    """Or memory that no form of the model finds to count."""
    counts = model.facts.natural or any(member.structure.memory_levels for member in model.members)
    return memory_of(configuration) == memory_of(other) or not counts


def reaches(margin: Array, weights: Array, spread: float) -> float:
    """P(margin + noise >= 0) over weighted draws (D,), with normal noise of this spread."""
    if spread <= 0:
        return float((weights * (margin >= 0)).sum() / weights.sum())
    normal = np.array([0.5 * math.erfc(-value / (spread * math.sqrt(2))) for value in margin])
    return float((weights * normal).sum() / weights.sum())
