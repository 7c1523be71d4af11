"""What lies beyond the measured range, and the run that would settle it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sizer.catalog import Catalog
from sizer.model import WhatIf, WorkloadModel
from sizer.recommend.candidates import next_sold
from sizer.recommend.judgement import vcpus_of_ceiling
from sizer.recommend.words import interval
from sizer.records import Configuration, Prediction


@dataclass(frozen=True)
class Beyond:
    """The estimate at a size above the largest measured (always extrapolated), why, and the run to make."""

    prediction: Prediction
    reason: str
    next_run: str


def look_beyond(model: WorkloadModel, best: Configuration, catalog: Catalog) -> Beyond:
    """The next step up, or the size that a known accelerator ceiling asks for.

    With a known ceiling G the size follows from G x core-seconds of a sample, which is strong; without one the curve
    is only drawn on, which is weak: the sentence says which.
    """
    high = model.measured.vcpus[-1]
    ceiling = vcpus_of_ceiling(model)
    if ceiling is not None and ceiling[0] > high:
        value, low, top = ceiling
        size = next_sold(value, catalog, above=True)
        prediction = model.predict(replace(best, vcpus=size), WhatIf())
        reason = (
            f"beyond {high:g} vCPU (extrapolated, strong: the accelerator's ceiling is known): it is kept busy by "
            f"about {value:.2g} vCPU ({low:.2g} to {top:.2g}); "
            f"{size:g} vCPU would give about {_rate(model, prediction)}"
        )
        return Beyond(prediction, reason, f"measure `{model.name}` at {size:g} vCPU: {_settles(size)}")
    size = next_sold(2 * high, catalog)
    prediction = model.predict(replace(best, vcpus=size), WhatIf())
    reason = (
        f"beyond {high:g} vCPU (extrapolated, weak: no ceiling is known): {size:g} vCPU would give about "
        f"{_rate(model, prediction)}"
    )
    return Beyond(prediction, reason, f"measure `{model.name}` at {size:g} and {2 * size:g} vCPU: {_settles(size)}")


def _settles(size: float) -> str:
    return f"the rate still rises at the most measured; if it no longer does at {size:g}, the knee is found"


def _rate(model: WorkloadModel, prediction: Prediction) -> str:
    return interval(prediction.throughput, model.sample_unit)
