"""What the model says along one axis, point by point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sizer.model.model import WorkloadModel
from sizer.model.prediction import predict_several
from sizer.records.configuration import Configuration
from sizer.records.prediction import Prediction

from ..charts.plot import CurvePoint

POINTS = 30
"""Enough for a smooth line on 350 pixels, with the measured places between them."""


def grid(low: float, high: float, logarithmic: bool, also: Sequence[float] = ()) -> list[float]:
    """Evenly spread places from low to high, and those in `also` that lie between."""
    steps = [index / (POINTS - 1) for index in range(POINTS)]
    spread = [low * (high / low) ** step if logarithmic else low + (high - low) * step for step in steps]
    return sorted({*spread, *(value for value in also if low <= value <= high)})


def segments(model: WorkloadModel, base: Configuration, axis: str, places: Sequence[float]) -> list[list[CurvePoint]]:
    """Unbroken stretches of the model's line; it breaks where a run would not complete or the model has no answer.

    A stretch is either measured or extrapolated throughout; neighbours share the point where they meet. One point
    alone is where the model answers for a measured place but not for what lies around it.
    """
    stretches: list[list[CurvePoint]] = []
    last: CurvePoint | None = None
    for place, point in zip(places, points(model, [moved(base, axis, place) for place in places]), strict=True):
        point = None if point is None else replace(point, x=place)
        if point is not None:
            if last is None:
                stretches.append([point])
            elif stretches[-1][-1].extrapolated == point.extrapolated:
                stretches[-1].append(point)
            else:
                _turn(stretches, last, point)
        last = point
    return stretches


def points(model: WorkloadModel, configurations: Sequence[Configuration]) -> list[CurvePoint | None]:
    """The model at each, without their places on an axis; None where it has no answer or the run would not complete."""
    found = predict_several(model, configurations)
    return [
        CurvePoint(0.0, each.throughput, each.extrapolated)
        if isinstance(each, Prediction) and not each.out_of_memory
        else None
        for each in found
    ]


def moved(base: Configuration, axis: str, place: float) -> Configuration:
    """The configuration at another place of a continuous axis."""
    if axis == "vcpus":
        return replace(base, vcpus=place)
    if axis == "memory_bytes":
        return replace(base, memory_bytes=round(place))
    return replace(base, batch_size=round(place))


def _turn(stretches: list[list[CurvePoint]], last: CurvePoint, point: CurvePoint) -> None:
    """Begin a new stretch so that the step between the two is drawn as extrapolated."""
    if point.extrapolated:
        stretches.append([replace(last, extrapolated=True), point])
    else:
        stretches[-1].append(replace(point, extrapolated=True))
        stretches.append([point])
