"""Rates with other input than the job's: they answer for no job, and show whether its input holds it back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sizer.model.isolation import end_to_end
from sizer.model.observations import completed, measured_rate
from sizer.recommend.accelerators import Accelerators
from sizer.recommend.candidates import Candidate
from sizer.recommend.machines import accelerators_of_run
from sizer.records.configuration import Configuration, Estimate
from sizer.records.run import RentedMachine, Run

HELD_BACK = 1.1
"""How many times as fast a job must be without its input for that to be what holds it back."""
EFFICIENT = 0.8
"""Of the rate of each accelerator with fewer of them: what more of them lose beyond that is named."""


def step_rates(runs: Sequence[Run]) -> dict[Accelerators, float]:
    """By kind and count of accelerator the highest rate with synthetic input, in samples per second."""
    whole = {id(run) for run in end_to_end(runs)}
    groups: dict[tuple[Accelerators, Configuration, RentedMachine | None], list[Estimate]] = defaultdict(list)
    for run in completed(runs):
        if id(run) not in whole and run.spec.workload.assumed_input == "synthetic" and run.throughput is not None:
            groups[accelerators_of_run(run), run.configuration, run.machine].append(run.throughput)
    found: dict[Accelerators, float] = {}
    for (accelerators, *_), rates in groups.items():
        found[accelerators] = max(found.get(accelerators, 0.0), measured_rate(rates).value)
    return found


def input_binds(machine: Candidate, steps: Mapping[Accelerators, float]) -> float | None:
    """The rate of its accelerators without the job's input, where that is what holds the job back; else None."""
    rate = steps.get(machine.accelerators)
    return rate if rate is not None and rate > HELD_BACK * machine.rate else None


@dataclass(frozen=True)
class Efficiency:
    """The share that each of `count` accelerators keeps of its rate beside `fewer`."""

    share: float
    count: int
    fewer: int


def rates_of(machines: Sequence[Candidate]) -> dict[Accelerators, float]:
    """By kind and count of accelerator the highest rate."""
    found: dict[Accelerators, float] = {}
    for each in machines:
        found[each.accelerators] = max(found.get(each.accelerators, 0.0), each.rate)
    return found


def efficiency(accelerators: Accelerators, steps: Mapping[Accelerators, float]) -> Efficiency | None:
    """What they keep of the rate that each has beside the fewest measured, without an input that could hold them back.

    None where these rates, with synthetic input, are not known of them and of fewer. What is lost then is lost in the
    exchange between accelerators, or on the host that feeds them.
    """
    count = accelerators.count or 0
    fewer = [each.count or 0 for each in steps if each.gpu == accelerators.gpu and 0 < (each.count or 0) < count]
    if not fewer or accelerators not in steps:
        return None
    least = min(fewer)
    share = steps[accelerators] / count / (steps[Accelerators(accelerators.gpu, least)] / least)
    return Efficiency(share, count, least)
