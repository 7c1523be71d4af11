"""What the host did to the rates: how much of a slower CPU each run shows, and how slow the host was when it was made.

`ln rate = level of its configuration + exposure x path(time) + noise`. The path is a Gaussian process that forgets
(Ornstein-Uhlenbeck: steps, ramps and spells have about its shape), one part of it the host's, which all workloads
share, and one part each workload's own. Only what was measured again tells it from the levels: the reference
configuration, and the repeats of every workload. How far it moves, how soon it forgets, which part is shared and how
much noise is left are averaged over a grid by their likelihood (Rasmussen and Williams 2006, chapter 5), so that a host
that did not move corrects nothing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import NamedTuple, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from sizer.model.equation import Array
from sizer.model.model import vcpus_of
from sizer.model.runs import made_alike
from sizer.records.prediction import NORMAL_95, Bottleneck, Estimate
from sizer.records.run import Run, WarningKind

Given = ParamSpec("Given")
Result = TypeVar("Result")

AMPLITUDES = (0.03, 0.1, 0.25)
"""Standard deviations of ln speed that are tried beside a quiet host's."""
LENGTHS = (0.06, 0.2, 0.7)
"""Of the time from the first run to the last: after how long it has forgotten."""
SHARED = (1.0, 0.5, 0.0)
"""Parts of its variance that are the host's; the others are each workload's own."""
NOISES = (0.004, 0.01, 0.025, 0.06)
"""Standard deviations of ln rate from run to run that are left, of a run that the CPU binds."""
QUIET = 0.4
"""The belief that the host did not move; the amplitudes share the rest."""
LEAST_EXPOSED = 0.2
"""Of the noise of a run that the CPU binds, what others have at the least."""
LEVEL = 3.0
"""Standard deviation of the level of a configuration, of which nothing is known."""
MOST_RUNS = 150
"""Runs that it is found by; of more, as many evenly."""
COUNTS = 0.01
"""Of the weight of the likeliest point of the grid, what another must have to be averaged."""

BUSY = 0.85
"""From this share of its vCPUs on the CPU binds a run (the threshold of the accounting)."""
OVERLAP, IN_TURN = 6.0, 2.0
"""A CPU that is busy for the share u has u^p of the time: p where another resource is named, as in the model, and where
none is, as a worker may wait and compute in turn. Then what others on the host used counts as busy, too: a run that may
use two CPUs and gets one of them names nothing."""
OF_ITSELF = frozenset({Bottleneck.CPU, Bottleneck.SERIAL, Bottleneck.AMBIGUOUS, Bottleneck.MEMORY})
"""What accounting names where a slower CPU may still count."""
NOT_TRUSTED = 1.5
"""Of an interval that may miss a longer run's rate: of such simulated runs 78 to 92 % were covered instead of 95 %."""
UNTOLD = 0.05
"""Standard deviation of ln rate of a log that tells one and the same rate in every line."""
BY_CHANCE = 0.5
"""Of the worst that others on the host may have done to a run: nobody knows on which CPU, or when, they ran."""
MARKED = 0.05
"""How far in ln the host moved about a run whose mark of drift has no figures, as in a table, and how many cores others
used beside one that is so marked: the least that marks."""


def one_thread(work: Callable[Given, Result]) -> Callable[Given, Result]:
    """The function; while it runs linear algebra has one thread in this process, and afterwards as many as before.

    The matrices of a model are small. By itself OpenBLAS, which comes with numpy, spreads each over all CPUs with
    threads that spin: beside other processes, as where workloads are fitted side by side, most of the time goes there.
    """
    alone: Callable[Given, Result] = threadpool_limits.wrap(limits=1, user_api="blas")(work)
    return alone


class Shift(NamedTuple):
    """How far a run that only the CPU binds was off the usual rate of its workload, in ln: mean and variance."""

    mean: float
    variance: float


@dataclass(frozen=True)
class Drift:
    """The path at each run, by its workload and start; `moved` is how far it moves from its mean."""

    shifts: Mapping[tuple[str, str | None], Shift] = field(default_factory=dict)
    moved: float = 0.0

    def at(self, run: Run) -> Shift | None:
        """None where nothing that was measured again tells it."""
        return self.shifts.get(_key(run))


NO_DRIFT = Drift()
"""Of a study of which nothing tells it."""


@dataclass(frozen=True)
class _Series:
    """Runs as arrays: `time` in parts of the whole, `workload` as numbers."""

    time: Array
    workload: Array
    exposure: Array

    def part(self, chosen: NDArray[np.intp]) -> _Series:
        return _Series(self.time[chosen], self.workload[chosen], self.exposure[chosen])

    def covariance(self, other: _Series, length: float, shared: float) -> Array:
        """Of the path at both, in units of its variance."""
        path = np.exp(-np.abs(self.time[:, None] - other.time) / length)
        return np.asarray(path * np.where(self.workload[:, None] == other.workload, 1.0, shared))


