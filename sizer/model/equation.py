"""The bottleneck equation: service times of the stages -> throughput, shares and derivatives.

With t_j the seconds a sample takes at stage j alone, `X = (sum t_j^p)^(-1/p)`: p = 1 is one after another, large p is
perfect overlap. The share of stage j is `-d ln X / d ln t_j = t_j^p / sum t^p`, so shares sum to one. A blocking
loader's wait for the disk adds to its CPU time (p = 1 between these two): a worker does one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, reduce
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from sizer.model.model import Structure
from sizer.model.scaling import FORMS, PARAMETERS, Scaled, scale

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]
Selected = slice | Indices
EVERY = slice(None)
Slope = tuple[Selected, int, int, "Array | float"]

STAGES = ("cpu", "serial", "accelerator", "read", "write", "memory", "latency")
CPU, SERIAL, ACCELERATOR, READ, WRITE, MEMORY, LATENCY = range(7)
LONGEST = 1e300
"""Ln seconds that no stage takes: what is not there times its share of 0 is 0."""
LOG_SHARPNESS = (0.0, 4.6)
"""Bounds of ln p: below one the stages would hinder each other, above 100 a hard minimum is reached within 1 %."""


@dataclass(frozen=True)
class Design:
    """Configurations as arrays of one length n, one row a configuration.

    `read` and `write` are ln seconds a sample takes at the disk by demand and rates (-inf: no such stage), `missed` the
    share of reads that go to the disk; `accelerator` and `disk` index the structure's own parameters (-1: none),
    `memory_bytes` is what levels of memory are found by, `gpus` counts accelerators, `speed_up` is ln of how many times
    the samples of one they make where that is stated, else 0. `decodes` and `computes` say which parts of the CPU's
    work a row does: synthetic input decodes nothing, a replay of the files does neither, and `step_on_cpu` where the
    step is the CPU's own. `supposed`: the disk is given
    by its figures alone. `decode_shift`, `accelerator_shift` and `latency_shift` are a what-if's factors on these
    times, in ln.
    """

    vcpus: Array
    batch_ratio: Array
    read: Array
    read_is_iops: Flags
    write: Array
    missed: Array
    disk: Indices
    memory_bytes: Array
    accelerator: Indices
    gpus: Array
    speed_up: Array
    decodes: Flags
    computes: Flags
    step_on_cpu: Flags
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
        seconds: Array = -np.log(self.vcpus)
        return seconds[None]

    @cached_property
    def held(self) -> Array:
        """1 where a quota holds a fraction of a vCPU, else 0 (1, n)."""
        found: Array = (self.vcpus % 1 > 0).astype(float)[None]
        return found

    @cached_property
    def waits(self) -> Array:
        """Ln of the reads of a sample that each worker, one a whole CPU, waits for (1, n); -inf for none."""
        a_worker = np.log(self.missed) - np.log(np.ceil(self.vcpus)) + self.latency_shift
        return np.where((self.missed > 0) & self.decodes, a_worker, -np.inf)[None]

    def reaches(self, level: int, levels: tuple[int, ...]) -> tuple[Flags, Array]:
        """Rows that compute, and whose memory is that of this one of the measured levels, rising, or less than the next
        (n,), and the same as 1 and 0 (1, n); of the lowest, those with less, too."""
        if (level, levels) not in self._reached:
            here = self._of_level(level, levels) & self.computes
            self._reached[level, levels] = here, here.astype(float)[None]
        return self._reached[level, levels]

    @cached_property
    def _reached(self) -> dict[tuple[int, tuple[int, ...]], tuple[Flags, Array]]:
        """What `reaches` has found so far: a fit asks at each of its steps."""
        return {}

    def _of_level(self, level: int, levels: tuple[int, ...]) -> Flags:
        place = levels.index(level)
        least = levels[place] if place > 0 else -np.inf
        next_one = levels[place + 1] if place + 1 < len(levels) else np.inf
        found: Flags = (self.memory_bytes >= least) & (self.memory_bytes < next_one)
        return found

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

    `log_rate` (R, n); `of_stages` the share of each stage that is there (R, n); `scaled` how the CPU scales in which
    rows. `cpu` and `accelerator` are ln seconds of these stages (R, n), which accounting
    sees by itself. The gradients (R, k, n) of the three are d ln / d parameter; predictions ask for none. `times` are
    ln seconds of the stages as they overlap, and `slopes` are (rows, parameter, stage, d ln seconds / d parameter).
    """

    log_rate: Array
    of_stages: Mapping[int, Array]
    scaled: Sequence[tuple[slice, Scaled]]
    cpu: Array
    accelerator: Array
    times: Mapping[int, Array]
    slopes: Sequence[Slope]
    theta: Array
    sharpness: int

    @property
    def shares(self) -> Array:
        """Of every stage (R, n, stages)."""
        found = np.zeros((*self.log_rate.shape, len(STAGES)))
        for stage, share in self.of_stages.items():
            found[:, :, stage] = share
        return found

    @cached_property
    def contention(self) -> Array:
        """Which part of the CPU's time no more vCPUs shorten (R, n)."""
        found = np.zeros_like(self.log_rate)
        for rows, scaled in self.scaled:
            found[rows] = scaled.contention()
        return found

    @cached_property
    def gradient(self) -> Array:
        found = self._nothing()
        for rows, parameter, stage, slope in self.slopes:
            if stage in self.of_stages:
                found[rows, parameter] -= self.of_stages[stage][rows] * slope
        found[:, self.sharpness] = self._sharpness_slope()
        return found

    @cached_property
    def cpu_gradient(self) -> Array:
        return self._gradient(CPU)

    @cached_property
    def accelerator_gradient(self) -> Array:
        return self._gradient(ACCELERATOR)

    def _gradient(self, stage: int) -> Array:
        found = self._nothing()
        for rows, parameter, where, slope in self.slopes:
            if where == stage:
                found[rows, parameter] += slope
        return found

    def _sharpness_slope(self) -> Array:
        """Of the parameter that no stage has; nothing where ln p is beyond its bounds."""
        raw = self.theta[:, self.sharpness, None]
        free = (raw > LOG_SHARPNESS[0]) & (raw < LOG_SHARPNESS[1])
        mean_time = np.zeros_like(self.log_rate)
        for stage, time in self.times.items():
            share = self.of_stages[stage]
            if stage == CPU and LATENCY in self.of_stages:  # which are of one worker
                share = share + self.of_stages[LATENCY]
            mean_time += share * np.maximum(time, -LONGEST)
        return np.where(free, -self.log_rate - mean_time, 0.0)

    def _nothing(self) -> Array:
        rows, configurations = self.log_rate.shape
        return np.zeros((rows, self.theta.shape[1], configurations))


