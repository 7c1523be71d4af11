"""A child is watched until it has shown enough, and is asked to end."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from sizer.analysis import PATTERN_SECONDS, EventError, Live, LogRates, RunMonitor, Stop, is_absent
from sizer.records import COMMAND, Sample, Step
from sizer.runner.child import Child
from sizer.runner.circumstances import Room
from sizer.runner.sampler import Sampler

TICK_SECONDS = 0.5
"""Between two samplings; one takes about 0.1 ms."""

GRACE_SECONDS = 10.0
"""For the present step to end after SIGTERM, before the group is killed."""

LAST_BREATH_SECONDS = 0.3
"""For a child whose event pipe broke to be gone, if that is why it broke."""


@dataclass(frozen=True)
class Hooks:
    """How the caller looks on and interferes: `watch` sees each tick, `stop_now` ends the current run."""

    watch: Callable[[Live], None] = lambda _: None
    stop_now: Callable[[], bool] = lambda: False
    clock: Callable[[], float] = time.monotonic


OWN_PATTERN = "pattern"
"""Source of a rate that the study's own expression found."""

UNWATCHED = Hooks()
"""Nobody looks on, and nobody interferes."""


def observe(
    child: Child, seen: RunMonitor, sampler: Sampler, room: Room, hooks: Hooks, cpu_resolution: float = 0.0
) -> None:
    """Take events and samplings until the run has shown enough, ends by itself, or must end.

    CPU time is counted in steps of `cpu_resolution`.
    """
    workload = seen.spec.workload
    presence = Presence(seen, cpu_resolution)
    log_rates = LogRates(workload.pattern, seen.spec.batch_size, hooks.clock) if workload.kind == COMMAND else None
    next_tick = hooks.clock()
    while seen.stop is None:
        ended, before = child.exit_status() is not None, seen.count
        try:
            events, printed = child.wait(max(0.0, next_tick - hooks.clock()))
            seen.take(events, hooks.clock())
            if log_rates is not None and seen.told_by_events:
                log_rates = None
                child.read_at_leisure()
            if log_rates is not None:
                seen.take_of_log(_rates(log_rates, printed), log_rates.recognised or OWN_PATTERN)
                seen.no_rate = log_rates.no_rate
        except EventError as error:
            seen.broke(error)
        except TimeLimit:
            if workload.pattern is None:
                # Nobody asked for the log to be read, so that it cannot be is no fault of the run.
                log_rates = None
            else:
                seen.stop, seen.limit_seconds = Stop.SLOW_PATTERN, PATTERN_SECONDS
        if seen.count and not before:
            # What was read or computed before the first step, such as data for the cache, is no cost of the others.
            presence.began(sampler.tick())
        elif seen.count > before:
            presence.arrivals += 1
        if hooks.clock() >= next_tick:
            sample = sampler.tick()
            room.look()
            seen.decide(hooks.clock(), hooks.stop_now())
            if workload.kind == COMMAND and seen.stop is not Stop.INTERRUPTED:
                presence.look(child, sample)
            _judge(log_rates, seen)
            # A terminal may be gone by now: that nobody looks on is no reason to lose a run.
            with suppress(OSError):
                hooks.watch(seen.live(hooks.clock(), sampler.samples))
            next_tick = hooks.clock() + TICK_SECONDS
        if ended and child.is_silent():
            # A disk that was full is so until its folder is removed, and it may have been full for less than a tick.
            room.look()
            break
    _judge(log_rates, seen)
    if log_rates is not None and seen.told_by_log:
        seen.log_warnings = tuple(log_rates.finish())


class Presence:
    """Ends a run whose program is not under its limits: a container has it, or some other service."""

    def __init__(self, seen: RunMonitor, cpu_resolution: float) -> None:
        self._seen = seen
        self._cpu_resolution = cpu_resolution
        self._first: Sample | None = None
        self.arrivals = 0
        """How many times something was read, after the first step, that told of steps."""

    def began(self, sample: Sample) -> None:
        """What was used when the first step was seen."""
        self._first = sample

    def look(self, child: Child, sample: Sample) -> None:
        """Stop the run if its program is elsewhere."""
        client = child.container_client(sample.time)
        if client is not None:
            self._seen.stop, self._seen.detail = Stop.CONTAINER, client
        elif self._first is not None:
            used, since = sample.core_seconds - self._first.core_seconds, sample.time - self._first.time
            if is_absent(used, self._cpu_resolution, self.arrivals, since):
                self._seen.stop = Stop.ABSENT


def _judge(log_rates: LogRates | None, seen: RunMonitor) -> None:
    """End a run whose log tells times of another unit than its pattern says: it would be measured for nothing."""
    if log_rates is None or not seen.told_by_log:
        return
    seen.wrong_unit = log_rates.refusal
    if seen.wrong_unit is not None and seen.stop is None:
        seen.stop = Stop.WRONG_UNIT


def _rates(log_rates: LogRates, printed: bytes) -> list[Step]:
    """The steps that the printed lines give. Raises TimeLimit."""
    if not printed:
        return []
    with at_most(PATTERN_SECONDS):
        return log_rates.feed(printed)


def stop(child: Child, seen: RunMonitor, clock: Callable[[], float]) -> int | None:
    """Let the present step end, but not for long. The exit status if the child had ended by itself before."""
    if seen.stop is Stop.BROKEN_EVENTS:
        # A pipe that ends inside a line may be that of a child that has just died, and its end is about to be read.
        with suppress(EventError):
            _await_end(child, clock() + LAST_BREATH_SECONDS, clock)
    status = child.exit_status()
    if status is not None:
        return status
    child.ask_to_stop()
    try:
        _await_end(child, clock() + GRACE_SECONDS, clock)
    except EventError as error:
        seen.detail = seen.detail or str(error)
    return None


def _await_end(child: Child, deadline: float, clock: Callable[[], float]) -> None:
    """Read what the child still says until it has ended, or until the deadline. Raises EventError."""
    while child.exit_status() is None and clock() < deadline:
        child.wait(0.1)


class TimeLimit(Exception):
    """The work took longer than it was given."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raises TimeLimit in the block once it has used so many seconds of this process's CPU time.

    Python looks for signals inside of a regular expression's match, too (`_sre.c`, every 4096 steps), so one that
    backtracks without end is stopped. Only the main thread hears signals; in another one nothing is bounded.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    armed = True

    def over(*_: object) -> None:
        if armed:
            raise TimeLimit(f"more than {seconds:g} s of CPU time")

    before = signal.signal(signal.SIGVTALRM, over)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
