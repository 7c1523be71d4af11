"""When a run has shown enough, how a run that ended is called, and why. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum

from sizer.analysis.epochs import Epochs, Shown
from sizer.analysis.events import Reading
from sizer.records.run import Cause, CauseKind, Failure
from sizer.records.run_kinds import MemoryPlace, Outcome
from sizer.records.study import Measure

LOOKS = ((0.5, 0.5), (0.75, 1.0), (1.0, 1.0))
"""When a run is judged, as a share of its seconds, and the share of the asked half-width that is enough then.

Each look is a chance to stop at an interval that is narrow by luck (optional stopping): looks every half second cost up
to 3 % of coverage, these 1 %. The first asks for more, so that no run is near both bounds (as in O'Brien, Fleming 1979,
"A multiple testing procedure for clinical trials"). None is earlier, however short the steps: what comes now and then,
such as a stall every few seconds, is missed with no doubt shown. One more look at a quarter of 30 s, for a quarter of
the half-width, took the coverage of steps of 5 ms with stalls every 3 s from 94 to 89.5 %, and that of a drift of 10 %
from 95 to 91.5 % (200 simulated runs each; autocorrelated noise lost nothing).
"""

FEWEST_PRECISE = 10
"""Intervals of steps below which no run is taken for precise."""

EPOCHS_LOOK = 0.05
"""A run that is measured by whole epochs is judged again when it has become longer by this share."""


class Stop(str, Enum):
    """Why a run was ended."""

    PRECISION = "precision"
    TIME = "time"
    ENDED = "ended"
    DEADLINE = "deadline"
    INTERRUPTED = "interrupted"
    BROKEN_EVENTS = "broken_events"
    SLOW_PATTERN = "slow_pattern"
    CONTAINER = "container"
    ABSENT = "absent"
    ESCAPED = "escaped"
    WRONG_UNIT = "wrong_unit"
    STOOD_STILL = "stood_still"


BY_TIME = frozenset({None, Stop.PRECISION, Stop.TIME, Stop.DEADLINE, Stop.ABSENT, Stop.WRONG_UNIT})
"""What is judged by when things came, so that it means nothing where sizer stood still meanwhile; None goes on."""


def enough(shown: Shown, measure: Measure, now: float) -> Stop | None:
    """PRECISION or TIME once the steady state is good enough; None while the run should go on.

    `now` is the time of the last step. A run that is measured by whole epochs needs one, and ends with the first that
    is over when its time is up; where no epoch is reported, none can be waited for, and the time alone ends the run.
    None ends before it is measured over the steps that were asked for.
    """
    steady = shown.steady
    if steady is None or not shown.sufficient or steady.intervals < measure.steps:
        return None
    if now - steady.start >= measure.seconds:
        return Stop.TIME
    passed = [width for share, width in LOOKS if steady.measured_seconds >= share * measure.seconds]
    if not passed or steady.intervals < FEWEST_PRECISE or shown.epochs is Epochs.NOT_KNOWN:
        return None
    return Stop.PRECISION if steady.relative_half_width <= passed[-1] * measure.precision else None


def next_look(shown: Shown, measure: Measure, began: float, now: float) -> float:
    """The time at which a run that has not shown enough is judged again; `began` is the time of its first step."""
    if shown.steady is None:
        return now
    if shown.epochs not in (Epochs.ANY, Epochs.NOT_KNOWN):
        return now + EPOCHS_LOOK * (now - began)
    looks = (shown.steady.start + share * measure.seconds for share, _ in LOOKS)
    return next((look for look in looks if look > now), now)


UNSUPPORTED_STATUS = 69
"""EX_UNAVAILABLE of sysexits.h: the workload's framework or device is not there."""

NOT_FOUND_STATUSES = (126, 127)
"""The shell could not execute the program."""

HUNG_SECONDS = 2.0
HUNG_TIMES = 10.0
"""A run that stepped hung if its last step was longer ago than both: so many seconds, since events are written and read
twice a second, and so many times the longest that it took for a step before."""


@dataclass(frozen=True)
class Ending:
    """What is known when the child is gone; a negative exit status is the signal, None means we stopped it.

    `seconds` is the limit that it ran into, of its time or of its pattern's, or how long sizer stood still.
    `silent_seconds` have passed since its last step, or its start where it made none; `longest_step` is the longest
    that it took for one. `seen` is what was seen of it when it was stopped, `pattern` whether its log was read for
    rates, `no_rate` a line of it that told none, `silent` whether it printed nothing at all, `capped` whether its
    memory was, and `joined` whether it came into its group, under its limits. `wrong_unit` is why the rates of its log
    mean nothing, and `busy` whether it still did something when it was stopped. `kept_out` is whether the hook would
    count its steps and was not loaded. `refused_memory` is whose memory the program was refused, as it told itself or
    its log shows. `reading` is how far it had read its data into memory, and `own` whether it is a program of sizer's
    own, which tells its steps by events.
    """

    stop: Stop
    exit_status: int | None
    oom_kills: int
    measured: bool
    detail: str = ""
    seconds: float = 0.0
    started: bool = True
    steps: int = 0
    silent_seconds: float = 0.0
    longest_step: float = 0.0
    seen: tuple[Cause, ...] = ()
    pattern: bool = False
    no_rate: str = ""
    silent: bool = False
    capped: bool = True
    joined: bool = True
    wrong_unit: Cause | None = None
    busy: bool = False
    kept_out: bool = False
    refused_memory: MemoryPlace | None = None
    reading: Reading | None = None
    own: bool = False

    @property
    def hung(self) -> bool:
        """Whether it was still to step when it was stopped, and had not for far longer than a step takes."""
        return self.silent_seconds > max(HUNG_SECONDS, HUNG_TIMES * self.longest_step)


