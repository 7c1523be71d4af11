"""What is seen of a run while it goes on, and when it ends. Pure.

Nobody knows how long a program needs to its first step, so a run is given a time that most start-ups end in, more where
other runs of the workload needed more, and more if it is still busy when that is over. From its first step on, its own
steps say how long measuring may take. One that hangs is neither busy nor stepping; one that is busy for ever ends, too.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise

from sizer.analysis.events import ChildEvent, End, EventError, OutOfMemory, Reading, Start
from sizer.analysis.steady_state import Epochs, Shown, measured_from_epoch, shown, two_epochs_seconds
from sizer.records.kinds import COMMAND
from sizer.records.run import Cause, DataSet, DiskCheck, Meter, MeterKind, RunWarning, Sample, Step
from sizer.records.run_kinds import MemoryPlace
from sizer.records.study import Measure, RunSpec

# When a run ends: it has shown enough, or has taken as long as it may.

START_UP_SECONDS = 120.0
"""Allowed for imports, the first step and warm-up: VGG-16's first training step alone takes up to 20 s."""

MEASURING_TIMES = 4
"""Times its seconds that measuring may take: they count from the end of warm-up, and steps may be long."""

SEEN_TIMES = 3.0
"""Times the start-up that other runs of the workload show, scaled to the vCPUs of this one: to end a run wrongly is
worse than to wait."""

FEWEST_STEPS = 8
"""Of the longest steps seen so many have time, or twice as many as are asked for: half of them may be warm-up."""

TWO_EPOCHS = 2.5
"""Times the projected time of two epochs that a run may take: what comes may be slower than what was seen."""

READING_TIMES = 1.5
"""Times as long as a disk's figures and the bytes let expect that a run may read its data into memory before its first
step: a run that reads under a memory cap, or beside others, is slower than fio."""

READ_AHEAD = 131072
"""Bytes of a request of a file that is read from its start to its end: Linux reads ahead 128 KiB at a time."""

BUSY_TIMES = 2.0
"""Times as long for a run that is still busy and has too few steps to be measured: a program whose steps nobody sees is
busy, too, and somebody waits for it."""

BUSY_SECONDS = 30.0
"""A run is busy if it was for so long."""

BUSY_CORES = 0.05
"""Share of the CPU time that it may use: threads that only wait use less."""

BUSY_BYTES = 1e5
"""Bytes a second read or written."""


@dataclass(frozen=True)
class Progress:
    """What a run has shown so far.

    `first_step` is when its first step came, in seconds from its start; `longest_step` the longest that it took for one
    since; `measurable` if its steps give a rate; `two_epochs` what these are expected to take where it needs as many.
    `reading` is how long, from its start, it reads its data into memory before that; 0 where it reads none.
    """

    first_step: float | None = None
    longest_step: float = 0.0
    measurable: bool = False
    two_epochs: float = 0.0
    reading: float = 0.0


def reading_seconds(spec: RunSpec, data_set: DataSet | None, disk: DiskCheck | None) -> float | None:
    """What a program of ours needs to read its data into memory before its first step, as `cached` input and a `warm`
    cache ask for, by the figures of the disk; None where it reads none, or they are not known."""
    workload = spec.workload
    first = workload.assumed_input == "cached" or (workload.assumed_input, workload.assumed_cache) == ("disk", "warm")
    if data_set is None or disk is None or not first or workload.kind == COMMAND:
        return None
    rates, requests = disk.rates, data_set.bytes / READ_AHEAD
    if data_set.format == "folder":
        requests = max(requests, data_set.samples)
    by_bytes = data_set.bytes / rates.read_bytes_per_second if rates.read_bytes_per_second else None
    by_requests = requests / rates.read_iops if rates.read_iops else None
    bounds = [seconds for seconds in (by_bytes, by_requests) if seconds is not None]
    return max(bounds) if bounds else None


def reading_until(expected: float | None, progress: Reading | None, progress_at: float) -> float:
    """How long, from its start, a run reads its data into memory: as was expected, or longer where its `progress`, so
    many seconds after its start shows that; no longer once it has told that all is read."""
    allowed = READING_TIMES * (expected or 0.0)
    if progress is None or not progress.bytes:
        return allowed
    if progress.bytes >= progress.whole:
        return progress_at
    return max(allowed, READING_TIMES * progress_at * progress.whole / progress.bytes)


def least_deadline(measure: Measure, vcpus: float | None = None) -> float:
    """Seconds from its start before which no run is stopped for its time; a fraction of a vCPU gets longer.

    A timeout that the study gives always holds.
    """
    if measure.timeout is not None:
        return measure.timeout
    return (START_UP_SECONDS + MEASURING_TIMES * measure.seconds) / min(1.0, vcpus or 1.0)


