"""A child is watched until it has shown enough, and is asked to end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from statistics import median

from sizer.analysis.events import ChildEvent, EventError, RankReader, Records, Start
from sizer.analysis.log_rates import PATTERN_SECONDS, LogRates
from sizer.analysis.monitor import STEP_UNIT, Live, RunMonitor, Stop, is_absent
from sizer.limits.interface import Group
from sizer.records.kinds import COMMAND
from sizer.records.run import MeterKind, RunWarning, Sample, WarningKind
from sizer.runner.child import Child, EventFifo
from sizer.runner.circumstances import Room
from sizer.runner.sampling import Sampler
from sizer.runner.secrets import NO_SECRETS, Secrets
from sizer.runner.time_limit import TimeLimit, at_most
from sizer.storage.subprograms import Standstill, seconds_since_boot

TICK_SECONDS = 0.5
"""Between two samplings; one takes about 0.1 ms."""

ESCAPE_SECONDS = 2.0
"""Between two looks whether all of a run is under its limits; one takes 1 to 5 ms."""

GRACE_SECONDS = 10.0
"""For the present step to end after SIGTERM, before the group is killed."""

LAST_BREATH_SECONDS = 0.3
"""For a child whose event pipe broke to be gone, if that is why it broke."""


@dataclass(frozen=True)
class Hooks:
    """How the caller looks on and interferes: `watch` sees each tick, `stop_now` ends the current run.

    `clock` is monotonic, and that of the steps; by `standing_clock` it is seen whether sizer itself stood still.
    """

    watch: Callable[[Live], None] = lambda _: None
    stop_now: Callable[[], bool] = lambda: False
    clock: Callable[[], float] = time.monotonic
    standing_clock: Callable[[], float] = seconds_since_boot


OWN_PATTERN = "pattern"
"""Source of a rate that the study's own expression found."""

UNWATCHED = Hooks()
"""Nobody looks on, and nobody interferes."""


def observe(
    child: Child,
    seen: RunMonitor,
    sampler: Sampler,
    room: Room,
    hooks: Hooks,
    group: Group,
    fifo: EventFifo | None = None,
    secrets: Secrets = NO_SECRETS,
) -> None:
    """Take events and samplings until the run has shown enough, ends by itself, or must end.

    `group` holds the limits, `fifo` is where processes tell that have no event pipe; `secrets` are in nothing that is
    seen.
    """
    presence, meters = Presence(seen, group), Meters(child, seen, fifo, hooks.clock, secrets)
    next_tick, standstill = hooks.clock(), Standstill(hooks.standing_clock)
    while seen.stop is None:
        seen.watched_until = hooks.clock()
        ended, before = child.exit_status() is not None, seen.count
        is_tick = False
        try:
            events, printed = child.wait(max(0.0, next_tick - hooks.clock()))
            meters.take_events(events)
            meters.take_printed(printed)
            is_tick = hooks.clock() >= next_tick
            if is_tick:
                meters.poll()
        except EventError as error:
            seen.broke(error.sentence(secrets.hidden))
        if seen.count and not before:
            # What was read or computed before the first step, such as data for the cache, is no cost of the others.
            presence.began(sampler.tick())
        elif seen.count > before:
            presence.arrivals += 1
        if is_tick:
            sample = sampler.tick()
            room.poll()
            seen.decide(hooks.clock(), hooks.stop_now(), sampler.samples)
            presence.look_for_escapes(child, hooks.clock())
            if seen.spec.workload.kind == COMMAND and seen.stop is not Stop.INTERRUPTED:
                presence.poll(child, sample)
            meters.look_for_frameworks()
            meters.judge()
            # A terminal may be gone by now: that nobody looks on is no reason to lose a run.
            with suppress(OSError):
                hooks.watch(seen.live(hooks.clock(), sampler.samples))
            next_tick = hooks.clock() + TICK_SECONDS
        stood_still = standstill.poll()
        if stood_still:
            seen.stood_still(stood_still)
        if ended and child.is_silent():
            # A disk that was full is so until its folder is removed, and it may have been full for less than a tick.
            room.poll()
            presence.look_for_escapes(child, hooks.clock())
            break
    meters.finish()


