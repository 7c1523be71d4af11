"""What is predicted of configurations that were left out -> the figures that are judged, and the goal beside each.
Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from goals import GoalRow, at_most, error, share

from sizer.model.model import WorkloadModel, batch_of, disk_of, gpus_of, memory_of, vcpus_of
from sizer.model.prediction import predict_several
from sizer.records.prediction import Configuration, Estimate, Refusal
from sizer.records.units import GIB

COVERED = 0.85, 0.95
"""Of single runs in intervals of 90 %."""


@dataclass(frozen=True)
class LeftOut:
    """A configuration that was left out: its true rate, single runs of it, and what was predicted.

    `case` is the machine, workload or curve that it is of.
    """

    case: str
    configuration: Configuration
    truth: float
    runs: tuple[float, ...]
    predicted: Estimate

    @property
    def error(self) -> float:
        return error(self.predicted.value, self.truth)

    @property
    def line(self) -> str:
        """As it is listed among the worst."""
        rate = self.predicted
        return (
            f"    {self.case}: {in_words(self.configuration)}: {rate.value:.4g} ({rate.low:.4g} to {rate.high:.4g}), "
            f"true {self.truth:.4g}: {100 * (rate.value / self.truth - 1):+.1f} %"
        )


def left_out(
    case: str, model: WorkloadModel, truths: Mapping[Configuration, tuple[float, tuple[float, ...]]]
) -> list[LeftOut]:
    """What the model says of configurations with these true rates and single runs; those it refuses are left out."""
    predicted = zip(truths, predict_several(model, list(truths)), strict=True)
    return [
        LeftOut(case, place, *truths[place], prediction.throughput)
        for place, prediction in predicted
        if not isinstance(prediction, Refusal)
    ]


def error_rows(
    part: str, points: Sequence[LeftOut], runs: str, of: str = "", goals: tuple[float, float] | None = None
) -> list[GoalRow]:
    """Median and 90th percentile of errors, and how many of the single `runs`, as they are called, are in intervals.

    `goals` are those of the first two; where there are any, COVERED is that of the third.
    """
    errors = [point.error for point in points]
    covered = [point.predicted.low <= run <= point.predicted.high for point in points for run in point.runs]
    middle, ninth, least, most = (*goals, *COVERED) if goals else (None,) * 4
    return [
        at_most(part, f"{of}median error", errors, 0.5, middle),
        at_most(part, f"{of}90th percentile of errors", errors, 0.9, ninth),
        share(part, f"{of}{runs} in their 90 % intervals", covered, least, most),
    ]


def worst_lines(part: str, points: Sequence[LeftOut], count: int) -> list[str]:
    """So many of the largest errors."""
    worst = sorted(points, key=lambda point: -point.error)[:count]
    return [f"{part}, the worst of {len(points)}:", *(point.line for point in worst)] if worst else []


def in_words(place: Configuration) -> str:
    """`3 vCPU 12.5 GiB disk1 b32 V100 x2`."""
    gpu = (f" {place.gpu}" if place.gpu else "") + (f" x{gpus_of(place)}" if gpus_of(place) else "")
    return f"{vcpus_of(place):g} vCPU {memory_of(place) / GIB:.4g} GiB {disk_of(place)} b{batch_of(place)}{gpu}"