def deadline_seconds(
    measure: Measure, vcpus: float | None, progress: Progress, start_up: float | None = None, busy: bool = False
) -> float:
    """Seconds from its start after which a run is stopped whatever it does; a timeout of the study always holds.

    `start_up` are the seconds to the first step that other runs of the workload let expect.
    """
    least = least_deadline(measure, vcpus)
    if measure.timeout is not None:
        return least
    waited = progress.reading if progress.first_step is None else progress.first_step
    steps = max(FEWEST_STEPS, 2 * measure.steps)
    allowed = max(least, steps * progress.longest_step, TWO_EPOCHS * progress.two_epochs)
    if progress.first_step is None and start_up is not None:
        allowed = max(allowed, SEEN_TIMES * start_up)
    if busy and not progress.measurable:
        allowed *= BUSY_TIMES
    return waited + allowed


def is_busy(samples: Sequence[Sample], vcpus: float | None) -> bool:
    """Whether the counters of the last BUSY_SECONDS show that a run does something."""
    if len(samples) < 2:
        return False
    last = samples[-1]
    first = next((sample for sample in reversed(samples) if last.time - sample.time >= BUSY_SECONDS), samples[0])
    seconds = last.time - first.time
    if seconds <= 0:
        return False
    cores = (last.core_seconds - first.core_seconds) / seconds
    moved = last.read_bytes + last.written_bytes - first.read_bytes - first.written_bytes
    return cores >= BUSY_CORES * min(1.0, vcpus or 1.0) or moved / seconds >= BUSY_BYTES


CHECKPOINTS = ((0.5, 0.5), (0.75, 1.0), (1.0, 1.0))
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

EPOCHS_CHECK = 0.05
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
    passed = [width for share, width in CHECKPOINTS if steady.measured_seconds >= share * measure.seconds]
    if not passed or steady.intervals < FEWEST_PRECISE or shown.epochs is Epochs.NOT_KNOWN:
        return None
    return Stop.PRECISION if steady.relative_half_width <= passed[-1] * measure.precision else None


def next_check(shown: Shown, measure: Measure, began: float, now: float) -> float:
    """The time at which a run that has not shown enough is judged again; `began` is the time of its first step."""
    if shown.steady is None:
        return now
    if shown.epochs not in (Epochs.ANY, Epochs.NOT_KNOWN):
        return now + EPOCHS_CHECK * (now - began)
    checks = (shown.steady.start + share * measure.seconds for share, _ in CHECKPOINTS)
    return next((check for check in checks if check > now), now)


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


RECENT_SECONDS = 5.0
"""What a person sees as the rate of the current run is that of so many seconds; it costs nothing to know."""

CLOCK_SECONDS = 1.0
"""A step may seem to end so much before the run began, or after now: time for whoever rounds."""

OWN_EVENTS = Meter(MeterKind.EVENTS)

STEP_UNIT = "step"
"""What a rate counts where nobody says how many samples a step has."""


@dataclass(frozen=True)
class Live:
    """What a person sees of the current run; a throughput of None is not known yet."""

    spec: RunSpec
    seconds: float
    throughput: float | None
    cores: float
    read_bytes_per_second: float
    written_bytes_per_second: float = 0.0
    unit: str = "sample"
    given_up_seconds: float | None = None
    """Where no step was seen yet: after how many seconds it is given up although it is busy."""
    reading: Reading | None = None
    """Where no step was seen yet and it still reads its data into memory: how far it is."""


