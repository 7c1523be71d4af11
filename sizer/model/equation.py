"""The bottleneck equation: service times of the stages -> throughput, shares and derivatives.

With t_j the seconds a sample takes at stage j alone, `X = (sum t_j^p)^(-1/p)`: p = 1 is one after another, large p is
perfect overlap. The share of stage j is `-d ln X / d ln t_j = t_j^p / sum t^p`, so shares sum to one. A blocking
loader's wait for the disk adds to its CPU time (p = 1 between these two): a worker does one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sizer.model.model import Structure
from sizer.model.scaling import PARAMETERS, scale

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]
Slope = tuple[int, int, "Array | float"]

STAGES = ("cpu", "serial", "accelerator", "read", "write", "memory", "latency")
CPU, SERIAL, ACCELERATOR, READ, WRITE, MEMORY, LATENCY = range(7)
LOG_SHARPNESS = (0.0, 4.6)
"""Bounds of ln p: below one the stages would hinder each other, above 100 a hard minimum is reached within 1 %."""


@dataclass(frozen=True)
class Design:
    """Configurations as arrays of one length n, one row a configuration.

    `read` and `write` are ln seconds a sample takes at the disk by demand and rates (-inf: no such stage), `missed` the
    share of reads that go to the disk; `accelerator`, `disk` and `memory_level` index the structure's own parameters
    (-1: none), `gpus` counts accelerators. `decodes` and `computes` say which parts of the CPU's work a row does:
    synthetic input decodes nothing, a replay of the files does neither, and `step_on_cpu` where the step is the CPU's
    own. `slowness` is ln of how much slower the CPUs were than usual. `decode_shift`, `accelerator_shift` and
    `latency_shift` are a what-if's factors on these times, in ln.
    """

    vcpus: Array
    batch_ratio: Array
    read: Array
    read_is_iops: Flags
    write: Array
    missed: Array
    disk: Indices
    memory_level: Indices
    accelerator: Indices
    gpus: Array
    decodes: Flags
    computes: Flags
    step_on_cpu: Flags
    slowness: Array
    decode_shift: float = 0.0
    accelerator_shift: float = 0.0
    latency_shift: float = 0.0


@dataclass(frozen=True)
class Solution:
    """Throughput for R parameter vectors at n configurations.

    `log_rate` (R, n); `shares` (R, n, stages); `contention` (R, n): which part of the CPU's time no more vCPUs shorten;
    `gradient` (R, n, k): d ln X / d parameter. `cpu` and `accelerator` are ln seconds of these stages (R, n) with their
    gradients (R, n, k), which accounting sees by itself. `slopes` are (parameter, stage, d ln seconds / d parameter),
    and `sharpness_slope` (R, n) is that of the last of the `parameters`, which no stage has.
    Predictions ask for no gradient.
    """

    log_rate: Array
    shares: Array
    contention: Array
    sharpness_slope: Array
    cpu: Array
    accelerator: Array
    slopes: Sequence[Slope]
    parameters: int

    @cached_property
    def gradient(self) -> Array:
        found = self._nothing()
        for parameter, stage, slope in self.slopes:
            found[:, :, parameter] -= self.shares[:, :, stage] * slope
        found[:, :, -1] = self.sharpness_slope
        return found

    @cached_property
    def cpu_gradient(self) -> Array:
        return self._gradient(CPU)

    @cached_property
    def accelerator_gradient(self) -> Array:
        return self._gradient(ACCELERATOR)

    def _gradient(self, stage: int) -> Array:
        found = self._nothing()
        for parameter, where, slope in self.slopes:
            if where == stage:
                found[:, :, parameter] += slope
        return found

    def _nothing(self) -> Array:
        return np.zeros((*self.log_rate.shape, self.parameters))


def parameter_names(structure: Structure) -> tuple[str, ...]:
    """The structure's parameters in the order of its vectors; all are logarithms except `exponent` and `yield`."""
    return (
        "rate",
        *(("step",) if structure.step_apart else ()),
        *PARAMETERS[structure.scaling],
        *(("quota",) if structure.quota else ()),
        *(("cap",) if structure.capped else ()),
        *(f"accelerator:{label}" for label in structure.accelerators),
        *(("gpus",) if structure.several_gpus else ()),
        *(("batch",) if structure.batch_stage else ()),
        *(f"disk:{name}" for name in structure.disks),
        *(f"latency:{name}" for name in structure.blocking),
        *(f"{LEVEL_KINDS[structure.memory_acts]}:{level}" for level in _levels(structure)),
        "sharpness",
    )


