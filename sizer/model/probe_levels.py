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
from collections.abc import Sequence
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
MOST = 120
"""Looks by which the grid is weighed."""
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
    amplitude: float
    noise: float
    length: float

    def of_host(self, looks: Looks) -> Array:
        """Covariance of the host's part."""
        found = self.noise**2 * np.eye(looks.time.size)
        if self.amplitude:
            apart = np.abs(looks.time[:, None] - looks.time[None]) / (np.ptp(looks.time) or 1.0)
            found = found + self.amplitude**2 * np.exp(-apart / self.length)
        return found

    def whole(self, looks: Looks) -> Array:
        """Covariance of what they cost."""
        level = LEVEL**2 * _alike(looks.configuration)
        found: Array = level + self.of_host(looks) + np.diag(looks.error**2)
        return found


def host_parts(looks: Looks) -> list[HostPart]:
    """Of each look."""
    count = looks.time.size
    own = _alike(looks.workload)
    about = np.eye(count) - own / own.sum(axis=1, keepdims=True)
    mean, square = np.zeros(count), np.zeros((count, count))
    for point, weight in _weighed(looks):
        of_host = about @ point.of_host(looks)
        gain = np.linalg.solve(point.whole(looks), of_host.T).T
        part = gain @ looks.cost
        mean += weight * part
        square += weight * ((of_host - gain @ point.of_host(looks)) @ about.T + np.outer(part, part))
    covariance = square - np.outer(mean, mean)
    return [_part(looks, covariance, number, float(mean[number])) for number in range(count)]


def _part(looks: Looks, covariance: Array, number: int, log: float) -> HostPart:
    others = np.flatnonzero(looks.configuration == looks.configuration[number])
    others = others[others != number]
    variance = max(0.0, float(covariance[number, number]))
    common = min(variance, max(0.0, float(covariance[number, others].mean()))) if others.size else 0.0
    return HostPart(log, math.sqrt(variance - common), math.sqrt(common))


def _alike(numbers: Indices) -> Array:
    found: Array = (numbers[:, None] == numbers[None]).astype(float)
    return found


def _weighed(looks: Looks) -> list[tuple[_Point, float]]:
    """The points of the grid that count, with weights that sum to one."""
    few = looks.some(np.unique(np.linspace(0, looks.time.size - 1, min(looks.time.size, MOST)).round().astype(int)))
    found = []
    for point in _grid():
        lower = np.linalg.cholesky(point.whole(few))
        whitened = np.linalg.solve(lower, few.cost)
        found.append((point, -0.5 * float(whitened @ whitened) - float(np.log(np.diag(lower)).sum())))
    best = max(likelihood for _, likelihood in found)
    weights = [(point, math.exp(likelihood - best)) for point, likelihood in found]
    total = sum(weight for _, weight in weights)
    kept = [(point, weight) for point, weight in weights if weight >= COUNTS * total]
    whole = sum(weight for _, weight in kept)
    return [(point, weight / whole) for point, weight in kept]


def _grid() -> Sequence[_Point]:
    """With as much belief in a host that stands still as in each way in which it may move."""
    still = [_Point(0.0, noise, 1.0) for noise in NOISES]
    moving = itertools.product(AMPLITUDES[1:], NOISES, LENGTHS)
    return [*still * len(LENGTHS), *(_Point(*values) for values in moving)]