@dataclass
class RunMonitor:
    """Collects a child's events and decides when it has shown enough. `over` is when it was seen to have ended.

    `detail` says how its event pipe broke; `limit_seconds` is the limit that it ran into, of its time or of its
    pattern's; `no_rate` is a line of its log that matched the pattern and told none. `meter` is what its steps were
    counted by, and `counts_samples` whether that says how many samples they have; `meter_warnings` are what is to be
    known of how they were counted, and `wrong_unit` why they mean nothing. `start_up_seconds` are those to the first
    step that other runs let expect, and `busy` says whether it still did something when its time was up. `kept_out` is
    whether it uses a framework that the hook knows, and no process of it loaded the hook; `refused_memory` is whose
    memory it says it was refused. `reading_seconds` are those that it is expected to read its data into memory for, and
    `reading` how far, `reading_at` seconds after its start, that it was. `stood_still_seconds` is how long
    sizer itself stood still, and `watched_until` when it had looked last before.
    """

    spec: RunSpec
    began: float
    start: Start | None = None
    steps: list[Step] = field(default_factory=list)
    stop: Stop | None = None
    detail: str = ""
    no_rate: str = ""
    limit_seconds: float = 0.0
    next_check: float = 0.0
    two_epochs_seconds: float = 0.0
    count: int = 0
    over: float | None = None
    meter: Meter | None = None
    meter_warnings: tuple[RunWarning, ...] = ()
    wrong_unit: Cause | None = None
    counts_samples: bool = True
    start_up_seconds: float | None = None
    busy: bool = False
    kept_out: bool = False
    refused_memory: MemoryPlace | None = None
    reading_seconds: float | None = None
    reading: Reading | None = None
    reading_at: float = 0.0
    stood_still_seconds: float = 0.0
    watched_until: float = 0.0

    def __post_init__(self) -> None:
        self._joined = JoinedSteps(self.steps)

    @property
    def unit(self) -> str:
        """What a sample is: as the workload says, else as the study does."""
        unit, spec = self.start.sample_unit if self.start else self.spec.workload.sample_unit, self.spec
        counted = self.counts_samples or spec.batch_size > 1 or spec.workload.samples_per_step is not None
        return unit or ("sample" if counted else STEP_UNIT)

    def count_by(self, meter: Meter, anew: bool = False) -> None:
        """From now on the steps come from this meter: those of another one, or all before (`anew`), are forgotten."""
        if anew or self.meter != meter:
            self.meter, self.count, self.next_check, self.two_epochs_seconds = meter, 0, 0.0, 0.0
            self.steps.clear()
            self._joined = JoinedSteps(self.steps)

    @property
    def has_events(self) -> bool:
        """Whether the program itself has told of its steps, or that it will: then its log counts nothing."""
        return self.start is not None or (self.meter is not None and self.meter.kind is not MeterKind.LOG)

    @property
    def counts_log_lines(self) -> bool:
        return self.meter is not None and self.meter.kind is MeterKind.LOG

    def take_of_log(self, steps: Sequence[Step], source: str) -> None:
        """Add the steps that a log gives; `source` is its known format, or the study's pattern."""
        if steps and not self.has_events:
            self.meter = Meter(MeterKind.LOG, source)
            self._add(steps)

    def take(self, events: Sequence[ChildEvent], now: float = math.inf, meter: Meter = OWN_EVENTS) -> None:
        """Add what the child, or this meter of it, told until `now`: it takes the place of what was trusted less.

        Raises EventError for a step whose time is not of our clock.
        """
        if events:
            self.count_by(meter)
        for event in events:
            if isinstance(event, Start):
                self.start = event
            elif isinstance(event, Reading):
                self.reading, self.reading_at = event, now - self.began
            elif isinstance(event, Step):
                self._check_clock(event, now)
                self._add([event])
            elif isinstance(event, OutOfMemory):
                self.refused_memory = event.where
            else:
                assert isinstance(event, End)

    def _add(self, steps: Sequence[Step]) -> None:
        for step in steps:
            self._joined.add(step)
        self.count += len(steps)

    def _check_clock(self, step: Step, now: float) -> None:
        """Counters are read by our clock: with the times of another one nothing of them could be set to a step."""
        if not self.began - CLOCK_SECONDS <= step.time <= now + CLOCK_SECONDS:
            raise EventError(
                f"a step whose time is {step.time:.6g}, where this host's monotonic clock was {self.began:.6g} at the "
                f"start of the run and is {now:.6g} now; write time.monotonic()"
            )

    def broke(self, how: str) -> None:
        self.stop, self.detail = Stop.BROKEN_EVENTS, how

    def stood_still(self, seconds: float) -> None:
        """sizer itself stood still for so long: what came of the run by then means nothing, unless it broke."""
        if self.stop in BY_TIME:
            self.stop, self.stood_still_seconds = Stop.STOOD_STILL, seconds

    @property
    def calls_a_step(self) -> int:
        """How many of the program's steps each kept one represents: more than one where it made very many."""
        return self._joined.calls

    @property
    def silent_seconds(self) -> float:
        """From the last step, or the beginning where there was none, to the end of the run."""
        last = self.steps[-1].time if self.steps else self.began
        return max(0.0, self.over - last) if self.over is not None else 0.0

    @property
    def longest_step(self) -> float:
        """The most seconds between the ends of two steps."""
        return max((after.time - before.time for before, after in pairwise(self.steps)), default=0.0)

    @property
    def shown(self) -> Shown:
        """What the run has shown so far: its steady state and the epochs that it is based on."""
        return shown(self.steps, self.spec.workload, self._epoch_samples, self.counts_log_lines)

    @property
    def _epoch_samples(self) -> int:
        return self.start.dataset_samples if self.start else 0

    def decide(self, now: float, stop_now: bool, samples: Sequence[Sample] = ()) -> None:
        """Sets `stop` once the run should end; `samples` are its counters so far."""
        if stop_now:
            self.stop = Stop.INTERRUPTED
            return
        if self.steps and self.steps[-1].time >= self.next_check:
            self._look(self.steps[0].time, self.steps[-1].time)
        if self.stop is None and now - self.began > least_deadline(self.spec.measure, self.spec.limits.vcpus):
            self._end_in_time(now, samples)

    def _end_in_time(self, now: float, samples: Sequence[Sample]) -> None:
        """Stop the run if its time is up by what it and others have shown."""
        vcpus = self.spec.limits.vcpus
        progress = Progress(
            first_step=self.steps[0].time - self.began if self.steps else None,
            longest_step=self.longest_step,
            measurable=self.shown.steady is not None,
            two_epochs=self.two_epochs_seconds,
            reading=self._reading_until,
        )
        busy = is_busy(samples, vcpus)
        deadline = deadline_seconds(self.spec.measure, vcpus, progress, self.start_up_seconds, busy)
        if now - self.began > deadline:
            self.stop, self.limit_seconds, self.busy = Stop.DEADLINE, deadline, busy

    def _look(self, first: float, last: float) -> None:
        """Judge the run by all of its steps, from the first one's time to the last one's."""
        now_shown, measure = self.shown, self.spec.measure
        self.stop = enough(now_shown, measure, last)
        self.next_check = next_check(now_shown, measure, first, last)
        if measured_from_epoch(self.spec.workload) and self._epoch_samples:
            self.two_epochs_seconds = two_epochs_seconds(self.steps, self._epoch_samples)

    def live(self, now: float, samples: Sequence[Sample]) -> Live:
        """The present figures, CPU and disk from the last two samplings."""
        cores, read, written = _used_a_second(samples[-2:])
        rate = _recent_rate(self.steps)
        since, given_up = now - self.began, self._given_up_seconds
        return Live(self.spec, since, rate, cores, read, written, self.unit, given_up, self.still_reading)

    @property
    def _given_up_seconds(self) -> float | None:
        if self.steps:
            return None
        progress = Progress(reading=self._reading_until)
        return deadline_seconds(self.spec.measure, self.spec.limits.vcpus, progress, self.start_up_seconds, busy=True)

    @property
    def _reading_until(self) -> float:
        return reading_until(self.reading_seconds, self.reading, self.reading_at)

    @property
    def still_reading(self) -> Reading | None:
        """How far it is with reading its data into memory; None where it does not, or has done so."""
        progress = self.reading
        return progress if progress is not None and self.start is None and progress.bytes < progress.whole else None


