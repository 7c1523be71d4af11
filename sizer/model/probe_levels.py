"""What of the cost of a probe is the host's, and what belongs to the configuration that it was made beside.

`ln cost = level of its configuration + path of the host in time + noise of the host + chance`. A job's own memory
traffic slows a probe beside it, and more with more vCPUs: that is the level of a configuration, in which the host has
no part, and of which nothing is believed. So only how the probe differed between the repeats of one configuration
tells the host, and no difference between configurations can be explained away. How far the host moves, how soon it
forgets and how noisy it is from run to run are averaged over a grid by their likelihood, as for the path of the rates
(`drift.py`). Probes on the idle host, before each run, have a level of their own, and tell the path alone.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sizer.model.equation import Array, Indices

AMPLITUDES = (0.0, 0.02, 0.06, 0.2)
"""Standard deviations that are tried, in ln: of the path of the host,"""
NOISES = (0.002, 0.01, 0.03, 0.1)
"""and of what it has from run to run beside that."""
LENGTHS = (0.06, 0.3)
"""Of the time from the first to the last: after how long the path has forgotten."""
LEVEL = 3.0
"""Standard deviation of the level of a configuration, of which nothing is known."""
KNOTS = 48
"""Times at which the path is found, evenly spread; between them it is a straight line."""
MOST, MOST_ALIKE = 150, 30
"""Looks by which the grid is weighed, and of those beside one configuration."""
COUNTS = 0.01
"""Of all weight, what a point of the grid must have to be averaged."""


@dataclass(frozen=True)
class Looks:
    """What probes cost, as arrays of one length: `time` in seconds, `cost` and its `error` in ln; `workload` and
    `configuration` as numbers, those on the idle host being of their own."""

    time: Array
    cost: Array
    error: Array
    workload: Indices
    configuration: Indices

    def some(self, chosen: Indices) -> Looks:
        return Looks(*(getattr(self, name)[chosen] for name in self.__dataclass_fields__))


@dataclass(frozen=True)
class HostPart:
    """Ln of how many times as much a probe cost because of the host, about the mean over its workload; its standard
    deviation by itself, and the one that it has in common with others beside the same configuration."""

    log: float
    own: float
    common: float


@dataclass(frozen=True)
class _Point:
    """A point of the grid, in units of ln and of the whole time."""

    amplitude: float
    noise: float
    length: float


@dataclass(frozen=True)
class _Shape:
    """How looks hang on what is unknown: the level of each configuration (`levels`, n x K, one 1 a row), and the path
    at each of its knots (`path`, n x KNOTS); `apart` are the times between knots, in parts of the whole."""

    levels: Array
    path: Array
    apart: Array

    def precision(self, point: _Point) -> Array:
        """Of the prior of both; of a path that stands still without the latter."""
        levels = np.full(self.levels.shape[1], LEVEL**-2.0)
        if not point.amplitude:
            return np.diag(levels)
        count = levels.size
        found = np.zeros((count + len(self.apart), count + len(self.apart)))
        found[:count, :count] = np.diag(levels)
        nearby = np.exp(-self.apart / point.length) + 1e-9 * np.eye(len(self.apart))
        found[count:, count:] = np.linalg.inv(point.amplitude**2 * nearby)
        return found

    def design(self, point: _Point) -> Array:
        return np.hstack([self.levels, self.path]) if point.amplitude else self.levels


def host_parts(looks: Looks) -> list[HostPart]:
    """Of each look."""
    count, shape = looks.time.size, _shape(looks)
    mean, square = np.zeros(count), np.zeros(count)
    own, common = np.zeros(count), np.zeros(count)
    means = _means(looks.workload)
    for point, weight in _weighed(looks):
        design, chance = shape.design(point), looks.error**2
        whole = point.noise**2 + chance
        covariance = np.linalg.inv(design.T @ (design / whole[:, None]) + shape.precision(point))
        found = covariance @ (design.T @ (looks.cost / whole))
        # Of what neither level nor path explains, the host's share is taken for its noise.
        share = point.noise**2 / whole
        of_path = design.copy()
        of_path[:, : shape.levels.shape[1]] = 0.0
        leading = of_path - share[:, None] * design
        part = leading @ found + share * looks.cost
        leading, part = leading - means(leading), part - means(part)
        mean += weight * part
        square += weight * part**2
        shared = leading @ covariance
        own += weight * (np.einsum("ij,ij->i", shared, leading) + share * chance)
        common += weight * _common(looks.configuration, shared, leading)
    # What points of the grid disagree about, the repeats of a configuration have by themselves.
    spread = np.maximum(square - mean**2, 0.0)
    common = np.clip(common, 0.0, own)
    return [
        HostPart(float(log), math.sqrt(alone), math.sqrt(together))
        for log, alone, together in zip(mean, own - common + spread, common, strict=True)
    ]


def _means(numbers: Indices) -> Callable[[Array], Array]:
    """What gives each row the mean over the rows of its number."""
    _, place, counts = np.unique(numbers, return_inverse=True, return_counts=True)

    def means(rows: Array) -> Array:
        sums = np.zeros((counts.size, *rows.shape[1:]))
        np.add.at(sums, place, rows)
        found: Array = (sums.T / counts).T[place]
        return found

    return means


def _common(configuration: Indices, shared: Array, leading: Array) -> Array:
    """The mean covariance of each with the others beside its configuration; 0 without any."""
    found = np.zeros(configuration.size)
    for number in np.unique(configuration):
        alike = np.flatnonzero(configuration == number)
        if alike.size > 1:
            sums = shared[alike] @ leading[alike].sum(axis=0)
            own = np.einsum("ij,ij->i", shared[alike], leading[alike])
            found[alike] = (sums - own) / (alike.size - 1)
    return found


def _shape(looks: Looks) -> _Shape:
    numbers, place = np.unique(looks.configuration, return_inverse=True)
    levels = np.zeros((place.size, numbers.size))
    levels[np.arange(place.size), place] = 1.0
    span = np.ptp(looks.time) or 1.0
    at = (looks.time - looks.time.min()) / span * (KNOTS - 1)
    before = np.minimum(at.astype(int), KNOTS - 2)
    path = np.zeros((place.size, KNOTS))
    path[np.arange(place.size), before] = 1 - (at - before)
    path[np.arange(place.size), before + 1] = at - before
    knots = np.linspace(0.0, 1.0, KNOTS)
    return _Shape(levels, path, np.abs(knots[:, None] - knots[None]))


def _weighed(looks: Looks) -> list[tuple[_Point, float]]:
    """The points of the grid that count, with weights that sum to one."""
    few = looks.some(_telling(looks))
    shape = _shape(few)
    alike = LEVEL**2 * shape.levels @ shape.levels.T
    found = []
    for point in _grid():
        whole = alike + np.diag(point.noise**2 + few.error**2)
        if point.amplitude:
            whole += point.amplitude**2 * shape.path @ np.exp(-shape.apart / point.length) @ shape.path.T
        lower = np.linalg.cholesky(whole)
        whitened = np.linalg.solve(lower, few.cost)
        found.append((point, -0.5 * float(whitened @ whitened) - float(np.log(np.diag(lower)).sum())))
    best = max(likelihood for _, likelihood in found)
    weights = [(point, math.exp(likelihood - best)) for point, likelihood in found]
    total = sum(weight for _, weight in weights)
    kept = [(point, weight) for point, weight in weights if weight >= COUNTS * total]
    whole_weight = sum(weight for _, weight in kept)
    return [(point, weight / whole_weight) for point, weight in kept]


def _telling(looks: Looks) -> Indices:
    """Those of as many configurations as there is room for, the ones with most repeats first, evenly in time."""
    groups = [np.flatnonzero(looks.configuration == number) for number in np.unique(looks.configuration)]
    chosen: list[Indices] = []
    for group in sorted(groups, key=len, reverse=True):
        places = np.unique(np.linspace(0, group.size - 1, min(group.size, MOST_ALIKE)).round().astype(int))
        if sum(map(len, chosen)) + places.size > MOST:
            break
        chosen.append(group[places])
    return np.sort(np.concatenate(chosen))


def _grid() -> Sequence[_Point]:
    """With as much belief in a host that stands still as in each way in which it may move."""
    still = [_Point(0.0, noise, 1.0) for noise in NOISES]
    moving = itertools.product(AMPLITUDES[1:], NOISES, LENGTHS)
    return [*still * len(LENGTHS), *(_Point(*values) for values in moving)]
