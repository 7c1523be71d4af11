"""The record of a run that took place: outcome, throughput, demand, evidence and warnings. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sizer.analysis import accounting
from sizer.analysis.accounting import gpu_uses, peaks
from sizer.analysis.ending import ChildResult, outcome
from sizer.analysis.epochs import Shown, measured_from_epoch
from sizer.analysis.evidence import busy_shares, name_bottleneck, short_of_memory
from sizer.analysis.monitor import RunMonitor
from sizer.analysis.run_warnings import disk_fall, memory_growth, run_warnings
from sizer.analysis.steady_state import SteadyState, mean_rate, steady_state
from sizer.records.configuration import Bottleneck, Configuration, Estimate
from sizer.records.device import Device
from sizer.records.run import (
    Conditions,
    DataSet,
    Declared,
    DiskCheck,
    MemoryUse,
    RateDetails,
    Run,
    Step,
    WarningKind,
)
from sizer.records.run_kinds import Outcome
from sizer.records.study import RunSpec, Workload

EXPLAINED = (Outcome.CRASHED, Outcome.TIMEOUT)
"""Outcomes that missing data and a full disk may be the cause of."""

NOT_THE_DISK = (Bottleneck.CPU, Bottleneck.SERIAL, Bottleneck.ACCELERATOR)
"""What binds after a fall that no disk has caused: the host itself became slower."""


def run_record(
    measured: ChildResult,
    configuration: Configuration,
    data_set: DataSet | None,
    disk: DiskCheck | None,
    started_at: str,
    wall_seconds: float,
) -> Run:
    """The Run of a child that is gone."""
    seen = measured.seen
    shown = seen.shown
    how, error = outcome(measured, shown.steady is not None)
    if error and how in EXPLAINED:
        error = replace(error, reasons=(*error.reasons, *measured.reasons))
    if error and how is not Outcome.INTERRUPTED:
        error = replace(error, last_lines=measured.last_lines)
    run = Run(
        spec=seen.spec,
        outcome=how,
        configuration=configuration,
        started_at=started_at,
        wall_seconds=wall_seconds,
        error=error,
        sample_unit=seen.unit,
        meter=seen.meter if seen.steps else None,
        declared=Declared(stated=seen.start.stated if seen.start is not None else {}),
        data_set=_data_set(data_set, seen),
        rate=RateDetails(stopped=measured.stop.value),
        # The kernel's mark has what came and went between two samplings.
        memory=MemoryUse(
            peak_memory_bytes=_peak(measured, "peak_memory_bytes") or _peak(measured, "memory_bytes"),
            peak_anonymous_bytes=_peak(measured, "anonymous_bytes"),
            peak_page_cache_bytes=_peak(measured, "page_cache_bytes"),
            peak_kernel_bytes=_peak(measured, "kernel_bytes"),
            peak_swap_bytes=_peak(measured, "swap_bytes"),
            peak_threads=_peak(measured, "threads"),
        ),
        conditions=Conditions(
            resident_bytes=measured.resident_bytes,
            resident_after_bytes=measured.resident_after_bytes,
            limits_buffered_writes=_limits_buffered_writes(disk, measured.throttles_buffered_writes),
            gpus=peaks(measured.gpus, measured.samples),
        ),
        disk=disk,
        limited_by=measured.limited_by,
        warnings=(*measured.troubles, *seen.meter_warnings),
        steps=tuple(seen.steps),
        samples=measured.samples,
    )
    return run if how is not Outcome.COMPLETED else _with_result(run, shown, measured)


def _with_result(run: Run, shown: Shown, ended: ChildResult) -> Run:
    assert shown.steady is not None
    measured = _measured(run, shown.steady, ended)
    change = disk_fall(run)
    if change is not None:
        later = mean_rate(
            [step for step in run.steps if step.time > run.steps[0].time + change.seconds], run.steps[0].time
        )
        sustained = _measured(run, later, ended) if later else measured
        if sustained.evidence and sustained.evidence.bottleneck not in NOT_THE_DISK:
            measured = replace(sustained, rate=replace(sustained.rate, rate_change=change))
    assert measured.throughput is not None
    if any(warning.kind is WarningKind.ONE_READING for warning in run.warnings):
        # The readings agree because they are one, told again and again: no spread of theirs is that of the rate.
        rate = measured.throughput.value
        measured = replace(measured, throughput=Estimate(rate, rate, rate))
    warnings = run_warnings(measured, shown.epochs, shown.steady.settled, ended.seen.calls_a_step)
    return replace(measured, warnings=(*run.warnings, *warnings))


def _measured(run: Run, steady: SteadyState, ended: ChildResult) -> Run:
    """The run with its figures over this stretch of time."""
    accounted = ended.accounted
    growth = memory_growth(steady, run.steps, run.samples, ended.seen.calls_a_step)
    place = run.configuration
    assert place.vcpus is not None, "only an imported run lacks it"
    assert place.memory_bytes is not None, "only an imported run lacks it"
    workload, span = _taking_part(run.spec), (steady.start, steady.end)
    used = accounting.demand(steady, run.steps, run.samples, workload, run.data_set, accounted, run.spec.gpu_count)
    rates = run.disk.rates if run.disk else None
    busy = busy_shares(steady.throughput.value, used, run.configuration, rates, workload.computes_on)
    starved = measured_from_epoch(workload) == 1 and short_of_memory(
        used, run.memory.peak_anonymous_bytes, run.data_set, place.memory_bytes
    )
    throttled = accounting.throttled(run.samples, *span)
    counted = sum(step.samples for step in run.steps if steady.start < step.time <= steady.end)
    latencies = [
        step.latency for step in run.steps if step.latency is not None and steady.start < step.time <= steady.end
    ]
    others = accounting.other_cores(run.samples, *span)
    stolen = accounting.stolen_cores(run.samples, *span) if "steal_core_seconds" in accounted else None
    return replace(
        run,
        throughput=steady.throughput,
        rate=replace(
            run.rate,
            first_epoch_throughput=_first_epoch(run.steps),
            warm_up_seconds=steady.warm_up_seconds,
            measured_seconds=steady.measured_seconds,
            latency_p50=float(np.percentile(latencies, 50)) if latencies else None,
            latency_p99=float(np.percentile(latencies, 99)) if latencies else None,
        ),
        demand=used,
        memory=replace(run.memory, memory_growth=growth if "anonymous_bytes" in accounted else None),
        conditions=replace(
            run.conditions,
            hit_rate=accounting.hit_rate(used),
            throttled=throttled,
            other_cores=others,
            overhead=accounting.overhead(run.samples, *span),
            stolen_cores=stolen,
            unwritten_bytes=accounting.unwritten_bytes(run.samples, *span) if "unwritten_bytes" in accounted else None,
            gpus=gpu_uses(run.conditions.gpus, run.samples, *span, counted),
        ),
        evidence=name_bottleneck(busy, place.vcpus, starved, throttled, (others or 0.0) + (stolen or 0.0)),
    )


def _taking_part(spec: RunSpec) -> Workload:
    """The workload with the accelerator that its run used, as it is with its batch: a replay of the reads uses none."""
    return replace(spec.workload, device=Device() if spec.workload.input == "replay" else spec.device)


def _first_epoch(steps: Sequence[Step]) -> float | None:
    """Samples/s of the first epoch, where there was a later one."""
    if not steps or steps[-1].epoch == 0:
        return None
    first = steady_state([step for step in steps if step.epoch == 0])
    return first.throughput.value if first else None


def _limits_buffered_writes(disk: DiskCheck | None, by_throttle: bool) -> bool | None:
    """Whether a throttled tier holds writes that nobody waits for; None where it limits no writes."""
    rates = disk.tier.emulated if disk is not None else None
    if rates is None or (rates.write_bytes_per_second is None and rates.write_iops is None):
        return None
    return by_throttle


def _data_set(data_set: DataSet | None, seen: RunMonitor) -> DataSet | None:
    """The data set with the size that the workload itself found."""
    if data_set is None or seen.start is None or not seen.start.dataset_samples:
        return data_set
    return replace(data_set, bytes=seen.start.dataset_bytes or data_set.bytes, samples=seen.start.dataset_samples)


def _peak(measured: ChildResult, counter: str) -> int | None:
    if counter not in measured.accounted:
        return None
    return max((getattr(sample, counter) for sample in measured.samples), default=None)
