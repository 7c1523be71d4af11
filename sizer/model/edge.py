"""What more of something would gain, in each draw: where measuring stopped, and between two configurations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sizer.model.equation import LATENCY, Array
from sizer.model.memory import needed_bytes
from sizer.model.model import WhatIf, WorkloadModel, batch_of, or_unknown
from sizer.model.prediction import HIGH, LOW, is_out_of_memory, predict, rates
from sizer.model.refusals import not_fitted
from sizer.model.runs import label_at, with_usual_accelerator
from sizer.records.prediction import Configuration, Estimate, Prediction

GAIN = 0.05
"""A gain smaller than this is not worth a size."""
CLEAR, UNLIKELY = 0.8, 0.3
"""Probabilities of a gain above GAIN from which the rate is seen to rise, and up to which it is not said to. Of 98 real
curves (benchmarks/curves, three values each) it rose with twice the most in 51 of 65 from 0.8 on, and in 2 of 12
between the two."""
DOUBT = 0.1
"""A gain above GAIN that is likelier than this is said."""
NEARLY_NOTHING = 0.05
"""A share of a sample's time that is next to nothing."""


@dataclass(frozen=True)
class Edge:
    """What twice the most measured would gain: the middle of the draws, and the probability of more than GAIN."""

    gain: float = 0.0
    probability: float = 0.0

    @property
    def rises(self) -> bool:
        return self.probability >= CLEAR

    @property
    def is_open(self) -> bool:
        """Whether nothing shows that it rises, nor that it does not."""
        return UNLIKELY < self.probability < CLEAR

    @property
    def is_doubted(self) -> bool:
        """Whether a rise that is not seen is likely enough to be said."""
        return DOUBT < self.probability < CLEAR


def vcpus_edge(model: WorkloadModel, best: Configuration) -> Edge:
    """With twice the most vCPUs measured; nothing where vCPUs were not varied."""
    values = model.measured.vcpus
    most = replace(best, vcpus=max(values, default=None))
    return doubled(model, most, replace(best, vcpus=2 * values[-1])) if len(values) > 1 else Edge()


def memory_edge(model: WorkloadModel, best: Configuration) -> Edge:
    """With twice the most memory measured; nothing where memory was not varied."""
    values = model.measured.memory_bytes
    most = replace(best, memory_bytes=max(values, default=None))
    return doubled(model, most, replace(best, memory_bytes=2 * values[-1])) if len(values) > 1 else Edge()


def batch_edge(model: WorkloadModel, best: Configuration) -> Edge:
    """With twice the largest batch, where the best has it; through fewer than three values nothing is said."""
    values = model.measured.batch_size
    if len(values) < 3 or batch_of(best) != values[-1]:
        return Edge()
    return doubled(model, best, replace(best, batch_size=2 * values[-1]))


def doubled(model: WorkloadModel, here: Configuration, more: Configuration) -> Edge:
    """What one place gains over another, in ln, draw by draw."""
    gained = _gains(model, here, more)
    return Edge(math.expm1(float(np.median(gained))), float((gained > math.log1p(GAIN)).mean()))


def _gains(
    model: WorkloadModel,
    here: Configuration,
    there: Configuration,
    what_if: WhatIf = WhatIf(),
    as_if: WorkloadModel | None = None,
) -> Array:
    """(D,)"""
    asked = rates(model, [here, there])
    moved = asked.gained(0, 1) if there != here else np.zeros(len(asked.mean))
    if what_if == WhatIf() and as_if is None:
        return moved
    changed = rates(as_if or model, [there], what_if)
    return np.asarray(changed.mean[:, 0] - asked.mean[:, 1] + moved)


