"""What others do with the same runs: curves by least squares, a hard minimum of stages, a Gaussian process. Pure.

A curve over vCPUs knows nothing of disks, memory or batches: it gets a factor for each value of each other axis, which
is fitted with it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from statistics import fmean, median

import numpy as np
from accuracy_process import process
from numpy.typing import NDArray

from sizer.model import gpus_of, memory_of, vcpus_of
from sizer.records.configuration import Configuration
from sizer.records.run import Run

Array = NDArray[np.float64]
Answers = Callable[[Sequence[Configuration]], Array]
"""Samples per second of each configuration; nan where the rival has no answer."""

SMALLEST = 1e-9


def rivals(runs: Sequence[Run]) -> dict[str, Answers]:
    """Each rival by name, given the runs that completed."""
    known = [run for run in runs if run.throughput is not None and run.throughput.value > 0]
    return {
        "linear": _curve(known, _linear, 0),
        "Amdahl": _curve(known, _amdahl, 1),
        "USL": _curve(known, _usl, 2),
        "min(fetch, prep, GPU)": _hard_minimum(known),
        "Gaussian process": process(_means(known)),
    }


def _rate(run: Run) -> float:
    assert run.throughput is not None
    return run.throughput.value


def _means(runs: Sequence[Run]) -> dict[Configuration, float]:
    """ln of the mean rate of each configuration."""
    groups: dict[Configuration, list[float]] = defaultdict(list)
    for run in runs:
        groups[run.configuration].append(_rate(run))
    return {configuration: math.log(fmean(group)) for configuration, group in groups.items()}


def _linear(vcpus: Array, _: Array) -> Array:
    found: Array = np.log(vcpus)
    return found


def _amdahl(vcpus: Array, theta: Array) -> Array:
    """Amdahl 1967: c / (1 + a (c - 1))."""
    found: Array = np.log(vcpus) - np.log(np.maximum(1 + math.exp(theta[0]) * np.maximum(vcpus - 1, 0), SMALLEST))
    return found


def _usl(vcpus: Array, theta: Array) -> Array:
    """Gunther 2007: c / (1 + a (c - 1) + b c (c - 1))."""
    extra = np.maximum(vcpus - 1, 0)
    slowed = 1 + math.exp(theta[0]) * extra + math.exp(theta[1]) * vcpus * extra
    found: Array = np.log(vcpus) - np.log(slowed)
    return found


def _curve(runs: Sequence[Run], law: Callable[[Array, Array], Array], count: int) -> Answers:
    """Least squares in ln rate: the law over vCPUs, and a factor for each value of the other axes."""
    from scipy.optimize import least_squares

    means = _means(runs)
    configurations, target = list(means), np.array(list(means.values()))
    levels = _levels(configurations)
    dummies = _dummies(configurations, levels)
    vcpus = np.array([configuration.vcpus for configuration in configurations])

    def left(theta: Array) -> Array:
        rest = target - law(vcpus, theta)
        factors = np.linalg.lstsq(dummies, rest, rcond=None)[0]
        found: Array = rest - dummies @ factors
        return found

    starts = [np.full(count, start) for start in (-7.0, -4.0, -2.0)] if count else [np.zeros(0)]
    bounds = (np.full(count, -16.0), np.full(count, 4.0))
    solved = [least_squares(left, start, bounds=bounds).x for start in starts] if count else starts
    theta = min(solved, key=lambda each: float((left(each) ** 2).sum()))
    factors = np.linalg.lstsq(dummies, target - law(vcpus, theta), rcond=None)[0]

    def answers(asked: Sequence[Configuration]) -> Array:
        counts = np.array([configuration.vcpus for configuration in asked])
        found: Array = np.exp(law(counts, theta) + _dummies(asked, levels) @ factors)
        return found

    return answers


Levels = list[list[object]]


def _others(configuration: Configuration) -> tuple[object, ...]:
    return (
        configuration.disk,
        configuration.memory_bytes,
        configuration.batch_size,
        (configuration.gpu, configuration.gpu_count),
    )


def _levels(configurations: Sequence[Configuration]) -> Levels:
    """The values of each axis but the vCPUs that are not its first."""
    columns = list(zip(*(_others(configuration) for configuration in configurations), strict=True))
    return [list(dict.fromkeys(column))[1:] for column in columns]


def _dummies(configurations: Sequence[Configuration], levels: Levels) -> Array:
    """(n, 1 + values): a value that was not measured is taken as the nearest below it, as one reads a table."""
    rows = []
    for configuration in configurations:
        row = [1.0]
        for value, known in zip(_others(configuration), levels, strict=True):
            here = _nearest(value, known)
            row += [float(level == here) for level in known]
        rows.append(row)
    return np.array(rows)


def _nearest(value: object, known: list[object]) -> object:
    if value in known or not isinstance(value, int):
        return value
    below = [level for level in known if isinstance(level, int) and level <= value]
    return max(below, default=None)


def _hard_minimum(runs: Sequence[Run]) -> Answers:
    """DS-Analyzer (Mohan et al., VLDB 2021): min of the rates of fetch, prep and GPU, each alone; hits = cached share.

    Prep scales linearly from core-seconds (else from the fewest vCPUs), the GPU's rate is the known one (else the
    highest that was seen), and fetching is the disk's figure over the share that is not cached; without figures it
    never binds.
    """
    demands = [run.demand for run in runs if run.demand is not None]
    core_seconds = [d.core_seconds for d in demands if d.core_seconds]
    fewest = min(vcpus_of(run.configuration) for run in runs)
    per_core = median(_rate(run) / fewest for run in runs if vcpus_of(run.configuration) == fewest)
    prep = 1 / min(core_seconds) if core_seconds else per_core
    busy = [d.accelerator_seconds for d in demands if d.accelerator_seconds]
    gpu = 1 / median(busy) if busy else max(map(_rate, runs)) if not core_seconds else math.inf
    disks = {run.configuration.disk: run.disk.rates for run in runs if run.disk is not None}
    data = next((run.data_set for run in runs if run.data_set is not None), None)
    natural = runs[0].spec.workload.cache == "natural"
    held = min((run.peak_anonymous_bytes for run in runs if run.peak_anonymous_bytes), default=0)
    sizes = [d.read_bytes / d.read_ios for d in demands if d.read_bytes and d.read_ios]

    def fetch(configuration: Configuration) -> float:
        rates = disks.get(configuration.disk)
        if rates is None or data is None or not data.samples:
            return math.inf
        each = data.bytes / data.samples
        hit = min(1.0, max(0.0, memory_of(configuration) - held) / data.bytes) if natural else 0.0
        by_bytes = (rates.read_bytes_per_second or math.inf) / each
        by_ios = (rates.read_iops or math.inf) / (each / median(sizes)) if sizes else math.inf
        return min(by_bytes, by_ios) / max(1 - hit, SMALLEST)

    def answers(asked: Sequence[Configuration]) -> Array:
        return np.array([min(prep * vcpus_of(s), gpu * max(1, gpus_of(s)), fetch(s)) for s in asked])

    return answers
