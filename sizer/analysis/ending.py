"""All that came out of a child, how its run is called, and why. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from sizer.analysis.monitor import RunMonitor
from sizer.analysis.stopping import Stop
from sizer.records.device import GpuUse
from sizer.records.kinds import COMMAND
from sizer.records.run import Cause, CauseKind, Failure, LimitedBy, RunWarning, Sample
from sizer.records.run_kinds import MemoryPlace, Outcome

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
        return Outcome.CRASHED, _broken(child)
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
    return Outcome.CRASHED, Failure(Cause(CauseKind.TOO_FEW_STEPS), (*_shown(child), *left))


def _failure(kind: CauseKind, **figures: float) -> Failure:
    return Failure(Cause(kind, figures))


def _broken(child: ChildResult) -> Failure:
    broken = Cause(CauseKind.BROKEN_EVENTS, text=child.seen.detail)
    return Failure(_crash(child.exit_status), (broken,)) if child.exit_status else Failure(broken)


def _timeout(child: ChildResult, measured: bool) -> Failure:
    seen, seconds = child.seen, child.seen.limit_seconds
    busy = (Cause(CauseKind.STILL_BUSY),) if seen.busy and not measured else ()
    if seen.count and child.hung and not busy:
        figures = {"steps": seen.count, "silent_seconds": seen.silent_seconds, "seconds": seconds}
        return Failure(Cause(CauseKind.HUNG, figures), child.at_the_end)
    return Failure(Cause(CauseKind.DEADLINE, {"seconds": seconds}), (*_shown(child), *busy, *child.at_the_end))


def _shown(child: ChildResult) -> tuple[Cause, ...]:
    """What came of the workload, and where there is nothing, what it did not do and why that may be."""
    kept_out = (Cause(CauseKind.HOOK_KEPT_OUT),) if child.seen.kept_out and not child.seen.count else ()
    return _of_steps(child), *kept_out


def _of_steps(child: ChildResult) -> Cause:
    seen, started, reading = child.seen, child.seen.start is not None, child.seen.still_reading
    if seen.count:
        return Cause(CauseKind.STEPPED, {"steps": seen.count, "silent_seconds": seen.silent_seconds})
    if reading is not None:
        return Cause(CauseKind.STILL_READING, {"bytes": reading.bytes, "whole": reading.whole})
    if seen.spec.workload.kind != COMMAND and not started:
        return Cause(CauseKind.NOT_BEGUN)
    if child.silent and not started:
        return Cause(CauseKind.NO_OUTPUT)
    if seen.no_rate:
        return Cause(CauseKind.NO_RATE, text=seen.no_rate)
    if seen.spec.workload.pattern is not None:
        return Cause(CauseKind.NO_MATCH)
    return Cause(CauseKind.NO_STEP if started else CauseKind.NO_EVENT)


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
