"""Runs of one workload, put together by configuration."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from sizer.model.model import batch_of, disk_of, memory_of, vcpus_of
from sizer.model.observations import measured_rate
from sizer.model.runs import as_asked, end_to_end
from sizer.records.prediction import Configuration, Estimate
from sizer.records.run import RentedMachine, Run
from sizer.records.run_kinds import Outcome


@dataclass(frozen=True)
class Result:
    """All completed repeats of one configuration under the same input and cache state, on one machine."""

    configuration: Configuration
    input: str
    cache: str
    runs: tuple[Run, ...]
    throughput: Estimate
    machine: RentedMachine | None = None


def of_workload(runs: Iterable[Run], name: str) -> tuple[Run, ...]:
    return tuple(run for run in runs if run.spec.workload.name == name)


def measured(run: Run) -> bool:
    """Whether a run gave a rate that can be drawn and computed with."""
    rate = run.throughput
    if run.outcome is not Outcome.COMPLETED or rate is None:
        return False
    return all(map(math.isfinite, (rate.value, rate.low, rate.high)))


def by_configuration(runs: Iterable[Run]) -> tuple[Result, ...]:
    """Completed runs grouped by configuration, smallest first; not those of a search for the memory floor."""
    groups: dict[tuple[Configuration, str, str, RentedMachine | None], list[Run]] = {}
    for run in as_asked(runs):
        if measured(run):
            workload = run.spec.workload
            key = (run.configuration, workload.assumed_input, workload.assumed_cache, run.declared.machine)
            groups.setdefault(key, []).append(run)
    results = [
        Result(configuration, input_, cache, tuple(group), pooled(group), machine)
        for (configuration, input_, cache, machine), group in groups.items()
    ]
    return tuple(sorted(results, key=lambda result: _order(result.configuration)))


def of_the_job(runs: Sequence[Run]) -> tuple[Run, ...]:
    """Those that gave a rate of the whole job, fed as predictions are about it."""
    return tuple(run for run in end_to_end(as_asked(runs)) if measured(run))


def rates_of_the_job(runs: Sequence[Run]) -> dict[Configuration, Estimate]:
    """The measured rate of the whole job at each configuration that a run shows."""
    groups: dict[Configuration, list[Run]] = defaultdict(list)
    for run in of_the_job(runs):
        groups[run.configuration].append(run)
    return {configuration: pooled(alike) for configuration, alike in groups.items()}


def pooled(runs: Iterable[Run]) -> Estimate:
    """The measured rate of the runs of one configuration, of which there must be one.

    The interval holds those of all, and is no standard error: repeats are few, and what differs between processes must
    stay visible.
    """
    return measured_rate([run.throughput for run in runs if run.throughput is not None])


def middle(values: Iterable[float | None]) -> float | None:
    """The median of what is known of some runs, as of their rates; None where nothing is."""
    numbers = [value for value in values if value is not None]
    return median(numbers) if numbers else None


def _order(configuration: Configuration) -> tuple[float, int, int, str]:
    return vcpus_of(configuration), memory_of(configuration), batch_of(configuration), disk_of(configuration)