def _used_a_second(samples: Sequence[Sample]) -> tuple[float, float, float]:
    """Cores, and bytes read and written a second, from the first of these samplings to the last; 0 without two."""
    seconds = samples[-1].time - samples[0].time if samples else 0.0
    if seconds <= 0:
        return 0.0, 0.0, 0.0
    first, last = samples[0], samples[-1]
    read, written = last.read_bytes - first.read_bytes, last.written_bytes - first.written_bytes
    return (last.core_seconds - first.core_seconds) / seconds, read / seconds, written / seconds


def _recent_rate(steps: Sequence[Step]) -> float | None:
    """Samples/s of the last RECENT_SECONDS; None before there are two steps."""
    if len(steps) < 2:
        return None
    since = min(bisect_left(steps, steps[-1].time - RECENT_SECONDS, key=lambda step: step.time), len(steps) - 2)
    seconds = steps[-1].time - steps[since].time
    return sum(step.samples for step in steps[since + 1 :]) / seconds if seconds > 0 else None


MOST_STEPS = 1 << 15
"""4 MB of a run's file, and 0.1 s of a judgement. A run of a minute has as many with steps of 2 ms."""


class JoinedSteps:
    """Adds steps to a list that never has more than MOST_STEPS: from there on each represents twice as many calls.

    A joined step ends when its last one does and has that one's epoch and latency, so that the latencies kept are an
    even choice of all; samples, waiting and accelerator seconds are sums, so that no rate changes.
    """

    def __init__(self, steps: list[Step]) -> None:
        self.calls = 1
        """How many of the program's steps each of these represents."""
        self._steps = steps
        self._in_last = 0

    def add(self, step: Step) -> None:
        """One more step of the program."""
        if self._steps and self._in_last < self.calls:
            self._steps[-1] = _joined(self._steps[-1], step)
            self._in_last += 1
        else:
            self._steps.append(step)
            self._in_last = 1
        if len(self._steps) >= MOST_STEPS and self._in_last == self.calls:
            self._steps[:] = _halved(self._steps)
            self.calls *= 2
            self._in_last = self.calls


def _joined(first: Step, second: Step) -> Step:
    samples, waited = first.samples + second.samples, first.input_wait + second.input_wait
    busy = (first.accelerator_seconds, second.accelerator_seconds)
    together = None if busy[0] is None or busy[1] is None else busy[0] + busy[1]
    return Step(second.time, samples, waited, second.epoch, second.latency, together)


def _halved(steps: Sequence[Step]) -> list[Step]:
    return [_joined(first, second) for first, second in zip(steps[::2], steps[1::2], strict=True)]
