"""Two studies, A and B: by how much the rates of what both measured differ beyond noise, and what moved.

`ln B/A` of a configuration has the variance of both means (`observe`): their repeats, what their warnings name, and how
hosts drift. The intervals of all that is compared hold together with 95 % (Sidak 1967): of twenty comparisons of a
thing with itself one shows a difference, however many configurations each has.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist, mean
from typing import Any

from sizer.model.host import drift_of
from sizer.model.model import DRIFT, Feed
from sizer.model.observations import completed, observe, pooled
from sizer.model.runs import feed_of, is_search, labelled
from sizer.records.configuration import NORMAL_95, Bottleneck, Configuration, Estimate
from sizer.records.device import Device
from sizer.records.domains import NOT_STORED
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome

TOGETHER = 0.95
"""How surely all intervals hold at once."""
DEMANDS = ("core_seconds", "read_bytes", "read_ios", "written_bytes", "accelerator_seconds", "input_wait")
DEMAND_NOISE = 0.03
"""Standard deviation of ln of a demand from run to run that is supposed where no repeats show it. By hand."""
LITTLE = 0.02
"""Change of a demand that is not worth a word."""
WAITED = 0.1
"""Share of the time from which on waiting for input is spoken of."""
VERDICTS = ("failed", "slower", "unclear", "faster", "ran")
"""The worst first: `failed` and `ran` in B alone have no rate on the other side; `unclear` may be noise."""


@dataclass(frozen=True)
class Unlike:
    """What A and B say differently: by kind a fact of the host by its key, the version of a `package`, a `disk` or a
    field of a `workload` by its name. None is not said."""

    kind: str
    name: str
    before: Any
    after: Any


@dataclass(frozen=True)
class Moved:
    """A demand of a sample by accounting, one of DEMANDS; `change` is B/A - 1."""

    what: str
    before: float
    after: float
    change: Estimate


@dataclass(frozen=True)
class Compared:
    """A configuration that was measured, or with None the mean over all of a workload that A and B share.

    `before` and `after` are samples/s with the 95 % interval of the mean, None where no run completed, and `change` is
    B/A - 1 with the interval that all hold together. `machine` is the one that a table names, `stage` what an
    isolating run shows alone. `runs` and `outcomes` are of A and B. `verdict` is one of VERDICTS, empty of what is in
    one alone.
    """

    workload: str
    configuration: Configuration | None = None
    machine: str | None = None
    stage: str | None = None
    unit: str = "sample"
    device: Device = field(default=Device("cpu"), metadata=NOT_STORED)
    disk_emulated: bool = False
    before: Estimate | None = None
    after: Estimate | None = None
    change: Estimate | None = None
    runs: tuple[int, int] = (0, 0)
    outcomes: tuple[Outcome | None, Outcome | None] = (None, None)
    bottlenecks: tuple[Bottleneck | None, Bottleneck | None] = (None, None)
    moved: tuple[Moved, ...] = ()
    verdict: str = ""

    @property
    def order(self) -> tuple[int, float]:
        """The worst first."""
        return VERDICTS.index(self.verdict), self.change.value if self.change is not None else 0.0


@dataclass(frozen=True)
class Comparison:
    """What A and B have in common, the worst first, and what is in one alone: a configuration, or None a workload.

    `means` are of workloads with several configurations. `unrepeated` says of A and B whether the noise of a workload
    is supposed, as nothing was measured twice.
    """

    means: tuple[Compared, ...]
    differences: tuple[Compared, ...]
    only_before: tuple[Compared, ...]
    only_after: tuple[Compared, ...]
    unrepeated: tuple[bool, bool]


@dataclass(frozen=True)
class _Key:
    """By which a configuration of A is one of B; what neither study limited is the host's own, and no part of it."""

    workload: str
    machine: str | None
    feed: Feed
    configuration: Configuration


