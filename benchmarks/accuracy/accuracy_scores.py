"""What is predicted of configurations that were left out -> the figures that are judged, and the goal beside each.
Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sizer.model.coordinates import batch_of, disk_of, gpus_of, memory_of, vcpus_of
from sizer.model.model import WorkloadModel
from sizer.model.prediction import predict_several
from sizer.records.configuration import Configuration, Estimate
from sizer.records.prediction import Refusal
from sizer.records.units import GIB

COVERED = 0.85, 0.95
"""Of single runs in intervals of 90 %."""


@dataclass(frozen=True)
class GoalRow:
    """One row of the table: a figure, its goal in words, and whether it is met; None where it has no goal."""

    part: str
    figure: str
    value: float
    unit: str
    goal: str = ""
    met: bool | None = None
    cases: int = 0

    @property
    def line(self) -> str:
        """As it is printed."""
        verdict = {True: "met", False: "MISSED", None: ""}[self.met]
        shown = "-" if math.isnan(self.value) else f"{self.value:.3g}{self.unit}"
        return f"{self.part:30s}  {self.figure:46s}  {shown:>9s}  {self.goal:22s}  {verdict:6s}  {self.cases:>6d}"


HEAD = f"{'part':30s}  {'figure':46s}  {'value':>9s}  {'goal':22s}  {'':6s}  {'cases':>6s}"


@dataclass(frozen=True)
class LeftOut:
    """A configuration that was left out: its true rate, single runs of it, what was predicted, and what rivals say.

    `case` is the machine, workload or curve that it is of.
    """

    case: str
    configuration: Configuration
    truth: float
    runs: tuple[float, ...]
    predicted: Estimate
    rivals: Mapping[str, float] = field(default_factory=dict)

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
    case: str,
    model: WorkloadModel,
    truths: Mapping[Configuration, tuple[float, tuple[float, ...]]],
    rivals: Mapping[str, Sequence[float] | NDArray[np.float64]],
) -> list[LeftOut]:
    """What the model says of configurations with these true rates and single runs; those it refuses are left out.

    `rivals` have one rate for each configuration.
    """
    found = []
    for index, (place, said) in enumerate(zip(truths, predict_several(model, list(truths)), strict=True)):
        if not isinstance(said, Refusal):
            others = {name: float(values[index]) for name, values in rivals.items()}
            found.append(LeftOut(case, place, *truths[place], said.throughput, others))
    return found


def error_rows(
    part: str, found: Sequence[LeftOut], runs: str, of: str = "", goals: tuple[float, float] | None = None
) -> list[GoalRow]:
    """Median and 90th percentile of errors, and how many of the single `runs`, as they are called, are in intervals.

    `goals` are those of the first two; where there are any, COVERED is that of the third.
    """
    errors = [each.error for each in found]
    covered = [each.predicted.low <= run <= each.predicted.high for each in found for run in each.runs]
    middle, ninth, least, most = (*goals, *COVERED) if goals else (None,) * 4
    return [
        at_most(part, f"{of}median error", errors, 0.5, middle),
        at_most(part, f"{of}90th percentile of errors", errors, 0.9, ninth),
        share(part, f"{of}{runs} in their 90 % intervals", covered, least, most),
    ]


def rival_rows(part: str, found: Sequence[LeftOut], of: str = "") -> list[GoalRow]:
    """The same errors of each rival."""
    rows = []
    for name in found[0].rivals if found else ():
        errors = [error(each.rivals[name], each.truth) for each in found]
        rows.append(at_most(part, f"{of}rival {name}: median error", errors, 0.5))
        rows.append(at_most(part, f"{of}rival {name}: 90th percentile", errors, 0.9))
    return rows


def worst_lines(part: str, found: Sequence[LeftOut], count: int) -> list[str]:
    """So many of the largest errors."""
    worst = sorted(found, key=lambda each: -each.error)[:count]
    return [f"{part}, the worst of {len(found)}:", *(each.line for each in worst)] if worst else []


def in_words(place: Configuration) -> str:
    """`3 vCPU 12.5 GiB disk1 b32 V100 x2`."""
    gpu = (f" {place.gpu}" if place.gpu else "") + (f" x{gpus_of(place)}" if gpus_of(place) else "")
    return f"{vcpus_of(place):g} vCPU {memory_of(place) / GIB:.4g} GiB {disk_of(place)} b{batch_of(place)}{gpu}"


def error(predicted: float, truth: float) -> float:
    """|ln| of their ratio as a share: 0.1 is 10.5 % too high or 9.5 % too low."""
    if predicted <= 0 or not math.isfinite(predicted):
        return math.inf
    return abs(math.log(predicted / truth))


def quantile(values: Sequence[float], at: float) -> float:
    """nan of nothing."""
    return float(np.quantile(np.asarray(values, dtype=float), at)) if values else math.nan


def at_most(part: str, figure: str, values: Sequence[float], at: float, goal: float | None = None) -> GoalRow:
    """A quantile of errors in percent; `goal` is a share."""
    found = quantile(values, at)
    met = None if goal is None or math.isnan(found) else found <= goal
    shown = f"<= {100 * goal:.3g} %" if goal is not None else ""
    return GoalRow(part, figure, 100 * found, " %", shown, met, len(values))


def share(
    part: str, figure: str, flags: Iterable[bool], least: float | None = None, most: float | None = None
) -> GoalRow:
    """How many of them in percent, within goals that are shares."""
    known = list(flags)
    found = sum(known) / len(known) if known else math.nan
    goal = ""
    if least is not None:
        goal = f"{100 * least:g} to {100 * most:g} %" if most is not None else f">= {100 * least:g} %"
    met = None if least is None or not known else least <= found <= (1.0 if most is None else most)
    return GoalRow(part, figure, 100 * found, " %", goal, met, len(known))


def below(part: str, figure: str, value: float, unit: str, goal: float, cases: int = 1) -> GoalRow:
    """One figure that must not be above its goal."""
    return GoalRow(part, figure, value, unit, f"<= {goal:g}{unit}", value <= goal, cases)
