"""What the reads beside a run cost between two moments of it. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sizer.analysis.accounting import grown
from sizer.records import ProbeCost, Sample

FAR = 0.3
"""Ln of how many times as much as the middle one a look counts at the most: an interrupt that comes into a millisecond
of reads makes it cost several times as much, and says nothing of the host. Looks scatter by 0.03 to 0.12."""


def probe_cost(samples: Sequence[Sample], start: float, end: float, idle: float | None) -> ProbeCost:
    """Of the looks that were taken between the two monotonic times; `idle` is what a round cost before the run.

    How sure their mean is follows from how far each is off the next (von Neumann's ratio): what moves more slowly is
    the host's, which is looked for.
    """
    within = [sample for sample in samples if start <= sample.time <= end]
    rounds = np.diff([sample.probe_rounds for sample in within])
    seconds = np.diff([sample.probe_core_seconds for sample in within])
    rounds, seconds = rounds[rounds > 0], seconds[rounds > 0]
    if not rounds.size:
        return ProbeCost(0, idle=idle)
    logs = np.log(seconds / rounds)
    middle = float(np.median(logs))
    logs = np.clip(logs, middle - FAR, middle + FAR)
    error = math.sqrt(float((np.diff(logs) ** 2).mean()) / 2 / logs.size) if logs.size > 2 else None
    used = grown(within, "core_seconds", start, end)
    share = float(seconds.sum()) / used if used else 0.0
    return ProbeCost(int(rounds.sum()), share, math.exp(float(logs.mean())), error, idle)
