"""The record of a run that took place: how it is called and why, throughput, demand, evidence and warnings. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sizer.analysis import accounting
from sizer.analysis.accounting import busy_shares, gpu_uses, name_bottleneck, peaks, short_of_memory
from sizer.analysis.monitor import RunMonitor, Stop
from sizer.analysis.run_warnings import disk_fall, memory_growth, run_warnings
from sizer.analysis.steady_state import Shown, SteadyState, mean_rate, measured_from_epoch, steady_state
from sizer.records.device import Device, GpuUse
from sizer.records.kinds import COMMAND
from sizer.records.prediction import Bottleneck, Configuration, Estimate
from sizer.records.run import (
    Cause,
    CauseKind,
    Conditions,
    DataSet,
    Declared,
    DiskCheck,
    Failure,
    LimitedBy,
    MemoryUse,
    RateDetails,
    Run,
    RunWarning,
    Sample,
    WarningKind,
)
from sizer.records.run_kinds import MemoryPlace, Outcome

# All that came out of a child, how its run is called, and why.

UNSUPPORTED_STATUS = 69
"""EX_UNAVAILABLE of sysexits.h: the workload's framework or device is not there."""

NOT_FOUND_STATUSES = (126, 127)
"""The shell could not execute the program."""

HUNG_SECONDS = 2.0
HUNG_TIMES = 10.0
"""A run that stepped hung if its last step was longer ago than both: so many seconds, since events are written and read
twice a second, and so many times the longest that it took for a step before."""


@dataclass(frozen=True)
class ChildResult:
    """All that came out of a child, and whether it `joined` its group. `gpus` are without their figures; `reasons` are
    what around it explains a failure, `troubles` warnings that a run of any outcome has, `at_the_end` what was seen of
    it when it was stopped; `silent`: it printed nothing at all."""

    seen: RunMonitor
    exit_status: int | None
    joined: bool
    samples: tuple[Sample, ...]
    accounted: frozenset[str]
    limited_by: LimitedBy
    last_lines: str
    resident_bytes: int | None
    resident_after_bytes: int | None
    throttles_buffered_writes: bool
    gpus: tuple[GpuUse, ...] = ()
    silent: bool = False
    at_the_end: tuple[Cause, ...] = ()
    reasons: tuple[Cause, ...] = ()
    troubles: tuple[RunWarning, ...] = ()

    @property
    def stop(self) -> Stop:
        return self.seen.stop or Stop.ENDED

    @property
    def refused_memory(self) -> MemoryPlace | None:
        """Whose memory the program was refused, as it told itself or its log shows."""
        return self.seen.refused_memory or (refused_in(self.last_lines) if self.exit_status else None)

    @property
    def hung(self) -> bool:
        """Whether it was still to step when it was stopped, and had not for far longer than a step takes."""
        return self.seen.silent_seconds > max(HUNG_SECONDS, HUNG_TIMES * self.seen.longest_step)


def outcome(child: ChildResult, measured: bool) -> tuple[Outcome, Failure | None]:
    """How the run ended, whose steps gave a rate if it was `measured`, and why for every outcome but `completed`."""
    seen, status, stop = child.seen, child.exit_status, child.stop
    if not child.joined:
        return Outcome.REFUSED, _failure(CauseKind.NOT_LIMITED)
    if stop is Stop.ESCAPED:
        return Outcome.REFUSED, Failure(Cause(CauseKind.ESCAPED, text=seen.detail))
    if any(sample.oom_kills for sample in child.samples):
        killed = _failure(CauseKind.MEMORY_CAP if seen.spec.limits.memory_bytes is not None else CauseKind.HOST_MEMORY)
        return Outcome.OUT_OF_MEMORY, replace(killed, where=MemoryPlace.HOST)
    if stop is Stop.STOOD_STILL:
        return Outcome.REFUSED, _failure(CauseKind.STOOD_STILL, seconds=seen.stood_still_seconds)
    if stop is Stop.CONTAINER:
        return Outcome.REFUSED, Failure(Cause(CauseKind.CONTAINER, text=seen.detail))
    if stop is Stop.ABSENT:
        return Outcome.REFUSED, _failure(CauseKind.ABSENT)
    if stop is Stop.SLOW_PATTERN:
        return Outcome.CRASHED, _failure(CauseKind.SLOW_PATTERN, seconds=seen.limit_seconds)
    if stop is Stop.BROKEN_EVENTS:
        broken = Cause(CauseKind.BROKEN_EVENTS, text=seen.detail)
        return Outcome.CRASHED, Failure(_crash(status), (broken,)) if status else Failure(broken)
    if child.refused_memory is not None and status != 0:
        kind = CauseKind.GPU_MEMORY if child.refused_memory is MemoryPlace.GPU else CauseKind.NOT_ALLOCATED
        return Outcome.OUT_OF_MEMORY, replace(_failure(kind), where=child.refused_memory)
    if stop is Stop.INTERRUPTED:
        return Outcome.INTERRUPTED, _failure(CauseKind.INTERRUPTED)
    if status == UNSUPPORTED_STATUS:
        return Outcome.UNSUPPORTED, _failure(CauseKind.UNSUPPORTED)
    if stop is Stop.ENDED and status != 0:
        return Outcome.CRASHED, Failure(_crash(status))
    if seen.wrong_unit is not None:
        return Outcome.CRASHED, Failure(seen.wrong_unit)
    if stop is Stop.DEADLINE and (child.hung or not measured):
        return Outcome.TIMEOUT, _timeout(child, measured)
    if measured:
        return Outcome.COMPLETED, None
    left = (cause for cause in child.at_the_end if cause.kind is CauseKind.LEFT_RUNNING)
    return Outcome.CRASHED, Failure(Cause(CauseKind.TOO_FEW_STEPS), (*_of_steps(child), *left))