@one_thread
def drift_of(runs: Sequence[Run]) -> Drift:
    """The path at the runs of a whole study, all with rates; empty where nothing was measured again at known times."""
    times = {id(run): at for run in runs if (at := _moment(run, run.wall_seconds / 2)) is not None}
    timed = [run for run in runs if id(run) in times]
    groups = [group for group in made_alike(timed) if len(group) > 1]
    first, last = min(times.values(), default=0.0), max(times.values(), default=0.0)
    if last <= first or sum(map(len, groups)) < 3:
        return NO_DRIFT
    exposure = exposures(timed)
    names = list(dict.fromkeys(run.spec.workload.name for run in timed))

    def series(chosen: Sequence[Run]) -> _Series:
        time = [(times[id(run)] - first) / (last - first) for run in chosen]
        workload = [names.index(run.spec.workload.name) for run in chosen]
        return _Series(np.array(time), np.array(workload), np.array([exposure[id(run)] for run in chosen]))

    several = [(number, run) for number, group in enumerate(groups) for run in group]
    again = several[:: math.ceil(len(several) / MOST_RUNS)]
    level = np.array([number for number, _ in again])
    logs = np.array([math.log(rate_of(run).value) for _, run in again])
    logs -= np.array([logs[level == number].mean() for number in level])
    own = np.array([math.hypot(within(run) or 0.0, own_deviation(run, exposure[id(run)], True)) for _, run in again])
    covariance = LEVEL**2 * (level[:, None] == level) + np.diag(own**2)
    mean, variance, moved = _path(series([run for _, run in again]), logs, covariance, series(timed), len(names) > 1)
    return Drift({_key(run): Shift(float(m), float(v)) for run, m, v in zip(timed, mean, variance, strict=True)}, moved)


def _path(again: _Series, logs: Array, covariance: Array, there: _Series, several: bool) -> tuple[Array, Array, float]:
    """Mean and variance of the path at other runs about its mean over those of their workload, and how far it moves.

    `logs` are ln rates of runs that were measured again, `known` the covariance of their levels and their own noise.
    What is uncertain about all runs of a workload alike is no doubt about how they compare.
    """
    ways = list(itertools.product(AMPLITUDES, LENGTHS, SHARED if several else (1.0,)))
    grid = [(0.0, 1.0, 1.0, QUIET), *((*way, (1 - QUIET) / len(ways)) for way in ways)]
    exposed = np.outer(again.exposure, again.exposure)
    points: list[tuple[float, float, float, float, Array]] = []
    for (amplitude, length, shared, belief), noise in itertools.product(grid, NOISES):
        left = np.diag((noise * np.maximum(again.exposure, LEAST_EXPOSED)) ** 2)
        lower = np.linalg.cholesky(covariance + left + amplitude**2 * exposed * again.covariance(again, length, shared))
        white = np.linalg.solve(lower, logs)
        log_weight = math.log(belief) - 0.5 * float(white @ white) - float(np.log(np.diag(lower)).sum())
        points.append((log_weight, amplitude, length, shared, lower))
    weights = np.array([log_weight for log_weight, *_ in points])
    weights = np.exp(weights - weights.max())
    weights = np.where(weights > COUNTS, weights, 0.0) / weights[weights > COUNTS].sum()
    own = [np.flatnonzero(there.workload == number) for number in np.unique(there.workload)]
    few = [there.part(runs[:: math.ceil(len(runs) / MOST_RUNS)]) for runs in own]
    mean, squares = np.zeros((2, len(there.time)))
    for weight, (_, amplitude, length, shared, lower) in zip(weights, points, strict=True):
        if weight and amplitude:
            across, before = there.covariance(again, length, shared), np.ones(len(there.time))
            for runs, some in zip(own, few, strict=True):  # about the mean over those of the workload
                across[runs] -= some.covariance(again, length, shared).mean(axis=0)
                before[runs] -= 2 * there.part(runs).covariance(some, length, shared).mean(axis=1)
                before[runs] += some.covariance(some, length, shared).mean()
            half = np.linalg.solve(lower, amplitude**2 * (across * again.exposure).T)
            path = half.T @ np.linalg.solve(lower, logs)
            mean += weight * path
            left_over = np.maximum(amplitude**2 * before - (half**2).sum(axis=0), 0.0)
            squares += weight * (left_over + path**2)
    moved = math.sqrt(sum(weight * point[1] ** 2 for weight, point in zip(weights, points, strict=True)))
    return mean, np.maximum(squares - mean**2, 0.0), moved


