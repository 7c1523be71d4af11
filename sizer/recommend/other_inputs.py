"""Rates with other input than the job's: they answer for no job, and show whether its input holds it back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sizer.model import completed, end_to_end
from sizer.recommend.accelerators import Accelerators
from sizer.recommend.machines import Machine, accelerators_of_run
from sizer.records import Run

HELD_BACK = 1.1
"""How many times as fast a job must be without its input for that to be what holds it back."""


def step_rates(runs: Sequence[Run]) -> dict[Accelerators, float]:
    """By kind and count of accelerator the highest rate with synthetic input, in samples per second."""
    whole = {id(run) for run in end_to_end(runs)}
    found: dict[Accelerators, float] = {}
    for run in completed(runs):
        if id(run) in whole or run.spec.workload.assumed_input != "synthetic" or run.throughput is None:
            continue
        key = accelerators_of_run(run)
        found[key] = max(found.get(key, 0.0), run.throughput.value)
    return found


def input_binds(machine: Machine, steps: Mapping[Accelerators, float]) -> float | None:
    """The rate of its accelerators without the job's input, where that is what holds the job back; else None."""
    rate = steps.get(machine.accelerators)
    return rate if rate is not None and rate > HELD_BACK * machine.rate else None
