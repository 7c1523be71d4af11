"""How much a resource holds back: the rate there would be if it did not limit at all, up to what limits next."""

from __future__ import annotations

import math

import numpy as np

from sizer.model.equation import (
    ACCELERATOR,
    CPU,
    LATENCY,
    LOG_SHARPNESS,
    MEMORY,
    READ,
    SERIAL,
    STAGES,
    WRITE,
    Array,
    Design,
    parameter_names,
    solve,
)
from sizer.model.feeds import with_usual_accelerator
from sizer.model.model import Structure, WorkloadModel
from sizer.model.stages import build_design
from sizer.records import Bottleneck, Configuration

STAGES_OF = {
    Bottleneck.CPU: (),
    Bottleneck.SERIAL: (SERIAL,),
    Bottleneck.ACCELERATOR: (ACCELERATOR,),
    Bottleneck.DISK_BANDWIDTH: (READ, LATENCY),
    Bottleneck.DISK_IOPS: (READ, LATENCY),
    Bottleneck.DISK_WRITE: (WRITE,),
    Bottleneck.MEMORY: (MEMORY,),
}
"""Whole stages; the CPU's is the CPU's but for contention, which is serial."""
NOTHING = 1e-30
"""A share below which nothing else takes any time, so that there is no next limit."""
UNSURE = 0.4
"""Width of the 90 % interval of ln gain from which on the next limit is rather believed than known."""


def headroom(model: WorkloadModel, configuration: Configuration, bottleneck: Bottleneck) -> float | None:
    """The relative gain if this resource cost no time; None where no other limit is known, or none is named.

    With the share s of its stages, `X (1 - s)^(-1/p)` is the rate without them; 1 - s is summed from the other shares,
    as it would be lost to rounding where one stage binds sharply.
    """
    if bottleneck not in STAGES_OF:
        return None
    configuration, mean, drawn, weights = with_usual_accelerator(model.measured, configuration), 0.0, [], []
    for member in model.members:
        design = build_design(model.facts, model.measured, member.structure, [configuration])
        gains = _log_gain(member.structure, member.vectors, design, bottleneck)
        if gains is None:
            return None
        mean += member.weight * float(gains[0])
        drawn.append(gains[1:])
        weights.append(np.full(len(gains) - 1, member.weight / (len(gains) - 1)))
    values, weight = np.concatenate(drawn), np.concatenate(weights)
    order = np.argsort(values)
    low, high = np.interp((0.05, 0.95), np.cumsum(weight[order]) / weight.sum(), values[order])
    return None if high - low > UNSURE else math.exp(mean) - 1


def _log_gain(structure: Structure, theta: Array, design: Design, bottleneck: Bottleneck) -> Array | None:
    """For each parameter vector (R,); None where nothing else takes time."""
    solution = solve(structure, theta, design)
    shares, contention = solution.shares[:, 0], solution.contention[:, 0]
    sharpness = np.exp(np.clip(theta[:, parameter_names(structure).index("sharpness")], *LOG_SHARPNESS))
    worker = shares[:, CPU] + shares[:, LATENCY]
    others = [stage for stage in range(len(STAGES)) if stage not in (CPU, LATENCY, *STAGES_OF[bottleneck])]
    waits = np.divide(shares[:, LATENCY], worker, out=np.zeros_like(worker), where=worker > 0)
    left = shares[:, others].sum(axis=1) + worker * _kept(bottleneck, contention, waits) ** sharpness
    if left[0] < NOTHING:
        return None
    gains: Array = -np.log(np.maximum(left, NOTHING)) / sharpness
    return gains


def _kept(bottleneck: Bottleneck, contention: Array, waits: Array) -> Array:
    """The part of a worker's time that is left without this bottleneck.

    Of what is not waiting for the disk, contention is serial and all else the CPU's own.
    """
    if bottleneck is Bottleneck.CPU:
        return waits + (1 - waits) * contention
    if bottleneck is Bottleneck.SERIAL:
        return waits + (1 - waits) * (1 - contention)
    return 1 - waits if LATENCY in STAGES_OF[bottleneck] else np.ones_like(waits)