@dataclass
class _Side:
    """What one study has of a key: all runs, those with a rate, and ln of the rate with its standard deviation."""

    runs: list[Run] = field(default_factory=list)
    rated: list[Run] = field(default_factory=list)
    log_rate: float = math.nan
    deviation: float = math.nan

    def rate(self) -> Estimate | None:
        """With the 95 % interval of the mean."""
        half = NORMAL_95 * self.deviation
        ends = (self.log_rate, self.log_rate - half, self.log_rate + half)
        return Estimate(*map(math.exp, ends)) if self.rated else None

    def demand(self, name: str) -> list[float]:
        """Ln of it in each run that has some."""
        given = [getattr(run.demand, name, None) for run in self.rated]
        return [math.log(value) for value in given if value]


_Sides = Mapping[_Key, _Side]


def compare(before: Sequence[Run], after: Sequence[Run]) -> Comparison:
    """All runs of A and of B."""
    before, after = _labelled(before), _labelled(after)
    key_of = _keys([*before, *after])
    (one, repeated), (other, also) = _sides(before, key_of), _sides(after, key_of)
    shared = [key for key in one if key in other and (one[key].rated or other[key].rated)]
    rated = [key for key in shared if one[key].rated and other[key].rated]
    by_workload = {
        name: [key for key in rated if key.workload == name] for name in dict.fromkeys(k.workload for k in rated)
    }
    whole = [[key for key in keys if _stage(one[key]) is None] for keys in by_workload.values()]
    several = [keys for keys in whole if len(keys) > 1]
    width = NormalDist().inv_cdf((1 + TOGETHER ** (1 / max(1, len(rated) + len(several)))) / 2)
    moved: dict[_Key, list[Moved]] = defaultdict(list)
    for keys in by_workload.values():
        for key, its in _demands(keys, one, other, width):
            moved[key].append(its)
    return Comparison(
        tuple(sorted((_mean(keys, one, other, width) for keys in several), key=lambda its: its.order)),
        tuple(sorted((_compared(key, one, other, width, moved[key]) for key in shared), key=lambda its: its.order)),
        _only(one, other),
        _only(other, one),
        (not repeated, not also),
    )


def _labelled(runs: Sequence[Run]) -> list[Run]:
    """Those of each workload with their accelerators, without what only searches for memory."""
    names = dict.fromkeys(run.spec.workload.name for run in runs)
    whole = [run for run in runs if not is_search(run)]
    return [run for name in names for run in labelled([one for one in whole if one.spec.workload.name == name])]


def _keys(runs: Sequence[Run]) -> Callable[[Run], _Key]:
    """What a run is compared by, of the runs of both studies."""
    limits = [(run.spec.workload.name, run.imported, run.spec.limits) for run in runs]
    fixed = {
        (name, axis)
        for name, imported, its in limits
        for axis in ("vcpus", "memory_bytes")
        if imported or getattr(its, axis) is not None
    }

    def key_of(run: Run) -> _Key:
        name, machine = run.spec.workload.name, run.declared.machine
        free = {axis: None for axis in ("vcpus", "memory_bytes") if (name, axis) not in fixed}
        return _Key(name, machine.name if machine else None, feed_of(run), replace(run.configuration, **free))

    return key_of


def _sides(runs: Sequence[Run], key_of: Callable[[Run], _Key]) -> tuple[_Sides, bool]:
    """One study by what is compared, and whether repeats or intervals show the noise of each workload."""
    sides: dict[_Key, _Side] = defaultdict(_Side)
    apart: dict[object, list[Run]] = defaultdict(list)
    for run in runs:
        sides[key_of(run)].runs.append(run)
    usable = completed(runs)
    for run in usable:
        sides[key_of(run)].rated.append(run)
        apart[run.spec.workload.name, key_of(run).machine].append(run)
    drift, repeated = drift_of(usable), True
    for group in apart.values():
        keys = {(run.configuration, feed_of(run)): key_of(run) for run in group}
        observations, noise = observe(group, drift)
        repeated = repeated and noise.repeated
        for its in observations:
            side = sides[keys[its.configuration, its.feed]]
            side.log_rate, side.deviation = its.log_rate, its.deviation
    return sides, repeated


def _stage(side: _Side) -> str | None:
    return side.runs[0].spec.stage