class Meters:
    """The three ways that the steps of a run are known, the one to be trusted most at the head.

    What the program writes into its event pipe or tells as its own through the FIFO; what the hook tells through the
    FIFO; the lines of a command's log. As soon as a better one speaks, what the others said is forgotten.
    """

    def __init__(
        self,
        child: Child,
        seen: RunMonitor,
        fifo: EventFifo | None,
        clock: Callable[[], float],
        secrets: Secrets,
    ) -> None:
        workload, batch_size = seen.spec.workload, seen.spec.batch_size
        in_step = workload.samples_per_step
        self._child = child
        self._seen = seen
        self._fifo = fifo
        self._clock = clock
        self._secrets = secrets
        self._by_pipe = False
        self._ranks = RankReader(batch_size, in_step)
        self._log = LogRates(workload.pattern, in_step or batch_size, clock) if workload.kind == COMMAND else None

    def take_events(self, events: list[ChildEvent]) -> None:
        """Take what came through the event pipe. Raises EventError."""
        if events:
            self._by_pipe, self._seen.counts_samples = True, True
            hidden = self._secrets.out_of_start
            shown = [hidden(event) if isinstance(event, Start) else event for event in events]
            self._seen.take(shown, self._clock())

    def take_printed(self, printed: bytes) -> None:
        """Take the steps that the log's lines give, as long as nothing better has told any."""
        if self._log is not None and self._seen.has_events:
            self._log = None
            self._child.read_at_leisure()
        if self._log is None or not printed:
            return
        try:
            with at_most(PATTERN_SECONDS):
                steps = self._log.feed(printed)
        except TimeLimit:
            if self._seen.spec.workload.pattern is None:
                # Nobody asked for the log to be read, so that it cannot be is no fault of the run.
                self._log = None
            else:
                self._seen.stop, self._seen.limit_seconds = Stop.SLOW_PATTERN, PATTERN_SECONDS
            return
        self._seen.take_of_log(steps, self._log.recognised or OWN_PATTERN)
        self._seen.counts_samples = self._log.counts_samples
        self._seen.no_rate = self._log.no_rate

    def poll(self) -> None:
        """Take what came through the FIFO. Raises EventError."""
        if self._fifo is not None:
            self._tell(self._ranks.feed(self._fifo.read(), self._clock()))

    def look_for_frameworks(self) -> None:
        """See whether the hook was kept out of a program whose steps it would count."""
        if self._seen.spec.workload.may_be_hooked and not self._seen.kept_out and not self._ranks.hooked:
            self._seen.kept_out = self._child.uses_framework()

    def judge(self) -> None:
        """End a run whose log tells times of another unit than its pattern says: it would be measured for nothing."""
        if self._log is None or not self._seen.counts_log_lines:
            return
        self._seen.wrong_unit = self._log.refusal
        if self._seen.wrong_unit is not None and self._seen.stop is None:
            self._seen.stop = Stop.WRONG_UNIT

    def finish(self) -> None:
        """Take the last of what came through the FIFO; a run that broke its form has no more."""
        if self._seen.stop is not Stop.BROKEN_EVENTS:
            try:
                self.poll()
                self._tell(self._ranks.finish(otherwise=self._seen.meter is None))
            except EventError as error:
                self._seen.broke(error.sentence(self._secrets.hidden))
        self._seen.kept_out &= not self._ranks.hooked
        self.judge()
        if self._log is not None and self._seen.counts_log_lines:
            self._seen.meter_warnings = tuple(self._log.finish())
        elif self._seen.meter is not None and self._seen.meter.kind is MeterKind.HOOK:
            self._seen.meter_warnings = tuple(self._of_the_hook())

    def _of_the_hook(self) -> Iterator[RunWarning]:
        if self._ranks.side_by_side:
            yield RunWarning(WarningKind.SEVERAL_LOADERS)
        given, steps = self._seen.spec.batch_size, self._seen.steps
        if self._seen.unit == STEP_UNIT:
            yield RunWarning(WarningKind.SAMPLES_NOT_SEEN)
        if given > 1 and steps and self._ranks.counts_samples and self._seen.spec.workload.samples_per_step is None:
            samples = median(step.samples for step in steps) / self._seen.calls_a_step
            if samples != given:
                yield RunWarning(WarningKind.OTHER_BATCH_SIZE, {"told": samples, "given": given})

    def _tell(self, message: Records) -> None:
        meter = self._ranks.meter and self._secrets.out_of_meter(self._ranks.meter)
        if meter is None or self._by_pipe:
            return
        if message.anew:
            self._seen.count_by(meter, anew=True)
        if self._seen.meter == meter:
            self._seen.counts_samples = self._ranks.counts_samples
            start = [self._secrets.out_of_start(message.start)] if message.start else []
            self._seen.take([*start, *message.steps], self._clock(), meter)


class Presence:
    """Ends a run whose program is not under its limits: a container has it, or some other service."""

    def __init__(self, seen: RunMonitor, group: Group) -> None:
        self._seen = seen
        self._group = group
        self._next_check = 0.0
        self._first: Sample | None = None
        self.arrivals = 0
        """How many times something was read, after the first step, that told of steps."""

    def began(self, sample: Sample) -> None:
        """What was used when the first step was seen."""
        self._first = sample

    def look_for_escapes(self, child: Child, now: float) -> None:
        """Stop the run if something of it has left its limits or changed them: after the first step, now and then, and
        whenever it is about to end."""
        is_last = self._seen.stop is not None or child.exit_status() is not None
        if self._seen.stop is Stop.INTERRUPTED or not self._seen.count or (now < self._next_check and not is_last):
            return
        self._next_check = now + ESCAPE_SECONDS
        what = child.escaped(self._group)
        if what is not None:
            self._seen.stop, self._seen.detail = Stop.ESCAPED, what

    def poll(self, child: Child, sample: Sample) -> None:
        """Stop the run if its program is elsewhere."""
        client = child.container_client(sample.time)
        if client is not None:
            self._seen.stop, self._seen.detail = Stop.CONTAINER, client
        elif self._first is not None:
            used, since = sample.core_seconds - self._first.core_seconds, sample.time - self._first.time
            if is_absent(used, self._group.cpu_resolution, self.arrivals, since):
                self._seen.stop = Stop.ABSENT


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
