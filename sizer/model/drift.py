"""How slow the host was through a study, as a path in time: what was measured again says it, and how surely.

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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone

import numpy as np

from sizer.model.equation import Array, Indices
from sizer.model.exposure import exposures, own_deviation, rate_of, within
from sizer.model.feeds import made_alike
from sizer.model.one_thread import one_thread
from sizer.records.run import Run

AMPLITUDES = (0.0, 0.03, 0.1, 0.25)
"""Standard deviations of ln speed that are tried: from a quiet host to one that others use."""
LENGTHS = (0.06, 0.2, 0.7)
"""Of the time from the first run to the last: after how long it has forgotten."""
SHARED = (1.0, 0.5, 0.0)
"""Parts of its variance that are the host's; the others are each workload's own."""
NOISES = (0.004, 0.01, 0.025, 0.06)
"""Standard deviations of ln rate from run to run that are left, of a run that the CPU binds."""
QUIET = 0.4
"""The belief that the host did not move; the other amplitudes share the rest."""
LEAST_EXPOSED = 0.2
"""Of the noise of a run that the CPU binds, what others have at the least."""
LEVEL = 3.0
"""Standard deviation of the level of a configuration, of which nothing is known."""
MOST = 150
"""Runs that it is found by, and of each workload that it is computed at; the others lie between in time."""
COUNTS = 0.01
"""Of all weight, what a point of the grid must have to be averaged."""


@dataclass(frozen=True)
class Shift:
    """How far a run that only the CPU binds was off the usual rate of its workload, in ln: mean and variance."""

    mean: float
    variance: float


@dataclass(frozen=True)
class Drift:
    """The path at each run, by its workload and start; `deviation` is how far it moves from its mean, by workload."""

    shifts: dict[tuple[str, str | None], Shift] = field(default_factory=dict)
    deviation: dict[str, float] = field(default_factory=dict)

    def at(self, run: Run) -> Shift | None:
        """None where nothing that was measured again tells it."""
        return self.shifts.get(_key(run))

    @property
    def moves(self) -> bool:
        """Whether what was measured again tells how far the host moves, and that it may."""
        return any(self.deviation.values())


NO_DRIFT = Drift()
"""Of a study of which nothing tells it."""


@dataclass(frozen=True)
class _Series:
    """Runs as arrays of one length: `time` in parts of the whole, `workload` and `level` as numbers."""

    time: Array
    workload: Array
    exposure: Array

    def some(self, chosen: Indices) -> _Series:
        return _Series(self.time[chosen], self.workload[chosen], self.exposure[chosen])

    def covariance(self, other: _Series, length: float, shared: float) -> Array:
        """Of the path at both, in units of its variance."""
        alike = self.workload[:, None] == other.workload[None]
        path = np.exp(-np.abs(self.time[:, None] - other.time[None]) / length)
        found: Array = path * np.where(alike, 1.0, shared)
        return found


@dataclass(frozen=True)
class _Seen:
    """What was measured again: ln rates about the mean of their configuration, with what each may be off by itself."""

    series: _Series
    values: Array
    own: Array
    same_level: Array


@dataclass(frozen=True)
class _Point:
    """A point of the grid, with ln of its weight."""

    amplitude: float
    length: float
    shared: float
    noise: float
    weight: float = 0.0


@one_thread
def drift_of(runs: Sequence[Run]) -> Drift:
    """The path at the runs of a whole study, all with rates; empty where nothing was measured again at known times."""
    times = {id(run): at for run in runs if (at := _middle(run)) is not None}
    timed = [run for run in runs if id(run) in times]
    first, last = (end(times.values(), default=0.0) for end in (min, max))
    again = _measured_again(timed)
    if last <= first or not again:
        return NO_DRIFT
    shown = exposures(timed)
    names = {name: number for number, name in enumerate(dict.fromkeys(run.spec.workload.name for run in timed))}

    def series(chosen: Sequence[Run]) -> _Series:
        time = np.array([(times[id(run)] - first) / (last - first) for run in chosen])
        workload = np.array([float(names[run.spec.workload.name]) for run in chosen])
        return _Series(time, workload, np.array([shown[id(run)] for run in chosen]))

    seen = _seen(again, series, shown)
    points = _weighed(seen, several=len(names) > 1)
    mean, variance = _at(seen, points, series(timed))
    shifts = {_key(run): Shift(float(m), float(v)) for run, m, v in zip(timed, mean, variance, strict=True)}
    moved = math.sqrt(sum(point.weight * point.amplitude**2 for point in points))
    return Drift(shifts, dict.fromkeys(names, moved))


def _key(run: Run) -> tuple[str, str | None]:
    return run.spec.workload.name, run.started_at


def _middle(run: Run) -> float | None:
    """The middle of its time, in seconds since the epoch."""
    return _moment(run, run.wall_seconds / 2)


def _moment(run: Run, after: float) -> float | None:
    """So many seconds after it began, in seconds since the epoch; None where it does not say, or was imported."""
    if run.started_at is None or run.imported:
        return None
    try:
        began = datetime.fromisoformat(run.started_at.replace("Z", "+00:00"))
    except ValueError:
        return None
    return began.timestamp() + after


def measured_after(run: Run, runs: Iterable[Run]) -> Run:
    """The same run as if it had begun when the last of `runs` ended."""
    ends = [at for each in runs if (at := _moment(each, each.wall_seconds)) is not None]
    return replace(run, started_at=datetime.fromtimestamp(max(ends), timezone.utc).isoformat()) if ends else run


def _measured_again(runs: Sequence[Run]) -> list[list[Run]]:
    """The groups of runs that were made alike, at most MOST runs in all."""
    groups = sorted((group for group in made_alike(runs) if len(group) > 1), key=len, reverse=True)
    found, count = [], 0
    for group in groups:
        kept = group[:: math.ceil(len(group) / MOST)]
        if count + len(kept) > MOST:
            break
        found.append(kept)
        count += len(kept)
    return found if count > 2 else []


def _seen(
    groups: Sequence[Sequence[Run]],
    series: Callable[[Sequence[Run]], _Series],
    shown: Mapping[int, float],
) -> _Seen:
    chosen = [run for group in groups for run in group]
    level = np.array([number for number, group in enumerate(groups) for _ in group])
    logs = np.array([math.log(rate_of(run).value) for run in chosen])
    for number in range(len(groups)):
        logs[level == number] -= logs[level == number].mean()
    own = np.array([math.hypot(within(run) or 0.0, own_deviation(run, shown[id(run)], True)) for run in chosen])
    return _Seen(series(chosen), logs, own, LEVEL**2 * (level[:, None] == level[None]))


def _grid(several: bool) -> Iterator[_Point]:
    for noise in NOISES:
        yield _Point(0.0, 1.0, 1.0, noise, math.log(QUIET))
    moving = AMPLITUDES[1:]
    ways = list(itertools.product(LENGTHS, SHARED if several else (1.0,)))
    belief = math.log((1 - QUIET) / len(moving) / len(ways))
    for amplitude, (length, shared), noise in itertools.product(moving, ways, NOISES):
        yield _Point(amplitude, length, shared, noise, belief)


def _weighed(seen: _Seen, several: bool) -> list[_Point]:
    """The points of the grid that count, with weights that sum to one."""
    found = []
    for point in _grid(several):
        lower = np.linalg.cholesky(_covariance(seen, point))
        whitened = np.linalg.solve(lower, seen.values)
        likelihood = -0.5 * float(whitened @ whitened) - float(np.log(np.diag(lower)).sum())
        found.append((point, point.weight + likelihood))
    best = max(weight for _, weight in found)
    total = sum(math.exp(weight - best) for _, weight in found)
    shares = [(point, math.exp(weight - best) / total) for point, weight in found]
    kept = [(point, share) for point, share in shares if share >= COUNTS] or [max(shares, key=lambda each: each[1])]
    whole = sum(share for _, share in kept)
    return [_Point(p.amplitude, p.length, p.shared, p.noise, share / whole) for p, share in kept]


def _covariance(seen: _Seen, point: _Point) -> Array:
    exposure = seen.series.exposure
    left = seen.own**2 + (point.noise * np.maximum(exposure, LEAST_EXPOSED)) ** 2
    found: Array = seen.same_level + np.diag(left)
    if point.amplitude:
        path = seen.series.covariance(seen.series, point.length, point.shared)
        found = found + point.amplitude**2 * np.outer(exposure, exposure) * path
    return found


def _at(seen: _Seen, points: Sequence[_Point], places: _Series) -> tuple[Array, Array]:
    """Mean and variance of the path at these runs about its mean over those of their workload.

    What is uncertain about all runs of a workload alike is no doubt about how they compare.
    """
    means, variances = np.zeros(places.time.size), np.zeros(places.time.size)
    for workload in np.unique(places.workload):
        own = np.flatnonzero(places.workload == workload)
        in_time = own[np.argsort(places.time[own], kind="stable")]
        evenly = np.unique(np.linspace(0, in_time.size - 1, min(in_time.size, MOST)).round().astype(int))
        there = places.some(in_time[evenly])
        mean, variance = _along(seen, points, there)
        means[own] = np.interp(places.time[own], there.time, mean)
        variances[own] = np.interp(places.time[own], there.time, variance)
    return means, variances


def _along(seen: _Seen, points: Sequence[_Point], there: _Series) -> tuple[Array, Array]:
    """The same at runs of one workload in the order of time."""
    means, squares = np.zeros(there.time.size), np.zeros(there.time.size)
    for point in points:
        if not point.amplitude:
            continue
        across = point.amplitude**2 * there.covariance(seen.series, point.length, point.shared)
        across = across * seen.series.exposure[None]
        before = point.amplitude**2 * there.covariance(there, point.length, point.shared)
        inverse = np.linalg.inv(_covariance(seen, point))
        after = before - across @ inverse @ across.T
        path = across @ (inverse @ seen.values)
        variance = np.diag(after) - 2 * after.mean(axis=1) + after.mean()
        path = path - path.mean()
        means += point.weight * path
        squares += point.weight * (np.maximum(variance, 0.0) + path**2)
    return means, np.maximum(squares - means**2, 0.0)
