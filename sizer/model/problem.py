"""What a form has to explain: the rates, what accounting saw of its stages, what is believed of its parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sizer.model.coordinates import vcpus_of
from sizer.model.equation import Array, Design, Flags, solve
from sizer.model.families import Prior, prior
from sizer.model.model import MeasuredRange, Structure, WorkloadFacts
from sizer.model.observations import Observation
from sizer.model.stages import build_design

MORE_THAN_BUSY, LESS_THAN_BUSY = 0.05, 0.5
"""Standard deviations of ln of the CPU's stage over the core-seconds that were accounted. A sample cannot need more of
the CPU than it got, within what accounting errs; it may need less, because waiting that spins is accounted, too."""
ACCELERATOR_BUSY = 0.05
"""The same for the accelerator, whose busy time is its own."""


@dataclass(frozen=True)
class Problem:
    """One structure with its data: `target` ln throughput (n,), `deviation` of each (n,).

    `cpu_busy` and `accelerator_busy` are ln seconds of these stages by accounting (n,), not a number where unknown.
    """

    structure: Structure
    design: Design
    target: Array
    deviation: Array
    belief: Prior
    cpu_busy: Array
    accelerator_busy: Array

    def residuals(self, target: Array, mean: Array, included: Array) -> Callable[[Array], tuple[Array, Array]]:
        """For `minimise`: rates (R or 1, n), stages, and prior means (R or 1, k); rows of `included` 0 are left out."""
        weight = included / self.deviation
        sure = 1 / self.belief.deviation
        cpu, accelerator = (np.flatnonzero(np.isfinite(busy)) for busy in (self.cpu_busy, self.accelerator_busy))
        n, k = self.target.size, sure.size
        ends = np.cumsum([n, cpu.size, accelerator.size, k])

        def evaluate(theta: Array) -> tuple[Array, Array]:
            solution = solve(self.structure, theta, self.design)
            values, slopes = np.empty((len(theta), ends[3])), np.zeros((len(theta), ends[3], k))
            values[:, :n] = (solution.log_rate - target) * weight
            slopes[:, :n] = solution.gradient * weight[:, :, None]
            if cpu.size:
                over = solution.cpu[:, cpu] - self.cpu_busy[cpu]
                scale = np.where(over > 0, 1 / MORE_THAN_BUSY, 1 / LESS_THAN_BUSY) * included[:, cpu]
                values[:, n : ends[1]] = over * scale
                slopes[:, n : ends[1]] = solution.cpu_gradient[:, cpu] * scale[:, :, None]
            if accelerator.size:
                off = solution.accelerator[:, accelerator] - self.accelerator_busy[accelerator]
                scale = included[:, accelerator] / ACCELERATOR_BUSY
                values[:, ends[1] : ends[2]] = off * scale
                slopes[:, ends[1] : ends[2]] = solution.accelerator_gradient[:, accelerator] * scale[:, :, None]
            values[:, ends[2] :] = (theta - mean) * sure
            slopes[:, np.arange(ends[2], ends[3]), np.arange(k)] = sure
            return values, slopes

        return evaluate

    @property
    def everything(self) -> Array:
        return np.ones((1, self.target.size))


@dataclass(frozen=True)
class Fitted:
    """One structure at its optimum, with its information criterion and its squared residuals in deviations."""

    problem: Problem
    theta: Array
    criterion: float
    squares: float
    effective: float


def problem_of(
    structure: Structure, facts: WorkloadFacts, measured: MeasuredRange, observations: Sequence[Observation]
) -> Problem:
    """The problem of one structure over the observations of a workload."""
    design = build_design(facts, measured, structure, [o.configuration for o in observations], seen=observations)
    has_accelerator = (design.accelerator >= 0) & design.computes
    return Problem(
        structure,
        design,
        np.array([o.log_rate for o in observations]),
        np.array([o.deviation for o in observations]),
        prior(structure, facts, measured, observations),
        np.array([_cpu_busy(o) for o in observations]) + np.where(_works(structure, design), 0.0, math.nan),
        np.array([_log(o.accelerator_seconds) for o in observations]) + np.where(has_accelerator, 0.0, math.nan),
    )


def _works(structure: Structure, design: Design) -> Flags:
    """Rows whose CPU stage the form has."""
    steps = design.computes & design.step_on_cpu if structure.step_apart else np.zeros_like(design.computes)
    return design.decodes | steps


def _cpu_busy(observation: Observation) -> float:
    return _log(observation.core_seconds) - math.log(vcpus_of(observation.configuration))


def _log(seconds: float | None) -> float:
    return math.log(seconds) if seconds else math.nan