@dataclass
class _Times:
    """Ln seconds of each stage (R, n, stages), and how each depends on which parameter, while they are put together."""

    names: tuple[str, ...]
    theta: Array
    times: Array
    slopes: list[Slope] = field(default_factory=list)

    def parameter(self, name: str) -> Array:
        return self.theta[:, self.names.index(name), None]

    def depends(self, name: str, stage: int, slope: Array | float) -> None:
        """The slope (R or 1, n or 1) is d ln seconds / d parameter."""
        self.slopes.append((self.names.index(name), stage, slope))


def solve(structure: Structure, theta: Array, design: Design) -> Solution:
    """The equation for parameter vectors `theta` (R, k) at the rows of `design`."""
    names = parameter_names(structure)
    shape = (theta.shape[0], design.vcpus.size)
    made = _Times(names, theta, np.full((*shape, len(STAGES)), -np.inf))
    with np.errstate(invalid="ignore", divide="ignore"):  # a stage that is not there takes exp(-inf)
        contention = _cpu(structure, made, design)
        _accelerator(structure, made, design)
        if structure.batch_stage:
            _batch(structure, made, design)
        _disk(structure, made, design)
        _memory(structure, made, design)
        return _combine(made, contention)


LEVEL_KINDS = {"limits": "memory", "misses": "missed", "slows": "slowed"}


def _levels(structure: Structure) -> tuple[int, ...]:
    """Those with a parameter: reads that miss count from the least memory on, what slows from the most."""
    levels = structure.memory_levels
    return {"limits": levels, "misses": levels[1:], "slows": levels[:-1]}[structure.memory_acts]


def _memory(structure: Structure, made: _Times, design: Design) -> None:
    for level in _levels(structure):
        here = (design.memory_level == structure.memory_levels.index(level)) & design.computes
        name = f"{LEVEL_KINDS[structure.memory_acts]}:{level}"
        if structure.memory_acts == "limits":
            made.times[:, here, MEMORY] = -made.parameter(name)
            made.depends(name, MEMORY, -here.astype(float)[None])
            continue
        for stage in (READ,) if structure.memory_acts == "misses" else range(len(STAGES)):
            made.times[:, here, stage] += made.parameter(name)
            made.depends(name, stage, here.astype(float)[None])


def _cpu(structure: Structure, made: _Times, design: Design) -> Array:
    """The CPU's stage and the serial one; returns which part of the former is contention."""
    decode = np.where(design.decodes, 0.0, -np.inf)[None] - made.parameter("rate") + design.decode_shift
    if structure.step_apart:
        step = np.where(design.computes & design.step_on_cpu, 0.0, -np.inf)[None] + made.parameter("step")
        work = np.logaddexp(decode, step)
    else:
        step, work = np.full_like(decode, -np.inf), decode
    doing = np.isfinite(work)
    scaled = scale(structure.scaling, design.vcpus, made.parameter)
    made.times[:, :, CPU] = np.where(
        doing, work + scaled.log_factor + (design.slowness - np.log(design.vcpus))[None], -np.inf
    )
    made.depends("rate", CPU, np.where(doing, -np.exp(decode - work), 0.0))
    if structure.step_apart:
        made.depends("step", CPU, np.where(doing, np.exp(step - work), 0.0))
    for name, slope in scaled.slopes.items():
        made.depends(name, CPU, np.where(doing, slope, 0.0))
    if structure.quota:
        held = (design.vcpus % 1 > 0).astype(float)[None]
        made.times[:, :, CPU] += held * made.parameter("quota")
        made.depends("quota", CPU, np.where(doing, held, 0.0))
    if structure.capped and structure.cap_stage == "serial":
        made.times[:, design.decodes, SERIAL] = -made.parameter("cap")
        made.depends("cap", SERIAL, -design.decodes.astype(float)[None])
    return np.broadcast_to(scaled.contention, doing.shape)


