"""Rates of a network on a second GPU: all its rates but those on one GPU left out, and told from other networks."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import permutations
from typing import Protocol

import numpy as np
from effects_fitted import fitted

from sizer.catalog.accelerator_rates import AcceleratorRate
from sizer.catalog.gpu_transfer import MEAN, PublishedStep, TransferVariances, published_steps, rate_model
from sizer.catalog.networks import family_of, passes_of

PRIOR = (0.05,) * len(fields(TransferVariances))
PRIOR_DEVIATION = 3.0


class LeftOut(Protocol):
    """A rate that was left out: ln of what was told over what is true, and the standard deviation told with it."""

    @property
    def error(self) -> float: ...
    @property
    def deviation(self) -> float: ...


@dataclass(frozen=True)
class Transferred:
    """A network's rate on a GPU: ln of it true, told with its standard deviation, and told by plain rivals.

    `others` counts the networks that the same table has on both GPUs.
    """

    known: PublishedStep
    asked: PublishedStep
    others: int
    told: float
    deviation: float
    by_median_ratio: float
    by_arithmetic: float

    @property
    def error(self) -> float:
        """Ln of what was told over what is true."""
        return self.told - self.asked.log_rate


def variances(steps: Sequence[PublishedStep]) -> TransferVariances:
    """The most likely ones of these rates."""
    values = [step.log_rate - MEAN for step in steps]
    return fitted(TransferVariances, TransferVariances.effects, steps, values, PRIOR, PRIOR_DEVIATION)


def transferred(rates: Sequence[AcceleratorRate]) -> list[Transferred]:
    """Every network between any two GPUs of a table that have another one in common, at the same precision.

    The variances come from the rates of other networks alone.
    """
    steps = published_steps(rates)
    ratios = _ratios(steps)
    pairs = [
        (known, asked, others)
        for same in ratios.values()
        for known, asked in same
        if (others := [pair for pair in same if _family(pair[0]) != _family(known)])
    ]
    found = []
    for family in sorted({_family(known) for known, *_ in pairs}):
        rest = [step for step in steps if _family(step) != family]
        its = variances(rest)
        for known in dict.fromkeys(known for known, *_ in pairs if _family(known) == family):
            model = rate_model([*rest, known], its)
            asked = [(other, beside) for one, other, beside in pairs if one == known]
            for (other, beside), told in zip(asked, model.several([each for each, _ in asked]), strict=True):
                ratio = float(np.median([two.log_rate - one.log_rate for one, two in beside]))
                found.append(
                    Transferred(
                        known,
                        other,
                        len({_family(one) for one, _ in beside}),
                        told.mean,
                        told.deviation,
                        known.log_rate + ratio,
                        known.log_rate + other.arithmetic - known.arithmetic,
                    )
                )
    return found


def _family(step: PublishedStep) -> str:
    return family_of(step.network)


def _ratios(steps: Sequence[PublishedStep]) -> dict[tuple[object, ...], list[tuple[PublishedStep, PublishedStep]]]:
    """By table, passes, precision and both GPUs: the two rates of each network."""
    series: dict[tuple[str, ...], list[PublishedStep]] = defaultdict(list)
    for step in steps:
        series[step.series].append(step)
    found: dict[tuple[object, ...], list[tuple[PublishedStep, PublishedStep]]] = defaultdict(list)
    for same in series.values():
        for one, other in permutations(same, 2):
            if one.precision == other.precision:
                found[one.table, passes_of(one.mode), one.precision, one.gpu, other.gpu].append((one, other))
    return found


def covering(found: Sequence[LeftOut]) -> float:
    """How many standard deviations on each side hold 90 % of these."""
    return float(np.quantile([abs(each.error) / each.deviation for each in found], 0.9))


def covered(found: Sequence[Transferred]) -> float:
    """The share that lies within them, where their number is that of the networks of other families."""
    inside = []
    for family in {_family(each.asked) for each in found}:
        half = covering([each for each in found if _family(each.asked) != family])
        inside += [abs(each.error) <= half * each.deviation for each in found if _family(each.asked) == family]
    return sum(inside) / len(inside)


def relative(errors: Sequence[float]) -> tuple[float, float]:
    """Median and 90th percentile of what ln errors are as shares."""
    shares = [abs(math.expm1(error)) for error in errors]
    return float(np.median(shares)), float(np.quantile(shares, 0.9))