@cache
def parameter_names(structure: Structure) -> tuple[str, ...]:
    """The structure's parameters in the order of its vectors: logarithms but for `yield`, and for
    `contention`, the logit of a share."""
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
        *_memory_names(structure),
        "sharpness",
    )


LEVEL_KINDS = {"limits": "memory", "misses": "missed", "slows": "slowed"}


def _memory_names(structure: Structure) -> tuple[str, ...]:
    return tuple(f"{LEVEL_KINDS[structure.memory_acts]}:{level}" for level in _levels(structure))


def _levels(structure: Structure) -> tuple[int, ...]:
    """Those with a parameter: reads that miss count from the least memory on, what slows from the most."""
    levels = structure.memory_levels
    return {"limits": levels, "misses": levels[1:], "slows": levels[:-1]}[structure.memory_acts]


class Forms:
    """Structures that differ in nothing but how the CPU scales, whether there is a cap and what memory does, to be
    solved together.

    `of` (R,) says, rising, which of them each parameter vector is of. In such a vector (K,) stands first what all have,
    then the cap, then what a structure has of its own for memory, then for the CPU's scaling; what a structure does not
    have is 0 and changes nothing. `scalings` and `memories` say which rows (a slice) are of which.
    """

    def __init__(self, structures: Sequence[Structure], of: Indices) -> None:
        self.structures = tuple(structures)
        self.common = bare(structures[0])
        assert all(bare(each) == self.common for each in structures), "they differ in nothing else"
        names = parameter_names(self.common)
        several = any(each.capped for each in structures)
        self.columns = {name: place for place, name in enumerate((*names, "cap") if several else names)}
        self._of_scaling = len(self.columns) + max(len(_memory_names(each)) for each in structures)
        self.width = self._of_scaling + max(len(PARAMETERS[each.scaling]) for each in structures)
        self._are_capped = np.array([each.capped for each in structures])
        self._take(of)

    def _take(self, of: Indices) -> None:
        self.of = of
        ends = np.searchsorted(of, np.arange(len(self.structures) + 1)).tolist()
        there = [
            (structure, slice(first, last))
            for structure, (first, last) in zip(self.structures, pairwise(ends), strict=True)
            if last > first
        ]
        self.scalings = [
            (first.scaling, rows, self._scaling_columns(first))
            for first, rows in _joined(there, lambda each: FORMS[each.scaling])
        ]
        self.memories = [
            (first, rows, tuple(self._memory_columns(first).values()))
            for first, rows in _joined(there, lambda each: (each.memory_acts, each.memory_levels))
        ]
        capped = self._are_capped[of]
        self.capped: slice | Indices | None = np.flatnonzero(capped) if capped.any() else None
        if capped.all():
            self.capped = slice(None)

    def _memory_columns(self, structure: Structure) -> dict[str, int]:
        return {name: place for place, name in enumerate(_memory_names(structure), len(self.columns))}

    def _scaling_columns(self, structure: Structure) -> dict[str, int]:
        return {name: place for place, name in enumerate(PARAMETERS[structure.scaling], self._of_scaling)}

    def places(self, structure: int) -> Indices:
        """Where each of a structure's parameters, in their own order, stands in a vector."""
        its = self.structures[structure]
        known = {**self.columns, **self._memory_columns(its), **self._scaling_columns(its)}
        return np.array([known[name] for name in parameter_names(its)], dtype=np.intp)

    def only(self, rows: Indices) -> Forms:
        """Some of the vectors."""
        found = copy(self)
        found._take(self.of[rows])
        return found


