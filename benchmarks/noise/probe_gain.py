"""How much of a noisy host's slowness a small memory probe beside a job tells, by its kind and its duty.

    python benchmarks/noise/probe_gain.py [--seconds 300] [--cpu 0] [--neighbour 1] [--keep FILE | --series FILE]

One process decodes, scales and encodes photographs on one CPU without a pause, as preprocessing does. Another, on the
same CPU, takes turns with probes, more often than a run could afford. Both note the CPU seconds that they used, so that
waiting for each other is no cost. Then probes are left out, to see what less of them would have told.

The figure is the standard deviation of ln(CPU seconds an image) over windows, before and after what a regression on
ln(CPU seconds a probe) explains is taken away. The coefficient comes from the other half of the series, never from the
window itself. Run it while nothing else runs here: it is the neighbours' noise that is looked at. `--neighbour` makes
some: a process of our own copies memory in spells on that CPU.
"""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from neighbour import neighbour
from probe_series import Array, Series, record

WINDOWS = (1.4, 5.7, 11.0, 23.0)
"""Seconds."""
DUTIES = (0.03, 0.01, 0.005, 0.003, 0.0015)
"""Shares of one CPU that probes may take."""
FAR = 0.3
"""Ln of how many times as much as the middle one a probe counts at the most, as in `sizer/analysis/probe_cost.py`."""
PAUSE_SECONDS = 0.02
FEWEST = 8
"""Windows, below which nothing is said of them."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--cpu", type=int, default=0)
    parser.add_argument("--neighbour", type=int, help="the CPU of a neighbour of our own")
    parser.add_argument("--keep", type=Path, help="where the series is written, for a second look")
    parser.add_argument("--series", type=Path, help="one that was kept, in the place of a new one")
    given = parser.parse_args()
    with nullcontext() if given.neighbour is None else neighbour(given.neighbour):
        series = read(given.series) if given.series else record(given.cpu, given.seconds, PAUSE_SECONDS)
    if given.keep:
        np.savez(given.keep, job=series.job, **series.probes)
    length = series.job[-1, 0] - series.job[0, 0]
    print(f"{length:.0f} s, {series.job[-1, 2]:.0f} images; standard deviation of ln(CPU seconds an image), % of it")
    print(f"{'probe':26s} {'ms':>6s} {'duty %':>6s} {'coefficient':>11s}  " + "  ".join(f"{w:4.1f} s" for w in WINDOWS))
    print(f"{'none':45s} {'':6s}  " + "  ".join(f"{100 * spread(series, w):6.2f}" for w in WINDOWS))
    for name, rows in series.probes.items():
        each = float(np.median(rows[:, 1]))
        full = float(rows[:, 1].sum() / length)
        for duty in (full, *(duty for duty in DUTIES if duty < full)):
            thinned = thin(rows, duty / full)
            found = [corrected(series, thinned, window) for window in WINDOWS]
            slope = np.mean([coefficient for _, coefficient in found[:2]])
            row = "  ".join(f"{100 * left:6.2f}" for left, _ in found)
            print(f"{name:26s} {1e3 * each:6.2f} {100 * duty:6.2f} {slope:11.2f}  {row}", flush=True)
    return 0


def read(path: Path) -> Series:
    """A series that `--keep` wrote."""
    kept = np.load(path)
    return Series(kept["job"], {name: kept[name] for name in kept.files if name != "job"})


def thin(rows: Array, share: float) -> Array:
    """Evenly spread, that share of them."""
    count = max(2, round(len(rows) * share))
    kept: Array = rows[np.unique(np.linspace(0, len(rows) - 1, count).round().astype(int))]
    return kept


def windows(series: Series, rows: Array | None, seconds: float) -> tuple[Array, Array]:
    """ln of the job's CPU seconds an image, and of a probe's, of each window that holds both."""
    job = series.job
    edges = np.arange(job[0, 0], job[-1, 0], seconds)
    places = np.searchsorted(job[:, 0], edges)
    of_job, of_probe = [], []
    logs = np.zeros(0) if rows is None else np.log(rows[:, 1])
    if rows is not None:
        # An interrupt makes a single probe dear, and says nothing.
        logs = np.clip(logs, np.median(logs) - FAR, np.median(logs) + FAR)
    for first, last, begin, end in zip(places, places[1:], edges, edges[1:], strict=False):
        if last - first < 2:
            continue
        used = np.log((job[last, 1] - job[first, 1]) / (job[last, 2] - job[first, 2]))
        if rows is None:
            of_job.append(used)
            continue
        within = logs[(rows[:, 0] >= begin) & (rows[:, 0] < end)]
        if len(within):
            of_job.append(used)
            of_probe.append(within.mean())
    return np.array(of_job), np.array(of_probe)


def spread(series: Series, seconds: float) -> float:
    job, _ = windows(series, None, seconds)
    return float(np.std(job, ddof=1)) if len(job) >= FEWEST else float("nan")


def corrected(series: Series, rows: Array, seconds: float) -> tuple[float, float]:
    """The standard deviation that is left, and the mean coefficient; each half by the coefficient of the other."""
    job, probe = windows(series, rows, seconds)
    if len(job) < FEWEST:
        return float("nan"), float("nan")
    halves: list[Any] = [np.arange(len(job)) < len(job) // 2, np.arange(len(job)) >= len(job) // 2]
    left, slopes = np.empty(len(job)), []
    for own, other in (halves, halves[::-1]):
        centred = probe[other] - probe[other].mean()
        slope = float(centred @ (job[other] - job[other].mean()) / (centred @ centred))
        slopes.append(slope)
        left[own] = job[own] - slope * (probe[own] - probe.mean())
    return float(np.std(left, ddof=1)), float(np.mean(slopes))


if __name__ == "__main__":
    raise SystemExit(main())
