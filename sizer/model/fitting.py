"""Runs of one workload -> its WorkloadModel: fit every form, weigh them, draw their uncertainty, test it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sizer.model import advice
from sizer.model.description import described
from sizer.model.equation import Array, Design, parameter_names, solve
from sizer.model.facts import gather_facts
from sizer.model.families import Prior, prior, starting_points, structures
from sizer.model.least_squares import minimise
from sizer.model.memory import memory_floor
from sizer.model.model import Facts, Measured, Member, Structure, WorkloadModel
from sizer.model.observations import Noise, Observation, completed, measure, observe
from sizer.model.stages import build_design
from sizer.records import Run

DRAWS = 32
"""Parameter draws a member."""
FOLDS = 24
"""Configurations are left out one at a time up to this many, then in this many groups."""
WEIGHT_KEPT = 0.02
MEMBERS = 4
SEED = 20181
NORMAL_90 = 1.645


@dataclass(frozen=True)
class Problem:
    """One structure with its data: `target` ln throughput (n,), `deviation` of each (n,)."""

    structure: Structure
    design: Design
    target: Array
    deviation: Array
    belief: Prior

    def residuals(self, target: Array, mean: Array, included: Array) -> Callable[[Array], tuple[Array, Array]]:
        """For `minimise`: data (R or 1, n) and prior means (R or 1, k), with rows of `included` 0 left out."""
        weight = included / self.deviation
        slope_of_prior = np.diag(1 / self.belief.deviation)

        def evaluate(theta: Array) -> tuple[Array, Array]:
            solution = solve(self.structure, theta, self.design)
            data = (solution.log_rate - target) * weight
            belief = (theta - mean) / self.belief.deviation
            priors = np.broadcast_to(slope_of_prior, (len(theta), *slope_of_prior.shape))
            slope = np.concatenate([solution.gradient * weight[:, :, None], priors], axis=1)
            return np.concatenate([data, belief], axis=1), slope

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


def fit_workload(runs: Sequence[Run]) -> WorkloadModel:
    """The model of one workload; refused, with the reason, where its runs cannot carry one."""
    measured, usable = measure(runs), completed(runs)
    workload = runs[0].spec.workload
    unit = next((run.sample_unit for run in usable), runs[0].sample_unit)
    empty = WorkloadModel(workload.name, unit, Facts(workload.kind, workload.device), measured)
    empty = replace(empty, floor=memory_floor(runs))
    mixed = advice.mixed_programs(workload.name, runs)
    if mixed:
        return replace(empty, refused=mixed, measured=replace(measured, rates=()))
    reason = advice.refusal(workload.name, runs, measured)
    if not usable:
        return replace(empty, refused=reason)
    observations, noise = observe(usable)
    fitted = _fit(replace(empty, facts=gather_facts(usable, measured)), observations, noise)
    return replace(fitted, refused=reason) if reason else described(fitted)


def _fit(model: WorkloadModel, observations: Sequence[Observation], noise: Noise) -> WorkloadModel:
    candidates = [
        _optimum(_problem(structure, model.facts, model.measured, observations), noise)
        for structure in structures(model.facts, model.measured)
    ]
    kept = _weighed(candidates)
    scale = _scale(kept[0][0], noise)
    random = np.random.default_rng(SEED)
    members = tuple(_member(fitted, weight, scale, random) for fitted, weight in kept)
    deviation = kept[0][0].problem.deviation
    spread = scale * float(np.median(deviation))
    run_noise = max(noise.run if noise.measured else 0.0, spread)
    misfit = math.sqrt(max(0.0, scale**2 - 1)) * float(np.median(deviation)) if noise.measured else 0.01
    model = replace(model, members=members, noise=run_noise, misfit=max(misfit, 0.005))
    return replace(model, widening=_widening(model, kept))


def _problem(structure: Structure, facts: Facts, measured: Measured, observations: Sequence[Observation]) -> Problem:
    return Problem(
        structure,
        build_design(facts, measured, structure, [o.configuration for o in observations]),
        np.array([o.log_rate for o in observations]),
        np.array([o.deviation for o in observations]),
        prior(structure, facts, measured, observations),
    )


def _optimum(problem: Problem, noise: Noise) -> Fitted:
    starts = starting_points(problem.structure, float(problem.target.max()), problem.belief)
    residuals = problem.residuals(problem.target[None], problem.belief.mean[None], problem.everything)
    thetas, costs = minimise(residuals, starts)
    theta = thetas[int(np.argmin(costs))][None]
    values, slopes = residuals(theta)
    n = problem.target.size
    data = slopes[0, :n]
    information = data.T @ data
    effective = float(np.trace(np.linalg.solve(information + np.diag(problem.belief.deviation**-2.0), information)))
    # The priors' misfit counts as data: a form that must bend what accounting says is a worse form.
    squares = float((values[0] ** 2).sum())
    return Fitted(problem, theta[0], _criterion(squares, n, effective, noise), squares, effective)


def _criterion(squares: float, n: int, effective: float, noise: Noise) -> float:
    """AICc (Hurvich and Tsai 1989) with effective parameters; what is believed of the noise counts as observations.

    Without them three points could tell nothing: the correction for small samples would be infinite.
    """
    believed = _believed(noise)
    total, parameters = n + believed, effective + 1
    spare = max(total - parameters - 1, 0.5)
    likelihood = total * math.log((squares + believed) / total)
    return likelihood + 2 * parameters + 2 * parameters * (parameters + 1) / spare


def _believed(noise: Noise) -> float:
    return 8.0 if noise.measured else 6.0


def _scale(fitted: Fitted, noise: Noise) -> float:
    """By how much residuals exceed (or fall short of) the deviations that were assumed."""
    believed = _believed(noise)
    freedom = max(1.0, fitted.problem.target.size + believed - fitted.effective)
    return math.sqrt((fitted.squares + believed) / freedom)


def _weighed(candidates: Sequence[Fitted]) -> list[tuple[Fitted, float]]:
    """The best forms with Akaike weights (Burnham and Anderson 2002), best first."""
    ordered = sorted(candidates, key=lambda fitted: fitted.criterion)
    weights = [math.exp(-(fitted.criterion - ordered[0].criterion) / 2) for fitted in ordered]
    kept = [(f, w) for f, w in zip(ordered, weights, strict=True) if w >= WEIGHT_KEPT][:MEMBERS]
    total = sum(weight for _, weight in kept)
    return [(fitted, weight / total) for fitted, weight in kept]


def _member(fitted: Fitted, weight: float, scale: float, random: np.random.Generator) -> Member:
    """Draws by a parametric bootstrap that redraws data and beliefs alike (randomised maximum a posteriori)."""
    problem, theta = fitted.problem, fitted.theta
    noise = random.standard_normal((DRAWS, problem.target.size)) * problem.deviation * scale
    means = problem.belief.mean + random.standard_normal((DRAWS, theta.size)) * problem.belief.deviation
    residuals = problem.residuals(problem.target + noise, means, problem.everything)
    draws, _ = minimise(residuals, np.repeat(theta[None], DRAWS, axis=0), iterations=20)
    return Member(
        problem.structure,
        weight,
        parameter_names(problem.structure),
        tuple(_short(value) for value in theta),
        tuple(tuple(_short(value) for value in draw) for draw in draws),
    )


def _short(value: float) -> float:
    return float(f"{value:.6g}")


def _widening(model: WorkloadModel, kept: Sequence[tuple[Fitted, float]]) -> float:
    """How many standard deviations make 90 %, from configurations left out (conformal: Lei et al. 2018)."""
    target = kept[0][0].problem.target
    n = target.size
    if n < 4:
        return NORMAL_90 * (1 + 2 / max(n, 1))
    inner, left_out = _left_out(kept)
    deviation = math.sqrt(model.noise**2 + float(np.median(_draw_variance(model, kept))))
    scores = np.sort(np.abs(left_out - target)[inner] / deviation)
    rank = math.ceil(0.9 * (scores.size + 1))
    score = float(scores[rank - 1]) if rank <= scores.size else float(scores[-1]) if scores.size else 0.0
    few = 1 + 1 / n
    return min(max(score, NORMAL_90 * few), 2.5 * NORMAL_90)


def _left_out(kept: Sequence[tuple[Fitted, float]]) -> tuple[Array, Array]:
    """Which rows count (those inside the range of what remains) and what each is predicted to be without it."""
    vcpus = kept[0][0].problem.design.vcpus
    n = vcpus.size
    fold = np.arange(n) % FOLDS
    inside = (vcpus > vcpus.min()) & (vcpus < vcpus.max())
    inner = inside if inside.sum() >= 3 else np.ones(n, dtype=bool)
    folds = int(fold.max()) + 1
    included = (fold[None] != np.arange(folds)[:, None]).astype(float)
    prediction = np.zeros(n)
    for fitted, weight in kept:
        problem = fitted.problem
        residuals = problem.residuals(problem.target[None], problem.belief.mean[None], included)
        thetas, _ = minimise(residuals, np.repeat(fitted.theta[None], folds, axis=0), iterations=20)
        without = solve(problem.structure, thetas, problem.design).log_rate
        prediction += weight * without[fold, np.arange(n)]
    return inner, prediction


def _draw_variance(model: WorkloadModel, kept: Sequence[tuple[Fitted, float]]) -> Array:
    """Variance of ln throughput over the members' draws at each observation (n,)."""
    variance = np.zeros(kept[0][0].problem.target.size)
    for member, (fitted, weight) in zip(model.members, kept, strict=True):
        log_rate = solve(member.structure, np.array(member.draws), fitted.problem.design).log_rate
        variance += weight * log_rate.var(axis=0)
    return variance
