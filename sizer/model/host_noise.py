"""What the noise of the host did to each run, by what reads and products beside it cost: control variates.

Neighbours on the host slow down a job and the probe beside it alike. How much slower the host was for each kind of it
(`probe_levels.py`), times what of that the workload feels (`probe_coefficient.py`), as far as the rate of the run shows
a slower CPU (`exposure.py`), is taken off its rate (control variates: Lavenberg and Welch 1981, "A perspective on the
use of control variables to increase the efficiency of Monte Carlo simulations"). What is uncertain of it is in the
likelihood of the run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from statistics import median

import numpy as np

from sizer.model.exposure import exposures
from sizer.model.feeds import feed_of
from sizer.model.one_thread import one_thread
from sizer.model.probe_coefficient import FEWEST_OTHERS, Coefficients, coefficients, kinds_of
from sizer.model.probe_levels import HostPart, Looks, host_parts
from sizer.records import NORMAL_95, Correction, Estimate, RoundCost, Run, WarningKind

FAR = 3.0
"""On two measured grids a round beside a run cost at most 2.1 and 2.9 times the median or as little a part of it, but
for one of 457 runs, where it cost twelve times as much: most likely the kernel had taken memory of the probe."""
UNTOLD_ERROR = 0.05
"""Relative error of the mean cost of so few rounds that they do not tell it."""


@one_thread
def corrected(runs: Sequence[Run]) -> list[Run]:
    """The runs of a whole study, as they were measured, each with its correction as far as probes tell one."""
    runs = [run if run.correction is None else replace(run, correction=None) for run in runs]
    probed = believed(runs)
    if len(probed) < FEWEST_OTHERS:
        return runs
    # What binds a configuration all of its runs tell, also those whose probe is not believed.
    shown = exposures([run for run in runs if run.throughput is not None])
    known = coefficients(probed, shown)
    if not any(each.values.any() for each in known.values()):
        return runs
    kinds = kinds_of(probed)
    parts = zip(*(host_parts(_looks(probed, kind))[: len(probed)] for kind in range(kinds)), strict=True)
    found = {}
    for run, own in zip(probed, parts, strict=True):
        coefficient = known[id(run)]
        if coefficient.values.any():
            found[id(run)] = replace(run, correction=_correction(run, shown[id(run)], coefficient, own))
    return [found.get(id(run), run) for run in runs]


def without_host_noise(runs: Sequence[Run]) -> list[Run]:
    """The same with the rates that they would have had on the host as usual.

    Rate and core-seconds of a run are both corrected, so that what looks at these next (`drift_of`, what a
    sample costs) finds only what is left.
    """
    return [_without(run, run.correction) for run in corrected(runs)]


def _without(run: Run, correction: Correction | None) -> Run:
    if correction is None:
        return run
    demand = run.demand
    if demand is not None and demand.core_seconds:
        demand = replace(demand, core_seconds=demand.core_seconds * math.exp(-correction.core_log))
    return replace(run, throughput=correction.of_run, demand=demand)


def believed(runs: Sequence[Run]) -> list[Run]:
    """Those whose probe tells of the host."""
    return _alike([run for run in runs if _is_probed(run)])


def _is_probed(run: Run) -> bool:
    told = run.probe is not None and run.probe.during is not None and not is_costly(run)
    return told and run.throughput is not None and run.throughput.value > 0 and _began(run) is not None


def is_costly(run: Run) -> bool:
    """Whether sizer with its probe took more of the run than it may, so that its look at it is not believed."""
    return any(each.kind is WarningKind.OVERHEAD for each in run.warnings)


def _alike(probed: Sequence[Run]) -> list[Run]:
    """Without those whose probe cost FAR times as much or as little as usual: such a look met something else."""
    kinds = range(kinds_of(probed))
    usual = [median(_cost(run, kind) for run in probed) for kind in kinds]
    return [run for run in probed if all(abs(_cost(run, kind) - usual[kind]) <= math.log(FAR) for kind in kinds)]


def _cost(run: Run, kind: int) -> float:
    """Ln of the core-seconds of a round of this kind beside the run."""
    assert run.probe is not None, "only probed runs are asked"
    during = run.probe.kinds[kind].during
    assert during is not None, "only probed runs are asked"
    return math.log(during)


def _began(run: Run) -> float | None:
    if run.started_at is None:
        return None
    try:
        return datetime.fromisoformat(run.started_at.replace("Z", "+00:00")).timestamp()
    except ValueError:
        return None


def _correction(run: Run, exposure: float, known: Coefficients, parts: Sequence[HostPart]) -> Correction:
    rate = run.throughput
    assert rate is not None, "only measured runs are corrected"
    logs, own, common = (np.array([getattr(part, name) for part in parts]) for name in ("log", "own", "common"))
    felt = float(known.values @ logs)
    # What the host moves within a run is as much of its interval as its rate shows of it.
    left = 1 - exposure * (1 - known.leaves)
    variance = float(logs @ known.covariance @ logs) + float(((known.values * own) ** 2).sum())
    by_itself = exposure * math.sqrt(variance)
    shared = exposure * math.sqrt(float(((known.values * common) ** 2).sum()))
    error, times = NORMAL_95 * math.hypot(by_itself, shared), math.exp(exposure * felt)
    found = rate.with_ends(lambda away: math.hypot(left * away, error))
    there = Estimate(times * found.value, times * found.low, times * found.high)
    return Correction(there, exposure * felt, by_itself, shared, felt)


def _looks(runs: Sequence[Run], kind: int) -> Looks:
    """Those of one kind beside the runs, in their order, and then those before them on the idle host."""
    workloads: dict[object, int] = {}
    configurations: dict[object, int] = {}
    beside, idle = [], []
    for run in runs:
        assert run.probe is not None, "only probed runs are asked"
        cost, began = run.probe.kinds[kind], _began(run)
        assert began is not None, "only probed runs are asked"
        name = run.spec.workload.name
        workload = workloads.setdefault(name, len(workloads))
        configuration = configurations.setdefault((name, feed_of(run), run.configuration), len(configurations))
        middle = began + run.wall_seconds / 2
        beside.append((middle, _cost(run, kind), _error(cost), workload, configuration))
        if cost.idle is not None:
            cpus = "idle", run.limited_by.cpus if run.limited_by is not None else None
            place = workloads.setdefault(cpus, len(workloads)), configurations.setdefault(cpus, len(configurations))
            idle.append((began, math.log(cost.idle), UNTOLD_ERROR, *place))
    return Looks(*map(np.array, zip(*beside, *idle, strict=True)))


def _error(cost: RoundCost) -> float:
    """Relative standard error of its mean beside the run."""
    return UNTOLD_ERROR if cost.error is None else cost.error
