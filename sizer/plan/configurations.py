"""Which configurations a study measures a workload at, and which one of them represents it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import product

from sizer.records.kinds import KINDS
from sizer.records.run_kinds import Purpose
from sizer.records.study import Limits, Measure, RunSpec, Study, Workload, WorkloadPlan
from sizer.study.presets import HostSize

MOST_RUNS = 20_000
"""A study of more is one that nobody waits for: axes that were crossed by mistake."""
EMULATED_START_UP_SECONDS = 4.0
"""An emulated step needs no framework's graph, only its input pipeline."""
STEPS_ON_CPU, STEPS_ON_ACCELERATOR = 10, 100
"""Fewest steps of a run whose workload names its mode: on an accelerator, emulated or not, they take milliseconds, and
published cross-benchmarks time 50 to 100; on a CPU ten of VGG-16 with a batch of 32 already take more than a minute."""
Position = tuple[float, int, str | None, int, int]
"""What a run really has on a host: vCPUs, bytes of memory, disk, batch size and accelerators."""


def size(plan: WorkloadPlan, around: Limits | None) -> int:
    """How many configurations at most, without making them."""
    axes = tuple(map(len, (plan.batch_size, plan.vcpus, plan.memory_bytes, plan.disk, plan.gpu_count)))
    if around is not None:
        return 1 + sum(axes)
    count = 1
    for values in axes:
        count *= max(values, 1)
    return count


def configurations(plan: WorkloadPlan, study: Study, host: HostSize) -> list[RunSpec]:
    """The first repeat of each configuration of a workload, the point itself first, none twice on this host."""
    specs: dict[Position, RunSpec] = {}
    for batch_size, gpu_count, limits in _crossed(plan) if study.around is None else _around(plan, study.around):
        spec = RunSpec(plan.workload, batch_size, limits, measure_of(plan.workload, study.measure), gpu_count=gpu_count)
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


def _crossed(plan: WorkloadPlan) -> Iterable[tuple[int, int, Limits]]:
    axes = (
        plan.batch_size,
        plan.gpu_count or (0,),
        plan.vcpus or (None,),
        plan.memory_bytes or (None,),
        plan.disk or (None,),
    )
    for batch_size, gpu_count, vcpus, memory_bytes, disk in product(*axes):
        yield batch_size, gpu_count, Limits(vcpus, memory_bytes, disk)


def _around(plan: WorkloadPlan, point: Limits) -> Iterable[tuple[int, int, Limits]]:
    """The point with the first batch size and count, then every axis by itself with the others held at the point."""
    first, count = plan.batch_size[0], (plan.gpu_count or (0,))[0]
    yield first, count, point
    yield from ((batch_size, count, point) for batch_size in plan.batch_size)
    yield from ((first, gpu_count, point) for gpu_count in plan.gpu_count)
    yield from ((first, count, replace(point, vcpus=value)) for value in plan.vcpus)
    yield from ((first, count, replace(point, memory_bytes=value)) for value in plan.memory_bytes)
    yield from ((first, count, replace(point, disk=value)) for value in plan.disk)
