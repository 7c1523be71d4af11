"""What lies beyond the measured range, and the run that would settle it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sizer.catalog import Catalog
from sizer.model import WhatIf, WorkloadModel, predict, vcpus_of_ceiling
from sizer.recommend.candidates import next_sold
from sizer.records import Action, Configuration, Estimate, Figure, Prediction, Reason, ReasonCode, Suggestion, reason


@dataclass(frozen=True)
class Beyond:
    """The estimate at a size above the largest measured (always extrapolated), why, and the run to make."""

    prediction: Prediction
    reason: Reason
    next_run: Suggestion


def look_beyond(model: WorkloadModel, best: Configuration, catalog: Catalog) -> Beyond | None:
    """The next step up, or the size that a known accelerator ceiling asks for.

    With a known accelerator ceiling G the size follows from G x core-seconds of a sample, which is strong; without one
    only the curve is drawn on, which is weak: the reason says which. None where what is there would
    run out of the memory that was measured.
    """
    high = model.measured.vcpus[-1]
    ceiling = vcpus_of_ceiling(model, best)
    if ceiling is not None and ceiling.value > high:
        return _to_ceiling(model, best, catalog, ceiling)
    size = next_sold(2 * high, catalog)
    prediction = predict(model, replace(best, vcpus=size), WhatIf())
    if prediction.out_of_memory:
        return None
    said = reason(ReasonCode.BEYOND_BY_CURVE, vcpus=high, size=size, **_rate(prediction))
    return Beyond(prediction, said, _to_measure(size, 2 * size))


def _to_ceiling(model: WorkloadModel, best: Configuration, catalog: Catalog, ceiling: Estimate) -> Beyond | None:
    size = next_sold(ceiling.value, catalog, above=True)
    prediction = predict(model, replace(best, vcpus=size), WhatIf())
    if prediction.out_of_memory:
        return None
    said = reason(
        ReasonCode.BEYOND_BY_CEILING,
        vcpus=model.measured.vcpus[-1],
        busy_vcpus=ceiling.value,
        busy_low=ceiling.low,
        busy_high=ceiling.high,
        size=size,
        **_rate(prediction),
    )
    return Beyond(prediction, said, _to_measure(size))


def _to_measure(*sizes: float) -> Suggestion:
    return Suggestion(Action.MEASURE, reason(ReasonCode.FINDS_THE_KNEE, size=sizes[0]), vcpus=sizes)


def _rate(prediction: Prediction) -> dict[str, Figure]:
    rate = prediction.throughput
    return {"rate": rate.value, "low": rate.low, "high": rate.high}
