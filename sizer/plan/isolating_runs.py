"""The runs that isolate one stage of a workload each, as far as they can be planned before anything is measured. Pure.

What a stage gives by itself need not be fitted from runs in which all of them overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sizer.plan.configurations import configurations, position, representative
from sizer.records.kinds import KINDS
from sizer.records.run_kinds import Purpose
from sizer.records.study import Limits, RunSpec, Study, WorkloadPlan
from sizer.study.presets import SMALLEST_VCPUS, HostSize

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
    fastest = replace(alone, gpu_count=max(plan.gpu_count, default=0))
    return [*_steps(plan, alone), *_pipelines(fastest, _vcpus(specs, host)), *_disks(alone, specs)]


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
