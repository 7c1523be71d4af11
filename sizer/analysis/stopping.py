"""When a run ends: it has shown enough, or has taken as long as it may. Pure.

Nobody knows how long a program needs to its first step, so a run is given a time that most start-ups end in, more where
other runs of the workload needed more, and more if it is still busy when that is over. From its first step on, its own
steps say how long measuring may take. One that hangs is neither busy nor stepping; one that is busy for ever ends, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from sizer.analysis.epochs import Epochs, Shown
from sizer.analysis.events import Reading
from sizer.records.kinds import COMMAND
from sizer.records.run import DataSet, DiskCheck, Sample
from sizer.records.study import Measure, RunSpec

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
