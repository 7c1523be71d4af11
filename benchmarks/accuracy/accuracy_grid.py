"""The measured grid: a design that is chosen from the axes alone is taken, all other points are predicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from accuracy_designs import designed
from accuracy_rivals import rivals
from accuracy_scores import (
    GoalRow,
    LeftOut,
    at_most,
    error_rows,
    in_words,
    left_out,
    quantile,
    rival_rows,
    share,
    worst_lines,
)
from grid_data import cells, repeat_errors

from sizer.model.fitting import fit
from sizer.records.configuration import Configuration
from sizer.records.run import Run

IN_ALL, A_WORKLOAD = 12, 12
"""Configurations of a design: over the whole grid, and of each workload; never more than half of a workload's."""
MEDIAN, NINTH = 0.03, 0.10
AS_REPEATS = 1.5
"""Goals are never below this multiple of what repeats of one configuration differ by."""

Group = Mapping[Configuration, tuple[Run, ...]]


def merged(runs: Sequence[Run]) -> list[Run]:
    """`train-v100` and `train-a100` are one job on two accelerators: one workload, the accelerator an axis of it."""
    found = []
    for run in runs:
        device = run.spec.workload.computes_on
        if device.gpu is not None:
            workload = replace(run.spec.workload, name=run.spec.workload.name.partition("-")[0])
            configuration = replace(run.configuration, gpu=device.gpu)
            run = replace(run, spec=replace(run.spec, workload=workload), configuration=configuration)
        found.append(run)
    return found


def by_workload(runs: Sequence[Run]) -> dict[str, Group]:
    """The completed runs of each configuration of each workload."""
    found: dict[str, dict[Configuration, tuple[Run, ...]]] = {}
    for (name, configuration), group in cells(runs).items():
        found.setdefault(name, {})[configuration] = group
    return dict(found)


def predict_others(group: Group, design: Sequence[Configuration]) -> list[LeftOut]:
    """What a model of these configurations says of all others, which are true by the mean of their repeats."""
    runs = [run for configuration in design for run in group[configuration]]
    rates = {
        configuration: tuple(run.throughput.value for run in own if run.throughput)
        for configuration, own in group.items()
        if configuration not in design
    }
    model = fit(runs).workloads[0]
    return left_out(
        model.name, model, {place: (fmean(each), each) for place, each in rates.items()}, rivals(runs, list(rates))
    )


def scores(runs: Sequence[Run], name: str, worst: int = 0) -> tuple[list[GoalRow], list[str]]:
    """The rows of the table of a grid of that name, and what each design was with the worst of what was predicted."""
    runs = merged(runs)
    groups, repeats, lines = by_workload(runs), repeat_errors(runs), list[str]()
    table = [
        at_most(f"{name}, two repeats", "median difference", repeats, 0.5),
        at_most(f"{name}, two repeats", "90th percentile of differences", repeats, 0.9),
    ]
    goals = max(MEDIAN, AS_REPEATS * quantile(repeats, 0.5)), max(NINTH, AS_REPEATS * quantile(repeats, 0.9))
    for part, count in ((f"{name}, 12 in all", IN_ALL // len(groups)), (f"{name}, 12 a workload", A_WORKLOAD)):
        found, asked = list[LeftOut](), 0
        for workload, group in groups.items():
            design = designed(list(group), max(3, min(count, len(group) // 2)))
            others = predict_others(group, design)
            found, asked = [*found, *others], asked + len(group) - len(design)
            if worst:
                lines += [f"{part}: {workload}: measured", *(f"    {in_words(place)}" for place in design)]
                lines += worst_lines(f"{part}: {workload}", others, 5)
        table += error_rows(part, found, "single runs", goals=goals)
        table.append(share(part, "points refused", [number >= len(found) for number in range(asked)]))
        table += rival_rows(part, found)
    return table, lines