def _joined(
    there: Iterable[tuple[Structure, slice]], alike: Callable[[Structure], object]
) -> list[tuple[Structure, slice]]:
    """The first of structures that follow each other and are alike, with the rows of all of them."""
    groups = [list(some) for _, some in groupby(there, lambda each: alike(each[0]))]
    return [(some[0][0], slice(some[0][1].start, some[-1][1].stop)) for some in groups]


class _InOwnOrder(Forms):
    """One structure, whose vectors are in the order of its `parameter_names`."""

    def __init__(self, structure: Structure, count: int) -> None:
        names = parameter_names(structure)
        self.common = structure
        self.columns = {name: place for place, name in enumerate(names)}
        rows, memory = slice(0, count), tuple(self.columns[name] for name in _memory_names(structure))
        self.scalings = [(structure.scaling, rows, self.columns)]
        self.memories = [(structure, rows, memory)]
        self.capped = slice(None) if structure.capped else None


@cache
def bare(structure: Structure) -> Structure:
    """The structure without what `Forms` has for each of its own: those that are alike in it are solved together."""
    return replace(structure, scaling="linear", capped=False, memory_levels=(), memory_acts="limits")


@dataclass
class _Times:
    """Ln seconds of each stage that is there (R, n), and how each depends on which parameter, while they are put
    together."""

    forms: Forms
    theta: Array
    shape: tuple[int, int]
    times: dict[int, Array] = field(default_factory=dict)
    slopes: list[Slope] = field(default_factory=list)

    def stage(self, stage: int) -> Array:
        """Its times; none yet where it was not there."""
        if stage not in self.times:
            self.times[stage] = np.full(self.shape, -np.inf)
        return self.times[stage]

    def parameter(self, name: str) -> Array:
        return self.theta[:, self.forms.columns[name], None]

    def depends(self, name: str, stage: int, slope: Array | float, rows: Selected = EVERY) -> None:
        """The slope (R or 1, n or 1) is d ln seconds / d parameter."""
        self.slopes.append((rows, self.forms.columns[name], stage, slope))


