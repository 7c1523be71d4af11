"""What lies beyond the measured range, and the run that would settle it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from sizer.catalog import Catalog
from sizer.model import WhatIf, WorkloadModel, accelerator, known_ceilings, predict
from sizer.recommend.candidates import next_sold
from sizer.recommend.judgement import vcpus_of_ceiling
from sizer.recommend.words import interval
from sizer.records import Configuration, Prediction, format_rate, format_vcpus

NO_CEILING = "no ceiling near it is known"


@dataclass(frozen=True)
class Beyond:
    """The estimate at a size above the largest measured (always extrapolated), why, and the run to make."""

    prediction: Prediction
    reason: str
    next_run: str


def look_beyond(model: WorkloadModel, best: Configuration, catalog: Catalog) -> Beyond | None:
    """The next step up, or the size that a known accelerator ceiling asks for.

    With a known accelerator ceiling G the size follows from G x core-seconds of a sample, which is strong; without one
    the curve is only drawn on by Amdahl's law, which is weak: the sentence says which. None where what is there would
    run out of the memory that was measured.
    """
    high = model.measured.vcpus[-1]
    ceiling = vcpus_of_ceiling(model, best)
    if ceiling is not None and ceiling[0] > high:
        return _to_ceiling(model, best, catalog, ceiling)
    size = next_sold(2 * high, catalog)
    prediction = predict(model, replace(best, vcpus=size), WhatIf())
    if prediction.out_of_memory:
        return None
    known = float(known_ceilings(model, [prediction.configuration])[0])
    near = known < math.log(prediction.throughput.high)
    why = f"the next ceiling known is {format_rate(math.exp(known), model.sample_unit)}" if near else NO_CEILING
    reason = (
        f"beyond {format_vcpus(high)} (extrapolated, weak: {why}): {format_vcpus(size)} would give about "
        f"{_rate(model, prediction)} if half of what the last doubling saved is saved again"
    )
    return Beyond(prediction, reason, f"measure `{model.name}` at {size:g} and {2 * size:g} vCPUs: {_settles(size)}")


def _to_ceiling(
    model: WorkloadModel, best: Configuration, catalog: Catalog, ceiling: tuple[float, float, float]
) -> Beyond | None:
    value, low, top = ceiling
    size = next_sold(value, catalog, above=True)
    prediction = predict(model, replace(best, vcpus=size), WhatIf())
    if prediction.out_of_memory:
        return None
    device = accelerator(model.facts.device)
    reason = (
        f"beyond {format_vcpus(model.measured.vcpus[-1])} (extrapolated, strong: the ceiling of the {device} is "
        f"known): it is kept busy by about {value:.2g} vCPUs ({low:.2g} to {top:.2g}); "
        f"{format_vcpus(size)} would give about {_rate(model, prediction)}"
    )
    return Beyond(prediction, reason, f"measure `{model.name}` at {format_vcpus(size)}: {_settles(size)}")


def _settles(size: float) -> str:
    return f"the rate still rises at the most measured; if it no longer does at {size:g}, the knee is found"


def _rate(model: WorkloadModel, prediction: Prediction) -> str:
    return interval(prediction.throughput, model.sample_unit)
