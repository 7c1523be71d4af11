"""A child is watched until it has shown enough, and is asked to end."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from sizer.analysis import PATTERN_SECONDS, ChildEvent, EventError, Live, LogRates, RankReader, RunMonitor, Stop, Told
from sizer.records import Meter, MeterKind, Step
from sizer.runner.child import Child
from sizer.runner.circumstances import Room
from sizer.runner.event_fifo import EventFifo
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


UNWATCHED = Hooks()
"""Nobody looks on, and nobody interferes."""


def observe(
    child: Child, seen: RunMonitor, sampler: Sampler, room: Room, hooks: Hooks, fifo: EventFifo | None = None
) -> None:
    """Take events and samplings until the run has shown enough, ends by itself, or must end."""
    workload = seen.spec.workload
    log_rates = LogRates(workload.pattern, seen.spec.batch_size, hooks.clock) if workload.pattern else None
    meters = _Meters(seen, fifo)
    next_tick = hooks.clock()
    while seen.stop is None:
        ended, before = child.exit_status() is not None, seen.count
        try:
            events, printed = child.wait(max(0.0, next_tick - hooks.clock()))
            meters.written(events, hooks.clock())
            meters.printed(_rates(log_rates, printed))
        except EventError as error:
            seen.broke(error)
        except TimeLimit:
            seen.stop, seen.limit_seconds = Stop.SLOW_PATTERN, PATTERN_SECONDS
        if seen.count and not before:
            # What was read or computed before the first step, such as data for the cache, is no cost of the others.
            sampler.tick()
        if hooks.clock() >= next_tick:
            meters.look(hooks.clock())
            sampler.tick()
            room.look()
            seen.decide(hooks.clock(), hooks.stop_now())
            # A terminal may be gone by now: that nobody looks on is no reason to lose a run.
            with suppress(OSError):
                hooks.watch(seen.live(hooks.clock(), sampler.samples))
            next_tick = hooks.clock() + TICK_SECONDS
        if ended and child.is_silent():
            break
    meters.finish(hooks.clock())


class _Meters:
    """The three ways that steps come from, the one to be trusted most at the head.

    What the program writes into its event pipe or tells as its own through the FIFO; what the hook tells through the
    FIFO; the lines of its log. As soon as a better one speaks, what the others said is forgotten.
    """

    def __init__(self, seen: RunMonitor, fifo: EventFifo | None) -> None:
        self._seen = seen
        self._fifo = fifo
        self._piped = False
        self._ranks = RankReader(seen.spec.batch_size)

    def written(self, events: list[ChildEvent], now: float) -> None:
        """Take what came through the event pipe. Raises EventError."""
        if events:
            self._piped = True
            self._seen.count_by(Meter(MeterKind.EVENTS))
            self._seen.take(events, now)

    def printed(self, steps: list[Step]) -> None:
        """Take the steps that the log's lines give, if nothing better has told any."""
        if steps and self._seen.meter is None:
            self._seen.count_by(Meter(MeterKind.LOG, self._seen.spec.workload.pattern))
        if self._seen.meter is not None and self._seen.meter.kind is MeterKind.LOG:
            self._seen.take(steps)

    def look(self, now: float) -> None:
        """Take what came through the FIFO; one that breaks the form ends the run."""
        if self._fifo is not None:
            try:
                self._take(self._ranks.feed(self._fifo.read(), now), now)
            except EventError as error:
                self._seen.broke(error)

    def finish(self, now: float) -> None:
        """Take the last of what came through the FIFO; a run that broke its form has no more."""
        if self._seen.stop is not Stop.BROKEN_EVENTS:
            self.look(now)
        if self._seen.stop is not Stop.BROKEN_EVENTS:
            with suppress(EventError):
                self._take(self._ranks.finish(otherwise=self._seen.meter is None), now)

    def _take(self, told: Told, now: float) -> None:
        meter = self._ranks.meter
        if meter is None or self._piped:
            return
        if told.anew:
            self._seen.count_by(meter, anew=True)
        if self._seen.meter == meter:
            self._seen.counts_samples = self._ranks.counts_samples
            self._seen.take([*([told.start] if told.start else []), *told.steps], now)


def _rates(log_rates: LogRates | None, printed: bytes) -> list[Step]:
    """The steps that the printed lines give. Raises TimeLimit."""
    if log_rates is None or not printed:
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
