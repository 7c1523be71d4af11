"""Which runs a study asks for, in which order, which of them are left, and how long they take."""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, product

from sizer.errors import InputError
from sizer.records import Limits, Outcome, Run, RunSpec, Study, WorkloadPlan
from sizer.study import Facts

MOST_RUNS = 20_000
UNFINISHED = frozenset({Outcome.INTERRUPTED, Outcome.UNSUPPORTED, Outcome.REFUSED})
"""Nothing was measured: the run was stopped, or the host lacked something that it may have now."""

START_UP_SECONDS = {
    "image_training": 20.0,
    "image_inference": 10.0,
    "lstm_training": 8.0,
    "imagenet_preprocessing": 4.0,
    "command": 15.0,
}
"""Start-up and warm-up on one vCPU: interpreter, framework, graph and first steps (MXNet 1.9.1, 2 vCPU EPYC, 2026)."""
EMULATED_START_UP_SECONDS = 4.0
"""An emulated step needs no framework's graph, only its input pipeline."""
AROUND_SECONDS = 1.5
"""Eviction from the page cache before a run, and stopping and removing its limits after it."""

Place = tuple[float, int, str | None, int]


def plan(study: Study, host: Facts) -> tuple[RunSpec, ...]:
    """Every run of the study. Inside each repeat the order is shuffled by the study's seed, so that a drift of the
    host does not look like an axis; with a point to vary around, that point comes first in each repeat.

    Two limits that come to the same on this host, like its own vCPUs and no limit, are measured once. Raises
    InputError for a study of more runs than anyone waits for.
    """
    points: list[RunSpec] = []
    others: list[RunSpec] = []
    count = sum(_size(each, study.around) for each in study.workloads) * study.measure.repeats
    if count > MOST_RUNS:
        raise InputError(
            f"this study asks for {count:,} runs; shorten its axes, or vary one axis at a time with `around`"
        )
    for each in study.workloads:
        first, *rest = _specs(each, study, host)
        (points if study.around is not None else others).append(first)
        others += rest
    blocks = (_block(points, others, study.measure.seed, repeat) for repeat in range(study.measure.repeats))
    return tuple(chain.from_iterable(blocks))


def remaining(specs: Iterable[RunSpec], runs: Iterable[Run]) -> tuple[RunSpec, ...]:
    """The specs that have no finished run, in their order; one that measured nothing is not finished."""
    finished = {run.id for run in runs if run.outcome not in UNFINISHED}
    return tuple(spec for spec in specs if spec.id not in finished)


def estimate_seconds(specs: Iterable[RunSpec], runs: Iterable[Run] = ()) -> float:
    """How long these runs take at most, or what finished runs of the same workload and settings took."""
    took: dict[tuple[str, float], list[float]] = {}
    for run in runs:
        if run.outcome is Outcome.COMPLETED:
            took.setdefault((run.spec.workload.name, run.spec.measure.seconds), []).append(run.wall_seconds)
    return sum(_seconds(spec, took.get((spec.workload.name, spec.measure.seconds))) for spec in specs)


def _seconds(spec: RunSpec, took: Sequence[float] | None) -> float:
    if took:
        return statistics.median(took) + AROUND_SECONDS
    emulated = spec.workload.device.kind == "emulated"
    start_up = EMULATED_START_UP_SECONDS if emulated else START_UP_SECONDS[spec.workload.kind]
    total = start_up / min(spec.limits.vcpus or 1.0, 1.0) + spec.measure.seconds + AROUND_SECONDS
    return total if spec.measure.timeout is None else min(total, spec.measure.timeout + AROUND_SECONDS)


def _size(each: WorkloadPlan, around: Limits | None) -> int:
    """How many configurations at most, without making them."""
    axes = (len(each.batch_size), len(each.vcpus), len(each.memory_bytes), len(each.disk))
    if around is not None:
        return 1 + sum(axes)
    size = 1
    for values in axes:
        size *= max(values, 1)
    return size


def _specs(each: WorkloadPlan, study: Study, host: Facts) -> list[RunSpec]:
    """The first repeat of each configuration of a workload, the point itself first, none twice on this host."""
    specs: dict[Place, RunSpec] = {}
    for batch_size, limits in _crossed(each) if study.around is None else _around(each, study.around):
        spec = RunSpec(each.workload, batch_size, limits, study.measure)
        specs.setdefault(_place(spec, host), spec)
    return list(specs.values())


def _place(spec: RunSpec, host: Facts) -> Place:
    """Where a run really stands on this host."""
    limits = spec.limits
    return limits.vcpus or float(host.vcpus), limits.memory_bytes or host.memory_bytes, limits.disk, spec.batch_size


def _crossed(each: WorkloadPlan) -> Iterable[tuple[int, Limits]]:
    axes = (each.batch_size, each.vcpus or (None,), each.memory_bytes or (None,), each.disk or (None,))
    for batch_size, vcpus, memory_bytes, disk in product(*axes):
        yield batch_size, Limits(vcpus, memory_bytes, disk)


def _around(each: WorkloadPlan, point: Limits) -> Iterable[tuple[int, Limits]]:
    """The point with the first batch size, then every axis by itself with the others held at the point."""
    first = each.batch_size[0]
    yield first, point
    yield from ((batch_size, point) for batch_size in each.batch_size)
    yield from ((first, replace(point, vcpus=value)) for value in each.vcpus)
    yield from ((first, replace(point, memory_bytes=value)) for value in each.memory_bytes)
    yield from ((first, replace(point, disk=value)) for value in each.disk)


def _block(points: list[RunSpec], others: list[RunSpec], seed: int, repeat: int) -> list[RunSpec]:
    """One repeat of everything, the same order for the same seed on every machine."""
    shuffled = random.Random(f"{seed}/{repeat}")
    block = [*shuffled.sample(points, len(points)), *shuffled.sample(others, len(others))]
    return [replace(spec, repeat=repeat) for spec in block]
