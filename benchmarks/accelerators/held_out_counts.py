"""Published rates of eight accelerators: left out, and told from fewer of the same table or from other tables alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from effects_fitted import fitted

from sizer.catalog.accelerator_rates import AcceleratorRate
from sizer.catalog.gpu_scaling import (
    MEAN_LOSS,
    ScaledRun,
    ScalingVariances,
    efficiency_range,
    loss_model,
    scaled_runs,
)
from sizer.catalog.networks import family_of

EIGHT = 8
PRIOR = (0.37,) * 6


@dataclass(frozen=True)
class CountLeftOut:
    """The efficiency of eight: true, told with its bounds, and as the largest count that is known has it."""

    run: ScaledRun
    low: float
    told: float
    high: float
    same_as_fewer: float
    had_fewer: bool


def variances(runs: Sequence[ScaledRun]) -> ScalingVariances:
    """The most likely ones of these runs."""
    values = [run.loss - MEAN_LOSS for run in runs]
    return fitted(ScalingVariances, ScalingVariances.effects, runs, values, PRIOR)


def left_out(rates: Sequence[AcceleratorRate]) -> list[CountLeftOut]:
    """Each table's eight; the variances come from other networks' tables alone."""
    runs = scaled_runs(rates)
    families = {family_of(run.network) for run in runs}
    others = {family: variances([run for run in runs if family_of(run.network) != family]) for family in families}
    found = []
    for run in runs:
        if run.gpu_count != EIGHT:
            continue
        fewer = [each for each in runs if each.table == run.table and each.gpu_count < EIGHT]
        known = [each for each in runs if each.table != run.table] + fewer
        low, told, high = efficiency_range(loss_model(known, others[family_of(run.network)]), run)
        last = max(fewer, key=lambda each: each.gpu_count).efficiency if fewer else 1.0
        found.append(CountLeftOut(run, low, told, high, last, bool(fewer)))
    return found
