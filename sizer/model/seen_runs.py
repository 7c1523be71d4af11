"""What each run says of its configuration on the host as it usually was, and what it is worth."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from statistics import mean, median

import numpy as np

from sizer.model.drift import Drift
from sizer.model.exposure import own_deviation, rate_of, within
from sizer.records.run import SLIP, Run

EXPOSED = 0.3
"""From here on a run moves with the CPUs of its host; below, with what binds it instead."""
STEADY = 0.003
"""Standard deviation of ln rate, at the least: repeats that are all alike are as many as they are, and no certainty."""


@dataclass(frozen=True)
class SeenRun:
    """One run: ln of its rate on the host as it usually was, and standard deviations: by its interval, and beside it.

    `exposure` is how much of a slower CPU its rate shows.
    """

    log_rate: float
    exposure: float
    within: float
    own: float


def seen_run(run: Run, exposure: float, drift: Drift) -> SeenRun:
    shift = drift.at(run)
    own = own_deviation(run, exposure, shift is not None)
    log_rate = math.log(rate_of(run).value)
    if shift is not None:
        log_rate -= exposure * shift.mean
        own = math.hypot(own, exposure * math.sqrt(shift.variance))
    return SeenRun(log_rate, exposure, within(run) or 0.0, own)


@dataclass(frozen=True)
class LeftNoise:
    """Noise from run to run that is left: of runs that the CPU binds, and of the others."""

    exposed: float
    others: float

    def of(self, exposure: float, within: float) -> float:
        return max(self.exposed if exposure >= EXPOSED else self.others, within)


def left_noise(groups: Collection[Sequence[SeenRun]], of_all: float, repeated: bool) -> LeftNoise:
    """By the repeats of each kind; what no repeat shows is that of all, or of other kinds by their intervals."""
    exposed = [[one for one in group if one.exposure >= EXPOSED] for group in groups]
    others = [[one for one in group if one.exposure < EXPOSED] for group in groups]
    inside = [one.within for group in others for one in group if one.within > 0]
    quiet = max(median(inside), STEADY) if inside else of_all
    of_exposed, of_others = _spread(exposed), _spread(others)
    return LeftNoise(
        max(of_all if of_exposed is None else of_exposed, STEADY),
        max((quiet if repeated else of_all) if of_others is None else of_others, STEADY),
    )


def _spread(groups: Iterable[Sequence[SeenRun]]) -> float | None:
    """The standard deviation of repeats; None where there are too few, a group with a slip not counted."""
    squares, freedom = 0.0, 0
    for group in groups:
        logs = [one.log_rate for one in group]
        if logs and max(logs) - min(logs) <= math.log(SLIP):
            middle = mean(logs)
            squares += sum((log - middle) ** 2 for log in logs)
            freedom += len(logs) - 1
    return math.sqrt(squares / freedom) if freedom >= 2 else None


def weighted_median(logs: Sequence[float], weights: Sequence[float]) -> float:
    """Ln of the rate with half of the weight on either side, between the two nearest; the median of equal weights."""
    ordered = sorted(zip(logs, weights, strict=True))
    weight = np.array([each for _, each in ordered])
    middles = (np.cumsum(weight) - weight / 2) / weight.sum()
    return math.log(float(np.interp(0.5, middles, [math.exp(log) for log, _ in ordered])))
