"""How much a resource holds back: the rate there would be if it did not limit at all, up to what limits next."""

from __future__ import annotations

import math
from collections.abc import Sequence

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
    Flags,
    solve,
)
from sizer.model.feeds import with_usual_accelerator
from sizer.model.model import Structure, WorkloadModel
from sizer.model.stages import build_rows
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
    """The relative gain if this resource cost no time; None where no other limit is known, or none is named."""
    return headrooms(model, [configuration], [bottleneck])[0]


def headrooms(
    model: WorkloadModel, configurations: Sequence[Configuration], bottlenecks: Sequence[Bottleneck]
) -> list[float | None]:
    """The same of many configurations, each with its own resource.

    With the share s of its stages, `X (1 - s)^(-1/p)` is the rate without them; 1 - s is summed from the other shares,
    as it would be lost to rounding where one stage binds sharply.
    """
    found: list[float | None] = [None] * len(configurations)
    named = [place for place, bottleneck in enumerate(bottlenecks) if bottleneck in STAGES_OF]
    if not named:
        return found
    usual = [with_usual_accelerator(model.measured, configurations[place]) for place in named]
    rows, binding = build_rows(model.facts, model.measured, usual), [bottlenecks[place] for place in named]
    mean, drawn, weights, known = np.zeros(len(named)), [], [], np.ones(len(named), dtype=bool)
    for member in model.members:
        gains, limited = _log_gains(member.structure, member.vectors, rows.design(member.structure), binding)
        mean += member.weight * gains[0]
        known &= limited
        drawn.append(gains[1:])
        weights.append(np.full(len(gains) - 1, member.weight / (len(gains) - 1)))
    values, weight = np.concatenate(drawn), np.concatenate(weights)
    order = np.argsort(values, axis=0)
    values, below = np.take_along_axis(values, order, axis=0), np.cumsum(weight[order], axis=0) / weight.sum()
    for column in np.flatnonzero(known):
        low, high = np.interp((0.05, 0.95), below[:, column], values[:, column])
        if not high - low > UNSURE:
            found[named[column]] = math.exp(mean[column]) - 1
    return found


def _log_gains(
    structure: Structure, theta: Array, design: Design, bottlenecks: Sequence[Bottleneck]
) -> tuple[Array, Flags]:
    """For each parameter vector and row (R, n), and whether something else takes time in a row (n,)."""
    solution = solve(structure, theta, design)
    sharpness = np.exp(np.clip(theta[:, -1:], *LOG_SHARPNESS))
    worker = solution.shares[:, :, CPU] + solution.shares[:, :, LATENCY]
    waits = np.divide(solution.shares[:, :, LATENCY], worker, out=np.zeros_like(worker), where=worker > 0)
    left = np.empty_like(worker)
    for bottleneck in set(bottlenecks):
        here = np.array([each is bottleneck for each in bottlenecks])
        others = [stage for stage in range(len(STAGES)) if stage not in (CPU, LATENCY, *STAGES_OF[bottleneck])]
        kept = _kept(bottleneck, solution.contention[:, here], waits[:, here])
        left[:, here] = solution.shares[:, here][:, :, others].sum(axis=2) + worker[:, here] * kept**sharpness
    gains: Array = -np.log(np.maximum(left, NOTHING)) / sharpness
    limited: Flags = left[0] >= NOTHING
    return gains, limited


def _kept(bottleneck: Bottleneck, contention: Array, waits: Array) -> Array:
    """The part of a worker's time that is left without this bottleneck.

    Of what is not waiting for the disk, contention is serial and all else the CPU's own.
    """
    if bottleneck is Bottleneck.CPU:
        return waits + (1 - waits) * contention
    if bottleneck is Bottleneck.SERIAL:
        return waits + (1 - waits) * (1 - contention)
    return 1 - waits if LATENCY in STAGES_OF[bottleneck] else np.ones_like(waits)
