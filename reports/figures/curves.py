"""What the model says along one axis, point by point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sizer.model import WorkloadModel, predict_line
from sizer.records import Configuration

from ..charts import CurvePoint

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
    found = predict_line(model, [moved(base, axis, place) for place in places])
    for place, answer in zip(places, found, strict=True):
        point = None if answer is None else CurvePoint(place, answer.throughput, answer.extrapolated)
        if point is not None:
            if last is None:
                stretches.append([point])
            elif stretches[-1][-1].extrapolated == point.extrapolated:
                stretches[-1].append(point)
            else:
                _turn(stretches, last, point)
        last = point
    return stretches


def predicted(model: WorkloadModel, configuration: Configuration) -> CurvePoint | None:
    """The model at one configuration; None where it has no answer or the run would not complete."""
    (found,) = predict_line(model, [configuration])
    return None if found is None else CurvePoint(0.0, found.throughput, found.extrapolated)


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
