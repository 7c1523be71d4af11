"""What others do with the same runs: a hard minimum of stages, and a Gaussian process. Pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, median

import numpy as np
from numpy.typing import NDArray

from sizer.model.coordinates import batch_of, disk_of, gpus_of, memory_of, vcpus_of
from sizer.records.configuration import Configuration
from sizer.records.run import Run

Array = NDArray[np.float64]
Process = Callable[[Sequence[Configuration]], tuple[Array, Array]]
"""Mean and standard deviation of ln rate anywhere, without the noise of a run."""

SMALLEST = 1e-9


def rivals(runs: Sequence[Run], asked: Sequence[Configuration]) -> dict[str, Array]:
    """Samples per second of each of these configurations, by each rival, from the runs that completed."""
    known = [run for run in runs if run.throughput is not None and run.throughput.value > 0]
    return {"hard minimum": _hard_minimum(known, asked), "Gaussian process": np.exp(process(known)(asked)[0])}


def _rate(run: Run) -> float:
    assert run.throughput is not None
    return run.throughput.value


def _hard_minimum(runs: Sequence[Run], asked: Sequence[Configuration]) -> Array:
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

    return np.array([min(prep * vcpus_of(s), gpu * max(1, gpus_of(s)), fetch(s)) for s in asked])


def process(runs: Sequence[Run]) -> Process:
    """A plain Gaussian process over ln rate, as CherryPick (Alipourfard et al., NSDI 2017) has it: Matern 5/2.

    Constant mean, one length an axis; amplitude, lengths and noise by the highest marginal likelihood (Rasmussen and
    Williams 2006, 5.4).
    """
    from scipy.linalg import cho_factor, cho_solve
    from scipy.optimize import minimize

    means = _means(runs)
    disks = list(dict.fromkeys(map(disk_of, means)))
    places, target = _places(list(means), disks), np.array(list(means.values()))
    centre = float(target.mean())

    def noisy(theta: Array) -> Array:
        found: Array = _covariance(theta, places, places) + np.eye(len(places)) * (math.exp(2 * theta[-1]) + 1e-8)
        return found

    def unlikely(theta: Array) -> float:
        """Minus ln of the marginal likelihood, but for a constant."""
        try:
            factor = cho_factor(noisy(theta), lower=True)
        except np.linalg.LinAlgError:
            return 1e9
        return float(0.5 * (target - centre) @ cho_solve(factor, target - centre) + np.log(np.diag(factor[0])).sum())

    axes, spread = places.shape[1], math.log(float(target.std()) + 0.05)
    starts = ([spread, *[0.5] * axes, math.log(0.05)], [spread + 0.7, *[2.0] * axes, math.log(0.02)])
    bounds = [(-4.0, 3.0), *[(-2.0, 4.0)] * axes, (math.log(0.005), math.log(0.5))]
    found = [minimize(unlikely, np.array(start), bounds=bounds) for start in starts]
    best = min(found, key=lambda each: float(each.fun)).x
    inverse = np.linalg.inv(noisy(best))

    def answers(asked: Sequence[Configuration]) -> tuple[Array, Array]:
        across = _covariance(best, _places(asked, disks), places)
        variance = math.exp(2 * best[0]) - np.einsum("ij,jk,ik->i", across, inverse, across)
        return centre + across @ inverse @ (target - centre), np.sqrt(np.maximum(variance, 1e-8))

    return answers


def _covariance(theta: Array, one: Array, other: Array) -> Array:
    """Between places (n, k) and (m, k), by ln of amplitude, lengths and noise (k + 2,)."""
    apart = np.sqrt(5 * (((one[:, None] - other[None]) / np.exp(theta[1:-1])) ** 2).sum(axis=2))
    found: Array = math.exp(2 * theta[0]) * (1 + apart + apart**2 / 3) * np.exp(-apart)
    return found


def _means(runs: Sequence[Run]) -> Mapping[Configuration, float]:
    """ln of the mean rate of each configuration."""
    groups: dict[Configuration, list[float]] = defaultdict(list)
    for run in runs:
        groups[run.configuration].append(_rate(run))
    return {configuration: math.log(fmean(group)) for configuration, group in groups.items()}


def _places(asked: Sequence[Configuration], disks: Sequence[str]) -> Array:
    """Axes in ln, and one for each disk but the first; an axis that does not vary does no harm."""
    axes = [(vcpus_of(s), memory_of(s), batch_of(s), max(1, gpus_of(s))) for s in asked]
    others = np.array([[disk_of(s) == disk for disk in disks[1:]] for s in asked], dtype=float)
    return np.hstack([np.log(np.array(axes, dtype=float)), others.reshape(len(axes), len(disks) - 1)])
