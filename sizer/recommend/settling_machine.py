"""Of machines that are compared: whose next run makes the choice surest, and how sure it would be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from sizer.model import deviation_of
from sizer.recommend.comparison import Comparison, compare
from sizer.recommend.machines import Machine
from sizer.recommend.memory_levels import levelled
from sizer.recommend.scoring import rounded
from sizer.recommend.settling import MOST_RUNS
from sizer.recommend.thresholds import SURE
from sizer.records import Action, Objective, Reason, ReasonCode, Suggestion

MOST_RIVALS = 6
"""Machines beside the chosen one that are looked at, the best by the objective first: others are not close to it."""


def settling_machine(
    machines: Sequence[Machine], comparison: Comparison, objective: Objective, likely: float
) -> Suggestion | None:
    """The machine and how many more runs of it, if they go as expected; None where none makes the choice surer."""
    assert comparison.chosen is not None
    rivals = [each.machine for each in comparison.others()[:MOST_RIVALS]]
    rivals += [comparison.fastest, comparison.chosen.machine]
    after = {index: _after(machines, each, objective, 1) for index, each in enumerate(rivals)}
    best = max(after, key=lambda index: after[index])
    if rounded(after[best]) <= likely:
        return None
    machine = rivals[best]
    enough = (n for n in range(1, MOST_RUNS + 1) if _after(machines, machine, objective, n) >= SURE)
    runs = next(enough, MOST_RUNS)
    figures = {"runs": float(runs), "probability": likely, "after": rounded(_after(machines, machine, objective, runs))}
    vcpus = machine.configuration.vcpus
    why = Reason(ReasonCode.RUN_WOULD_SETTLE, figures, machine.spec)
    return Suggestion(Action.REPEAT, why, vcpus=() if vcpus is None else (vcpus,))


def _after(machines: Sequence[Machine], measured_again: Machine, objective: Objective, runs: int) -> float:
    """The probability of the choice once this machine had so many more runs, with its rate as it is."""
    again = replace(measured_again, deviation=_with_runs(measured_again, runs))
    return compare(levelled([again if each is measured_again else each for each in machines]), objective).probability


def _with_runs(machine: Machine, runs: int) -> float:
    """Its deviation after them: what lies between configurations stays."""
    between = deviation_of(0.0, 1)
    own = math.sqrt(max(machine.deviation**2 - between**2, 0.0))
    if not own or not machine.noise:
        return machine.deviation
    return math.hypot(1 / math.sqrt(own**-2 + runs * machine.noise**-2), between)
