"""Runs of one workload -> its WorkloadModel: what is known and believed of it, and what the runs make of that."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import log_ndtr

from sizer.model import advice
from sizer.model.beliefs import beliefs
from sizer.model.coordinates import vcpus_of
from sizer.model.drift import NO_DRIFT, Drift, drift_of
from sizer.model.equation import Array, Draws, Solution, solve
from sizer.model.explain import explained
from sizer.model.facts import gather_facts
from sizer.model.feeds import labelled
from sizer.model.gaps import without_gaps
from sizer.model.isolation import end_to_end
from sizer.model.isolation import isolating as isolating_runs
from sizer.model.memory import memory_floor
from sizer.model.misfit import misfit_of
from sizer.model.model import MeasuredRange, Model, Observation, Posterior, WorkloadFacts, WorkloadModel
from sizer.model.observations import Noise, completed, measure, observe, on_usual_host
from sizer.model.one_thread import one_thread
from sizer.model.posterior import MOVES, PARTICLES, sample
from sizer.model.stages import Rows, build_rows
from sizer.records.run import Run

MOST, LEARNT = 400, 150
"""Observations that predictions are pulled to, and that quantities are learnt from; of more, as many evenly."""
MANY = 40
"""Observations from which on half of the particles, and a third of their moves, must be enough."""
MORE_THAN_BUSY, LESS_THAN_BUSY = 0.05, 0.5
"""Standard deviations of ln of the CPU's stage over the core-seconds that were accounted. A sample cannot need more of
the CPU than it got, within what accounting errs; it may need less, because waiting that spins is accounted, too."""
ACCELERATOR_BUSY = 0.05
"""The same for the accelerator, whose busy time is its own."""


@one_thread
def fit(runs: Sequence[Run], drift: Drift | None = None) -> Model:
    """The model of every workload among the runs; deterministic, and a workload that has too few runs is `refused`.

    `drift` is that of the whole study, where these are not all of its runs.
    """
    drift = drift_of(completed(runs)) if drift is None else drift
    names = dict.fromkeys(run.spec.workload.name for run in runs)
    return Model(tuple(fit_workload([run for run in runs if run.spec.workload.name == name], drift) for name in names))


def fit_workload(runs: Sequence[Run], drift: Drift = NO_DRIFT) -> WorkloadModel:
    """The model of one workload; refused, with the reason, where its runs are too few."""
    runs = without_gaps(labelled(runs))
    isolating = isolating_runs(runs)
    runs = end_to_end(runs)
    if not runs:
        return _only_stages(isolating)
    measured, usable = measure(runs, isolating), completed(runs)
    workload = runs[0].spec.workload
    unit = next((run.sample_unit for run in usable), runs[0].sample_unit)
    empty = WorkloadModel(workload.name, unit, WorkloadFacts(workload.kind, workload.computes_on), measured)
    empty = replace(empty, floor=memory_floor(runs))
    mixed = advice.mixed_programs(runs)
    if mixed:
        return replace(empty, refused=mixed, measured=replace(measured, rates=()))
    refused = advice.refusal(runs, measured) or advice.starved(usable, measured)
    if not usable:
        return replace(empty, refused=refused)
    aside = completed(isolating)
    observations, noise = observe([*usable, *aside], drift)
    facts = gather_facts(usable, aside, measured)
    measured = on_usual_host(measured, observations, facts.setting)
    fitted = replace(empty, facts=facts, measured=measured, posterior=posterior(facts, measured, observations, noise))
    return replace(fitted, refused=refused) if refused else explained(fitted)


def _only_stages(runs: Sequence[Run]) -> WorkloadModel:
    workload = runs[0].spec.workload
    facts = WorkloadFacts(workload.kind, workload.computes_on)
    return WorkloadModel(workload.name, runs[0].sample_unit, facts, MeasuredRange(), advice.only_stages())


def posterior(
    facts: WorkloadFacts, measured: MeasuredRange, observations: Sequence[Observation], noise: Noise
) -> Posterior:
    """What is believed of the quantities of a workload after these observations."""
    before = beliefs(facts, measured, observations)
    expressible = _expressible(Draws.of_means(before), facts, measured, observations)
    seen = expressible[:: math.ceil(len(expressible) / MOST)]
    some = seen[:: math.ceil(len(seen) / LEARNT)]
    rows = build_rows(facts, measured, [each.configuration for each in some], seen=some)
    effort = (PARTICLES, MOVES) if len(some) < MANY else (PARTICLES // 2, MOVES // 3)
    after = sample(before, _Likelihood(facts, rows, some).of, *effort)
    vectors = tuple(tuple(float(f"{value:.6g}") for value in vector) for vector in after.values)
    return Posterior(after.names, vectors, tuple(seen), noise.run)


def _expressible(
    means: Draws, facts: WorkloadFacts, measured: MeasuredRange, observations: Sequence[Observation]
) -> list[Observation]:
    """Those that have a stage at all: a replay from the page cache touches none."""
    rows = build_rows(facts, measured, [each.configuration for each in observations], seen=observations)
    finite = np.isfinite(solve(means, rows).log_rate[0])
    return [each for each, counts in zip(observations, finite, strict=True) if counts]


class _Likelihood:
    """Ln of how likely observations are under vectors of the quantities."""

    def __init__(self, facts: WorkloadFacts, rows: Rows, seen: Sequence[Observation]) -> None:
        self._rows = rows
        self._target = np.array([each.log_rate for each in seen])
        self._deviation = np.array([each.deviation for each in seen])
        self._starved = np.array([each.starved for each in seen])
        self._misfit = misfit_of(facts, seen)
        self._cpu = np.array([_log(each.core_seconds) - math.log(vcpus_of(each.configuration)) for each in seen])
        self._accelerator = np.array([_log(each.accelerator_seconds) for each in seen])

    def of(self, draws: Draws) -> Array:
        """(R,) of R vectors."""
        solution = solve(draws, self._rows)
        scale = np.exp(draws["misfit"])
        with np.errstate(invalid="ignore"):
            residuals = self._target - solution.log_rate
            measured = self._misfit.log_likelihood(residuals[:, ~self._starved], scale)
            return measured + self._of_bounds(residuals, scale) + self._of_accounting(solution)

    def _of_bounds(self, residuals: Array, scale: Array) -> Array:
        """Of rates that are lower bounds: how likely the true ones are above them."""
        if not self._starved.any():
            return np.zeros(len(residuals))
        spread = np.hypot(self._deviation[self._starved], scale)
        found: Array = log_ndtr(-residuals[:, self._starved] / spread).sum(axis=1)
        return found

    def _of_accounting(self, solution: Solution) -> Array:
        cpu = solution.cpu - self._cpu
        cpu = cpu / np.where(cpu > 0, MORE_THAN_BUSY, LESS_THAN_BUSY)
        accelerator = (solution.accelerator - self._accelerator) / ACCELERATOR_BUSY
        squares = np.where(np.isfinite(cpu), cpu, 0.0) ** 2 + np.where(np.isfinite(accelerator), accelerator, 0.0) ** 2
        found: Array = -0.5 * squares.sum(axis=1)
        return found


def _log(seconds: float | None) -> float:
    return math.log(seconds) if seconds else math.nan