def gain(
    model: WorkloadModel,
    here: Configuration,
    there: Configuration,
    what_if: WhatIf = WhatIf(),
    as_if: WorkloadModel | None = None,
) -> Estimate | None:
    """The relative gain of `there` under the what-if over `here` as it is, with its 90 % interval.

    `as_if` is the same model with other facts, for a change that is none of a what-if's. None where the changed job
    would run out of memory. Raises Refused where the runs cannot say, as `predict` does.
    """
    if is_out_of_memory(model, here) or is_out_of_memory(as_if or model, there, what_if):
        return None
    here, there = (with_usual_accelerator(model.measured, configuration) for configuration in (here, there))
    low, value, high = np.quantile(_gains(model, here, there, what_if, as_if), (LOW, 0.5, HIGH))
    return Estimate(math.expm1(value), math.expm1(low), math.expm1(high))


def tells_apart(model: WorkloadModel, pairs: Sequence[tuple[Configuration, Configuration]]) -> list[bool]:
    """Of each two configurations whether the model says which is faster: whether 0 lies outside the 90 % interval of
    what the one gains over the other."""
    asked = rates(model, [configuration for pair in pairs for configuration in pair])
    gained = [np.quantile(asked.gained(2 * number, 2 * number + 1), (LOW, HIGH)) for number in range(len(pairs))]
    return [not low <= 0 <= high for low, high in gained]


def loader_waits(model: WorkloadModel, configuration: Configuration) -> float:
    """The share of its time that a worker of the loader waits for the disk; 0 where workers hold back next to nothing,
    for then the runs do not tell waiting from computing."""
    if model.posterior is None:
        return 0.0
    shares = rates(model, [configuration]).solution.shares[0]
    cpu, latency = float(shares[0]), float(shares[LATENCY])
    return latency / (cpu + latency) if cpu + latency > NEARLY_NOTHING else 0.0


def accelerators_alone(model: WorkloadModel, configuration: Configuration) -> float | None:
    """Samples per second that the accelerators of a configuration make together if nothing else takes time.

    None where no rate of theirs was given or accounted.
    """
    configuration = with_usual_accelerator(model.measured, configuration)
    if label_at(model.facts, configuration) not in model.facts.accelerator_rates:
        return None
    seconds = float(np.median(rates(model, [configuration]).solution.accelerator[:, 0]))
    return math.exp(-seconds) if math.isfinite(seconds) else None


def vcpus_of_ceiling(model: WorkloadModel, configuration: Configuration) -> Estimate | None:
    """The vCPUs that keep known accelerators busy, with the batch and as many accelerators as there: their rate x the
    core-seconds of a sample. None where the rate is not known apart from the curve."""
    alone = replace(with_usual_accelerator(model.measured, configuration), vcpus=1.0)
    if label_at(model.facts, alone) not in model.facts.accelerator_rates or model.posterior is None:
        return None
    solved = rates(model, [alone]).solution
    low, value, high = np.exp(np.quantile(solved.cpu[:, 0] - solved.accelerator[:, 0], (LOW, 0.5, HIGH)))
    return Estimate(float(value), float(low), float(high))


def best_measured(model: WorkloadModel) -> Prediction:
    """The highest predicted throughput of the measured values, over every disk and batch size.

    Not between them: a peak that no run shows is the equation's, and everything would be judged against it.
    """
    return predict(model, best_place(model))


def best_place(model: WorkloadModel) -> Configuration:
    """Where that is; raises Refused where there is no model."""
    if model.refused or model.posterior is None:
        raise not_fitted(model)
    configurations = measured_values(model)
    best = configurations[int(np.argmax(rates(model, configurations).centre))]
    return with_usual_accelerator(model.measured, best)


def measured_values(model: WorkloadModel) -> list[Configuration]:
    """Every measured value of each axis with every one of the others, cheapest first, where memory holds the job."""
    measured = model.measured
    measured_at = []
    for vcpus in or_unknown(measured.vcpus):
        for batch in or_unknown(measured.batch_size):
            memories = measured.memory_bytes
            least = (needed_bytes(measured, vcpus, batch) or 0) if len(memories) > 1 else 0
            sizes = [size for size in memories if size >= least] or or_unknown(memories[-1:])
            measured_at += [
                Configuration(vcpus, memory, disk.name, batch, gpus.gpu, gpus.count)
                for disk in measured.disks
                for gpus in measured.gpus
                for memory in sizes
            ]
    return measured_at
