"""How far repeats differ, and what the intervals of runs cover of the difference to a repeat that is held out."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from sizer.model import completed, noise_of
from sizer.model.drift import NO_DRIFT
from sizer.model.exposure import exposures
from sizer.model.feeds import made_alike
from sizer.model.seen_runs import SeenRun, left_noise, seen_run
from sizer.records import Purpose, Run

COVERED = 0.92, 0.98
"""Of the differences to a repeat that is held out, by 95 % intervals: at the least and at the most."""


def log_rate(run: Run) -> float:
    assert run.throughput is not None, "only measured runs are asked"
    return math.log(run.throughput.value)


def planned(runs: Sequence[Run]) -> list[Run]:
    """Those that count: without the further repeats of a study's reference, which are many of one configuration."""
    return [run for run in runs if run.spec.purpose is not Purpose.REFERENCE]


def repeat_differences(runs: Sequence[Run]) -> list[float]:
    """|ln| of the rates of each two repeats of a configuration."""
    return [
        abs(log_rate(one) - log_rate(other))
        for group in made_alike(completed(runs))
        for one, other in itertools.combinations(group, 2)
    ]


def held_out(runs: Sequence[Run]) -> Iterator[tuple[float, float]]:
    """Of each run of one workload that has repeats: ln of its rate over their mean, and the standard deviation of this
    by the likelihood that the model has for each of them, found without the run."""
    runs = completed(runs)
    shown = exposures(runs)
    seen = {id(run): seen_run(run, shown[id(run)], NO_DRIFT) for run in runs}
    for run in runs:
        groups = made_alike([each for each in runs if each is not run])
        alike = [group for group in groups if _are_alike(group[0], run)]
        if not alike:
            continue
        noise = noise_of(groups)
        left = left_noise([[seen[id(each)] for each in group] for group in groups], noise.run, noise.repeated)

        def variance(one: SeenRun) -> float:
            return left.of(one.exposure, one.within) ** 2 + one.own**2  # noqa: B023

        weights = [1 / variance(seen[id(each)]) for each in alike[0]]
        middle = sum(w * seen[id(each)].log_rate for w, each in zip(weights, alike[0], strict=True)) / sum(weights)
        own = seen[id(run)]
        yield own.log_rate - middle, math.sqrt(variance(own) + 1 / sum(weights))


def covered(found: Sequence[tuple[float, float]]) -> float:
    """The share of differences within 1.96 standard deviations; not a number without any."""
    return sum(abs(off) <= 1.96 * deviation for off, deviation in found) / len(found) if found else math.nan


def _are_alike(one: Run, other: Run) -> bool:
    return made_alike([one, other]) == [[one, other]]
