"""What the reads and the products beside a run cost between two moments of it. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sizer.analysis.accounting import grown
from sizer.records import ProbeCost, RoundCost, Sample

FAR = 0.3
"""Ln of how many times as much as the middle one a look counts at the most: an interrupt that comes into a millisecond
of reads makes it cost several times as much, and says nothing of the host. Looks scatter by 0.03 to 0.12."""


def probe_cost(samples: Sequence[Sample], start: float, end: float, idle: Sequence[float] | None) -> ProbeCost:
    """Of the looks that were taken between the two monotonic times; `idle` is what the reads and the products of a
    round cost before the run."""
    within = [sample for sample in samples if start <= sample.time <= end]
    rounds = np.diff([sample.probe_rounds for sample in within])
    kinds = [
        np.diff([sample.probe_core_seconds for sample in within]),
        np.diff([sample.product_core_seconds for sample in within]),
    ]
    before = (None, None) if idle is None else idle
    reads, product = (_of_kind(rounds, seconds, each) for seconds, each in zip(kinds, before, strict=True))
    used = grown(within, "core_seconds", start, end)
    share = float(sum(map(np.sum, kinds))) / used if used else 0.0
    return ProbeCost(int(rounds.sum()), share, reads.during, reads.error, reads.idle, product)


def _of_kind(rounds: NDArray[np.int64], seconds: NDArray[np.float64], idle: float | None) -> RoundCost:
    """How sure the mean is follows from how far each is off the next (von Neumann's ratio): what moves more slowly is
    the host's, which is looked for."""
    looked = (rounds > 0) & (seconds > 0)
    if not looked.any():
        return RoundCost(idle=idle)
    logs = np.log(seconds[looked] / rounds[looked])
    middle = float(np.median(logs))
    logs = np.clip(logs, middle - FAR, middle + FAR)
    error = math.sqrt(float((np.diff(logs) ** 2).mean()) / 2 / logs.size) if logs.size > 2 else None
    return RoundCost(math.exp(float(logs.mean())), error, idle)
