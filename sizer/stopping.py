"""When a run has shown enough, and how a run that ended is called. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from sizer.records import Measure, Outcome, Step, Workload
from sizer.steady_state import SteadyState, steady_state

UNSUPPORTED_STATUS = 69
"""EX_UNAVAILABLE of sysexits.h: the workload's framework or device is not there."""

REFUSED_STATUS = 125
"""The child could not join its group."""

NOT_FOUND_STATUSES = (126, 127)
"""The shell could not execute the program."""

EARLY_SHARE = 0.5
"""Share of its seconds before which even a precise run does not end: intervals of short runs are too narrow."""

START_UP_SECONDS = 120.0
"""Allowed for imports, the first step and warm-up: VGG-16's first training step alone takes up to 20 s."""


class Stop(str, Enum):
    """Why a run was ended."""

    PRECISION = "precision"
    TIME = "time"
    ENDED = "ended"
    DEADLINE = "deadline"
    INTERRUPTED = "interrupted"
    BROKEN_EVENTS = "broken_events"


@dataclass(frozen=True)
class Ending:
    """What is known when the child is gone; a negative exit status is the signal, None means we stopped it."""

    stop: Stop
    exit_status: int | None
    oom_kills: int
    measured: bool
    detail: str = ""


def deadline_seconds(measure: Measure, vcpus: float | None = None) -> float:
    """Seconds from its start after which a run is stopped whatever it does; a fraction of a vCPU gets longer."""
    if measure.timeout is not None:
        return measure.timeout
    return (START_UP_SECONDS + 4 * measure.seconds) / min(1.0, vcpus or 1.0)


def measured_from_epoch(workload: Workload) -> int:
    """`natural` gives the rate of the later epochs, when the page cache holds what it can."""
    return 1 if workload.cache == "natural" and workload.input == "disk" else 0


def enough(steps: Sequence[Step], measure: Measure, first_epoch: int) -> Stop | None:
    """PRECISION or TIME once the steady state is good enough; None while the run should go on."""
    steady = steady_state(steps, first_epoch)
    if steady is None:
        return None
    if steady.measured_seconds >= measure.seconds:
        return Stop.TIME
    long_enough = steady.measured_seconds >= EARLY_SHARE * measure.seconds
    if long_enough and _intervals(steps, steady) >= 10 and steady.relative_half_width <= measure.precision:
        return Stop.PRECISION
    return None


def outcome(ending: Ending) -> tuple[Outcome, str | None]:
    """How the run ended, and a sentence for every outcome but `completed`."""
    status = ending.exit_status
    if status == REFUSED_STATUS:
        return Outcome.REFUSED, "the process could not be put under its limits"
    if ending.oom_kills:
        return Outcome.OUT_OF_MEMORY, "killed by the kernel: the memory cap is below what the workload needs"
    if ending.stop is Stop.BROKEN_EVENTS:
        return Outcome.CRASHED, f"the event pipe broke its form: {ending.detail}"
    if ending.stop is Stop.INTERRUPTED:
        return Outcome.INTERRUPTED, "stopped by Ctrl-C or a signal before it was measured"
    if status == UNSUPPORTED_STATUS:
        return Outcome.UNSUPPORTED, "the framework or device is not available here"
    if ending.stop is Stop.ENDED and status != 0:
        return Outcome.CRASHED, _crash(status)
    if ending.measured:
        return Outcome.COMPLETED, None
    if ending.stop is Stop.DEADLINE:
        return Outcome.TIMEOUT, f"not enough steps before the deadline of {ending.detail}"
    return Outcome.CRASHED, "the workload ended without enough steps to measure a rate"


def _crash(status: int | None) -> str:
    if status in NOT_FOUND_STATUSES:
        return "the program was not found or may not be executed"
    if status is not None and status < 0:
        return f"the workload was killed by signal {-status}"
    return f"the workload ended with exit status {status}"


def _intervals(steps: Sequence[Step], steady: SteadyState) -> int:
    return sum(steady.start < step.time <= steady.end for step in steps)