def outcome(ending: Ending) -> tuple[Outcome, Failure | None]:
    """How the run ended, and why for every outcome but `completed`."""
    status = ending.exit_status
    if not ending.joined:
        return Outcome.REFUSED, _failure(CauseKind.NOT_LIMITED)
    if ending.stop is Stop.ESCAPED:
        return Outcome.REFUSED, Failure(Cause(CauseKind.ESCAPED, text=ending.detail))
    if ending.oom_kills:
        killed = _failure(CauseKind.MEMORY_CAP if ending.capped else CauseKind.HOST_MEMORY)
        return Outcome.OUT_OF_MEMORY, replace(killed, where=MemoryPlace.HOST)
    if ending.stop is Stop.STOOD_STILL:
        return Outcome.REFUSED, _failure(CauseKind.STOOD_STILL, seconds=ending.seconds)
    if ending.stop is Stop.CONTAINER:
        return Outcome.REFUSED, Failure(Cause(CauseKind.CONTAINER, text=ending.detail))
    if ending.stop is Stop.ABSENT:
        return Outcome.REFUSED, _failure(CauseKind.ABSENT)
    if ending.stop is Stop.SLOW_PATTERN:
        return Outcome.CRASHED, _failure(CauseKind.SLOW_PATTERN, seconds=ending.seconds)
    if ending.stop is Stop.BROKEN_EVENTS:
        return Outcome.CRASHED, _broken(ending)
    if ending.refused_memory is not None and status != 0:
        kind = CauseKind.GPU_MEMORY if ending.refused_memory is MemoryPlace.GPU else CauseKind.NOT_ALLOCATED
        return Outcome.OUT_OF_MEMORY, replace(_failure(kind), where=ending.refused_memory)
    if ending.stop is Stop.INTERRUPTED:
        return Outcome.INTERRUPTED, _failure(CauseKind.INTERRUPTED)
    if status == UNSUPPORTED_STATUS:
        return Outcome.UNSUPPORTED, _failure(CauseKind.UNSUPPORTED)
    if ending.stop is Stop.ENDED and status != 0:
        return Outcome.CRASHED, Failure(_crash(status))
    if ending.wrong_unit is not None:
        return Outcome.CRASHED, Failure(ending.wrong_unit)
    if ending.stop is Stop.DEADLINE and (ending.hung or not ending.measured):
        return Outcome.TIMEOUT, _timeout(ending)
    if ending.measured:
        return Outcome.COMPLETED, None
    left = (cause for cause in ending.seen if cause.kind is CauseKind.LEFT_RUNNING)
    return Outcome.CRASHED, Failure(Cause(CauseKind.TOO_FEW_STEPS), (*_shown(ending), *left))


def _failure(kind: CauseKind, **figures: float) -> Failure:
    return Failure(Cause(kind, figures))


def _broken(ending: Ending) -> Failure:
    broken = Cause(CauseKind.BROKEN_EVENTS, text=ending.detail)
    return Failure(_crash(ending.exit_status), (broken,)) if ending.exit_status else Failure(broken)


def _timeout(ending: Ending) -> Failure:
    busy = (Cause(CauseKind.STILL_BUSY),) if ending.busy and not ending.measured else ()
    if ending.steps and ending.hung and not busy:
        figures = {"steps": ending.steps, "silent_seconds": ending.silent_seconds, "seconds": ending.seconds}
        return Failure(Cause(CauseKind.HUNG, figures), ending.seen)
    return Failure(Cause(CauseKind.DEADLINE, {"seconds": ending.seconds}), (*_shown(ending), *busy, *ending.seen))


def _shown(ending: Ending) -> tuple[Cause, ...]:
    """What came of the workload, and where there is nothing, what it did not do and why that may be."""
    if ending.steps:
        return (_of_steps(ending),)
    return _of_steps(ending), *((Cause(CauseKind.HOOK_KEPT_OUT),) if ending.kept_out else ())


def _of_steps(ending: Ending) -> Cause:
    if ending.steps:
        return Cause(CauseKind.STEPPED, {"steps": ending.steps, "silent_seconds": ending.silent_seconds})
    if ending.reading is not None:
        return Cause(CauseKind.STILL_READING, {"bytes": ending.reading.bytes, "whole": ending.reading.whole})
    if ending.own and not ending.started:
        return Cause(CauseKind.NOT_BEGUN)
    if ending.silent and not ending.started:
        return Cause(CauseKind.NO_OUTPUT)
    if ending.no_rate:
        return Cause(CauseKind.NO_RATE, text=ending.no_rate)
    if ending.pattern:
        return Cause(CauseKind.NO_MATCH)
    return Cause(CauseKind.NO_STEP if ending.started else CauseKind.NO_EVENT)


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


ARRIVAL_CORE_SECONDS = 1e-5
"""No process tells of steps, or passes on a line that does, in less: a write and a wake-up take as long."""

FEWEST_ARRIVALS = 10
FEWEST_SECONDS = 5.0


def is_absent(core_seconds: float, resolution: float, arrivals: int, seconds: float) -> bool:
    """Whether steps were told so many times while the group used no more CPU time than its count cannot show.

    How many steps were told each time does not matter, nor does a wait for an accelerator: that is submitted from here.
    """
    enough = arrivals >= FEWEST_ARRIVALS and seconds >= FEWEST_SECONDS
    return enough and core_seconds + resolution < ARRIVAL_CORE_SECONDS * arrivals