def _key(run: Run) -> tuple[str, str | None]:
    return run.spec.workload.name, run.started_at


def _moment(run: Run, after: float) -> float | None:
    """So many seconds after it began, in seconds since the epoch; None where it does not say, or where the row of a
    table has no accounting: who times none tells dates."""
    accounted = run.demand is not None and run.demand.core_seconds is not None
    if run.started_at is None or (run.imported and not accounted):
        return None
    try:
        return datetime.fromisoformat(run.started_at.replace("Z", "+00:00")).timestamp() + after
    except ValueError:
        return None


def measured_after(run: Run, runs: Iterable[Run]) -> Run:
    """The same run as if it had begun when the last of `runs` ended."""
    ends = [at for other in runs if (at := _moment(other, other.wall_seconds)) is not None]
    return replace(run, started_at=datetime.fromtimestamp(max(ends), timezone.utc).isoformat()) if ends else run


def exposures(runs: Sequence[Run]) -> dict[int, float]:
    """By `id(run)` how much of a slower CPU its rate shows, 0 to 1; 1 where nothing was accounted.

    What waits for an accelerator or a disk waits as long as before. What binds belongs to a configuration, so of its
    runs the one that was the busiest says it: in another the CPU's time may have been taken by others.
    """
    by_run: dict[int, float] = {}
    for group in made_alike(runs):
        by_run |= dict.fromkeys(map(id, group), max(map(_exposure, group)))
    return by_run


def _exposure(run: Run) -> float:
    named = run.evidence.bottleneck if run.evidence is not None else Bottleneck.AMBIGUOUS
    cost = run.demand.core_seconds if run.demand is not None else None
    if not cost or run.throughput is None or named in (Bottleneck.CPU, Bottleneck.SERIAL):
        return 1.0
    cores, overlap = run.throughput.value * cost, OVERLAP
    if named in OF_ITSELF:
        cores, overlap = cores + (run.conditions.other_cores or 0.0) + (run.conditions.stolen_cores or 0.0), IN_TURN
    return math.pow(min(1.0, cores / vcpus_of(run.configuration) / BUSY), overlap)


def rate_of(run: Run) -> Estimate:
    """The throughput of a run that has one."""
    assert run.throughput is not None, "only measured runs are asked"
    return run.throughput


def within(run: Run) -> float | None:
    """The run's own standard deviation of ln throughput, from its 95 % interval; None without one."""
    rate = rate_of(run)
    if not rate.has_interval:
        return None
    if rate.low <= 0:  # so little is known that nothing is left below it: as wide as above
        return math.log(max(rate.high, rate.value) / rate.value) / NORMAL_95 or None
    return (math.log(rate.high) - math.log(rate.low)) / (2 * NORMAL_95)


def own_deviation(run: Run, exposure: float, host_modelled: bool) -> float:
    """Standard deviation of ln rate that the run's own warnings name, beside what its interval says.

    `host_modelled`: how slow the host was meanwhile is known otherwise, so that a mark of its drift says nothing more.
    """
    warned = {warning.kind: warning.figures for warning in reversed(run.warnings)}
    cpus = max(1, math.ceil(vcpus_of(run.configuration)))
    parts = [0.0]
    for kind in warned.keys() & {WarningKind.CONTENDED, WarningKind.STOLEN}:
        parts.append(exposure * BY_CHANCE * math.log1p(warned[kind].get("cores", MARKED) / cpus))
    if WarningKind.GPU_SHARED in warned:
        parts.append(BY_CHANCE * math.log1p(warned[WarningKind.GPU_SHARED].get("share", 0.0)))
    if WarningKind.UNSETTLED in warned:
        parts.append(math.sqrt(NOT_TRUSTED**2 - 1) * (within(run) or 0.0))
    if WarningKind.ONE_READING in warned:
        parts.append(UNTOLD)
    if WarningKind.DRIFTING in warned and not host_modelled:
        parts.append(exposure * BY_CHANCE * _moved(warned[WarningKind.DRIFTING]))
    return math.hypot(*parts)


def _moved(figures: Mapping[str, float]) -> float:
    """In ln: from the measurement of the reference before a run to the one after it, or from the usual one to it."""
    low, high = figures.get("before", figures.get("low", 0.0)), figures.get("after", figures.get("high", 0.0))
    here = figures.get("level", figures.get("rate", 0.0))
    if min(low, high) <= 0 or ("before" not in figures and here <= 0):
        return MARKED
    return abs(math.log(high / low if "before" in figures else here / math.sqrt(low * high)))
