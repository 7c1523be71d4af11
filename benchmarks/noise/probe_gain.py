"""How much of a noisy host's slowness a small memory probe beside a job tells, by its kind and its duty.

    python benchmarks/noise/probe_gain.py [--seconds 300] [--cpu 0] [--neighbour 1] [--kinds A,B] [--pause 0.02]
        [--keep FILE | --series FILE]

One process decodes, scales and encodes photographs on one CPU without a pause, as preprocessing does. Another, on the
same CPU, takes turns with probes, more often than a run could afford. Both note the CPU seconds that they used, so that
waiting for each other is no cost. Then probes are left out, to see what less of them would have told.

The figure is the standard deviation of ln(CPU seconds an image) over windows, before and after what a regression on
ln(CPU seconds a probe) explains is taken away. Coefficients come from the other half of the series, never from the
window itself, and are drawn to nothing by their error as those of a study; the last rows are of reads and products
together. Run it while nothing else runs here: it is the neighbours' noise that is looked at. `--neighbour` makes some:
a process of our own copies memory in spells on that CPU.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from neighbour import neighbour
from probe_series import Array, Series, record

sys.path.append(str(Path(__file__).parents[2]))

from sizer.model.ridge import drawn_to_nothing

WINDOWS = (1.4, 5.7, 11.0, 23.0)
"""Seconds."""
DUTIES = (0.07, 0.03, 0.01, 0.005, 0.003, 0.0015)
"""Shares of one CPU that probes may take."""
FAR = 0.3
"""Ln of how many times as much as the middle one a probe counts at the most, as in `sizer/analysis/probe_cost.py`."""
PAUSE_SECONDS = 0.02
FEWEST = 8
"""Windows, below which nothing is said of them."""
BOTH = ("sizer's reads", "sizer's products")
LOOKS = (0.2, 0.5, 1.0)
"""Seconds from one look of sizer's to the next."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--cpu", type=int, default=0)
    parser.add_argument("--neighbour", type=int, help="the CPU of a neighbour of our own")
    parser.add_argument("--kinds", default="", help="names of probes, by default all")
    parser.add_argument("--pause", type=float, default=PAUSE_SECONDS, help="seconds from a probe to the next")
    parser.add_argument("--keep", type=Path, help="where the series is written, for a second look")
    parser.add_argument("--series", type=Path, help="one that was kept, in the place of a new one")
    given = parser.parse_args()
    names = list(filter(None, given.kinds.split(",")))
    with nullcontext() if given.neighbour is None else neighbour(given.neighbour):
        series = read(given.series) if given.series else record(given.cpu, given.seconds, given.pause, names)
    if given.keep:
        np.savez(given.keep, job=series.job, **series.probes)
    length = series.job[-1, 0] - series.job[0, 0]
    print(f"{length:.0f} s, {series.job[-1, 2]:.0f} images; standard deviation of ln(CPU seconds an image), % of it")
    print(f"{'probe':26s} {'ms':>6s} {'duty %':>6s} {'coefficient':>11s}  " + "  ".join(f"{w:4.1f} s" for w in WINDOWS))
    print(f"{'none':45s} {'':6s}  " + "  ".join(f"{100 * spread(series, w):6.2f}" for w in WINDOWS))
    for name, rows in series.probes.items():
        full = _duty([rows], length)
        for duty in (full, *(duty for duty in DUTIES if duty < full)):
            _row(name, series, [thin(rows, duty / full)], length)
    if all(name in series.probes for name in BOTH):
        for seconds in LOOKS:
            each = [every(series.probes[name], seconds) for name in BOTH]
            for name, rows in zip(BOTH, each, strict=True):
                _row(f"{name} each {seconds:g} s", series, [rows], length)
            _row(f"both each {seconds:g} s", series, each, length)
    return 0