def solve(structure: Structure, theta: Array, design: Design) -> Solution:
    """The equation for parameter vectors `theta` (R, k) of a structure, in its own order, at the rows of `design`."""
    return solve_forms(_InOwnOrder(structure, len(theta)), theta, design)


def solve_forms(forms: Forms, theta: Array, design: Design) -> Solution:
    """The same for parameter vectors `theta` (R, K) of several structures, in the order of `forms`."""
    structure, shape = forms.common, (theta.shape[0], design.vcpus.size)
    made = _Times(forms, theta, shape)
    with np.errstate(invalid="ignore", divide="ignore"):  # a stage that is not there takes exp(-inf)
        scaled = _cpu(structure, made, design)
        _accelerator(structure, made, design)
        if structure.batch_stage:
            _batch(structure, made, design)
        _disk(structure, made, design)
        _memory(made, design)
        return _combine(made, scaled)


def _memory(made: _Times, design: Design) -> None:
    stages = tuple(made.times)
    for structure, rows, columns in made.forms.memories:
        for level, column in zip(_levels(structure), columns, strict=True):
            here, shown = design.reaches(level, structure.memory_levels)
            value = made.theta[rows, column, None]
            if structure.memory_acts == "limits":
                made.stage(MEMORY)[rows, here] = -value
                made.slopes.append((rows, column, MEMORY, -shown))
                continue
            for stage in stages if structure.memory_acts == "slows" else {READ} & set(stages):
                made.times[stage][rows] += shown * value
                made.slopes.append((rows, column, stage, shown))


def _cpu(structure: Structure, made: _Times, design: Design) -> list[tuple[slice, Scaled]]:
    """The CPU's stage and the serial one; returns how the former scales in which rows."""
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
    made.times[CPU] = work + design.on_one_vcpu
    every = []
    for form, rows, columns in made.forms.scalings:
        scaled = scale(form, design.vcpus, _reader(made.theta[rows], columns))
        made.times[CPU][rows] += scaled.log_factor
        every.append((rows, scaled))
        does = doing[rows] if len(doing) > 1 else doing
        made.slopes.extend((rows, columns[name], CPU, does * slope) for name, slope in scaled.slopes.items())
    if structure.quota:
        held = design.held
        made.times[CPU] += held * made.parameter("quota")
        made.depends("quota", CPU, doing * held)
    capped = made.forms.capped
    if capped is not None and structure.cap_stage == "serial":
        shown = np.where(design.decodes, 0.0, -np.inf)
        made.stage(SERIAL)[capped] = shown - made.parameter("cap")[capped]
        made.depends("cap", SERIAL, -design.decodes.astype(float)[None], capped)
    return every


def _reader(vectors: Array, columns: Mapping[str, int]) -> Callable[[str], Array]:
    return lambda name: vectors[:, columns[name], None]


