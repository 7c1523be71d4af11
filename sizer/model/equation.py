"""The bottleneck equation: service times of the stages -> throughput, shares and derivatives.

With t_j the seconds a sample takes at stage j alone, `X = (sum t_j^p)^(-1/p)`: p = 1 is one after another, large p is
perfect overlap. The share of stage j is `-d ln X / d ln t_j = t_j^p / sum t^p`, so shares sum to one. A blocking
loader's wait for the disk adds to its CPU time (p = 1 between these two): a worker does one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

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
    (-1: none), `gpus` counts accelerators, `speed_up` is ln of how many times the samples of one they make where that
    is stated, else 0. `decodes` and `computes` say which parts of the CPU's work a row does: synthetic input decodes
    nothing, a replay of the files does neither, and `step_on_cpu` where the step is the CPU's own. `slowness` is ln of
    how much slower the CPUs were than usual. `supposed`: the disk is given by its figures alone. `decode_shift`,
    `accelerator_shift` and `latency_shift` are a what-if's factors on these times, in ln.
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
    speed_up: Array
    decodes: Flags
    computes: Flags
    step_on_cpu: Flags
    slowness: Array
    supposed: bool = False
    decode_shift: float = 0.0
    accelerator_shift: float = 0.0
    latency_shift: float = 0.0

    @cached_property
    def decode(self) -> Array:
        """Ln of a decode over its usual time (1, n), -inf where there is none."""
        return np.where(self.decodes, self.decode_shift, -np.inf)[None]

    @cached_property
    def step(self) -> Array:
        """The same of a step on the CPU (1, n)."""
        return np.where(self.computes & self.step_on_cpu, 0.0, -np.inf)[None]

    @cached_property
    def on_one_vcpu(self) -> Array:
        """Ln of what a core-second takes on these vCPUs if nothing is lost between them (1, n)."""
        seconds: Array = self.slowness - np.log(self.vcpus)
        return seconds[None]

    @cached_property
    def waits(self) -> Array:
        """Ln of the reads of a sample that each worker, one a whole CPU, waits for (1, n); -inf for none."""
        a_worker = np.log(self.missed) - np.log(np.ceil(self.vcpus)) + self.latency_shift
        return np.where((self.missed > 0) & self.decodes, a_worker, -np.inf)[None]

    @cached_property
    def computing(self) -> Array:
        """`computes` as 1 and 0 (1, n)."""
        return self.computes.astype(float)[None]

    @cached_property
    def computing_only(self) -> Array:
        """0 where a row computes, else -inf (1, n)."""
        return np.where(self.computes, 0.0, -np.inf)[None]


@dataclass(frozen=True)
class Solution:
    """Throughput for R parameter vectors at n configurations.

    `log_rate` (R, n); `shares` (R, n, stages); `contention` (R, n): which part of the CPU's time no more vCPUs shorten;
    `gradient` (R, n, k): d ln X / d parameter. `cpu` and `accelerator` are ln seconds of these stages (R, n) with their
    gradients (R, n, k), which accounting sees by itself. `times` are those of every stage (stages, R, n) as they
    overlap with sharpness `p` (R, 1), and `slopes` are (parameter, stage, d ln seconds / d parameter).
    Predictions ask for no gradient.
    """

    log_rate: Array
    shares: Array
    contention: Array
    cpu: Array
    accelerator: Array
    times: Array
    slopes: Sequence[Slope]
    theta: Array

    @cached_property
    def gradient(self) -> Array:
        found = self._nothing()
        for parameter, stage, slope in self.slopes:
            found[:, :, parameter] -= self.shares[:, :, stage] * slope
        found[:, :, -1] = self._sharpness_slope()
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

    def _sharpness_slope(self) -> Array:
        """Of the last parameter, which no stage has; nothing where ln p is beyond its bounds."""
        raw = self.theta[:, -1:]
        free = (raw > LOG_SHARPNESS[0]) & (raw < LOG_SHARPNESS[1])
        overlapping = np.moveaxis(self.shares, 2, 0).copy()
        overlapping[CPU] += overlapping[LATENCY]  # which are of one worker
        mean_time = (overlapping * np.where(self.times > -np.inf, self.times, 0.0)).sum(axis=0)
        return np.where(free, -self.log_rate - mean_time, 0.0)

    def _nothing(self) -> Array:
        return np.zeros((*self.log_rate.shape, self.theta.shape[1]))


@cache
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
    """Ln seconds of each stage (stages, R, n), and how each depends on which parameter, while they are put together."""

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
    made = _Times(names, theta, np.full((len(STAGES), *shape), -np.inf))
    with np.errstate(invalid="ignore", divide="ignore"):  # a stage that is not there takes exp(-inf)
        contention = _cpu(structure, made, design)
        _accelerator(structure, made, design)
        if structure.batch_stage:
            _batch(structure, made, design)
        _disk(structure, made, design)
        _memory(structure, made, design)
        return _combine(structure, made, contention)


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
            made.times[MEMORY][:, here] = -made.parameter(name)
            made.depends(name, MEMORY, -here.astype(float)[None])
            continue
        for stage in (READ,) if structure.memory_acts == "misses" else range(len(STAGES)):
            made.times[stage][:, here] += made.parameter(name)
            made.depends(name, stage, here.astype(float)[None])


def _cpu(structure: Structure, made: _Times, design: Design) -> Array:
    """The CPU's stage and the serial one; returns which part of the former is contention."""
    work = design.decode - made.parameter("rate")
    if structure.step_apart:
        decode, step = work, design.step + made.parameter("step")
        work = np.logaddexp(decode, step)
        doing = (work > -np.inf).astype(float)
        made.depends("rate", CPU, np.where(doing, -np.exp(decode - work), 0.0))
        made.depends("step", CPU, np.where(doing, np.exp(step - work), 0.0))
    else:
        doing = design.decodes.astype(float)[None]
        made.depends("rate", CPU, -doing)
    scaled = scale(structure.scaling, design.vcpus, made.parameter)
    made.times[CPU] = work + scaled.log_factor + design.on_one_vcpu
    for name, slope in scaled.slopes.items():
        made.depends(name, CPU, doing * slope)
    if structure.quota:
        held = (design.vcpus % 1 > 0).astype(float)[None]
        made.times[CPU] += held * made.parameter("quota")
        made.depends("quota", CPU, doing * held)
    if structure.capped and structure.cap_stage == "serial":
        made.times[SERIAL][:, design.decodes] = -made.parameter("cap")
        made.depends("cap", SERIAL, -design.decodes.astype(float)[None])
    return np.broadcast_to(scaled.contention, made.times[CPU].shape)