def _difference(key: _Key, one: _Sides, other: _Sides) -> tuple[float, float]:
    """Ln B/A with its standard deviation."""
    a, b = one[key], other[key]
    return b.log_rate - a.log_rate, math.hypot(a.deviation, b.deviation)


def _change(log: float, deviation: float, width: float) -> Estimate:
    return Estimate(*map(math.expm1, (log, log - width * deviation, log + width * deviation)))


def _compared(key: _Key, one: _Sides, other: _Sides, width: float, moved: Sequence[Moved] = ()) -> Compared:
    a, b = one[key], other[key]
    change = _change(*_difference(key, one, other), width) if a.rated and b.rated else None
    return replace(
        _named(key, a),
        before=a.rate(),
        after=b.rate(),
        change=change,
        runs=(len(a.rated), len(b.rated)),
        outcomes=(_outcome(a), _outcome(b)),
        bottlenecks=(_bottleneck(a), _bottleneck(b)),
        moved=tuple(moved),
        verdict=_verdict(change) if change is not None else "ran" if b.rated else "failed",
    )


def _verdict(change: Estimate) -> str:
    return "slower" if change.high < 0 else "faster" if change.low > 0 else "unclear"


def _named(key: _Key, side: _Side) -> Compared:
    run = side.runs[0]
    emulated = run.disk is not None and run.disk.tier.emulated is not None
    what = (key.workload, key.configuration, key.machine, run.spec.stage)
    return Compared(*what, run.sample_unit, run.spec.workload.computes_on, emulated)


def _outcome(side: _Side) -> Outcome:
    return Outcome.COMPLETED if side.rated else side.runs[-1].outcome


def _bottleneck(side: _Side) -> Bottleneck | None:
    """What accounting named in most of the runs."""
    named = [run.evidence.bottleneck for run in side.rated if run.evidence is not None]
    return max(named, key=named.count, default=None)


def _mean(keys: Sequence[_Key], one: _Sides, other: _Sides, width: float) -> Compared:
    """The geometric mean of B/A; how the hosts drifted from A to B is in all of them alike."""
    logs, deviations = zip(*(_difference(key, one, other) for key in keys), strict=True)
    deviation = math.hypot(math.hypot(*deviations) / len(keys), math.sqrt(2) * DRIFT)
    runs = sum(len(one[key].rated) for key in keys), sum(len(other[key].rated) for key in keys)
    change = _change(mean(logs), deviation, width)
    return Compared(keys[0].workload, change=change, runs=runs, verdict=_verdict(change))


def _only(one: _Sides, other: _Sides) -> tuple[Compared, ...]:
    """What the other has nothing of: whole workloads, and configurations of those that it has."""
    workloads = {key.workload for key in other}
    absent = [key for key in one if key not in other]
    whole = dict.fromkeys(key.workload for key in absent if key.workload not in workloads)
    return (*map(Compared, whole), *(_named(key, one[key]) for key in absent if key.workload in workloads))


def _demands(keys: Sequence[_Key], one: _Sides, other: _Sides, width: float) -> Iterator[tuple[_Key, Moved]]:
    """What a sample costs by accounting that surely is not what it was; waiting counts from a tenth of the time on."""
    for name in DEMANDS:
        logs = {key: (one[key].demand(name), other[key].demand(name)) for key in keys}
        logs = {key: both for key, both in logs.items() if all(both)}
        noise = pooled([repeats for both in logs.values() for repeats in both])
        for key, (a, b) in logs.items():
            spread = (noise or DEMAND_NOISE) * math.sqrt(1 / len(a) + 1 / len(b))
            its = _moved(name, mean(a), mean(b), math.hypot(spread, DRIFT), width)
            seconds = math.exp(-max(one[key].log_rate, other[key].log_rate))
            if its is not None and (name != "input_wait" or max(its.before, its.after) > WAITED * seconds):
                yield key, its


def _moved(what: str, before: float, after: float, deviation: float, width: float) -> Moved | None:
    """By ln of both; None of what may be noise, or is not worth a word."""
    change = _change(after - before, deviation, width)
    sure = (change.low > 0 or change.high < 0) and abs(change.value) > LITTLE
    return Moved(what, math.exp(before), math.exp(after), change) if sure else None
