"""The steady state of a run in stretches of a few seconds: what was made in each, and what it took."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sizer.model.equation import Array
from sizer.records.run import Run

SECONDS = 2.0
"""That a stretch lasts at the least: about four readings of the counters."""


@dataclass(frozen=True)
class Stretches:
    """`times` and `core_costs` (n,): seconds and core-seconds a sample in each, 0 where nothing was made."""

    times: Array
    core_costs: Array


NONE = Stretches(np.zeros(0), np.zeros(0))


def stretches(run: Run) -> Stretches:
    """None of a run whose readings or steps were not kept."""
    begin = run.steps[0].time + (run.warm_up_seconds or 0.0) if run.steps else 0.0
    end = begin + (run.measured_seconds or 0.0)
    readings = [each for each in run.samples if begin <= each.time <= end]
    if not run.steps or len(readings) < 2:
        return NONE
    at = np.array([each.time for each in readings])
    made = np.interp(at, [step.time for step in run.steps], np.cumsum([step.samples for step in run.steps]))
    parts = np.linspace(at[0], at[-1], max(1, int((at[-1] - at[0]) / SECONDS)) + 1)
    edges = np.unique([*np.searchsorted(at, parts[:-1]), len(at) - 1])
    used = np.array([each.core_seconds for each in readings])
    done = np.diff(made[edges])
    times, costs = (
        np.divide(np.diff(each[edges]), done, out=np.zeros(len(done)), where=done > 0) for each in (at, used)
    )
    return Stretches(times, costs)
