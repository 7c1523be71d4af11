"""Which configurations a study measures a workload at, which of them come first and which one represents it, and the
runs that isolate one stage of it each. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from sizer.records.device import Device
from sizer.records.kinds import KINDS
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome, Purpose
from sizer.records.study import STUDY_AXES, DiskTier, Limits, Measure, RunSpec, Study, Workload, WorkloadPlan
from sizer.study.presets import SMALLEST_VCPUS, HostSize

MOST_RUNS = 20_000
"""A study of more is one that nobody waits for: axes that were crossed by mistake."""
EMULATED_START_UP_SECONDS = 4.0
"""An emulated step needs no framework's graph, only its input pipeline."""
STEPS_ON_CPU, STEPS_ON_ACCELERATOR = 10, 100
"""Fewest steps of a run whose workload names its mode: on an accelerator, emulated or not, they take milliseconds, and
published cross-benchmarks time 50 to 100; on a CPU ten of VGG-16 with a batch of 32 already take more than a minute."""
Position = tuple[float, int, str | None, int, int, str]
"""What a run really has on a host: vCPUs, bytes of memory, disk, batch size, accelerators and the device's label."""


def size(plan: WorkloadPlan, around: Limits | None) -> int:
    """How many configurations at most, without making them."""
    axes = tuple(map(len, (plan.batch_size, plan.vcpus, plan.memory_bytes, plan.disk, plan.gpu_count, plan.devices)))
    if around is not None:
        return 1 + sum(axes)
    count = 1
    for values in axes:
        count *= max(values, 1)
    return count


def configurations(plan: WorkloadPlan, study: Study, host: HostSize) -> list[RunSpec]:
    """The first repeat of each configuration of a workload, the point itself first, none twice on this host."""
    specs: dict[Position, RunSpec] = {}
    for workload, batch, count, limits in _crossed(plan) if study.around is None else _around(plan, study.around):
        spec = RunSpec(workload, batch, limits, measure_of(workload, study.measure))
        if not plan.devices or workload.computes_on.kind != "cpu":
            spec = replace(spec, gpu_count=count)
        specs.setdefault(position(spec, host), spec)
    return list(specs.values())


def measure_of(workload: Workload, asked: Measure) -> Measure:
    """How a workload is measured: one whose mode was named, over so many steps at the least as cross-benchmarks do."""
    if workload.mode is None or asked.steps:
        return asked
    return replace(asked, steps=STEPS_ON_CPU if workload.computes_on.kind == "cpu" else STEPS_ON_ACCELERATOR)


def position(spec: RunSpec, host: HostSize) -> Position:
    """What a run really has on this host."""
    limits = spec.limits
    return (
        limits.vcpus or float(host.vcpus),
        limits.memory_bytes or host.memory_bytes,
        limits.disk,
        spec.batch_size,
        spec.gpu_count,
        spec.workload.computes_on.label,
    )


def repeated(spec: RunSpec, repeat: int) -> RunSpec:
    """The same in a fresh process: 0 is the first of them."""
    again = repeat > 0 and spec.purpose is Purpose.ASKED
    return replace(spec, repeat=repeat, purpose=Purpose.REPEAT if again else spec.purpose)


def representative(specs: Sequence[RunSpec], study: Study, host: HostSize) -> RunSpec:
    """The configuration that represents a workload: its point, or else its most vCPUs with the most memory."""
    return specs[0] if study.around is not None else max(specs, key=_room(host))


def fewest_vcpus(specs: Sequence[RunSpec], host: HostSize) -> RunSpec:
    """The configuration with the fewest vCPUs, of these the one with the most memory."""
    room = _room(host)
    return max(specs, key=lambda spec: (-room(spec)[0], room(spec)[1]))


def start_up_seconds(spec: RunSpec) -> float:
    """Before the steady state begins; a fraction of a vCPU starts slower."""
    no_step = spec.workload.computes_on.kind == "emulated" or spec.workload.input == "replay"
    start_up = EMULATED_START_UP_SECONDS if no_step else KINDS[spec.workload.kind].start_up_seconds
    return start_up / min(spec.limits.vcpus or 1.0, 1.0)


