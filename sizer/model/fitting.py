"""Runs of one workload -> its WorkloadModel: fit every form, weigh them, draw their uncertainty, test it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from sizer.model import advice
from sizer.model.drift import NO_DRIFT, Drift, drift_of
from sizer.model.equation import Array, Flags, parameter_names, solve
from sizer.model.evidence import judge
from sizer.model.explain import explained
from sizer.model.facts import gather_facts
from sizer.model.families import refinements, scalings, starting_points
from sizer.model.feeds import labelled
from sizer.model.gaps import without_gaps
from sizer.model.isolation import end_to_end
from sizer.model.isolation import isolating as isolating_runs
from sizer.model.least_squares import minimise
from sizer.model.memory import memory_floor
from sizer.model.model import LeftOut, MeasuredRange, Member, Model, Residual, Structure, WorkloadFacts, WorkloadModel
from sizer.model.observations import Noise, Observation, completed, measure, observe, on_usual_host
from sizer.model.one_thread import one_thread
from sizer.model.problem import (
    Data,
    Fitted,
    Problem,
    Residuals,
    forms_of,
    problem_of,
    side_by_side,
    solved_together,
)
from sizer.model.residual import fit_residual
from sizer.model.widening import predicted_without, widening, widening_of_noise
from sizer.records import Configuration, Run

DRAWS = 32
"""Parameter draws a member."""
SCREENED = 600
"""Observations by which forms are chosen; the chosen ones are then fitted to all."""
WEIGHT_KEPT = 0.02
MEMBERS = 6
SEED = 20181
ASSUMED = 3.0
"""Observations that a noise counts as which is assumed, and no repeats show: rows may scatter by several times that."""


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
    refused = advice.refusal(runs, measured)
    if not usable:
        return replace(empty, refused=refused)
    aside = completed(isolating)
    observations, noise = observe([*usable, *aside], drift)
    facts = gather_facts(usable, aside, measured)
    measured = on_usual_host(measured, observations, facts.setting)
    fitted = _fit(replace(empty, facts=facts, measured=measured), observations, noise)
    return replace(fitted, refused=refused) if refused else explained(fitted)


def _only_stages(runs: Sequence[Run]) -> WorkloadModel:
    workload = runs[0].spec.workload
    facts = WorkloadFacts(workload.kind, workload.computes_on)
    return WorkloadModel(workload.name, runs[0].sample_unit, facts, MeasuredRange(), advice.only_stages())


def _fit(model: WorkloadModel, observations: Sequence[Observation], noise: Noise) -> WorkloadModel:
    observations = _expressible(model, observations)
    kept = _weighed(_candidates(model, observations, noise))
    scale = scale_of(kept[0][0], noise)
    random = np.random.default_rng(SEED)
    members = members_of(kept, scale, random)
    main = np.array([o.feed == model.facts.setting for o in observations])
    residual = _residual(kept, [o.configuration for o in observations], main, noise)
    deviation = kept[0][0].problem.deviation
    spread, misfit = scale * float(np.median(deviation)), 0.01
    if residual is not None:
        spread = math.sqrt(float(np.median(residual.variances)))
    elif noise.measured:
        misfit = math.sqrt(max(0.0, scale**2 - 1)) * float(np.median(deviation))
    run_noise = max(noise.run if noise.measured else 0.0, spread)
    model = replace(model, members=members, residual=residual, noise=run_noise, misfit=max(misfit, 0.005))
    of_noise = widening_of_noise(kept, main, noise)
    without = predicted_without(kept, [o.configuration for o in observations], main, residual)
    return replace(
        model,
        widening=widening(model, kept, observations, main, without),
        noise_widening=of_noise,
        left_out=_left_out(observations, kept[0][0].problem.target, main, without),
    )


def _left_out(
    observations: Sequence[Observation], target: Array, main: Flags, without: Array | None
) -> tuple[LeftOut, ...]:
    """Of the runs that predictions are about what was measured, and what is predicted without it."""
    if without is None:
        return ()
    return tuple(
        LeftOut(observation.configuration, _rounded(measured), _rounded(predicted))
        for observation, measured, predicted, counts in zip(observations, target, without, main, strict=True)
        if counts
    )


def _rounded(log_rate: float) -> float:
    return float(f"{math.exp(log_rate):.6g}")


def _expressible(model: WorkloadModel, observations: Sequence[Observation]) -> Sequence[Observation]:
    """Those that have a stage at all: a replay from the page cache touches none."""
    structure = scalings(model.facts, model.measured, observations)[0]
    problem = problem_of(structure, Data(model.facts, model.measured, observations))
    finite = np.isfinite(solve(structure, problem.belief.mean[None], problem.design).log_rate[0])
    return [each for each, counts in zip(observations, finite, strict=True) if counts]


def _candidates(model: WorkloadModel, observations: Sequence[Observation], noise: Noise) -> list[Fitted]:
    """The forms, each at its optimum. Of very many observations some are enough to distinguish forms."""
    step = math.ceil(len(observations) / SCREENED)
    found = _searched(model, observations[::step], noise)
    if step == 1:
        return found
    likely = sorted(found, key=lambda fitted: fitted.criterion)[:MEMBERS]
    data = Data(model.facts, model.measured, observations)
    whole = [problem_of(each.problem.structure, data) for each in likely]
    return optima(whole, noise, [each.theta[None] for each in likely])


def _searched(model: WorkloadModel, observations: Sequence[Observation], noise: Noise) -> list[Fitted]:
    """Every form of vCPU scaling; the best of them refined one step at a time for as long as that pays."""
    facts, measured = model.facts, model.measured
    plain, data = scalings(facts, measured, observations), Data(facts, measured, observations)
    found: dict[Structure, Fitted] = {}

    def best_with(structures: Iterable[Structure]) -> Fitted:
        new = [structure for structure in dict.fromkeys(structures) if structure not in found]
        found.update(zip(new, optima([problem_of(structure, data) for structure in new], noise), strict=True))
        return min(found.values(), key=lambda fitted: fitted.criterion)

    best = best_with(plain)
    while (refined := best_with(refinements(best.problem.structure, facts, measured))) is not best:
        best = best_with(_with_scaling_of(each, refined.problem.structure) for each in plain)
    return list(found.values())


def _with_scaling_of(plain: Structure, refined: Structure) -> Structure:
    return replace(refined, scaling=plain.scaling, capped=plain.capped)


def _residual(
    kept: Sequence[tuple[Fitted, float]], places: Sequence[Configuration], main: Flags, noise: Noise
) -> Residual | None:
    """Of the runs that predictions are about."""
    problem = kept[0][0].problem
    fitted = np.sum([w * solve(f.problem.structure, f.theta[None], f.problem.design).log_rate[0] for f, w in kept], 0)
    chosen = [place for place, counts in zip(places, main, strict=True) if counts]
    return fit_residual(chosen, (problem.target - fitted)[main], problem.deviation[main] ** 2, noise)


def optima(problems: Sequence[Problem], noise: Noise, starts: Sequence[Array] | None = None) -> list[Fitted]:
    """Each problem at the best of what its starting points lead to."""
    if starts is None:
        starts = [starting_points(each.structure, float(each.target.max()), each.belief) for each in problems]
    found: dict[int, Fitted] = {}
    for numbers in solved_together(problems):
        fitted = _optima_together([problems[n] for n in numbers], noise, [starts[n] for n in numbers])
        found.update(zip(numbers, fitted, strict=True))
    return [found[number] for number in range(len(problems))]


def _optima_together(problems: Sequence[Problem], noise: Noise, starts: Sequence[Array]) -> list[Fitted]:
    counts, target = [len(each) for each in starts], problems[0].target
    forms = forms_of(problems, counts)
    means = side_by_side(forms, [each.belief.mean[None] for each in problems])
    residuals = Residuals(problems, forms, target[None], means[forms.of])
    thetas, costs = minimise(residuals, side_by_side(forms, starts))
    ends = np.cumsum([0, *counts])
    best = np.array([first + int(np.argmin(costs[first:last])) for first, last in itertools.pairwise(ends)])
    at_best, theta = residuals.only(best), thetas[best]
    values, slopes = at_best(theta)
    information = slopes @ slopes.transpose(0, 2, 1)
    # The priors' misfit counts as data: a form that must bend what accounting says is a worse form.
    squares = (values**2).sum(axis=1) + (((theta - means) * at_best.sure) ** 2).sum(axis=1)
    found = []
    for number, problem in enumerate(problems):
        own = forms.places(number)
        judged = judge(problem, information[number][np.ix_(own, own)], float(squares[number]), _believed(noise))
        found.append(Fitted(problem, theta[number, own], judged.criterion, float(squares[number]), judged.effective))
    return found


def _believed(noise: Noise) -> float:
    return 8.0 if noise.measured else 6.0


def scale_of(fitted: Fitted, noise: Noise) -> float:
    """By how much residuals exceed (or fall short of) the deviations that were assumed."""
    believed = _believed(noise) if noise.measured else ASSUMED
    freedom = max(1.0, fitted.problem.target.size + believed - fitted.effective)
    return math.sqrt((fitted.squares + believed) / freedom)


def _weighed(candidates: Sequence[Fitted]) -> list[tuple[Fitted, float]]:
    """The best forms with their weights (as Akaike weights: Burnham and Anderson 2002), best first."""
    ordered = sorted(candidates, key=lambda fitted: fitted.criterion)
    weights = [math.exp(-(fitted.criterion - ordered[0].criterion) / 2) for fitted in ordered]
    kept = [(f, w) for f, w in zip(ordered, weights, strict=True) if w >= WEIGHT_KEPT][:MEMBERS]
    total = sum(weight for _, weight in kept)
    return [(fitted, weight / total) for fitted, weight in kept]


def members_of(kept: Sequence[tuple[Fitted, float]], scale: float, random: np.random.Generator) -> tuple[Member, ...]:
    """With draws by a parametric bootstrap that redraws data and beliefs alike (randomised maximum a posteriori)."""
    targets, means = [], []
    for fitted, _ in kept:
        problem = fitted.problem
        noise = random.standard_normal((DRAWS, problem.target.size)) * problem.deviation * scale
        targets.append(problem.target + noise)
        means.append(
            problem.belief.mean + random.standard_normal((DRAWS, fitted.theta.size)) * problem.belief.deviation
        )
    draws: dict[int, Array] = {}
    problems = [fitted.problem for fitted, _ in kept]
    for numbers in solved_together(problems):
        some = [problems[n] for n in numbers]
        forms = forms_of(some, [DRAWS] * len(some))
        believed = side_by_side(forms, [means[n] for n in numbers])
        residuals = Residuals(some, forms, np.concatenate([targets[n] for n in numbers]), believed)
        start = side_by_side(forms, [np.repeat(kept[n][0].theta[None], DRAWS, axis=0) for n in numbers])
        thetas, _ = minimise(residuals, start, iterations=20)
        for place, n in enumerate(numbers):
            draws[n] = thetas[place * DRAWS : (place + 1) * DRAWS, forms.places(place)]
    return tuple(
        Member(
            fitted.problem.structure,
            weight,
            parameter_names(fitted.problem.structure),
            tuple(_short(value) for value in fitted.theta),
            tuple(tuple(_short(value) for value in draw) for draw in draws[number]),
        )
        for number, (fitted, weight) in enumerate(kept)
    )


def _short(value: float) -> float:
    return float(f"{value:.6g}")
