"""How slow the host's CPUs were during each run, by what a sample cost then: shared hosts differ from hour to hour.

Where the CPU binds, throughput is the vCPUs over the core-seconds of a sample, whatever made these dear. So a run whose
samples cost 10 % more than those of its neighbours was made while the CPUs were 10 % slower, which says nothing of its
limits. Only such runs are judged: one that waits for a disk or a GPU spends core-seconds on waiting, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from sizer.model.coordinates import batch_of, vcpus_of
from sizer.model.feeds import feed_of
from sizer.records import Run

BUSY = 0.8
"""Of the busiest run's use of its vCPUs: from there on the CPU is what binds."""
FEWEST = 4
"""Runs below which what is usual is not known."""
SLOPES = np.array([0.15, 0.1])
"""Standard deviations believed of how ln core-seconds grow with ln vCPUs, and of what a fraction costs more than a
whole vCPU, since what a quota stops finds its caches cold; against a spread of SPREAD between runs."""
SPREAD = 0.1


def slowness(runs: Sequence[Run]) -> dict[int, float]:
    """Ln of core-seconds a sample over what is usual at these vCPUs, by `id(run)`; only of runs that the CPU binds."""
    alike: dict[object, list[Run]] = defaultdict(list)
    for run in runs:
        configuration = run.configuration
        if run.throughput is not None and run.demand is not None and run.demand.core_seconds:
            alike[(feed_of(run), configuration.gpu, batch_of(configuration))].append(run)
    found: dict[int, float] = {}
    for group in alike.values():
        found |= _off_usual(group)
    return found


def _off_usual(group: Sequence[Run]) -> dict[int, float]:
    used = {id(run): _use(run) for run in group}
    busy = [run for run in group if used[id(run)] >= BUSY * min(1.0, max(used.values()))]
    if len(busy) < FEWEST:
        return {}
    vcpus = np.array([vcpus_of(run.configuration) for run in busy])
    known = np.column_stack([np.log(vcpus), vcpus % 1 > 0])
    known, cost = known - known.mean(axis=0), np.log([_cost(run) for run in busy])
    cost = cost - cost.mean()
    usual = np.linalg.solve(known.T @ known + np.diag((SPREAD / SLOPES) ** 2), known.T @ cost)
    return {id(run): float(off) for run, off in zip(busy, cost - known @ usual, strict=True)}


def _cost(run: Run) -> float:
    assert run.demand is not None, "slowness() lets only accounted runs through"
    return run.demand.core_seconds or 1.0


def _use(run: Run) -> float:
    """The part of its vCPUs that a run kept busy."""
    assert run.throughput is not None, "slowness() lets only measured runs through"
    return run.throughput.value * _cost(run) / vcpus_of(run.configuration)