def _room(host: HostSize) -> Callable[[RunSpec], tuple[float, int]]:
    return lambda spec: position(spec, host)[:2]


def _crossed(plan: WorkloadPlan) -> Iterable[tuple[Workload, int, int, Limits]]:
    axes = (
        plan.on_devices,
        plan.batch_size,
        plan.gpu_count or (0,),
        plan.vcpus or (None,),
        plan.memory_bytes or (None,),
        plan.disk or (None,),
    )
    for workload, batch_size, gpu_count, vcpus, memory_bytes, disk in product(*axes):
        yield workload, batch_size, gpu_count, Limits(vcpus, memory_bytes, disk)


def _around(plan: WorkloadPlan, point: Limits) -> Iterable[tuple[Workload, int, int, Limits]]:
    """The point with the first batch size and count on each device, then every axis by itself with the others held at
    the point, on the first device."""
    workload, first, count = plan.workload, plan.batch_size[0], (plan.gpu_count or (0,))[0]
    yield from ((on_device, first, count, point) for on_device in plan.on_devices)
    yield from ((workload, batch_size, count, point) for batch_size in plan.batch_size)
    yield from ((workload, first, gpu_count, point) for gpu_count in plan.gpu_count)
    yield from ((workload, first, count, replace(point, vcpus=value)) for value in plan.vcpus)
    yield from ((workload, first, count, replace(point, memory_bytes=value)) for value in plan.memory_bytes)
    yield from ((workload, first, count, replace(point, disk=value)) for value in plan.disk)


# The first runs of a workload, which its axes choose before anything is known of it, and values that no run has seen.
# Three of them show the least, the middle and the most vCPUs, each with another value of the other axes, so that a
# curve can be fitted and no disk or memory is judged by its figures alone.

VCPUS, MEMORY, DISK, BATCH, GPUS, DEVICE = range(len(STUDY_AXES))


@dataclass(frozen=True)
class Axes:
    """The configurations of one workload, and the values of each axis in rising order: of disks and devices the slowest
    first, as far as their figures say, else as the study names them."""

    specs: tuple[RunSpec, ...]
    places: tuple[Position, ...]
    values: tuple[tuple[float | str | None, ...], ...]

    @property
    def devices(self) -> tuple[float | str | None, ...]:
        """The labels of the devices."""
        return self.values[DEVICE]

    def nearest(self, wanted: Sequence[object]) -> RunSpec:
        """The configuration that has most of these values, those of the first axes before others."""
        ranks = [tuple(value != here for value, here in zip(wanted, place, strict=True)) for place in self.places]
        return self.specs[min(range(len(ranks)), key=lambda number: (ranks[number][VCPUS], sum(ranks[number]), number))]


def axes_of(plan: WorkloadPlan, study: Study, host: HostSize) -> Axes:
    """The axes of a workload on this host."""
    specs = tuple(configurations(plan, study, host))
    places = tuple(position(spec, host) for spec in specs)
    columns = [dict.fromkeys(column) for column in zip(*places, strict=True)]
    speeds: dict[str | None, float] = {tier.name: _speed(tier) for tier in study.disks}
    speeds |= {device.label: _device_speed(device) for device in plan.devices}
    values = [
        tuple(sorted(column, key=lambda name: speeds.get(name, 0.0) if axis in (DISK, DEVICE) else name))
        for axis, column in enumerate(columns)
    ]
    return Axes(specs, places, tuple(values))


def _speed(tier: DiskTier) -> float:
    rates = tier.emulated
    return rates.read_bytes_per_second or 0.0 if rates is not None else 0.0


def _device_speed(device: Device) -> float:
    return device.samples_per_second or (math.inf if device.kind == "cuda" else 0.0)


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
    if axis in (DISK, GPUS, DEVICE):
        return values
    ends = [values[0], values[-1]]
    return [*ends, _middle([float(value or 0) for value in values])] if axis == VCPUS else ends


# The runs that isolate one stage of a workload each, as far as they can be planned before anything is measured.
# What a stage gives by itself need not be fitted from runs in which all of them overlap.

