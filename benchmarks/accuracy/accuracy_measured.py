"""What was measured: the grid, and curves of real machines; of each a part is taken, and the rest is predicted.

Of a grid a design that is chosen from the axes alone is taken. Of a curve, of which rates alone are known, three or
four vCPU values are, and one between them is predicted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from accuracy_draws import designed
from accuracy_scores import LeftOut, error_rows, in_words, left_out, worst_lines
from curves_data import JPEG, LOADERS, MACHINES, OTHERS, Curve, questions, real_curves
from goals import GoalRow, at_most, in_processes, quantile, share
from grid_data import cells, repeat_errors

from sizer.model.fitting import fit
from sizer.records.prediction import Configuration, Estimate
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Limits, Measure, RunSpec, Workload
from sizer.records.units import GIB

IN_ALL, A_WORKLOAD = 12, 12
"""Configurations of a design: over the whole grid, and of each workload; never more than half of a workload's."""
MEDIAN, NINTH = 0.03, 0.10
AS_REPEATS = 1.5
"""Goals are never below this multiple of what repeats of one configuration differ by."""
CURVES_MEDIAN = 0.025
STARTED = "2026-11-21T00:00:00+00:00"
BATCH, MEMORY = 32, 16 * GIB
"""Of every run of a curve."""

Group = Mapping[Configuration, tuple[Run, ...]]


def merged(runs: Sequence[Run]) -> list[Run]:
    """`train-v100` and `train-a100` are one job on two accelerators: one workload, the accelerator an axis of it."""
    together = []
    for run in runs:
        device = run.spec.workload.computes_on
        if device.gpu is not None:
            workload = replace(run.spec.workload, name=run.spec.workload.name.partition("-")[0])
            configuration = replace(run.configuration, gpu=device.gpu)
            run = replace(run, spec=replace(run.spec, workload=workload), configuration=configuration)
        together.append(run)
    return together


def predict_others(group: Group, design: Sequence[Configuration]) -> list[LeftOut]:
    """What a model of these configurations says of all others, which are true by the mean of their repeats."""
    runs = [run for configuration in design for run in group[configuration]]
    rates = {
        configuration: tuple(run.throughput.value for run in own if run.throughput)
        for configuration, own in group.items()
        if configuration not in design
    }
    model = fit(runs).workloads[0]
    return left_out(model.name, model, {place: (fmean(own), own) for place, own in rates.items()})


def scores_of_grid(runs: Sequence[Run], name: str, worst: int = 0) -> tuple[list[GoalRow], list[str]]:
    """The rows of the table of a grid of that name, and what each design was with the worst of what was predicted."""
    runs = merged(runs)
    groups: dict[str, dict[Configuration, tuple[Run, ...]]] = {}
    for (workload, configuration), own in cells(runs).items():
        groups.setdefault(workload, {})[configuration] = own
    repeats, lines = repeat_errors(runs), list[str]()
    table = [
        at_most(f"{name}, two repeats", "median difference", repeats, 0.5),
        at_most(f"{name}, two repeats", "90th percentile of differences", repeats, 0.9),
    ]
    goals = max(MEDIAN, AS_REPEATS * quantile(repeats, 0.5)), max(NINTH, AS_REPEATS * quantile(repeats, 0.9))
    for part, count in ((f"{name}, 12 in all", IN_ALL // len(groups)), (f"{name}, 12 a workload", A_WORKLOAD)):
        predicted, asked = list[LeftOut](), 0
        for workload, group in groups.items():
            design = designed(list(group), max(3, min(count, len(group) // 2)))
            others = predict_others(group, design)
            predicted, asked = [*predicted, *others], asked + len(group) - len(design)
            if worst:
                lines += [f"{part}: {workload}: measured", *(f"    {in_words(place)}" for place in design)]
                lines += worst_lines(f"{part}: {workload}", others, 5)
        table += error_rows(part, predicted, "single runs", goals=goals)
        table.append(share(part, "points refused", [number >= len(predicted) for number in range(asked)]))
    return table, lines


def curve_left_out(curve: Curve, out: int) -> tuple[str, list[LeftOut]]:
    """The kind of a curve, and what its other places tell of one that is left out; nothing where that is refused."""
    runs = [_run(place, rate) for place, rate in zip(curve.places, curve.rates, strict=True)]
    truth = runs.pop(out)
    truths = {truth.configuration: (curve.rates[out], (curve.rates[out],))}
    return curve.kind, left_out(curve.name, fit(runs).workloads[0], truths)


def _run(place: float, rate: float) -> Run:
    spec = RunSpec(Workload("curve", "command"), BATCH, Limits(place), Measure(1))
    configuration = Configuration(place, MEMORY, "host", BATCH)
    return Run(spec, Outcome.COMPLETED, configuration, STARTED, 60.0, throughput=Estimate(rate, rate, rate))


def scores_of_curves(every: int, processes: int, worst: int = 0) -> tuple[list[GoalRow], list[str]]:
    """The rows of the table, of every so many questions, and the worst of what was told of each kind."""
    asked = [question for curve in real_curves() if curve.held_out for question in questions(curve)][::every]
    answers = in_processes(curve_left_out, asked, processes)
    table, lines = list[GoalRow](), list[str]()
    for kind in (MACHINES, JPEG, LOADERS, OTHERS):
        points = [point for its, told_points in answers if its == kind for point in told_points]
        table += error_rows(f"curves, {kind}", points, "left-out points")
        lines += worst_lines(f"curves, {kind}", points, min(8, worst))
    points = [point for kind, told_points in answers if kind != JPEG for point in told_points]
    return [*table, *error_rows("curves, published", points, "left-out points", goals=(CURVES_MEDIAN, NINTH))], lines
