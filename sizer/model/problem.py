"""What a form has to explain: the rates, what accounting saw of its stages, what is believed of its parameters."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sizer.model.coordinates import vcpus_of
from sizer.model.equation import Array, Design, Flags, Forms, Indices, bare, solve_forms
from sizer.model.families import Prior, prior
from sizer.model.model import MeasuredRange, Structure, WorkloadFacts
from sizer.model.observations import Observation
from sizer.model.stages import Rows, build_rows

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


class Residuals:
    """What `minimise` makes small: problems of `forms` over the same rows, a parameter vector for each of `forms.of`.

    `target` (R or 1, n) are ln rates, `mean` (R, K) what is believed; rows of `included` (R or 1, n) that are 0 are
    left out. What a structure does not have is believed to be 0.
    """

    def __init__(
        self, problems: Sequence[Problem], forms: Forms, target: Array, mean: Array, included: Array | None = None
    ) -> None:
        first = problems[0]
        self._forms, self._design = forms, first.design
        self._target, self.mean = target, mean
        self._included = np.ones((1, first.target.size)) if included is None else included
        self.sure = np.stack([_sure(each, forms, number) for number, each in enumerate(problems)])[forms.of]
        self._weight = self._included / first.deviation
        self._cpu, self._accelerator = (
            np.flatnonzero(np.isfinite(busy)) for busy in (first.cpu_busy, first.accelerator_busy)
        )
        self._cpu_busy, self._accelerator_busy = (
            first.cpu_busy[self._cpu],
            first.accelerator_busy[self._accelerator],
        )

    def only(self, rows: Indices) -> Residuals:
        """For some of the vectors."""

        def some(values: Array) -> Array:
            return values if len(values) == 1 else values[rows]

        found = copy(self)
        found._forms, found.sure = self._forms.only(rows), self.sure[rows]
        found._target, found.mean = some(self._target), some(self.mean)
        found._included, found._weight = some(self._included), some(self._weight)
        return found

    def __call__(self, theta: Array) -> tuple[Array, Array]:
        """Of rates and of stages (R, m), with their derivatives (R, K, m)."""
        solution = solve_forms(self._forms, theta, self._design)
        n, cpu, accelerator = self._design.vcpus.size, self._cpu, self._accelerator
        if not cpu.size and not accelerator.size:
            gradient = solution.gradient
            gradient *= self._weight[:, None]
            return (solution.log_rate - self._target) * self._weight, gradient
        ends = np.cumsum([n, cpu.size, accelerator.size])
        values, slopes = np.empty((len(theta), ends[2])), np.empty((*theta.shape, ends[2]))
        values[:, :n] = (solution.log_rate - self._target) * self._weight
        np.multiply(solution.gradient, self._weight[:, None], out=slopes[:, :, :n])
        if cpu.size:
            over = solution.cpu[:, cpu] - self._cpu_busy
            scale = np.where(over > 0, 1 / MORE_THAN_BUSY, 1 / LESS_THAN_BUSY) * self._included[:, cpu]
            values[:, n : ends[1]] = over * scale
            slopes[:, :, n : ends[1]] = solution.cpu_gradient[:, :, cpu] * scale[:, None]
        if accelerator.size:
            off = solution.accelerator[:, accelerator] - self._accelerator_busy
            scale = self._included[:, accelerator] / ACCELERATOR_BUSY
            values[:, ends[1] :] = off * scale
            slopes[:, :, ends[1] :] = solution.accelerator_gradient[:, :, accelerator] * scale[:, None]
        return values, slopes


def _sure(problem: Problem, forms: Forms, number: int) -> Array:
    found = np.ones(forms.width)
    found[forms.places(number)] = 1 / problem.belief.deviation
    return found


def solved_together(problems: Sequence[Problem]) -> list[list[int]]:
    """The numbers of the problems whose structures `Forms` can have together."""
    found: dict[Structure, list[int]] = defaultdict(list)
    for number, problem in enumerate(problems):
        found[bare(problem.structure)].append(number)
    return list(found.values())


def side_by_side(forms: Forms, vectors: Sequence[Array]) -> Array:
    """Vectors (r, k) of each of the structures, in its own order, as those (R, K) of `forms`."""
    found = np.zeros((sum(map(len, vectors)), forms.width))
    first = 0
    for number, own in enumerate(vectors):
        found[first : first + len(own), forms.places(number)] = own
        first += len(own)
    return found


def forms_of(problems: Sequence[Problem], counts: Sequence[int]) -> Forms:
    """With so many vectors for each of the problems."""
    return Forms([each.structure for each in problems], np.repeat(np.arange(len(problems)), counts))


@dataclass(frozen=True)
class Fitted:
    """One structure at its optimum, with its information criterion and its squared residuals in deviations."""

    problem: Problem
    theta: Array
    criterion: float
    squares: float
    effective: float


@dataclass(frozen=True)
class Data:
    """What the problems of all structures have in common: the observations of a workload, as rows of the equation."""

    facts: WorkloadFacts
    measured: MeasuredRange
    observations: Sequence[Observation]

    @cached_property
    def rows(self) -> Rows:
        places = [each.configuration for each in self.observations]
        return build_rows(self.facts, self.measured, places, seen=self.observations)

    @cached_property
    def target(self) -> Array:
        return np.array([each.log_rate for each in self.observations])

    @cached_property
    def deviation(self) -> Array:
        return np.array([each.deviation for each in self.observations])

    @cached_property
    def cpu_busy(self) -> Array:
        return np.array([_cpu_busy(each) for each in self.observations])

    @cached_property
    def accelerator_busy(self) -> Array:
        return np.array([_log(each.accelerator_seconds) for each in self.observations])


def problem_of(structure: Structure, data: Data) -> Problem:
    """The problem of one structure over the observations of a workload."""
    design = data.rows.design(structure)
    has_accelerator = (design.accelerator >= 0) & design.computes
    return Problem(
        structure,
        design,
        data.target,
        data.deviation,
        prior(structure, data.facts, data.measured, data.observations),
        data.cpu_busy + np.where(_works(structure, design), 0.0, math.nan),
        data.accelerator_busy + np.where(has_accelerator, 0.0, math.nan),
    )


def _works(structure: Structure, design: Design) -> Flags:
    """Rows whose CPU stage the form has."""
    steps = design.computes & design.step_on_cpu if structure.step_apart else np.zeros_like(design.computes)
    return design.decodes | steps


def _cpu_busy(observation: Observation) -> float:
    return _log(observation.core_seconds) - math.log(vcpus_of(observation.configuration))


def _log(seconds: float | None) -> float:
    return math.log(seconds) if seconds else math.nan
