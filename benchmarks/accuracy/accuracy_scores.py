"""Errors and counts -> the figures that are judged, and the goal beside each. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np


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
    return GoalRow(
        part, figure, 100 * found, " %", f"<= {100 * goal:.3g} %" if goal is not None else "", met, len(values)
    )


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
