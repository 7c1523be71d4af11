"""How a run that ended is called, and why, in a sentence. Pure."""

from __future__ import annotations

import signal
from dataclasses import dataclass

from sizer.analysis.stopping import Stop
from sizer.records import Outcome

UNSUPPORTED_STATUS = 69
"""EX_UNAVAILABLE of sysexits.h: the workload's framework or device is not there."""

REFUSED_STATUS = 125
"""The child could not join its group; but a program may end with it, too, as `docker run` does."""

COULD_NOT_JOIN = "sizer: the run could not join"
"""What the shell that joins the group says before it ends with REFUSED_STATUS (limits/join.py)."""

NOT_FOUND_STATUSES = (126, 127)
"""The shell could not execute the program."""

OF_A_SHELL = 128
"""A shell whose program was ended by a signal ends with this and the signal's number."""

HUNG_SECONDS = 2.0
HUNG_TIMES = 10.0
"""A run that stepped hung if its last step was longer ago than both: so many seconds, since events are written and read
twice a second, and so many times the longest that it took for a step before."""


@dataclass(frozen=True)
class Ending:
    """What is known when the child is gone; a negative exit status is the signal, None means we stopped it.

    `silent_seconds` have passed since its last step, or its start where it made none; `longest_step` is the longest
    that it took for one. `standing` is what was seen of it when it was stopped, `pattern` whether its log was read for
    rates, and `capped` whether its memory was.
    """

    stop: Stop
    exit_status: int | None
    oom_kills: int
    measured: bool
    detail: str = ""
    started: bool = True
    steps: int = 0
    silent_seconds: float = 0.0
    longest_step: float = 0.0
    standing: str = ""
    pattern: bool = False
    capped: bool = True
    last_lines: str = ""

    @property
    def hung(self) -> bool:
        """Whether it was still to step when it was stopped, and had not for far longer than a step takes."""
        return self.silent_seconds > max(HUNG_SECONDS, HUNG_TIMES * self.longest_step)


def outcome(ending: Ending) -> tuple[Outcome, str | None]:
    """How the run ended, and a sentence for every outcome but `completed`."""
    status = ending.exit_status
    if status == REFUSED_STATUS and COULD_NOT_JOIN in ending.last_lines:
        return Outcome.REFUSED, "the process could not be put under its limits"
    if ending.oom_kills:
        what = "memory cap" if ending.capped else "host's memory"
        return Outcome.OUT_OF_MEMORY, f"killed by the kernel: the {what} is below what the workload needs"
    if ending.stop in (Stop.BROKEN_EVENTS, Stop.SLOW_PATTERN):
        return Outcome.CRASHED, _broken(ending)
    if ending.stop is Stop.INTERRUPTED:
        return Outcome.INTERRUPTED, "stopped by Ctrl-C or a signal before it was measured"
    if status == UNSUPPORTED_STATUS:
        return Outcome.UNSUPPORTED, "the framework or device is not available here"
    if ending.stop is Stop.ENDED and status != 0:
        return Outcome.CRASHED, _crash(status)
    if ending.stop is Stop.DEADLINE and (ending.hung or not ending.measured):
        return Outcome.TIMEOUT, _timeout(ending)
    if ending.measured:
        return Outcome.COMPLETED, None
    return Outcome.CRASHED, f"the workload ended without enough steps to measure a rate: {_seen(ending)}"


def _broken(ending: Ending) -> str:
    if ending.stop is Stop.SLOW_PATTERN:
        return f"the pattern cannot be matched with the log: {ending.detail}"
    broken = f"the event pipe broke its form: {ending.detail}"
    return f"{_crash(ending.exit_status)}; {broken}" if ending.exit_status else broken


def _timeout(ending: Ending) -> str:
    what = f"not enough steps before the deadline of {ending.detail}: {_seen(ending)}"
    if ending.steps and ending.hung:
        what = f"hung: {_steps(ending)}, then none for the last {ending.silent_seconds:.1f} s of its {ending.detail}"
    return "; ".join(filter(None, (what, ending.standing)))


def _seen(ending: Ending) -> str:
    """What came of the workload, and where there is nothing, what it should have done."""
    if ending.steps:
        return f"{_steps(ending)}, the last one {ending.silent_seconds:.1f} s before its end"
    if ending.pattern:
        return "no line of its log matched the pattern"
    if not ending.started:
        return "it wrote no event; one that writes none can be measured by a `pattern` on its log"
    return "it wrote its start and no step"


def _steps(ending: Ending) -> str:
    return f"{ending.steps} step{'s' if ending.steps > 1 else ''}"


def _crash(status: int | None) -> str:
    if status in NOT_FOUND_STATUSES:
        return "the program was not found or may not be executed"
    if status is not None and status < 0:
        return f"the workload was killed by signal {-status}{_name(-status)}"
    shells = _name(status - OF_A_SHELL) if status is not None and status > OF_A_SHELL else ""
    return f"the workload ended with exit status {status}{shells}"


def _name(number: int) -> str:
    try:
        return f" ({signal.Signals(number).name})"
    except ValueError:
        return ""
