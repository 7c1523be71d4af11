"""What accounting and the data set tell of a workload without any fitting."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import median

from sizer.model.memory import anonymous_bytes, cached_fraction, hit_rate
from sizer.model.model import Facts, Measured
from sizer.records import Run


def median_of(values: Iterable[float | None]) -> float | None:
    """The median of what is known and above 0; None if nothing is."""
    known = [value for value in values if value is not None and math.isfinite(value) and value > 0]
    return median(known) if known else None


def gather_facts(runs: Sequence[Run], measured: Measured) -> Facts:
    """The demands and the data set of one workload, from its completed runs; `runs` must not be empty."""
    workload = runs[0].spec.workload
    data = next((run.data_set for run in runs if run.data_set is not None), None)
    natural = workload.cache == "natural" and workload.input == "disk"
    batches = sorted(run.configuration.batch_size for run in runs)
    read = _demand(runs, "read_bytes")
    accounted = read is not None
    reads_disk = workload.input == "disk" and workload.kind != "command"
    if data is not None and data.samples > 0 and reads_disk and (natural or read is None):
        read = max(read or 0.0, data.bytes / data.samples)
    facts = Facts(
        kind=workload.kind,
        device=workload.device,
        core_seconds=_core_seconds(runs),
        read_bytes=read,
        read_ios=_read_ios(runs, read),
        written_bytes=_demand(runs, "written_bytes"),
        write_ios=_demand(runs, "write_ios"),
        demand_accounted=accounted,
        data_bytes=data.bytes if data is not None and data.bytes > 0 else None,
        natural=natural,
        sequential=workload.format == "lmdb" or workload.kind not in ("image_training", "command"),
        accelerator_rate=_accelerator_rate(runs),
        reference_batch=max(1, batches[len(batches) // 2]),
        highest_rate=max(run.throughput.value for run in runs if run.throughput is not None),
    )
    return _with_hit_blend(facts, runs, measured)


def _demand(runs: Sequence[Run], name: str) -> float | None:
    return median_of([getattr(run.demand, name) for run in runs if run.demand is not None])


def _core_seconds(runs: Sequence[Run]) -> float | None:
    """At the fewest vCPUs accounted: contention between cores and waiting that spins only add to it."""
    known = [(run.configuration.vcpus, run.demand) for run in runs if run.demand and run.demand.core_seconds]
    fewest = min((vcpus for vcpus, _ in known), default=None)
    return median_of([demand.core_seconds for vcpus, demand in known if vcpus == fewest])


def _read_ios(runs: Sequence[Run], read_bytes: float | None) -> float | None:
    """IOs a sample without the page cache: bytes a sample over the size of the requests that were seen."""
    sizes = [
        run.demand.read_bytes / run.demand.read_ios
        for run in runs
        if run.demand and run.demand.read_bytes and run.demand.read_ios
    ]
    return read_bytes / median(sizes) if sizes and read_bytes else None


def _accelerator_rate(runs: Sequence[Run]) -> float | None:
    """Of the accelerator alone: as given for an emulated one, else from its busy seconds a sample."""
    device = runs[0].spec.workload.device
    if device.kind == "emulated" and device.samples_per_second:
        return device.samples_per_second
    busy = _demand(runs, "accelerator_seconds")
    return 1 / busy if busy and device.kind != "cpu" else None


def _with_hit_blend(facts: Facts, runs: Sequence[Run], measured: Measured) -> Facts:
    """`hit_blend` from the reads that were accounted under each cap; LRU where nothing tells."""
    if not facts.natural or not facts.read_bytes or facts.sequential:
        return facts
    seen = [
        (_cached(facts, run, measured), 1 - min(1.0, run.demand.read_bytes / facts.read_bytes))
        for run in runs
        if run.demand is not None and run.demand.read_bytes is not None
    ]
    seen = [(cached, hit) for cached, hit in seen if 0.05 < cached < 0.999]
    if not seen:
        return facts

    def misfit(blend: float) -> float:
        return sum((hit_rate(cached, False, blend) - hit) ** 2 for cached, hit in seen)

    return replace(facts, hit_blend=min((step / 50 for step in range(51)), key=misfit))


def _cached(facts: Facts, run: Run, measured: Measured) -> float:
    stand = run.configuration
    anonymous = run.peak_anonymous_bytes or anonymous_bytes(measured, stand.vcpus, stand.batch_size)
    return cached_fraction(facts, stand.memory_bytes, anonymous)
