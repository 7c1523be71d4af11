"""How much of a slower host the rate of a run shows, and how far its own evidence says that it may be off.

A host whose CPUs slow down slows a run that they bind, and no other: what waits for an accelerator or a disk waits as
long as before. So what is uncertain about the host is uncertain about a run by its exposure, and no further.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sizer.model.coordinates import vcpus_of
from sizer.model.feeds import made_alike
from sizer.model.stretches import stretches
from sizer.records.configuration import NORMAL_95, Bottleneck, Estimate
from sizer.records.run import Run, WarningKind

BUSY = 0.85
"""From this share of its vCPUs on the CPU binds a run (the threshold of the accounting)."""
OVERLAP = 6.0
"""Where another resource is named, a CPU that is busy for the share u has u^p of the time: p as in the model."""
IN_TURN = 2.0
"""The same where none is: a worker may wait and compute in turn, which no accounting tells from waiting in between.
What others on the host used counts as busy, too: a run that may use two CPUs and gets one of them names nothing."""
OF_ITSELF = frozenset({Bottleneck.CPU, Bottleneck.SERIAL, Bottleneck.AMBIGUOUS, Bottleneck.MEMORY})
"""What accounting names where a slower CPU may still count."""
NOT_TRUSTED = 1.5
"""Of an interval that may miss a longer run's rate: of such simulated runs 78 to 92 % were covered instead of 95 %."""
UNTOLD = 0.05
"""Standard deviation of ln rate of a log that tells one and the same rate in every line."""
BY_CHANCE = 0.5
"""Of the worst that others on the host may have done to a run: nobody knows on which CPU, or when, they ran."""
FEWEST_STRETCHES, FEWEST_OF_THE_CPU = 2, 3
"""Of a configuration's runs, below which how its rate followed the cost of a sample is not known; more are asked of
those that accounting says the CPU binds. On a measured grid two told 0.00 of all 30 pairs of runs at the rate of an
emulated GPU, and of 82 runs that the CPU binds, of which many tell 1, less than 0.91 of a quarter."""
MARKED = 0.05
"""How far the host moved about a run whose mark of drift has no figures: the least that marks."""


def exposures(runs: Sequence[Run]) -> dict[int, float]:
    """By `id(run)` how much of a slower CPU its rate shows, 0 to 1; 1 where nothing was accounted.

    What binds belongs to a configuration, so of its runs the one that was the busiest says it: in another the CPU's
    time may have been taken by others. It is no more than what was seen: where core-seconds a sample differed between
    stretches of its runs, how much the seconds a sample did.
    """
    found: dict[int, float] = {}
    for group in made_alike(runs):
        shown = min(max(map(_exposure, group)), _followed(group))
        found |= {id(run): shown for run in group}
    return found


def _followed(group: Sequence[Run]) -> float:
    """By how many times as much as core-seconds a sample the seconds a sample moved, in ln, over stretches of the runs
    of a configuration: at least what they moved because of these. Infinite where too few stretches tell."""
    cut = [stretches(run) for run in group]
    times, costs = (np.concatenate([getattr(each, name) for each in cut]) for name in ("times", "core_costs"))
    told = (times > 0) & (costs > 0)
    if told.sum() < (FEWEST_OF_THE_CPU if all(map(_is_of_the_cpu, group)) else FEWEST_STRETCHES):
        return math.inf
    time, cost = (float(np.std(np.log(each[told]))) for each in (times, costs))
    return time / cost if cost else math.inf


def _named(run: Run) -> Bottleneck:
    return run.evidence.bottleneck if run.evidence is not None else Bottleneck.AMBIGUOUS


def _is_of_the_cpu(run: Run) -> bool:
    return _named(run) in (Bottleneck.CPU, Bottleneck.SERIAL)


def _exposure(run: Run) -> float:
    cost = run.demand.core_seconds if run.demand is not None else None
    if not cost or run.throughput is None or _is_of_the_cpu(run):
        return 1.0
    cores = run.throughput.value * cost
    if _named(run) not in OF_ITSELF:
        return _share_of_time(cores, run, OVERLAP)
    return _share_of_time(cores + (run.other_cores or 0.0) + (run.stolen_cores or 0.0), run, IN_TURN)


def _share_of_time(cores: float, run: Run, overlap: float) -> float:
    return math.pow(min(1.0, cores / vcpus_of(run.configuration) / BUSY), overlap)


def within(run: Run) -> float | None:
    """The run's own standard deviation of ln throughput, from its 95 % interval; None without one."""
    rate = rate_of(run)
    if not rate.has_interval:
        return None
    if rate.low <= 0:  # so little is known that nothing is left below it: as wide as above
        return math.log(max(rate.high, rate.value) / rate.value) / NORMAL_95 or None
    return (math.log(rate.high) - math.log(rate.low)) / (2 * NORMAL_95)


def rate_of(run: Run) -> Estimate:
    """The throughput of a run that has one."""
    assert run.throughput is not None, "only measured runs are asked"
    return run.throughput


def own_deviation(run: Run, exposure: float, host_known: bool) -> float:
    """Standard deviation of ln rate that the run's own warnings name, beside what its interval says.

    `host_known`: how slow the host was meanwhile is known otherwise, so that a mark of its drift says nothing more.
    """
    kinds = dict.fromkeys(each.kind for each in run.warnings)
    parts = [_of_warning(kind, run, exposure, host_known) for kind in kinds]
    return math.sqrt(sum(part * part for part in parts))


def _of_warning(kind: WarningKind, run: Run, exposure: float, host_known: bool) -> float:
    figures = next(each.figures for each in run.warnings if each.kind is kind)
    if kind in (WarningKind.CONTENDED, WarningKind.STOLEN):
        cpus = max(1, math.ceil(vcpus_of(run.configuration)))
        return exposure * BY_CHANCE * math.log1p(figures.get("cores", 0.0) / cpus)
    if kind is WarningKind.GPU_SHARED:
        return BY_CHANCE * math.log1p(figures.get("share", 0.0))
    if kind is WarningKind.UNSETTLED:
        return math.sqrt(NOT_TRUSTED**2 - 1) * (within(run) or 0.0)
    if kind is WarningKind.ONE_READING:
        return UNTOLD
    if kind is WarningKind.DRIFTING and not host_known:
        return exposure * BY_CHANCE * _moved(figures)
    return 0.0


def _moved(figures: dict[str, float]) -> float:
    """In ln: from the measurement of the reference before a run to the one after it, or from the usual one to it."""
    low, high = figures.get("before", figures.get("low", 0.0)), figures.get("after", figures.get("high", 0.0))
    if low <= 0 or high <= 0:
        return MARKED
    if "before" in figures:
        return abs(math.log(high / low))
    here = figures.get("level", figures.get("rate", 0.0))
    return abs(math.log(here / math.sqrt(low * high))) if here > 0 else MARKED