def _accelerator(structure: Structure, made: _Times, design: Design) -> None:
    capped = made.forms.capped if structure.cap_stage == "accelerator" else None
    if capped is None and not structure.accelerators:
        return
    overhead: Array = design.accelerator_shift - design.speed_up[None]
    if structure.several_gpus:  # n of them lose to each other as Amdahl's law has it
        lost = np.exp(np.minimum(np.maximum(made.parameter("gpus"), -40), 20)) * (design.gpus[None] - 1)
        overhead = overhead - np.log(design.gpus[None] / (1 + lost))
        made.depends("gpus", ACCELERATOR, lost / (1 + lost) * design.computing)
    if capped is not None:
        made.stage(ACCELERATOR)[capped] = (overhead - made.parameter("cap") + design.computing_only)[capped]
        made.depends("cap", ACCELERATOR, -design.computing, capped)
    for index, label in enumerate(structure.accelerators):
        here = (design.accelerator == index) & design.computes
        time = overhead - made.parameter(f"accelerator:{label}")
        made.times[ACCELERATOR] = np.where(here, time, made.stage(ACCELERATOR))
        made.depends(f"accelerator:{label}", ACCELERATOR, -here.astype(float)[None])


def _batch(structure: Structure, made: _Times, design: Design) -> None:
    """A step costs a launch and its samples: ln of `(1 + launch / b) / (1 + launch / reference)`."""
    stage = ACCELERATOR if structure.batch_stage == "accelerator" else CPU
    if stage not in made.times:
        return
    launch = np.exp(made.parameter("batch"))
    launches = launch * design.batch_ratio[None]
    made.times[stage] += np.log((1 + launches) / (1 + launch))
    made.depends("batch", stage, design.computing * (launches / (1 + launches) - launch / (1 + launch)))


def _disk(structure: Structure, made: _Times, design: Design) -> None:
    there = [(stage, times) for stage, times in ((READ, design.read), (WRITE, design.write)) if times.max() > -np.inf]
    for stage, times in there:
        made.stage(stage)[:] = times
    for index, name in enumerate(structure.disks):
        here = design.disk == index
        shown = here.astype(float)[None]
        speed = shown * made.parameter(f"disk:{name}")
        for stage, _ in there:
            made.times[stage] -= speed
            made.depends(f"disk:{name}", stage, -shown)
        if name in structure.blocking:
            waits = np.where(here, design.waits, -np.inf)
            made.times[LATENCY] = np.maximum(made.stage(LATENCY), waits + made.parameter(f"latency:{name}"))
            made.depends(f"latency:{name}", LATENCY, (waits > -np.inf).astype(float))
    if design.supposed and structure.blocking:
        # Figures do not tell how long a worker waits: no shorter than on the best of those that were measured.
        made.times[LATENCY] = design.waits + np.minimum.reduce(
            [made.parameter(f"latency:{name}") for name in structure.blocking]
        )


def _combine(made: _Times, scaled: Sequence[tuple[slice, Scaled]]) -> Solution:
    times, cpu = dict(made.times), made.times[CPU]
    waits = times.pop(LATENCY, None)
    if waits is not None:
        times[CPU] = np.logaddexp(cpu, waits)
        computing = np.exp(np.where(times[CPU] > -np.inf, cpu - times[CPU], 0.0))
    sharpness = made.forms.columns["sharpness"]
    p = np.exp(np.minimum(np.maximum(made.theta[:, sharpness, None], LOG_SHARPNESS[0]), LOG_SHARPNESS[1]))
    powered = {stage: p * time for stage, time in times.items()}
    top = reduce(np.maximum, powered.values())
    shares = {stage: np.exp(each - top) for stage, each in powered.items()}
    total = sum(shares.values(), np.zeros(made.shape))
    for share in shares.values():
        share /= total
    if waits is not None:
        shares[LATENCY] = shares[CPU] * (1 - computing)
        shares[CPU] *= computing
    accelerator = made.times.get(ACCELERATOR)
    return Solution(
        -(top + np.log(total)) / p,
        shares,
        scaled,
        cpu,
        np.full(made.shape, -np.inf) if accelerator is None else accelerator,
        times,
        made.slopes,
        made.theta,
        sharpness,
    )