def _row(name: str, series: Series, probes: Sequence[Array], length: float) -> None:
    cost = sum(float(np.median(rows[:, 1])) for rows in probes)
    found = [corrected(series, probes, window) for window in WINDOWS]
    slopes = " ".join(f"{slope:5.2f}" for slope in np.mean([values for _, values in found[:2]], axis=0))
    left = "  ".join(f"{100 * each:6.2f}" for each, _ in found)
    print(f"{name:26s} {1e3 * cost:6.2f} {100 * _duty(probes, length):6.2f} {slopes:>11s}  {left}", flush=True)


def _duty(probes: Sequence[Array], length: float) -> float:
    return sum(float(rows[:, 1].sum()) for rows in probes) / length


def every(rows: Array, seconds: float) -> Array:
    """One in each stretch of so many seconds."""
    _, first = np.unique(np.floor(rows[:, 0] / seconds), return_index=True)
    kept: Array = rows[first]
    return kept


def read(path: Path) -> Series:
    """A series that `--keep` wrote."""
    kept = np.load(path)
    return Series(kept["job"], {name: kept[name] for name in kept.files if name != "job"})


def thin(rows: Array, share: float) -> Array:
    """Evenly spread, that share of them."""
    count = max(2, round(len(rows) * share))
    kept: Array = rows[np.unique(np.linspace(0, len(rows) - 1, count).round().astype(int))]
    return kept


def windows(series: Series, probes: Sequence[Array], seconds: float) -> tuple[Array, Array]:
    """ln of the job's CPU seconds an image (W,), and of each probe's (W, K), of each window that holds all of them."""
    job = series.job
    edges = np.arange(job[0, 0], job[-1, 0], seconds)
    places = np.searchsorted(job[:, 0], edges)
    of_job, of_probes = [], []
    logs = [_without_interrupts(np.log(rows[:, 1])) for rows in probes]
    for first, last, begin, end in zip(places, places[1:], edges, edges[1:], strict=False):
        if last - first < 2:
            continue
        spans = [np.searchsorted(rows[:, 0], (begin, end)) for rows in probes]
        if all(start < stop for start, stop in spans):
            of_job.append(np.log((job[last, 1] - job[first, 1]) / (job[last, 2] - job[first, 2])))
            of_probes.append([each[start:stop].mean() for each, (start, stop) in zip(logs, spans, strict=True)])
    return np.array(of_job), np.array(of_probes).reshape(len(of_job), len(probes))


def _without_interrupts(logs: Array) -> Array:
    """An interrupt makes a single probe dear, and says nothing."""
    middle = float(np.median(logs))
    kept: Array = np.clip(logs, middle - FAR, middle + FAR)
    return kept


def spread(series: Series, seconds: float) -> float:
    job, _ = windows(series, [], seconds)
    return float(np.std(job, ddof=1)) if len(job) >= FEWEST else float("nan")


def corrected(series: Series, probes: Sequence[Array], seconds: float) -> tuple[float, Array]:
    """The standard deviation that is left, and the mean coefficients (K,); each half by those of the other."""
    job, costs = windows(series, probes, seconds)
    if len(job) < FEWEST:
        return float("nan"), np.full(len(probes), np.nan)
    halves: list[Any] = [np.arange(len(job)) < len(job) // 2, np.arange(len(job)) >= len(job) // 2]
    left, slopes = np.empty(len(job)), []
    for own, other in (halves, halves[::-1]):
        slopes.append(_coefficients(job[other] - job[other].mean(), costs[other] - costs[other].mean(axis=0)))
        left[own] = job[own] - (costs[own] - costs.mean(axis=0)) @ slopes[-1]
    return float(np.std(left, ddof=1)), np.mean(slopes, axis=0)


def _coefficients(job: Array, costs: Array) -> Array:
    squares = costs.T @ costs
    found = np.linalg.solve(squares, costs.T @ job)
    scatter = float(((job - costs @ found) ** 2).sum()) / max(1, len(job) - 1 - len(found))
    return drawn_to_nothing(found, scatter * np.linalg.inv(squares))[0]


if __name__ == "__main__":
    raise SystemExit(main())