def _accelerator(structure: Structure, made: _Times, design: Design) -> None:
    gpus, slope = np.ones_like(design.gpus)[None], np.zeros(1)
    if structure.several_gpus:  # n of them lose to each other as Amdahl's law has it
        lost = np.exp(np.clip(made.parameter("gpus"), -40, 20))
        more = design.gpus[None] - 1
        gpus, slope = design.gpus[None] / (1 + lost * more), lost * more / (1 + lost * more)
    if structure.capped and structure.cap_stage == "accelerator":
        made.times[:, :, ACCELERATOR] = -made.parameter("cap") + design.accelerator_shift - np.log(gpus)
        made.times[:, ~design.computes, ACCELERATOR] = -np.inf
        made.depends("cap", ACCELERATOR, -design.computes.astype(float)[None])
    for index, label in enumerate(structure.accelerators):
        here = (design.accelerator == index) & design.computes
        time = -made.parameter(f"accelerator:{label}") + design.accelerator_shift - np.log(gpus)
        made.times[:, :, ACCELERATOR] = np.where(here, time, made.times[:, :, ACCELERATOR])
        made.depends(f"accelerator:{label}", ACCELERATOR, -here.astype(float)[None])
    if structure.several_gpus:
        made.depends("gpus", ACCELERATOR, slope * design.computes.astype(float)[None])


def _batch(structure: Structure, made: _Times, design: Design) -> None:
    """A step costs a launch and its samples: ln of `(1 + launch / b) / (1 + launch / reference)`."""
    stage = ACCELERATOR if structure.batch_stage == "accelerator" else CPU
    launch, ratio = np.exp(made.parameter("batch")), design.batch_ratio[None]
    made.times[:, :, stage] += np.log((1 + launch * ratio) / (1 + launch))
    here = design.computes.astype(float)[None]
    made.depends("batch", stage, here * (launch * ratio / (1 + launch * ratio) - launch / (1 + launch)))


def _disk(structure: Structure, made: _Times, design: Design) -> None:
    made.times[:, :, READ], made.times[:, :, WRITE] = design.read[None], design.write[None]
    for index, name in enumerate(structure.disks):
        here = (design.disk == index).astype(float)[None]
        for stage in (READ, WRITE):
            made.times[:, :, stage] -= here * made.parameter(f"disk:{name}")
            made.depends(f"disk:{name}", stage, -here)
        if name in structure.blocking:
            rows = (design.disk == index) & (design.missed > 0) & design.decodes
            waits = np.log(design.missed) - np.log(np.ceil(design.vcpus))  # a worker for each CPU, whole
            time = np.where(rows, waits + design.latency_shift, -np.inf)[None] + made.parameter(f"latency:{name}")
            made.times[:, :, LATENCY] = np.maximum(made.times[:, :, LATENCY], time)
            made.depends(f"latency:{name}", LATENCY, rows.astype(float)[None])


def _combine(made: _Times, contention: Array) -> Solution:
    times = made.times.copy()
    blocked = made.times[:, :, LATENCY]
    worker = np.logaddexp(times[:, :, CPU], blocked)
    computing = np.exp(np.where(np.isfinite(worker), times[:, :, CPU] - worker, 0.0))
    times[:, :, CPU], times[:, :, LATENCY] = worker, -np.inf
    raw = made.theta[:, -1]
    p = np.exp(np.minimum(np.maximum(raw, LOG_SHARPNESS[0]), LOG_SHARPNESS[1]))[:, None]
    powered = p[:, :, None] * times
    top = powered.max(axis=2, keepdims=True)
    total = top[:, :, 0] + np.log(np.exp(powered - top).sum(axis=2))
    shares = np.exp(powered - total[:, :, None])
    free = ((raw > LOG_SHARPNESS[0]) & (raw < LOG_SHARPNESS[1])).astype(float)[:, None]
    mean_time = (shares * np.where(np.isfinite(times), times, 0.0)).sum(axis=2)
    shares[:, :, LATENCY] = shares[:, :, CPU] * (1 - computing)
    shares[:, :, CPU] *= computing
    return Solution(
        -total / p,
        shares,
        contention,
        free * (total / p - mean_time),
        made.times[:, :, CPU],
        made.times[:, :, ACCELERATOR],
        made.slopes,
        len(made.names),
    )
