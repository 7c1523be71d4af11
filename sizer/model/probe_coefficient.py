"""How much of what slows a probe a workload feels: a coefficient of its own for each kind, from its own runs.

Ln seconds a sample are regressed on ln cost of the reads and of the products of a round, over stretches of all of its
runs, all about their mean over all repeats of a configuration: what differs between configurations has no say. Where
the rate of a run shows little of a slower CPU (`exposure.py`), it is expected to show as little of this. For each run
they are found from the other runs, and drawn to nothing by their error (`ridge.py`). What a probe is off by chance
makes them smaller, and is not put back: how much of it is chance, a look to the next does not tell, as the host moves
meanwhile, too; on a measured grid that took off a quarter too much.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sizer.model.equation import Array
from sizer.model.feeds import made_alike
from sizer.model.ridge import drawn_to_nothing
from sizer.model.stretches import stretches
from sizer.records import Run

FEWEST_LOOKS = 2
"""Below which a stretch tells nothing."""
FAR = 0.3
"""Ln of how many times as much as the mean a look counts at the most, as for the mean itself (`probe_cost.py`)."""
FEWEST_OTHERS = 4
"""Other runs of the workload, below which no coefficient is known; one less where there are reads alone."""
KINDS = 2
"""That a probe has: reads and products."""
MOST_CONDITION = 1e6
"""Of the squares of the kinds: beyond it they moved so alike that nothing tells them apart."""
LEAST_LEFT = 0.02
"""Of the variance between stretches, at the least: less would be chance."""
MOST = 1.5
"""Of a coefficient: no job feels much more of the host than what it is looked at by."""


@dataclass(frozen=True)
class Coefficients:
    """Of ln seconds a sample with ln cost of each kind (K,), of a run that only the CPU binds, drawn to nothing by
    their error; their covariance (K, K); what they leave of the deviation between stretches.
    """

    values: Array
    covariance: Array
    leaves: float = 1.0


@dataclass(frozen=True)
class _Sums:
    """Over the stretches of a run, about the means of its configuration: products of the kinds with each other (K, K),
    with the time of a sample (K,), and squares of that."""

    squares: Array
    products: Array
    times: float


def coefficients(runs: Sequence[Run], shown: Mapping[int, float]) -> dict[int, Coefficients]:
    """By `id(run)`, of runs that have a probe, those of their workload from its other runs; `shown` are exposures."""
    kinds = kinds_of(runs)
    workloads: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        workloads[run.spec.workload.name].append(run)
    found: dict[int, Coefficients] = {}
    for own in workloads.values():
        found |= _of_workload(own, shown, kinds)
    return found


def needed(runs: Iterable[Run]) -> int:
    """How many runs of a workload must tell how its rate follows the probe: the one that is corrected, and others."""
    return _others(kinds_of(runs) or KINDS) + 1


def telling(runs: Sequence[Run], shown: Mapping[int, float]) -> int:
    """How many of these runs of one workload do."""
    kinds = kinds_of(runs)
    groups = [[_rows(run, shown[id(run)], kinds) for run in group] for group in made_alike(runs)]
    return sum(len(_sums(group)) for group in groups)


def _others(kinds: int) -> int:
    return FEWEST_OTHERS + kinds - KINDS


def kinds_of(runs: Iterable[Run]) -> int:
    """How many kinds all of their probes have: reads, and products where none was made by a sizer before."""
    return min((len(run.probe.kinds) for run in runs if run.probe is not None), default=0)


def _of_workload(runs: Sequence[Run], shown: Mapping[int, float], kinds: int) -> dict[int, Coefficients]:
    groups = [{id(run): _rows(run, shown[id(run)], kinds) for run in group} for group in made_alike(runs)]
    sums = [_sums(group.values()) for group in groups]
    found = {}
    for number, group in enumerate(groups):
        others = [each for place, own in enumerate(sums) if place != number for each in own]
        for run in group:
            alike = _sums((rows for other, rows in group.items() if other != run))
            found[run] = _coefficients([*others, *alike], kinds)
    return found


def _sums(group: Iterable[Array]) -> list[_Sums]:
    """Of each run that was made alike; one stretch is no way off its own mean."""
    kept = [rows for rows in group if len(rows)]
    if sum(map(len, kept)) < 2:
        return []
    together = np.concatenate(kept)
    middle = together.mean(axis=0)
    found = []
    for rows in kept:
        times, probes = rows[:, 0] - middle[0], rows[:, 1:] - middle[1:]
        found.append(_Sums(probes.T @ probes, probes.T @ times, float(times @ times)))
    return found


def _coefficients(sums: Sequence[_Sums], kinds: int) -> Coefficients:
    """By least squares; their variance by how far single runs are off, as stretches of a run have much in common."""
    none, count = Coefficients(np.zeros(kinds), np.zeros((kinds, kinds))), len(sums)
    if count < _others(kinds):
        return none
    squares = np.sum([each.squares for each in sums], axis=0)
    if not (np.diag(squares) > 0).all() or np.linalg.cond(squares) > MOST_CONDITION:
        return none
    products = np.sum([each.products for each in sums], axis=0)
    slopes = np.linalg.solve(squares, products)
    apart = np.array([each.products - each.squares @ slopes for each in sums])
    each = np.linalg.solve(squares, apart.T)
    values, covariance = drawn_to_nothing(slopes, each @ each.T * count / (count - kinds))
    if not values.any():
        return none
    values = np.minimum(MOST, values)
    times = math.fsum(each.times for each in sums)
    left = 1 - float(values @ (2 * products - squares @ values)) / times if times else 1.0
    return Coefficients(values, covariance, math.sqrt(min(1.0, max(LEAST_LEFT, left))))


def _rows(run: Run, exposure: float, kinds: int) -> Array:
    """Of stretches of its steady state rows of ln seconds a sample, `exposure` times ln cost of each kind."""
    found = stretches(run)
    if run.probe is None or run.probe.during is None or not found.times.size:
        return np.zeros((0, 1 + kinds))
    within, edges = found.readings, found.edges
    rounds = np.diff([sample.probe_rounds for sample in within])
    used = [[sample.probe_core_seconds, sample.product_core_seconds][:kinds] for sample in within]
    seconds, means = np.diff(used, axis=0), np.log([each.during or 1.0 for each in run.probe.kinds[:kinds]])
    looked = (rounds > 0) & (seconds > 0).all(axis=1)
    costs = np.log(np.where(looked[:, None], seconds / np.maximum(rounds, 1)[:, None], 1.0)) - means
    costs = np.where(looked[:, None], np.clip(costs, -FAR, FAR), 0.0)
    looks, sums = np.add.reduceat(looked.astype(float), edges[:-1]), np.add.reduceat(costs, edges[:-1], axis=0)
    told = (looks >= FEWEST_LOOKS) & (found.times > 0)
    probes = exposure * (sums[told] / looks[told, None] + means)
    rows: Array = np.column_stack([np.log(found.times[told]), probes])
    return rows