def _failure(kind: CauseKind, **figures: float) -> Failure:
    return Failure(Cause(kind, figures))


def _timeout(child: ChildResult, measured: bool) -> Failure:
    seen, seconds = child.seen, child.seen.limit_seconds
    busy = (Cause(CauseKind.STILL_BUSY),) if seen.busy and not measured else ()
    if seen.count and child.hung and not busy:
        figures = {"steps": seen.count, "silent_seconds": seen.silent_seconds, "seconds": seconds}
        return Failure(Cause(CauseKind.HUNG, figures), child.at_the_end)
    return Failure(Cause(CauseKind.DEADLINE, {"seconds": seconds}), (*_of_steps(child), *busy, *child.at_the_end))


def _of_steps(child: ChildResult) -> Iterator[Cause]:
    """What came of the workload, and where there is nothing, what it did not do and why that may be."""
    seen, started, reading = child.seen, child.seen.start is not None, child.seen.still_reading
    if seen.count:
        yield Cause(CauseKind.STEPPED, {"steps": seen.count, "silent_seconds": seen.silent_seconds})
    elif reading is not None:
        yield Cause(CauseKind.STILL_READING, {"bytes": reading.bytes, "whole": reading.whole})
    elif seen.spec.workload.kind != COMMAND and not started:
        yield Cause(CauseKind.NOT_BEGUN)
    elif child.silent and not started:
        yield Cause(CauseKind.NO_OUTPUT)
    elif seen.no_rate:
        yield Cause(CauseKind.NO_RATE, text=seen.no_rate)
    elif seen.spec.workload.pattern is not None:
        yield Cause(CauseKind.NO_MATCH)
    else:
        yield Cause(CauseKind.NO_STEP if started else CauseKind.NO_EVENT)
    if seen.kept_out and not seen.count:
        yield Cause(CauseKind.HOOK_KEPT_OUT)


def _crash(status: int | None) -> Cause:
    if status in NOT_FOUND_STATUSES:
        return Cause(CauseKind.NOT_FOUND)
    if status is not None and status < 0:
        return Cause(CauseKind.SIGNAL, {"signal": -status})
    return Cause(CauseKind.EXIT_STATUS, {} if status is None else {"status": status})


_OF_GPU = re.compile(
    r"(CUDA|HIP) out of memory|\btorch\.(cuda\.)?OutOfMemoryError\b|CUDA_ERROR_OUT_OF_MEMORY"
    r"|cudaMalloc\b.*out of memory|OOM when allocating tensor.*\bGPU\b"
)
"""PyTorch (torch/csrc), XLA and TensorFlow, MXNet (src/storage), TensorFlow's allocator."""
_OF_HOST = re.compile(
    r"^(?:[\w.]+\.)?_?(Array)?MemoryError\b|DefaultCPUAllocator: (can't|not enough)|Failed to allocate CPU Memory"
    r"|std::bad_alloc",
    re.MULTILINE,
)
"""Python and numpy, PyTorch, MXNet, C++."""


def refused_in(last_lines: str) -> MemoryPlace | None:
    """None where no line of a framework that is known says that memory was refused."""
    if _OF_GPU.search(last_lines):
        return MemoryPlace.GPU
    return MemoryPlace.HOST if _OF_HOST.search(last_lines) else None


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
    kinds = {gpu.name for gpu in measured.gpus}
    run = Run(
        spec=seen.spec,
        outcome=how,
        configuration=replace(configuration, gpu=kinds.pop()) if len(kinds) == 1 else configuration,
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
    # With the accelerator that its run used, as it is with its batch: a replay of the reads uses none.
    device = Device() if run.spec.workload.input == "replay" else run.spec.device
    workload, span = replace(run.spec.workload, device=device), (steady.start, steady.end)
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
    several = run.steps[-1].epoch > 0
    first = steady_state([step for step in run.steps if step.epoch == 0]) if several else None
    others = accounting.other_cores(run.samples, *span)
    stolen = accounting.stolen_cores(run.samples, *span) if "steal_core_seconds" in accounted else None
    return replace(
        run,
        throughput=steady.throughput,
        rate=replace(
            run.rate,
            first_epoch_throughput=first.throughput.value if first is not None else None,
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