def _accelerator(structure: Structure, made: _Times, design: Design) -> None:
    capped = structure.capped and structure.cap_stage == "accelerator"
    if not capped and not structure.accelerators:
        return
    overhead: Array = design.accelerator_shift - design.speed_up[None]
    if structure.several_gpus:  # n of them lose to each other as Amdahl's law has it
        lost = np.exp(np.minimum(np.maximum(made.parameter("gpus"), -40), 20)) * (design.gpus[None] - 1)
        overhead = overhead - np.log(design.gpus[None] / (1 + lost))
        made.depends("gpus", ACCELERATOR, lost / (1 + lost) * design.computing)
    if capped:
        made.times[ACCELERATOR] = overhead - made.parameter("cap") + design.computing_only
        made.depends("cap", ACCELERATOR, -design.computing)
    for index, label in enumerate(structure.accelerators):
        here = (design.accelerator == index) & design.computes
        time = overhead - made.parameter(f"accelerator:{label}")
        made.times[ACCELERATOR] = np.where(here, time, made.times[ACCELERATOR])
        made.depends(f"accelerator:{label}", ACCELERATOR, -here.astype(float)[None])


def _batch(structure: Structure, made: _Times, design: Design) -> None:
    """A step costs a launch and its samples: ln of `(1 + launch / b) / (1 + launch / reference)`."""
    stage = ACCELERATOR if structure.batch_stage == "accelerator" else CPU
    launch = np.exp(made.parameter("batch"))
    launches = launch * design.batch_ratio[None]
    made.times[stage] += np.log((1 + launches) / (1 + launch))
    made.depends("batch", stage, design.computing * (launches / (1 + launches) - launch / (1 + launch)))


def _disk(structure: Structure, made: _Times, design: Design) -> None:
    made.times[READ], made.times[WRITE] = design.read, design.write
    for index, name in enumerate(structure.disks):
        here = design.disk == index
        shown = here.astype(float)[None]
        speed = shown * made.parameter(f"disk:{name}")
        for stage in (READ, WRITE):
            made.times[stage] -= speed
            made.depends(f"disk:{name}", stage, -shown)
        if name in structure.blocking:
            waits = np.where(here, design.waits, -np.inf)
            made.times[LATENCY] = np.maximum(made.times[LATENCY], waits + made.parameter(f"latency:{name}"))
            made.depends(f"latency:{name}", LATENCY, (waits > -np.inf).astype(float))
    if design.supposed and structure.blocking:
        # Figures do not tell how long a worker waits: no shorter than on the best of those that were measured.
        made.times[LATENCY] = design.waits + np.minimum.reduce(
            [made.parameter(f"latency:{name}") for name in structure.blocking]
        )


def _combine(structure: Structure, made: _Times, contention: Array) -> Solution:
    times, cpu = made.times, made.times[CPU]
    if structure.blocking:
        times = times.copy()
        worker = np.logaddexp(cpu, times[LATENCY])
        computing = np.exp(np.where(worker > -np.inf, cpu - worker, 0.0))
        times[CPU], times[LATENCY] = worker, -np.inf
    p = np.exp(np.minimum(np.maximum(made.theta[:, -1:], LOG_SHARPNESS[0]), LOG_SHARPNESS[1]))
    powered = p * times
    top = powered.max(axis=0)
    shares = np.exp(powered - top)
    total = shares.sum(axis=0)
    shares /= total
    if structure.blocking:
        shares[LATENCY] = shares[CPU] * (1 - computing)
        shares[CPU] *= computing
    return Solution(
        -(top + np.log(total)) / p,
        np.moveaxis(shares, 0, 2),
        contention,
        cpu,
        made.times[ACCELERATOR],
        times,
        made.slopes,
        made.theta,
    )
