"""Whether throughput still rises where measuring stopped, with vCPUs and with memory."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from sizer.model.ceilings import at_known_ceilings
from sizer.model.coordinates import batch_of, memory_of, vcpus_of
from sizer.model.equation import Array
from sizer.model.feeds import with_usual_accelerator
from sizer.model.model import MeasuredRate, WorkloadModel, others_of
from sizer.model.predicted_rates import mean_rates, predict_rates
from sizer.model.trend import DOUBT, GAIN, Edge, SeenGain
from sizer.records import Configuration


def vcpus_edge(model: WorkloadModel, best: Configuration) -> Edge:
    """The edge on the best's disk, memory, batch size and accelerators."""
    return vcpus_edges(model, [best])[0]


def vcpus_edges(model: WorkloadModel, best: Sequence[Configuration]) -> list[Edge]:
    """The same of many at once; each is found once for each model."""
    known = model.vcpus_edges
    new = [each for each in dict.fromkeys(best) if each not in known]
    if new:
        known.update(zip(new, _vcpus_edges(model, new), strict=True))
    return [known[each] for each in best]


def _vcpus_edges(model: WorkloadModel, best: Sequence[Configuration]) -> list[Edge]:
    """What the last doubling of vCPUs gained; where a known ceiling binds, what the next would gain.

    What the curve does beyond the most measured is not asked of the fit: three points that still rise fit a cap just
    above the last as well as no cap. Nothing where the most measured is surely slower than the best.
    """
    known = model.measured.vcpus
    if len(known) < 2:
        return [Edge() for _ in best]
    most = [replace(each, vcpus=known[-1]) for each in best]
    rates = mean_rates(model, [*most, *best])
    at_most, at_best = rates[: len(best)], rates[len(best) :]
    slower = np.flatnonzero(at_most < at_best + math.log(1 - GAIN))
    surely = [end for end in slower if _as_fast(model, most[end], best[end]) <= DOUBT]
    ends = np.setdiff1d(np.arange(len(best)), surely)
    by_ceiling = at_known_ceilings(model, [most[end] for end in ends], at_most[ends])
    few = before_the_last_doubling(model)
    steps = [
        (most[end], replace(most[end], vcpus=2 * known[-1])) if bound else (replace(best[end], vcpus=few), most[end])
        for end, bound in zip(ends, by_ceiling, strict=True)
    ]
    found = [Edge() for _ in best]
    for end, bound, step, edge in zip(ends, by_ceiling, steps, _gains(model, steps), strict=True):
        if bound:
            agreed = model.measured.evidence_at(most[end]) is not None
            found[end] = replace(edge, predicted=True, agreed=agreed)
        else:
            found[end] = replace(edge, seen=_seen(model, *step))
    return found


def _as_fast(model: WorkloadModel, configuration: Configuration, other: Configuration) -> float:
    """How likely the one is not slower than the other, but for a difference that is not worth a size."""
    rates = predict_rates(model, [configuration, other], turns=[0, 1])
    margin = rates.draws[:, 0] - rates.draws[:, 1] - math.log(1 - GAIN)
    return reaches(margin, rates.weights, math.sqrt(2) * model.misfit)


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
    return _gains(model, [(configuration, more)])[0]


def _gains(model: WorkloadModel, steps: Sequence[tuple[Configuration, Configuration]]) -> list[Edge]:
    """Of each step from a configuration to one with more."""
    if not steps:
        return []
    rates = predict_rates(model, [each for step in steps for each in step], turns=[0, 1] * len(steps))
    found = []
    for number, step in enumerate(steps):
        less, more, doublings = 2 * number, 2 * number + 1, _doublings(*step)
        margin = rates.draws[:, more] - rates.draws[:, less] - doublings * math.log(1 + GAIN)
        gain = _per_doubling(float(rates.mean[more] - rates.mean[less]), doublings)
        found.append(Edge(gain, reaches(margin, rates.weights, math.sqrt(2) * model.misfit)))
    return found


def _doublings(configuration: Configuration, more: Configuration) -> float:
    """Less than one where less than a doubling of the vCPUs lies between; else the step is taken as one."""
    return (
        min(1.0, math.log2(vcpus_of(more) / vcpus_of(configuration)))
        if vcpus_of(more) > vcpus_of(configuration)
        else 1.0
    )


def _per_doubling(log_gain: float, doublings: float) -> float:
    return math.exp(log_gain / doublings) - 1


def _seen(model: WorkloadModel, less: Configuration, most: Configuration) -> SeenGain | None:
    """The mean gain between the two sizes over the runs that differ in nothing else, on the disk of these two."""
    from statistics import mean

    pairs = list(_measured_alike(model, less, most))
    if not pairs:
        return None
    doublings = _doublings(less, most)
    usual = mean(math.log(rate.usual / slower.usual) for slower, rate in pairs)
    raw = mean(math.log(rate.throughput.value / slower.throughput.value) for slower, rate in pairs)
    squares = sum((each.deviation or 0.0) ** 2 for pair in pairs for each in pair)
    deviation = math.sqrt(squares) / len(pairs) / doublings
    return SeenGain(_per_doubling(usual, doublings), deviation, _per_doubling(raw, doublings))


def _measured_alike(
    model: WorkloadModel, less: Configuration, most: Configuration
) -> Iterator[tuple[MeasuredRate, MeasuredRate]]:
    """The rates at both sizes with as much memory."""
    most = with_usual_accelerator(model.measured, most)
    fewer = replace(most, vcpus=less.vcpus)
    alike = model.measured.but_for_memory
    before = {each.configuration.memory_bytes: each for each in alike.get(others_of(fewer, "memory_bytes"), ())}
    for rate in alike.get(others_of(most, "memory_bytes"), ()):
        slower = before.get(rate.configuration.memory_bytes)
        if slower is not None and _same_memory(model, rate.configuration, most):
            yield slower, rate


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
