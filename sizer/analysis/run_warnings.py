"""What a reader must know of a run's figures, which travels with the run. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sizer.analysis.epochs import Epochs
from sizer.analysis.stopping import Stop
from sizer.records.run import Run, RunWarning, WarningKind

CONTENDED_CORES = 0.05
"""Cores used by something else on the host from which a run is marked."""

STOLEN_CORES = 0.05
"""Cores withheld by the hypervisor from which a run is marked."""

RESIDENT_SHARE = 0.02
"""Share of the data set still in the page cache before a run from which it is marked."""

THROTTLED_SHARE = 0.05
"""Share of throttled periods, and of the time in which a GPU's clocks were held back, from which a run is marked."""

FULL_GPU = 0.97
"""Share of a GPU's memory from which it counts as full: some hundred MB more are asked for in one piece."""

AMPLIFIED = 1.1
"""Device bytes over bytes asked for from which a run is marked: less is rounding to pages."""

UNWRITTEN_BYTES = 16 << 20
"""Bytes that wait to be written past a throttle from which a run is marked; preprocessing syncs every 4 MiB."""

OVERHEAD = 0.01
"""sizer's own core-seconds over the workload's from which a run is marked."""


EPOCHS = {
    Epochs.FIRST: WarningKind.FIRST_EPOCH,
    Epochs.NOT_KNOWN: WarningKind.NO_EPOCHS,
    Epochs.PART: WarningKind.PART_OF_EPOCH,
}
"""What a rate is of where it is not of the whole later epochs that were asked for."""


def run_warnings(run: Run, epochs: Epochs, settled: bool = True, calls: int = 1) -> tuple[RunWarning, ...]:
    """The warnings of a completed run, from what its record holds, the epochs that its rate is of, whether its
    interval can be trusted, and how many of the program's steps each kept one represents."""
    found = [warning for part in (_host, _limits, _gpus, _memory, _disk, _length) for warning in part(run)]
    if not settled:
        found.append(RunWarning(WarningKind.UNSETTLED))
    if calls > 1:
        found.append(RunWarning(WarningKind.STEPS_JOINED, {"steps": calls}))
    if epochs in EPOCHS:
        found.append(RunWarning(EPOCHS[epochs]))
    return tuple(found)


def _host(run: Run) -> Iterator[RunWarning]:
    if run.other_cores is not None and run.other_cores > CONTENDED_CORES:
        yield RunWarning(WarningKind.CONTENDED, {"cores": run.other_cores})
    if run.stolen_cores is not None and run.stolen_cores > STOLEN_CORES:
        yield RunWarning(WarningKind.STOLEN, {"cores": run.stolen_cores})
    if run.overhead is not None and run.overhead > OVERHEAD:
        yield RunWarning(WarningKind.OVERHEAD, {"share": run.overhead})


def _limits(run: Run) -> Iterator[RunWarning]:
    """A quota, which only a fraction of a vCPU has, holds a run back in slices."""
    if run.throttled is not None and run.throttled > THROTTLED_SHARE:
        vcpus = run.configuration.vcpus
        assert vcpus is not None, "only an imported run lacks it"
        yield RunWarning(WarningKind.THROTTLED, {"share": run.throttled, "vcpus": vcpus})


def _gpus(run: Run) -> Iterator[RunWarning]:
    """Of several GPUs the one that it holds for most: a step waits for the slowest."""
    reasons = dict.fromkeys(reason for gpu in run.gpus for reason in gpu.held_back)
    for reason in reasons:
        share = max(gpu.held_back.get(reason, 0.0) for gpu in run.gpus)
        if share > THROTTLED_SHARE:
            yield RunWarning(WarningKind.GPU_THROTTLED, {"share": share}, reason)
    others = dict.fromkeys(name for gpu in run.gpus for name in gpu.others)
    if others:
        shared = max(gpu.shared for gpu in run.gpus)
        yield RunWarning(WarningKind.GPU_SHARED, {"share": shared}, ", ".join(others))
    for gpu in run.gpus:
        if gpu.memory_bytes and gpu.peak_memory_bytes and gpu.peak_memory_bytes > FULL_GPU * gpu.memory_bytes:
            yield RunWarning(WarningKind.GPU_MEMORY_FULL, {"bytes": gpu.peak_memory_bytes, "whole": gpu.memory_bytes})


def _memory(run: Run) -> Iterator[RunWarning]:
    if run.data_set and run.resident_bytes and run.resident_bytes > RESIDENT_SHARE * run.data_set.bytes:
        share = run.resident_bytes / run.data_set.bytes if run.data_set.bytes else 1.0
        yield RunWarning(WarningKind.PAGE_CACHE_WARM, {"share": share})
    if run.peak_swap_bytes:
        yield RunWarning(WarningKind.SWAPPED, {"bytes": run.peak_swap_bytes})
    growth = run.memory_growth
    if growth is not None and growth.rising:
        more = growth.anonymous_bytes_per_step.value * 1000
        yield RunWarning(WarningKind.MEMORY_RISING, {"bytes": max(0.0, more)})


def _disk(run: Run) -> Iterator[RunWarning]:
    used = run.demand
    if used and used.asked_bytes and used.read_bytes and used.read_bytes > AMPLIFIED * used.asked_bytes:
        yield RunWarning(WarningKind.READ_AMPLIFIED, {"ratio": used.read_bytes / used.asked_bytes})
    if run.limits_buffered_writes is False and (run.unwritten_bytes or 0) > UNWRITTEN_BYTES:
        yield RunWarning(WarningKind.WRITES_UNLIMITED, {"bytes": run.unwritten_bytes or 0})
    change = run.rate_change
    if change is not None:
        figures = {"before": change.before.value, "seconds": change.seconds, "after": change.after.value}
        yield RunWarning(WarningKind.TWO_RATES, figures)


def _length(run: Run) -> Iterator[RunWarning]:
    throughput, seconds = run.throughput, run.measured_seconds or 0.0
    if throughput is not None and throughput.value > 0:
        half, asked = throughput.relative_half_width, run.spec.measure.precision
        if half > asked:
            # An interval of no end has no half-width, which no figure of a record may be.
            width = {"half_width": half} if math.isfinite(half) else {}
            yield RunWarning(WarningKind.IMPRECISE, {**width, "seconds": seconds, "asked": asked})
    if run.stopped == Stop.DEADLINE.value:
        yield RunWarning(WarningKind.SHORT, {"seconds": seconds})
