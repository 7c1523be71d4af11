"""The bottleneck equation: service times of the stages -> throughput, shares and derivatives.

With t_j the seconds a sample takes at stage j alone, `X = (sum t_j^p)^(-1/p)`: p = 1 is one after another, large p is
perfect overlap. The share of stage j is `-d ln X / d ln t_j = t_j^p / sum t^p`, so shares sum to one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sizer.model.model import Structure

Array = NDArray[np.float64]

STAGES = ("cpu", "serial", "accelerator", "read", "write", "memory")
LOG_SHARPNESS = (0.0, 3.5)
"""Bounds of ln p: below one the stages would hinder each other, above 33 a hard minimum is reached within 2 %."""


@dataclass(frozen=True)
class Design:
    """Configurations as arrays of one length n, one row a configuration.

    `read` and `write` are ln seconds a sample takes at the disk by demand and rates (-inf: no such stage); `disk` and
    `memory_level` index the structure's own parameters (-1: none); `decode` and `accelerator` shift ln times.
    """

    vcpus: Array
    batch_ratio: Array
    read: Array
    read_is_iops: NDArray[np.bool_]
    write: Array
    disk: NDArray[np.intp]
    memory_level: NDArray[np.intp]
    decode: float = 0.0
    accelerator: float = 0.0

    def take(self, rows: NDArray[np.intp]) -> Design:
        """Only these rows."""
        return Design(
            self.vcpus[rows],
            self.batch_ratio[rows],
            self.read[rows],
            self.read_is_iops[rows],
            self.write[rows],
            self.disk[rows],
            self.memory_level[rows],
            self.decode,
            self.accelerator,
        )


@dataclass(frozen=True)
class Solution:
    """Throughput for R parameter vectors at n configurations.

    `log_rate` (R, n); `shares` (R, n, stages); `contention` (R, n): which part of the CPU's time no more vCPUs shorten;
    `gradient` (R, n, k): d ln X / d parameter.
    """

    log_rate: Array
    shares: Array
    contention: Array
    gradient: Array


def parameter_names(structure: Structure) -> tuple[str, ...]:
    """The structure's parameters in the order of its vectors; all are logarithms except `exponent`."""
    scaling = {
        "linear": (),
        "power": ("exponent",),
        "amdahl": ("contention",),
        "usl": ("contention", "coherence"),
    }[structure.scaling]
    return (
        "rate",
        *scaling,
        *(("cap",) if structure.capped else ()),
        *(("accelerator",) if structure.accelerator else ()),
        *(("batch",) if structure.batch else ()),
        *(f"disk:{name}" for name in structure.disks),
        *(f"memory:{level}" for level in structure.memory_levels),
        "sharpness",
    )


def solve(structure: Structure, theta: Array, design: Design) -> Solution:
    """The equation for parameter vectors `theta` (R, k) at the rows of `design`."""
    names = parameter_names(structure)
    column = {name: index for index, name in enumerate(names)}
    shape = (theta.shape[0], design.vcpus.size)
    times = np.full((*shape, len(STAGES)), -np.inf)
    slopes: list[tuple[int, int, Array]] = []  # (parameter, stage, d ln t / d parameter)

    def parameter(name: str) -> Array:
        return theta[:, column[name], None]

    def depends(name: str, stage: str, slope: Array | float) -> None:
        slopes.append((column[name], STAGES.index(stage), np.broadcast_to(np.asarray(slope, dtype=float), shape)))

    log_vcpus, extra = np.log(design.vcpus)[None], np.maximum(0.0, design.vcpus - 1)[None]
    cpu = -parameter("rate") - log_vcpus + design.decode
    depends("rate", "cpu", -1.0)
    contention = np.zeros(shape)
    if structure.scaling == "power":  # only above one vCPU: a fraction is a quota, which is linear
        above = np.maximum(0.0, log_vcpus)
        cpu = cpu + (1 - parameter("exponent")) * above
        depends("exponent", "cpu", -above)
        contention = np.where(above > 0, np.clip(1 - parameter("exponent"), 0.0, 1.0), 0.0)
    if structure.scaling in ("amdahl", "usl"):
        a = np.exp(parameter("contention")) * extra
        q = np.exp(parameter("coherence")) * extra * design.vcpus if structure.scaling == "usl" else 0.0
        whole = 1 + a + q
        cpu, contention = cpu + np.log(whole), (a + q) / whole
        depends("contention", "cpu", a / whole)
        if structure.scaling == "usl":
            depends("coherence", "cpu", q / whole)
    if structure.batch:
        launch = np.exp(parameter("batch"))
        cpu = cpu + np.log((1 + launch * design.batch_ratio) / (1 + launch))
        slope = launch * design.batch_ratio / (1 + launch * design.batch_ratio) - launch / (1 + launch)
        depends("batch", "cpu", slope)
    times[:, :, 0] = cpu
    if structure.capped:
        shift = design.accelerator if structure.cap_stage == "accelerator" else 0.0
        times[:, :, STAGES.index(structure.cap_stage)] = -parameter("cap") + shift
        depends("cap", structure.cap_stage, -1.0)
    if structure.accelerator:
        times[:, :, 2] = -parameter("accelerator") + design.accelerator
        depends("accelerator", "accelerator", -1.0)
    times[:, :, 3], times[:, :, 4] = design.read[None], design.write[None]
    for index, name in enumerate(structure.disks):
        here = (design.disk == index).astype(float)[None]
        for stage in ("read", "write"):
            times[:, :, STAGES.index(stage)] -= here * parameter(f"disk:{name}")
            depends(f"disk:{name}", stage, -here)
    for index, level in enumerate(structure.memory_levels):
        rows = design.memory_level == index
        times[:, rows, 5] = -parameter(f"memory:{level}")
        depends(f"memory:{level}", "memory", -rows.astype(float)[None])
    return _combine(times, theta, column["sharpness"], slopes, contention)


def _combine(
    times: Array, theta: Array, sharpness: int, slopes: list[tuple[int, int, Array]], contention: Array
) -> Solution:
    raw = theta[:, sharpness]
    p = np.exp(np.clip(raw, *LOG_SHARPNESS))[:, None]
    powered = p[:, :, None] * times
    top = powered.max(axis=2, keepdims=True)
    total = top[:, :, 0] + np.log(np.exp(powered - top).sum(axis=2))
    shares = np.exp(powered - total[:, :, None])
    gradient = np.zeros((*times.shape[:2], theta.shape[1]))
    for parameter, stage, slope in slopes:
        gradient[:, :, parameter] -= shares[:, :, stage] * slope
    free = ((raw > LOG_SHARPNESS[0]) & (raw < LOG_SHARPNESS[1])).astype(float)[:, None]
    mean_time = (shares * np.where(np.isfinite(times), times, 0.0)).sum(axis=2)
    gradient[:, :, sharpness] = free * (total / p - mean_time)
    return Solution(-total / p, shares, contention, gradient)
