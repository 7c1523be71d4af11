"""How much of what slows the reads of a probe a workload feels: a coefficient of its own, from its own runs.

Ln seconds a sample are regressed on ln cost of a round, over stretches of all of its runs, both about their mean over
all repeats of a configuration: what differs between configurations has no say. Where the rate of a run shows little of
a slower CPU (`exposure.py`), it is expected to show as little of this. For each run it is found from the
other runs, and drawn to nothing by its error. What the probe is off by chance would make it too small (Fuller 1987,
"Measurement error models"), so the squares that this adds are taken out.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sizer.model.equation import Array
from sizer.model.feeds import made_alike
from sizer.records import Run

STRETCH = 2.0
"""Seconds that a stretch lasts at the least: about four looks."""
FEWEST_LOOKS = 2
"""Below which a stretch tells nothing."""
FAR = 0.3
"""Ln of how many times as much as the mean a look counts at the most, as for the mean itself (`probe_cost.py`)."""
FEWEST_RUNS = 3
"""Others of the workload, below which no coefficient is known."""
UNTOLD_ERROR = 0.05
"""Relative error of the mean of so few rounds that they do not tell it."""
LEAST_TRUE = 0.25
"""Of the squares of the probe, what is not chance at the least: with less its coefficient would be chance, too."""
LEAST_LEFT = 0.1
"""Of the variance between stretches, at the least: they are too few to show less."""
MOST = 1.5
"""Of a coefficient: no job feels much more of the host than reads that miss all that a core has for itself."""


@dataclass(frozen=True)
class Coefficient:
    """Of ln seconds a sample with ln cost of a round, of a run that only the CPU binds, drawn to nothing by its error;
    its deviation; and how much of the deviation between stretches it leaves."""

    value: float = 0.0
    deviation: float = 0.0
    leaves: float = 1.0


@dataclass(frozen=True)
class _Sums:
    """Over the stretches of a run, about the means of its configuration: squares of the probe, those of them that are
    chance, products with the time of a sample, and squares of that."""

    squares: float
    chance: float
    products: float
    times: float


def coefficients(runs: Sequence[Run], shown: Mapping[int, float]) -> dict[int, Coefficient]:
    """By `id(run)`, of runs that have a probe, that of their workload from its other runs; `shown` are exposures."""
    workloads: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        workloads[run.spec.workload.name].append(run)
    found: dict[int, Coefficient] = {}
    for own in workloads.values():
        found |= _of_workload(own, shown)
    return found


def error_of(run: Run) -> float:
    """Relative standard error of the mean cost of the rounds beside a run."""
    assert run.probe is not None, "only probed runs are asked"
    return UNTOLD_ERROR if run.probe.error is None else run.probe.error


def _of_workload(runs: Sequence[Run], shown: Mapping[int, float]) -> dict[int, Coefficient]:
    groups = [{id(run): stretches(run, shown[id(run)]) for run in group} for group in made_alike(runs)]
    sums = [_sums(group.values()) for group in groups]
    found = {}
    for number, group in enumerate(groups):
        others = [each for place, own in enumerate(sums) if place != number for each in own]
        for run in group:
            found[run] = _coefficient([*others, *_sums(rows for other, rows in group.items() if other != run)])
    return found


def _sums(group: Iterable[Array]) -> list[_Sums]:
    """Of each run that was made alike; one stretch is no way off its own mean."""
    kept = [rows for rows in group if len(rows)]
    if sum(map(len, kept)) < 2:
        return []
    together = np.concatenate(kept)
    left = 1 - 1 / len(together)
    time, probe, _ = together.mean(axis=0)
    return [
        _Sums(
            float(((rows[:, 1] - probe) ** 2).sum()),
            left * float(rows[:, 2].sum()),
            float((rows[:, 0] - time) @ (rows[:, 1] - probe)),
            float(((rows[:, 0] - time) ** 2).sum()),
        )
        for rows in kept
    ]


def _coefficient(sums: Sequence[_Sums]) -> Coefficient:
    """By least squares; its variance by how far single runs are off it, as stretches of a run have much in common.

    What is left of it is the part of its square that is not error (James and Stein's estimator, the positive part).
    """
    squares, count = math.fsum(each.squares for each in sums), len(sums)
    if count < FEWEST_RUNS or squares <= 0:
        return Coefficient()
    true = max(LEAST_TRUE, 1 - math.fsum(each.chance for each in sums) / squares)
    slope = math.fsum(each.products for each in sums) / (true * squares)
    apart = math.fsum((each.products - slope * true * each.squares) ** 2 for each in sums)
    variance = apart / (true * squares) ** 2 * count / (count - 1)
    if slope <= 0 or variance >= slope**2:
        return Coefficient()
    value = min(MOST, slope * (1 - variance / slope**2))
    times, products = (math.fsum(getattr(each, name) for each in sums) for name in ("times", "products"))
    left = 1 - value * (2 * products - value * squares) / times if times else 1.0
    return Coefficient(value, math.sqrt(variance), math.sqrt(min(1.0, max(LEAST_LEFT, left))))


def stretches(run: Run, exposure: float) -> Array:
    """Of stretches of its steady state rows of ln seconds a sample, `exposure` times ln cost of a round, and the
    variance by which the latter is off by chance."""
    begin = run.steps[0].time + (run.warm_up_seconds or 0.0) if run.steps else 0.0
    end = begin + (run.measured_seconds or 0.0)
    within = [sample for sample in run.samples if begin <= sample.time <= end]
    if run.probe is None or run.probe.during is None or not run.steps or len(within) < 2:
        return np.zeros((0, 3))
    times = np.array([sample.time for sample in within])
    done = np.interp(times, [step.time for step in run.steps], np.cumsum([step.samples for step in run.steps]))
    rounds = np.diff([sample.probe_rounds for sample in within])
    seconds = np.diff([sample.probe_core_seconds for sample in within])
    looked = (rounds > 0) & (seconds > 0)
    logs = np.log(np.where(looked, seconds, 1.0) / np.where(looked, rounds, 1)) - math.log(run.probe.during)
    logs = np.where(looked, np.clip(logs, -FAR, FAR), 0.0)
    parts = np.linspace(times[0], times[-1], max(1, int((times[-1] - times[0]) / STRETCH)) + 1)
    edges = np.unique([*np.searchsorted(times, parts[:-1]), len(times) - 1])
    looks, costs = (np.add.reduceat(each, edges[:-1]) for each in (looked.astype(float), logs))
    lasted, made = np.diff(times[edges]), np.diff(done[edges])
    told = (looks >= FEWEST_LOOKS) & (made > 0)
    probe = exposure * (costs[told] / looks[told] + math.log(run.probe.during))
    chance = (exposure * error_of(run)) ** 2 * looked.sum() / looks[told]
    rows: Array = np.column_stack([np.log(lasted[told] / made[told]), probe, chance])
    return rows