BATCH_RATIO = 4
"""Between the two batch sizes of a workload that has one: near enough to be computed alike, and what a step costs
beside its samples counts four times as much in the smaller."""

VCPU_VALUES = 3
"""A curve over vCPUs needs as many."""


def isolating_runs(plan: WorkloadPlan, study: Study, host: HostSize) -> list[RunSpec]:
    """One run for each stage that the workload has, without memory cap and, but for the disks, without a disk.

    The two-epoch pass is not among them: its memory cap follows from what other runs needed.
    """
    if not plan.isolate:
        return []
    specs = configurations(plan, study, host)
    most = max(specs, key=lambda spec: position(spec, host)[0]).limits.vcpus
    alone = replace(representative(specs, study, host), limits=Limits(vcpus=most))
    on_each = [replace(alone, workload=workload) for workload in plan.on_devices]
    fastest = max(on_each, key=lambda spec: _device_speed(spec.workload.computes_on))
    fastest = replace(fastest, gpu_count=max(plan.gpu_count, default=0))
    steps = [step for spec in on_each for step in _steps(plan, spec)]
    return [*steps, *_pipelines(fastest, _vcpus(specs, host)), *_disks(alone, specs)]


def reads_its_data(spec: RunSpec) -> bool:
    """Whether samples come from the disk as a run goes on, so that there is a disk to isolate."""
    workload = spec.workload
    reads = KINDS[workload.kind].reads == "samples"
    return reads and workload.input == "disk" and workload.cache != "warm"


def _steps(plan: WorkloadPlan, alone: RunSpec) -> Iterator[RunSpec]:
    """Synthetic input at two batch sizes; an emulated accelerator takes as long for a sample in any batch."""
    workload = alone.workload
    if not KINDS[workload.kind].has_step or workload.input == "synthetic":
        return
    sizes = sorted({min(plan.batch_size), max(plan.batch_size)})
    if len(sizes) == 1:
        sizes = [max(1, sizes[0] // BATCH_RATIO), sizes[0]] if sizes[0] > 1 else [1, BATCH_RATIO]
    if workload.computes_on.kind == "emulated":
        sizes = [alone.batch_size]
    fed = replace(workload, input="synthetic", cache="cold")
    yield from (replace(alone, workload=fed, batch_size=size, purpose=Purpose.ISOLATES_STEP) for size in sizes)


def _pipelines(alone: RunSpec, vcpus: Sequence[float]) -> Iterator[RunSpec]:
    """The data in the page cache: at three vCPU limits."""
    if reads_its_data(alone):
        fed = replace(alone.workload, input="cached", cache="warm")
        yield from (
            replace(alone, workload=fed, limits=Limits(vcpus=count), purpose=Purpose.ISOLATES_PIPELINE)
            for count in vcpus
        )


def _disks(alone: RunSpec, specs: Sequence[RunSpec]) -> Iterator[RunSpec]:
    """The data read as the loader reads it, and nothing else done: on each disk."""
    if reads_its_data(alone):
        fed = replace(alone.workload, input="replay", cache="cold")
        for disk in dict.fromkeys(spec.limits.disk for spec in specs):
            limits = replace(alone.limits, disk=disk)
            yield replace(alone, workload=fed, limits=limits, purpose=Purpose.ISOLATES_DISK, gpu_count=0)


def _vcpus(specs: Sequence[RunSpec], host: HostSize) -> list[float]:
    """The least, the middle and the most of the workload's own; where these are fewer, with halves below them.

    Half of whole vCPUs is whole here, for a host that cannot limit to a fraction may still limit to whole ones.
    """
    counts = sorted({position(spec, host)[0] for spec in specs})
    if len(counts) > VCPU_VALUES:
        return [counts[0], counts[len(counts) // 2], counts[-1]]
    whole = all(value.is_integer() for value in counts)
    while len(counts) < VCPU_VALUES:
        half = counts[0] // 2 if whole else counts[0] / 2 // SMALLEST_VCPUS * SMALLEST_VCPUS
        if half <= 0:
            break
        counts.insert(0, float(half))
    return counts
