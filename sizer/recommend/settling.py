"""Which run takes most doubt from an answer, and how sure the answer would be after it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from sizer.model import MeasuredRange, WorkloadModel, deviation_of, rates
from sizer.recommend.scoring import rounded
from sizer.recommend.thresholds import SURE
from sizer.records import Action, Configuration, Event, Reason, ReasonCode, Spec, Suggestion

MOST_RUNS = 5
"""Runs of one configuration that are asked for at once: of more, each tells little that is new."""


@dataclass(frozen=True)
class Margin:
    """What an answer hangs on: whether the rate of `less` is at least `share` of that of `more`."""

    less: Configuration
    more: Configuration
    share: float


@dataclass(frozen=True)
class _Doubt:
    """Ln of the margin as a normal: its mean and variance, and what it has in common with the rate of each place (n,).

    `variances` (n,) are those of the rates themselves.
    """

    mean: float
    variance: float
    covariances: NDArray[np.float64]
    variances: NDArray[np.float64]

    def after(self, place: int, noise: float) -> float:
        """Its variance once the rate of that place was measured with this standard deviation."""
        seen = self.covariances[place] ** 2 / (self.variances[place] + noise**2)
        return max(self.variance - float(seen), 0.0)

    def probability(self, variance: float) -> float:
        """That the margin is there, with this variance and the mean as it is expected."""
        if variance <= 0:
            return float(self.mean >= 0)
        return NormalDist().cdf(self.mean / math.sqrt(variance))


def once_more(spec: Spec) -> Suggestion:
    """A run of what is likely enough, which says whether it is."""
    why = Reason(ReasonCode.RUN_WOULD_SETTLE, {"runs": 1.0}, spec)
    return Suggestion(Action.REPEAT, why, vcpus=() if spec.vcpus is None else (spec.vcpus,))


def settling_run(model: WorkloadModel, margin: Margin, event: Event | None) -> Suggestion:
    """The configuration whose next run leaves least doubt of the margin, and how many such runs make it sure.

    What is measured already is measured again; the two that the margin is of may be new. `event` None is a margin of
    which no probability is told: only where to measure.
    """
    places = list(dict.fromkeys([*_measured(model.measured), margin.less, margin.more]))
    doubt = _doubt(model, margin, places)
    left = [doubt.after(index, deviation_of(model.noise, 1)) for index in range(len(places))]
    chosen = int(np.argmin(left))
    surely = (n for n in range(1, MOST_RUNS + 1) if _with_runs(doubt, chosen, model.noise, n) >= SURE)
    runs = next(surely, MOST_RUNS) if doubt.mean > 0 else 1
    figures = {"runs": float(runs)}
    if event is not None and doubt.mean > 0:
        figures |= {
            "probability": rounded(doubt.probability(doubt.variance)),
            "after": rounded(_with_runs(doubt, chosen, model.noise, runs)),
        }
    place = places[chosen]
    known = model.measured.rate_at(place) is not None
    return Suggestion(
        Action.REPEAT if known else Action.MEASURE,
        Reason(ReasonCode.RUN_WOULD_SETTLE, figures, _spec(model.measured, place)),
        vcpus=() if place.vcpus is None else (place.vcpus,),
    )


def _measured(measured: MeasuredRange) -> Iterator[Configuration]:
    return (rate.configuration for rate in measured.rates)


def _doubt(model: WorkloadModel, margin: Margin, places: Sequence[Configuration]) -> _Doubt:
    found = rates(model, places)
    own = found.left.mean(axis=0)
    less, more = places.index(margin.less), places.index(margin.more)
    centred = found.mean - found.mean.mean(axis=0)
    off = centred[:, less] - centred[:, more]
    misfit = np.zeros(len(places))
    misfit[less] += own[less]
    misfit[more] -= own[more]
    same = less == more
    covariances = (off[:, None] * centred).mean(axis=0) + (0.0 if same else misfit)
    variance = float((off * off).mean()) + (0.0 if same else float(own[less] + own[more]))
    return _Doubt(
        float(found.centre[less] - found.centre[more]) - math.log(margin.share),
        variance,
        covariances,
        (centred**2).mean(axis=0) + own,
    )


def _with_runs(doubt: _Doubt, place: int, noise: float, runs: int) -> float:
    return doubt.probability(doubt.after(place, deviation_of(noise, runs)))


def _spec(measured: MeasuredRange, place: Configuration) -> Spec:
    """What tells the configuration from others that were measured."""
    return Spec(
        place.vcpus,
        place.memory_bytes if len(measured.memory_bytes) > 1 else None,
        place.disk if len(measured.disks) > 1 else None,
        place.batch_size if len(measured.batch_size) > 1 else None,
        place.gpu if len(measured.gpus) > 1 else None,
        (place.gpu_count or 0) if len(measured.gpus) > 1 else 0,
    )
