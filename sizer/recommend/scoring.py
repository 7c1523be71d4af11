"""How sure it is that a spec reaches the target."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

from sizer.model import NORMAL_90, WorkloadModel, rates
from sizer.records import Configuration, Estimate


@dataclass(frozen=True)
class Score:
    """One configuration against the best: expected rate over best, and P(rate >= target x best).

    With a deadline the probability is that of a rate that finishes in time. `rate` is in samples per second. Where runs
    of the best were disturbed, those of a smaller one may be faster: its fraction is 1, for no more is expected of it.
    """

    fraction: float
    probability: float
    rate: float


def score_against_best(
    model: WorkloadModel, configurations: Sequence[Configuration], best: Configuration, target: float
) -> list[Score]:
    """Each configuration against the best one, draw by draw: what is uncertain about both alike does not count."""
    found = rates(model, [*configurations, best])
    last = len(configurations)
    scores = []
    for place, configuration in enumerate(configurations):
        same = configuration == best or (
            not model.memory_counts and replace(configuration, memory_bytes=best.memory_bytes) == best
        )
        probability = 1.0 if same else found.reaches(place, last, target)
        fraction = 1.0 if same else math.exp(min(0.0, float(found.centre[place] - found.centre[last])))
        scores.append(Score(fraction, probability, math.exp(float(found.centre[place]))))
    return scores


def score_in_time(
    model: WorkloadModel, configurations: Sequence[Configuration], best: Configuration, needed: float
) -> list[Score]:
    """Each configuration against a rate in samples per second that a job needs to be finished in time.

    Not against the best: what is uncertain about all alike, and the noise of a new run, count in full.
    """
    found = rates(model, [*configurations, best])
    return [
        Score(
            math.exp(min(0.0, float(found.centre[place] - found.centre[-1]))),
            found.gives(place, needed),
            math.exp(float(found.centre[place])),
        )
        for place in range(len(configurations))
    ]


def exceeds(estimate: Estimate, needed: float) -> float:
    """P(a new run's rate >= needed): ln rate is normal about the value, each side as wide as its half of the interval.

    The interval is that of 90 %.
    """
    if estimate.value <= 0:
        return 0.0
    end = estimate.low if needed < estimate.value else estimate.high
    half = abs(math.log(end / estimate.value)) if end > 0 else math.inf
    margin = math.log(estimate.value / needed)
    if half == 0:
        return float(margin >= 0)
    return 0.5 * math.erfc(-margin / (half / NORMAL_90) / math.sqrt(2))


def rounded(probability: float) -> float:
    """Three digits, and never 0 or 1, which no finite measurement supports."""
    return min(max(round(probability, 3), 0.001), 0.999)


def surely(estimate: Estimate, probability: float) -> float:
    """The rate in samples per second that a new run has with this probability, of 0.5 or more."""
    if estimate.low <= 0:
        return 0.0
    below = NormalDist().inv_cdf(probability) / NORMAL_90
    return estimate.value * math.exp(below * math.log(estimate.low / estimate.value))
