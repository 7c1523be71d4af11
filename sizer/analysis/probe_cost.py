"""What the reads beside a run cost between two moments of it. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sizer.analysis.accounting import grown
from sizer.records import ProbeCost, Sample


def probe_cost(samples: Sequence[Sample], start: float, end: float, idle: float | None) -> ProbeCost:
    """Of the rounds that were made between the two monotonic times; `idle` is what one cost before the run."""
    within = [sample for sample in samples if start <= sample.time <= end]
    rounds = np.diff([sample.probe_rounds for sample in within])
    seconds = np.diff([sample.probe_core_seconds for sample in within])
    rounds, seconds = rounds[rounds > 0], seconds[rounds > 0]
    count = int(rounds.sum())
    if not count:
        return ProbeCost(0, idle=idle)
    total, used = float(seconds.sum()), grown(within, "core_seconds", start, end)
    return ProbeCost(count, total / used if used else 0.0, total / count, error_of_mean(seconds, rounds), idle)


def error_of_mean(seconds: NDArray[np.float64], rounds: NDArray[np.int_]) -> float | None:
    """Relative standard error of the mean cost of a round, from looks one after another; None of fewer than three.

    By how far each is off the next (von Neumann's ratio): what moves more slowly is the host's, which is looked for.
    """
    if len(rounds) < 3:
        return None
    off = seconds - seconds.sum() / rounds.sum() * rounds
    variance = float((np.diff(off) ** 2).mean()) / 2
    return math.sqrt(variance * len(rounds)) / float(seconds.sum())
