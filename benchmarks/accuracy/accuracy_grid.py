"""The measured grid: a design that is chosen from the axes alone is taken, all other points are predicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from accuracy_designs import designed
from accuracy_rivals import rivals
from accuracy_scores import GoalRow, at_most, error, quantile, share
from grid_data import cells, load_grid, repeat_errors

from sizer.model import WorkloadModel, disk_of, fit, memory_of, predict, vcpus_of
from sizer.records.configuration import Configuration
from sizer.records.errors import NoAnswer
from sizer.records.run import Run

IN_ALL, A_WORKLOAD = 12, 12
"""Configurations of a design: over the whole grid, and of each workload; never more than half of a workload's."""
MEDIAN, NINTH = 0.03, 0.10
AS_REPEATS = 1.5
"""Goals are never below this multiple of what repeats of one configuration differ by."""

Group = Mapping[Configuration, tuple[Run, ...]]


@dataclass(frozen=True)
class LeftOutConfiguration:
    """One configuration that was left out: the mean over its repeats, each of them, and what was predicted of it."""

    workload: str
    configuration: Configuration
    truth: float
    runs: tuple[float, ...]
    predicted: float
    low: float
    high: float
    others: dict[str, float]

    @property
    def error(self) -> float:
        return error(self.predicted, self.truth)


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


def predict_others(
    group: Group, design: Sequence[Configuration], with_rivals: bool = True
) -> tuple[list[LeftOutConfiguration], int]:
    """What a model of these configurations says of all others; and how many it refuses."""
    runs = [run for configuration in design for run in group[configuration]]
    model = fit(runs).workloads[0]
    asked = [configuration for configuration in group if configuration not in design]
    others = {name: answers(asked) for name, answers in rivals(runs).items()} if with_rivals else {}
    found = []
    for index, configuration in enumerate(asked):
        rates = tuple(run.throughput.value for run in group[configuration] if run.throughput)
        rate = _predicted(model, configuration)
        if rate is not None:
            mine = {name: float(values[index]) for name, values in others.items()}
            found.append(LeftOutConfiguration(model.name, configuration, fmean(rates), rates, *rate, mine))
    return found, len(asked) - len(found)


def _predicted(model: WorkloadModel, configuration: Configuration) -> tuple[float, float, float] | None:
    try:
        rate = predict(model, configuration).throughput
    except NoAnswer:
        return None
    return rate.value, rate.low, rate.high


def scores(runs: Sequence[Run] | None = None, name: str = "grid") -> tuple[list[GoalRow], list[str]]:
    """The rows of the table, and one line a workload with what the designs were and the worst of what was predicted."""
    runs = merged(load_grid() if runs is None else runs)
    groups, lines, table = by_workload(runs), [], []
    table += _repeats(runs, name)
    goals = _goals(runs)
    for part, count in ((f"{name}, 12 in all", IN_ALL // max(1, len(groups))), (f"{name}, 12 a workload", A_WORKLOAD)):
        found: list[LeftOutConfiguration] = []
        refused = 0
        for workload, group in groups.items():
            design = designed(list(group), max(3, min(count, len(group) // 2)))
            others, missing = predict_others(group, design)
            found, refused = [*found, *others], refused + missing
            lines += _lines(part, workload, design, others)
        table += _part(part, found, refused, goals)
    return table, lines


def _goals(runs: Sequence[Run]) -> tuple[float, float]:
    repeats = repeat_errors(runs)
    if not repeats:
        return MEDIAN, NINTH
    middle, ninth = AS_REPEATS * quantile(repeats, 0.5), AS_REPEATS * quantile(repeats, 0.9)
    return max(MEDIAN, middle), max(NINTH, ninth)


def _repeats(runs: Sequence[Run], name: str) -> list[GoalRow]:
    repeats = repeat_errors(runs)
    return [
        at_most(f"{name}, two repeats", "median difference", repeats, 0.5),
        at_most(f"{name}, two repeats", "90th percentile of differences", repeats, 0.9),
    ]


def _part(part: str, found: Sequence[LeftOutConfiguration], refused: int, goals: tuple[float, float]) -> list[GoalRow]:
    errors = [each.error for each in found]
    covered = [each.low <= rate <= each.high for each in found for rate in each.runs]
    table = [
        at_most(part, "median error", errors, 0.5, goals[0]),
        at_most(part, "90th percentile of errors", errors, 0.9, goals[1]),
        share(part, "single runs in their 90 % intervals", covered, 0.85, 0.95),
        share(part, "points refused", [True] * refused + [False] * len(found)),
    ]
    for name in found[0].others if found else ():
        theirs = [error(each.others[name], each.truth) for each in found]
        table.append(at_most(part, f"rival {name}: median error", theirs, 0.5))
        table.append(at_most(part, f"rival {name}: 90th percentile", theirs, 0.9))
    return table


def _lines(part: str, name: str, design: Sequence[Configuration], others: Sequence[LeftOutConfiguration]) -> list[str]:
    errors = [each.error for each in others]
    middle, ninth = (100 * quantile(errors, at) for at in (0.5, 0.9))
    lines = [
        f"{part}: {name}: {len(design)} measured, {len(errors)} predicted, median {middle:.1f} %, 90th {ninth:.1f} %"
    ]
    lines += [f"    measured {_in_words(configuration)}" for configuration in design]
    for each in sorted(others, key=lambda one: -one.error)[:5]:
        lines.append(
            f"    {_in_words(each.configuration)}: {each.predicted:.4g} ({each.low:.4g} to {each.high:.4g}), "
            f"measured {each.truth:.4g}: {100 * (each.predicted / each.truth - 1):+.1f} %"
        )
    return lines


def _in_words(configuration: Configuration) -> str:
    gpu = f" {configuration.gpu}" if configuration.gpu else ""
    return f"{vcpus_of(configuration):g} vCPU {memory_of(configuration) / 2**20:.0f} MiB {disk_of(configuration)}{gpu}"
