"""The table of how far repeats of a configuration differ, as they were measured and without the noise of the host."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean, median

import numpy as np
from noise_scores import COVERED, covered, held_out, log_rate, planned, repeat_differences

from sizer.model import without_host_noise
from sizer.model.equation import Array
from sizer.model.feeds import made_alike
from sizer.records import Run

MEDIAN, NINETIETH = 0.015, 0.05
"""Aims: of |ln ratio| of two repeats, at the most."""


def show_repeats(runs: Sequence[Run]) -> bool:
    """Print the table; whether the aim is met."""
    runs, corrected = _as_measured_and_corrected(runs)
    print(f"{'':16s} {'repeats differ, % (median, 90th)':>36s} {'covered':>17s} {'probe %':>8s} {'sizer %':>8s}")
    for before, after in zip(_by_workload(runs), _by_workload(corrected), strict=True):
        _line(before[0].spec.workload.name, before, after)
    held = _line("all", runs, corrected)
    everything = repeat_differences(corrected)
    moved = [100 * abs(run.correction.log) for run in corrected if run.correction is not None] or [0.0]
    groups = zip(made_alike(runs), made_alike(corrected), strict=True)
    means = [100 * abs(fmean(map(log_rate, after)) - fmean(map(log_rate, before))) for before, after in groups]
    print(f"rates corrected by {median(moved):.2f} % (median) and {max(moved):.2f} % at the most")
    print(f"the mean of a configuration moved by {max(means):.2f} % at the most")
    close = median(everything) <= MEDIAN and float(np.percentile(everything, 90)) <= NINETIETH if everything else False
    return close and COVERED[0] <= held <= COVERED[1]


def _as_measured_and_corrected(runs: Sequence[Run]) -> tuple[list[Run], list[Run]]:
    runs = [replace(run, correction=None) for run in runs if run.throughput is not None]
    return planned(runs), planned(without_host_noise(runs))


def _line(name: str, runs: Sequence[Run], corrected: Sequence[Run]) -> float:
    """What the intervals of the corrected rates cover."""
    both = [_differences(repeat_differences(each)) for each in (runs, corrected)]
    held = [covered([pair for own in _by_workload(each) for pair in held_out(own)]) for each in (runs, corrected)]
    probe = [run.probe.share for run in runs if run.probe is not None] or [0.0]
    sizer = [run.overhead for run in runs if run.overhead is not None] or [0.0]
    print(
        f"{name:16s} {both[0]} -> {both[1]} {100 * held[0]:6.1f} -> {100 * held[1]:5.1f} % {100 * fmean(probe):8.2f} "
        f"{100 * fmean(sizer):6.2f} (most {100 * max(sizer):.2f})",
        flush=True,
    )
    return held[1]


def by_host(runs: Sequence[Run]) -> Iterator[str]:
    """Of a third of the pairs each, by how far their own probes differ: how much that is at the most, and how far their
    rates do. What the probe beside both tells is that the host was as it was; then a correction should change nothing.
    """
    runs, corrected = _as_measured_and_corrected(runs)
    pairs = []
    for before, after in zip(made_alike(runs), made_alike(corrected), strict=True):
        told = [
            (math.log(run.probe.during), log_rate(run), log_rate(its))
            for run, its in zip(before, after, strict=True)
            if run.probe is not None and run.probe.during
        ]
        pairs += [np.abs(np.subtract(one, other)).tolist() for one, other in itertools.combinations(told, 2)]
    pairs.sort()
    for third in np.array_split(np.array(pairs).reshape(-1, 3), 3):
        if len(third):
            apart = 100 * third[-1, 0]
            yield (
                f"{len(third)} pairs whose probes differ by up to {apart:.1f} %: "
                f"{_differences(third[:, 1])} -> {_differences(third[:, 2])}"
            )


def _by_workload(runs: Sequence[Run]) -> list[list[Run]]:
    names = dict.fromkeys(run.spec.workload.name for run in runs)
    return [[run for run in runs if run.spec.workload.name == name] for name in names]


def _differences(found: Sequence[float] | Array) -> str:
    return f"{100 * median(found):6.2f} {100 * float(np.percentile(found, 90)):6.2f}" if len(found) else f"{'-':>13s}"
