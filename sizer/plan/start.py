"""The first runs of a workload, which its axes choose before anything is known of it, and values that no run has seen.

Three runs show the least, the middle and the most vCPUs, each with another value of the other axes, so that a curve can
be fitted and no disk or memory is judged by its figures alone. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sizer.plan.configurations import configurations as configurations_of
from sizer.plan.configurations import position
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import STUDY_AXES, DiskTier, RunSpec, Study, WorkloadPlan
from sizer.study.presets import HostSize

Place = tuple[float, int, str | None, int, int]
"""What a run really has: vCPUs, bytes of memory, disk, batch size, accelerators."""

VCPUS, MEMORY, DISK, BATCH, GPUS = range(len(STUDY_AXES))


@dataclass(frozen=True)
class Axes:
    """The configurations of one workload, and the values of each axis in rising order: of disks the slowest first, as
    far as their figures say, else as the study names them."""

    specs: tuple[RunSpec, ...]
    places: tuple[Place, ...]
    values: tuple[tuple[float | str | None, ...], ...]

    def nearest(self, wanted: Sequence[object]) -> RunSpec:
        """The configuration that has most of these values, those of the first axes before others."""
        ranks = [tuple(value != here for value, here in zip(wanted, place, strict=True)) for place in self.places]
        return self.specs[min(range(len(ranks)), key=lambda number: (ranks[number][VCPUS], sum(ranks[number]), number))]


def axes_of(plan: WorkloadPlan, study: Study, host: HostSize) -> Axes:
    """The axes of a workload on this host."""
    specs = tuple(configurations_of(plan, study, host))
    places = tuple(position(spec, host) for spec in specs)
    columns = [dict.fromkeys(column) for column in zip(*places, strict=True)]
    speeds = {tier.name: _speed(tier) for tier in study.disks}
    disks = sorted(columns[DISK], key=lambda name: speeds.get(name or "", 0.0))
    values = [tuple(disks) if axis == DISK else tuple(sorted(column)) for axis, column in enumerate(columns)]
    return Axes(specs, places, tuple(values))


def _speed(tier: DiskTier) -> float:
    rates = tier.emulated
    return rates.read_bytes_per_second or 0.0 if rates is not None else 0.0


def start_of(axes: Axes) -> tuple[RunSpec, ...]:
    """Three runs at the most: all of the most, which every other is judged against; the fewest vCPUs with the least of
    the other axes; the middle of the vCPUs with the second of each other axis."""
    most = [values[-1] for values in axes.values]
    least = [values[0] for values in axes.values]
    middle = [values[len(values) // 2] for values in axes.values]
    middle[VCPUS] = _middle([float(value or 0) for value in axes.values[VCPUS]])
    if len(axes.values[DISK]) == 2:
        middle[DISK] = axes.values[DISK][-1]
    return tuple(dict.fromkeys(axes.nearest(wanted) for wanted in (most, least, middle)))


def _middle(vcpus: Sequence[float]) -> float:
    """The value that is nearest to the middle of the range by its ratio, a whole one where there is one: a fraction of
    a vCPU is no machine."""
    inner = vcpus[1:-1] or vcpus
    whole = [value for value in inner if value.is_integer()]
    centre = math.log(vcpus[0] * vcpus[-1]) / 2
    return min(whole or inner, key=lambda value: (round(abs(math.log(value) - centre), 6), -value))


def not_seen(axes: Axes, runs: Iterable[Run], host: HostSize) -> Iterator[tuple[str, RunSpec]]:
    """Of each axis the values that no run had and no curve tells, with the run that shows each: every disk and number
    of accelerators, the least and the most of memory and batch size, and of the vCPUs those of the first runs, where
    one of them failed. That too little memory does not do is seen by a run that failed, too."""
    runs = list(runs)
    measured = [run for run in runs if run.outcome is Outcome.COMPLETED]
    seen = [
        {position(run.spec, host)[axis] for run in (runs if axis in (MEMORY, BATCH) else measured)}
        for axis in range(len(STUDY_AXES))
    ]
    most = [values[-1] for values in axes.values]
    for axis, values in enumerate(axes.values):
        for value in dict.fromkeys(_to_show(axis, values)):
            if value not in seen[axis]:
                yield STUDY_AXES[axis], axes.nearest([*most[:axis], value, *most[axis + 1 :]])


def _to_show(axis: int, values: Sequence[float | str | None]) -> Sequence[float | str | None]:
    """Those that a run must show of it; a curve tells the others."""
    if axis in (DISK, GPUS):
        return values
    ends = [values[0], values[-1]]
    return [*ends, _middle([float(value or 0) for value in values])] if axis == VCPUS else ends
