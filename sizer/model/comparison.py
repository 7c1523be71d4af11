"""Two studies, A and B: by how much the rates of what both measured differ beyond noise, and what moved.

`ln B/A` of a configuration has the variance of both means (`observe`): their repeats, what their warnings name, and how
hosts drift. The intervals of all that is compared hold together with 95 % (Sidak 1967): of twenty comparisons of a
thing with itself one shows a difference, however many configurations each has.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist, mean
from typing import Any, NamedTuple

from sizer.model.host import drift_of
from sizer.model.model import DRIFT, Feed
from sizer.model.observations import completed, observe, pooled
from sizer.model.runs import feed_of, is_search, labelled
from sizer.records.device import Device
from sizer.records.domains import NOT_STORED
from sizer.records.prediction import NORMAL_95, Bottleneck, Configuration, Estimate
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
class StudySummary:
    """What a study is named by: its folder, how many runs, their days, and CPU and sizer as far as it says so."""

    folder: str
    name: str
    runs: int
    days: tuple[str, ...]
    cpu: str | None
    sizer: str | None


@dataclass(frozen=True)
class StudyDifference:
    """What A and B say differently: by kind a fact of the host by its key, the version of a `package`, a `disk` or a
    field of a `workload` by its name. None is not said."""

    kind: str
    name: str
    before: Any
    after: Any


@dataclass(frozen=True)
class DemandChange:
    """A demand of a sample by accounting, one of DEMANDS; `change` is B/A - 1."""

    what: str
    before: float
    after: float
    change: Estimate


@dataclass(frozen=True)
class RateChange:
    """A configuration that was measured, or with None the mean over so many `configurations` of a workload.

    `before` and `after` are samples/s with the 95 % interval of the mean, None where no run completed, and `change` is
    B/A - 1 with the interval that all hold together. `machine` is the one that a table names. `runs` and `outcomes` are
    of A and B. `verdict` is one of VERDICTS, empty of what is in one alone.
    """

    workload: str
    configuration: Configuration | None = None
    machine: str | None = None
    unit: str = "sample"
    device: Device = field(default=Device("cpu"), metadata=NOT_STORED)
    disk_emulated: bool = False
    configurations: int = 1
    before: Estimate | None = None
    after: Estimate | None = None
    change: Estimate | None = None
    runs: tuple[int, int] = (0, 0)
    outcomes: tuple[Outcome | None, Outcome | None] = (None, None)
    bottlenecks: tuple[Bottleneck | None, Bottleneck | None] = (None, None)
    moved: tuple[DemandChange, ...] = ()
    verdict: str = ""


@dataclass(frozen=True)
class Comparison:
    """What A and B have in common, the worst first, and what is in one alone: a configuration, or None a workload.

    `means` are of workloads with several configurations. `unrepeated` says of A and B whether the noise of a workload
    is supposed, as nothing was measured twice.
    """

    means: tuple[RateChange, ...]
    differences: tuple[RateChange, ...]
    only_before: tuple[RateChange, ...]
    only_after: tuple[RateChange, ...]
    unrepeated: tuple[bool, bool]
    studies: tuple[StudySummary, ...] = ()
    study_differences: tuple[StudyDifference, ...] = ()


class _Key(NamedTuple):
    """By which a configuration of A is one of B; what a run did not limit is the host's own, and no part of it, nor is
    what all of A is unlike all of B in."""

    workload: str
    machine: str | None
    feed: Feed
    configuration: Configuration

    def value(self, axis: str) -> Any:
        return self.machine if axis == "machine" else getattr(self.configuration, axis)

    def without(self, axes: Collection[str]) -> _Key:
        own = {axis: None for axis in axes if axis != "machine"}
        machine = None if "machine" in axes else self.machine
        return self._replace(machine=machine, configuration=replace(self.configuration, **own))


@dataclass
class _Measured:
    """What one study has of a key: all runs, those with a rate, and ln of the rate with its standard deviation."""

    runs: list[Run] = field(default_factory=list)
    rated: list[Run] = field(default_factory=list)
    log_rate: float = math.nan
    deviation: float = math.nan


_Study = Mapping[_Key, _Measured]
_Pair = tuple[_Measured, _Measured]


def compare(before: Sequence[Run], after: Sequence[Run]) -> Comparison:
    """All runs of A and of B."""
    studies = _labelled(before), _labelled(after)
    unlike = _unlike(*studies)
    (one, repeated), (other, also) = (
        _measured(study, {name: [*axes] for name, axes in unlike.items()}) for study in studies
    )
    pairs = {key: (a, b) for key, a in one.items() if (b := other.get(key)) and (a.rated or b.rated)}
    workloads: dict[str, dict[_Key, _Pair]] = defaultdict(dict)
    for key, (a, b) in pairs.items():
        if a.rated and b.rated:
            workloads[key.workload][key] = a, b
    several = {name: [*rated.values()] for name, rated in workloads.items() if len(rated) > 1}
    compared = len(several) + sum(map(len, workloads.values()))
    width = NormalDist().inv_cdf((1 + TOGETHER ** (1 / max(1, compared))) / 2)
    moved: dict[_Key, list[DemandChange]] = {}
    for rated in workloads.values():
        moved |= _demand_changes(rated, width)
    return Comparison(
        _worst_first([_mean(name, rated, width) for name, rated in several.items()]),
        _worst_first([_rate_change(key, pair, width, moved.get(key, ())) for key, pair in pairs.items()]),
        _only(one, other),
        _only(other, one),
        (not repeated, not also),
        study_differences=tuple(
            StudyDifference("workload", f"{name}: {axis}", *(", ".join(sorted(filter(None, its))) for its in values))
            for name, axes in unlike.items()
            for axis, values in axes.items()
            if axis not in SIZES
        ),
    )


AXES = ("machine", "disk", "gpu", "memory_bytes", "vcpus")
SIZES = ("memory_bytes", "vcpus")
"""Those of a machine, which go with it."""


def _unlike(before: Sequence[Run], after: Sequence[Run]) -> dict[str, dict[str, tuple[set[Any], set[Any]]]]:
    """By workload the axes, with their values in A and in B, of which these have none in common, though each of both is
    told from the others of its study without them: another host, disk or GPU, and not another configuration."""
    keys: dict[str, tuple[set[_Key], set[_Key]]] = defaultdict(lambda: (set(), set()))
    for place, runs in enumerate((before, after)):
        for run in runs:
            keys[run.spec.workload.name][place].add(_key(run))
    unlike: dict[str, dict[str, tuple[set[Any], set[Any]]]] = {}
    for name, both in keys.items():
        axes = unlike.setdefault(name, {})
        for axis in AXES:
            values = [{key.value(axis) for key in study} for study in both]
            without = tuple({key.without([axis]) for key in study} for study in both)
            apart = values[0].isdisjoint(values[1]) or (axis in SIZES and values[0] != values[1])
            alone = [*map(len, without)] == [*map(len, both)]
            if all(both) and apart and alone and (axis not in SIZES or "machine" in axes):
                axes[axis] = values[0], values[1]
                both = without[0], without[1]
    return unlike


def _worst_first(changes: Sequence[RateChange]) -> tuple[RateChange, ...]:
    return tuple(sorted(changes, key=lambda row: (VERDICTS.index(row.verdict), row.change.value if row.change else 0)))


def _labelled(runs: Sequence[Run]) -> list[Run]:
    """Those of each workload with their accelerators, without what only searches for memory or shows one stage."""
    names = dict.fromkeys(run.spec.workload.name for run in runs)
    whole = [run for run in runs if not is_search(run) and run.spec.stage is None]
    return [run for name in names for run in labelled([one for one in whole if one.spec.workload.name == name])]


def _key(run: Run) -> _Key:
    limits, machine = run.spec.limits, run.declared.machine
    own = {axis: None for axis in ("vcpus", "memory_bytes") if not run.imported and getattr(limits, axis) is None}
    place = replace(run.configuration, **own)
    return _Key(run.spec.workload.name, machine.name if machine else None, feed_of(run), place)


def _measured(runs: Sequence[Run], unlike: Mapping[str, Sequence[str]]) -> tuple[_Study, bool]:
    """One study by what is compared, without these axes of a workload, and whether repeats or intervals show the noise
    of each workload."""
    study: dict[_Key, _Measured] = defaultdict(_Measured)
    alike: dict[object, list[Run]] = defaultdict(list)
    usable = completed(runs)

    def key_of(run: Run) -> _Key:
        return _key(run).without(unlike[run.spec.workload.name])

    for run in runs:
        study[key_of(run)].runs.append(run)
    for run in usable:
        study[key_of(run)].rated.append(run)
        alike[_key(run)[:2]].append(run)
    drift, repeated = drift_of(usable), True
    for group in alike.values():
        keys = {(run.configuration, feed_of(run)): key_of(run) for run in group}
        observations, noise = observe(group, drift)
        repeated = repeated and noise.repeated
        for observation in observations:
            measured = study[keys[observation.configuration, observation.feed]]
            measured.log_rate, measured.deviation = observation.log_rate, observation.deviation
    return study, repeated


def _interval(log: float, half: float, of: Callable[[float], float]) -> Estimate:
    return Estimate(*map(of, (log, log - half, log + half)))


def _difference(pair: _Pair) -> tuple[float, float]:
    """Ln B/A with its standard deviation."""
    a, b = pair
    return b.log_rate - a.log_rate, math.hypot(a.deviation, b.deviation)


def _rate(measured: _Measured) -> Estimate | None:
    half = NORMAL_95 * measured.deviation
    return _interval(measured.log_rate, half, math.exp) if measured.rated else None


def _rate_change(key: _Key, pair: _Pair, width: float, moved: Sequence[DemandChange]) -> RateChange:
    a, b = pair
    log, deviation = _difference(pair)
    change = _interval(log, width * deviation, math.expm1) if a.rated and b.rated else None
    before, after = map(_rate, pair)
    return replace(
        _named(key, a),
        before=before,
        after=after,
        change=change,
        runs=(len(a.rated), len(b.rated)),
        outcomes=(_outcome(a), _outcome(b)),
        bottlenecks=(_bottleneck(a), _bottleneck(b)),
        moved=tuple(moved),
        verdict=_verdict(change) if change else "ran" if after else "failed",
    )


def _verdict(change: Estimate) -> str:
    return "slower" if change.high < 0 else "faster" if change.low > 0 else "unclear"


def _named(key: _Key, measured: _Measured) -> RateChange:
    run = measured.runs[0]
    emulated = run.disk is not None and run.disk.tier.emulated is not None
    names = (key.workload, key.configuration, key.machine)
    return RateChange(*names, run.sample_unit, run.spec.workload.computes_on, emulated)


def _outcome(measured: _Measured) -> Outcome:
    return Outcome.COMPLETED if measured.rated else measured.runs[-1].outcome


def _bottleneck(measured: _Measured) -> Bottleneck | None:
    """What accounting named in most of the runs."""
    named = [run.evidence.bottleneck for run in measured.rated if run.evidence is not None]
    return max(named, key=named.count, default=None)


def _mean(workload: str, pairs: Sequence[_Pair], width: float) -> RateChange:
    """The geometric mean of B/A; how the hosts drifted from A to B is in all of them alike."""
    logs, deviations = zip(*map(_difference, pairs), strict=True)
    deviation = math.hypot(math.hypot(*deviations) / len(pairs), math.sqrt(2) * DRIFT)
    change = _interval(mean(logs), width * deviation, math.expm1)
    runs = sum(len(a.rated) for a, _ in pairs), sum(len(b.rated) for _, b in pairs)
    unit, verdict = pairs[0][0].rated[0].sample_unit, _verdict(change)
    return RateChange(workload, unit=unit, configurations=len(pairs), change=change, runs=runs, verdict=verdict)


def _only(one: _Study, other: _Study) -> tuple[RateChange, ...]:
    """What the other has nothing of: whole workloads, and configurations of those that it has."""
    workloads = {key.workload for key in other}
    absent = [key for key in one if key not in other]
    whole = dict.fromkeys(key.workload for key in absent if key.workload not in workloads)
    return (*map(RateChange, whole), *(_named(key, one[key]) for key in absent if key.workload in workloads))


def _demand_changes(pairs: Mapping[_Key, _Pair], width: float) -> dict[_Key, list[DemandChange]]:
    """What a sample costs by accounting that surely is not what it was; waiting counts from a tenth of the time on."""
    moved = defaultdict[_Key, list[DemandChange]](list)
    for name in DEMANDS:
        logs = {key: (_logs(a.rated, name), _logs(b.rated, name)) for key, (a, b) in pairs.items()}
        noise = pooled([repeats for both in logs.values() if all(both) for repeats in both]) or DEMAND_NOISE
        for key, (a, b) in logs.items():
            if not (a and b):
                continue
            deviation = math.hypot(noise * math.sqrt(1 / len(a) + 1 / len(b)), DRIFT)
            change = _interval(mean(b) - mean(a), width * deviation, math.expm1)
            share = math.exp(max(mean(a), mean(b)) + max(measured.log_rate for measured in pairs[key]))
            counts = name != "input_wait" or share > WAITED
            if _verdict(change) != "unclear" and abs(change.value) > LITTLE and counts:
                moved[key].append(DemandChange(name, math.exp(mean(a)), math.exp(mean(b)), change))
    return moved


def _logs(runs: Sequence[Run], demand: str) -> list[float]:
    """Ln of it in each run that has some."""
    return [math.log(value) for run in runs if (value := getattr(run.demand, demand, None))]
