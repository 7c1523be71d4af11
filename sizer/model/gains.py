"""By how much a change would raise the throughput, with an interval: what is uncertain about both alike cancels."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sizer.model.equation import CPU, LATENCY, STAGES, Array
from sizer.model.feeds import with_usual_accelerator
from sizer.model.intervals import BEYOND, UNMEASURED_DISK, outside
from sizer.model.model import NORMAL_90, WhatIf, WorkloadModel
from sizer.model.predicted_rates import predict_rates
from sizer.model.prediction import predict_rate
from sizer.records import Configuration, Estimate

LITTLE = 0.05
"""A share of a sample's time that is next to nothing."""


def gain(
    model: WorkloadModel,
    here: Configuration,
    there: Configuration,
    what_if: WhatIf = WhatIf(),
    as_if: WorkloadModel | None = None,
) -> Estimate | None:
    """The relative gain of `there` under the what-if over `here` as it is, with its 90 % interval.

    `as_if` is the same model with other facts, for a change that is none of a what-if's. None where the changed job
    would run out of memory. Raises Refused where the runs cannot say, as `predict` does.
    """
    other = as_if or model
    before, after = predict_rate(model, here).value, predict_rate(other, there, what_if).value
    if before <= 0 or after <= 0:
        return None
    here, there = (with_usual_accelerator(model.measured, each) for each in (here, there))
    rates, changed = predict_rates(model, [here]), predict_rates(other, [there], what_if)
    centre = math.log(after / before)
    unseen = _unseen(model, here, there, what_if, changed.shares[0], 1 - before / after, as_if is not None)
    below, above = _reach(centre, changed.draws[:, 0] - rates.draws[:, 0], rates.weights, unseen)
    return Estimate(math.expm1(centre), math.expm1(centre - below), math.expm1(centre + above))


def tells_apart(model: WorkloadModel, pairs: Sequence[tuple[Configuration, Configuration]]) -> list[bool]:
    """Of each two configurations whether the model says which is faster: whether 0 lies outside the 90 % interval of
    what the one gains over the other."""
    places = [with_usual_accelerator(model.measured, each) for pair in pairs for each in pair]
    rates = predict_rates(model, places) if places else None
    found = []
    for first in range(0, len(places), 2):
        assert rates is not None, "there are places"
        here, there = places[first : first + 2]
        centre = float(rates.mean[first + 1] - rates.mean[first])
        unseen = _unseen(model, here, there, WhatIf(), rates.shares[first + 1], 0.0)
        below, above = _reach(centre, rates.draws[:, first + 1] - rates.draws[:, first], rates.weights, unseen)
        found.append(not centre - below <= 0 <= centre + above)
    return found


def _reach(centre: float, drawn: Array, weights: Array, unseen: float) -> tuple[float, float]:
    """How far the 90 % interval of ln gain reaches below and above its centre."""
    order = np.argsort(drawn)
    low, high = np.interp((0.05, 0.95), np.cumsum(weights[order]) / weights.sum(), drawn[order])
    below, above = (
        math.hypot(max(0.0, each), NORMAL_90 * unseen) for each in (centre - float(low), float(high) - centre)
    )
    return below, above


def _unseen(
    model: WorkloadModel,
    here: Configuration,
    there: Configuration,
    what_if: WhatIf,
    shares: Array,
    saved: float,
    as_if: bool = False,
) -> float:
    """The standard deviation of ln gain for what no run has seen: another place, and a disk by its figures alone.

    The model's misfit is each configuration's own, so it counts for two that differ, as a changed job does. A disk
    counts as far as it binds after the change, by its share of the time, or did before, by the share that is `saved`:
    what takes a small share of the time cannot make the rate uncertain by more.
    """
    disk = float(sum(shares[STAGES.index(name)] for name in ("read", "write", "latency")))
    return math.hypot(
        math.sqrt(2) * model.misfit if as_if or there != here or what_if != WhatIf() else 0.0,
        BEYOND * outside(model, there),
        UNMEASURED_DISK * max(disk, saved) if what_if.disk_rates is not None else 0.0,
    )


def loader_waits(model: WorkloadModel, configuration: Configuration) -> float:
    """The share of its time that a worker of the loader waits for the disk; 0 where workers hold back next to nothing,
    for then the runs do not tell waiting from computing."""
    shares = predict_rates(model, [configuration]).shares[0] if model.members else np.zeros(len(STAGES))
    cpu, latency = float(shares[CPU]), float(shares[LATENCY])
    return latency / (cpu + latency) if cpu + latency > LITTLE else 0.0
