"""Two things measured in turn, and their ratio with its interval. Pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from typing import TypeVar

from scipy.special import stdtrit

from sizer.records.configuration import Estimate

Thing = TypeVar("Thing")


def turns(first: Thing, second: Thing, pairs: int) -> Iterator[tuple[int, Thing]]:
    """Which of two comes next, with the number of its pair: A B, B A, A B, so that a drift is in both alike."""
    for pair in range(pairs):
        yield from ((pair, thing) for thing in ((first, second) if pair % 2 == 0 else (second, first)))


def ratio(ratios: Sequence[float]) -> Estimate:
    """The geometric mean of the pairs' ratios and its 95 % interval: Student's t on the logarithms.

    With one pair nothing is known of the interval: it is everything above 0.
    """
    logarithms = [math.log(each) for each in ratios]
    mean = statistics.fmean(logarithms)
    if len(logarithms) < 2:
        return Estimate(math.exp(mean), 0.0, math.inf)
    spread = statistics.stdev(logarithms) / math.sqrt(len(logarithms))
    half = float(stdtrit(len(logarithms) - 1, 0.975)) * spread
    return Estimate(math.exp(mean), math.exp(mean - half), math.exp(mean + half))


def shown(estimate: Estimate) -> str:
    """`1.004 (0.981-1.027)`."""
    return f"{estimate.value:.3f} ({estimate.low:.3f}-{estimate.high:.3f})"
