"""A program that knows nothing of sizer is measured by what it prints on its log, and its times are held against those
in which its lines come. Pure.

A line tells seconds a batch, and a counter beside it says how many batches came since the line before: a group of the
expression, or any number of the line that grows by the same each time. Without one, each line is of one batch at least.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from statistics import fmean, median

from sizer.analysis.log_lines.reading import LARGEST, LogReading
from sizer.analysis.log_lines.recognising import LINE_LIMIT, TERMINAL, CountedLine, LogLines
from sizer.records.run import Cause, CauseKind, RunWarning, Step, WarningKind

# Whether the times that a log tells are those in which its lines come.

DISAGREES = 1.2
"""How many times the one is as much as the other from which they disagree."""

STEADY = 0.8
"""Share of the intervals that must disagree alike: a stall or an evaluation is one interval of many."""

FEWEST_INTERVALS = 5
TOGETHER_SECONDS = 0.02
"""Lines that come closer together came in one read, after a buffer held them: they are one interval."""

MOST_RANKS = 48
"""A line that comes more often than a batch, up to so many times: as many processes may print it. Above, a factor of 60
is within 20 %, and no reading of such a rate is right."""

NEAR_INTEGER = 0.05
"""A factor this near to a whole number is that number."""

NUMBERS = re.compile(r"(?<![\d.:,+-])\d{1,15}(?![\d.:,%-]|\s?m?s\b)")
"""Whole numbers in a line that may count something: not those of a time, a date, a share or a decimal fraction."""


class Reason(str, Enum):
    """What a steady disagreement most likely comes from."""

    MILLISECONDS = "milliseconds"
    """A factor of 1,000, or one that no other reason explains."""
    MINUTES = "minutes"
    """A factor of 60."""
    BATCHES = "batches"
    """A rate of batches was given as one of samples."""
    RANKS = "ranks"
    """Several processes print the line."""
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class StatedLine:
    """When a line came, the seconds a batch that it states, its counter of batches if its expression has one, and the
    whole numbers in it."""

    time: float
    stated: float
    step: int | None = None
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True)
class Disagreement:
    """Seconds a batch as stated, and as seen: where nothing counts, the most that they can be."""

    reason: Reason
    stated: float
    seen: float


@dataclass(frozen=True)
class _Interval:
    """Seconds between two lines, or bursts of them; batches by the counter, without one as many as lines; and the
    seconds a batch that were stated."""

    seconds: float
    batches: int
    stated: float


def numbers_of(line: str) -> tuple[int, ...]:
    """The whole numbers in a line that may count."""
    return tuple(int(text) for text in NUMBERS.findall(line))


def disagreement(lines: Sequence[StatedLine], batch_size: int, of_samples: bool) -> Disagreement | None:
    """The steady disagreement of these lines with their arrival; None where there is none, or they are too few.

    `of_samples`: a rate of samples was told, of which the time of a batch was made with `batch_size`.
    """
    steps = [line.step for line in lines]
    counted = [step for step in steps if step is not None]
    counter = counted if len(counted) == len(lines) else _counting(lines)
    intervals = _intervals(lines, counter)
    if len(intervals) < FEWEST_INTERVALS:
        return None
    factors = [interval.stated * interval.batches / interval.seconds for interval in intervals]
    factor = median(factors)
    low = [factor for factor in factors if factor < 1 / DISAGREES]
    high = [factor for factor in factors if factor > DISAGREES]
    stated = median(interval.stated for interval in intervals)
    if counter is None:
        # A line may be of many batches: only that it comes too often can be seen.
        if len(high) < STEADY * len(factors):
            return None
        if factor > MOST_RANKS:
            why = Reason.MINUTES if _near(factor, 60) else Reason.MILLISECONDS
        else:
            why = Reason.RANKS if _is_whole(factor) else Reason.UNKNOWN
        return Disagreement(why, stated, stated / factor)
    if max(len(low), len(high)) < STEADY * len(factors):
        return None
    if of_samples and batch_size == 1:
        # Nobody has said how many samples a batch has, so a rate of many a batch is none that disagrees.
        return None
    return Disagreement(_reason(factor, batch_size if of_samples else 1, counter), stated, stated / factor)


def _reason(factor: float, batch_size: int, counter: Sequence[int]) -> Reason:
    repeated = sum(after == before for before, after in pairwise(counter)) > len(counter) / 3
    # On a busy host lines come late, so that a batch is seen to take longer than it is told: by less than DISAGREES.
    if batch_size > 1 and _is_factor(factor, batch_size, 1 + NEAR_INTEGER if repeated else DISAGREES):
        return Reason.BATCHES
    if _near(factor, 1000):
        return Reason.MILLISECONDS
    if _near(factor, 60):
        return Reason.MINUTES
    if repeated or (_is_whole(factor) and factor > 1):
        return Reason.RANKS
    return Reason.UNKNOWN


def _near(factor: float, unit: float) -> bool:
    """Whether a factor, or its inverse, is within 20 % of a unit's."""
    return _is_factor(factor, unit) or _is_factor(1 / factor, unit)


def _is_factor(factor: float, unit: float, within: float = DISAGREES) -> bool:
    return unit / within <= factor <= unit * within


def _is_whole(factor: float) -> bool:
    return factor >= 1.5 and abs(factor / round(factor) - 1) < NEAR_INTEGER


def _counting(lines: Sequence[StatedLine]) -> list[int] | None:
    """The first number of the lines that grows by the same from each to the next, and is no clock; None without one."""
    if len({len(line.numbers) for line in lines}) != 1:
        return None
    seconds = lines[-1].time - lines[0].time
    for column in zip(*(line.numbers for line in lines), strict=True):
        grown = {after - before for before, after in pairwise(column)}
        if len(grown) == 1 and min(grown) > 0 and not 0.95 < (column[-1] - column[0]) / max(seconds, 1e-9) < 1.05:
            return list(column)
    return None


def _intervals(lines: Sequence[StatedLine], counter: Sequence[int] | None) -> list[_Interval]:
    """The lines by when they came; what the first ones told is of a time before."""
    bursts: list[list[int]] = []
    for index, line in enumerate(lines):
        if bursts and line.time - lines[bursts[-1][-1]].time < TOGETHER_SECONDS:
            bursts[-1].append(index)
        else:
            bursts.append([index])
    intervals = []
    for before, burst in pairwise(bursts):
        seconds = lines[burst[-1]].time - lines[before[-1]].time
        batches = len(burst) if counter is None else counter[burst[-1]] - counter[before[-1]]
        if batches > 0:
            intervals.append(_Interval(seconds, batches, fmean(lines[index].stated for index in burst)))
    return intervals


PATTERN_SECONDS = 1.0
"""CPU time that the lines of one read (1 MiB) may take to be matched: those of the known formats take 0.1 s."""

LINES_A_SECOND = 50_000
"""Lines that are looked at, a tenth of it while no format is known: a quarter of a core at 5 and 45 us a line."""

BURST_SECONDS = 0.4
"""Lines of so many seconds may come at once."""

KEPT_LINES = 200
"""Lines whose told times are held against their arrival: the last ones, so that a warm-up is forgotten."""

REFUSALS = {
    Reason.MILLISECONDS: CauseKind.TOLD_MILLISECONDS,
    Reason.MINUTES: CauseKind.TOLD_MINUTES,
}
"""Disagreements with which a rate that the line tells means nothing."""

WARNINGS = {
    Reason.RANKS: WarningKind.LINES_OF_RANKS,
    Reason.BATCHES: WarningKind.BATCHES_FOR_SAMPLES,
    Reason.MILLISECONDS: WarningKind.TOLD_UNLIKE_SEEN,
    Reason.MINUTES: WarningKind.TOLD_UNLIKE_SEEN,
    Reason.UNKNOWN: WarningKind.TOLD_UNLIKE_SEEN,
}


class Allowance:
    """How many lines may be looked at, so that a program that prints without end does not wait for them to be."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._before = clock()
        self._left = LINES_A_SECOND * BURST_SECONDS

    def take(self, lines: int, decided: bool) -> int:
        """Of so many lines these; never none of some. Each costs more while no format is `decided`."""
        now, cost = self._clock(), 1 if decided else 10
        grown = self._left + (now - self._before) * LINES_A_SECOND
        self._before, self._left = now, min(grown, LINES_A_SECOND * BURST_SECONDS)
        taken = min(lines, max(1, int(self._left / cost)))
        self._left -= taken * cost
        return taken


class LogRates:
    """Turns log lines into steps: each represents what was done since the line before it.

    Where a line has a counter, what it grew by was done, in batches of `batch_size`; else the rate that the line tells
    makes samples of the time since the line before. Without a pattern, the known formats are recognised.
    """

    def __init__(self, pattern: str | None, batch_size: int, clock: Callable[[], float]) -> None:
        """Raises InputError for a pattern that cannot be read."""
        self._lines = LogLines(pattern)
        self._batch_size = batch_size
        self._clock = clock
        self._allowance = Allowance(clock)
        self._rest = ""
        self._rest_came = 0.0
        self._last: float | None = None
        self._samples = 0
        self._elapsed: tuple[int, float] | None = None
        self._stated: deque[StatedLine] = deque(maxlen=KEPT_LINES)
        self._stated_batches: deque[float] = deque(maxlen=KEPT_LINES)
        self._rates: set[float] = set()
        self._by_stated_rate = False
        self._of_samples = False
        self.counts_samples = False
        """Whether the lines say how many samples were done, and not only how many batches."""

    @property
    def no_rate(self) -> str:
        """What the user's own expression matched with that is no number; empty where nothing is."""
        return self._lines.no_rate

    @property
    def recognised(self) -> str | None:
        """The name of the known format; None before one is recognised, and with a user's own expression."""
        return self._lines.recognised

    def feed(self, data: bytes) -> list[Step]:
        """The steps that these bytes of the log complete. A carriage return ends a line, too: progress bars use it.

        Of a program that prints more lines than can be looked at, the last of each read are.
        """
        now, data = self._clock(), data.replace(b"\r", b"\n")
        count = data.count(b"\n")
        taken = self._allowance.take(count, self._lines.is_decided)
        if taken < count:
            # What is before these is left alone: to cut it into lines would take longer than to look at them.
            self._rest, data = "", b"\n".join(data.rsplit(b"\n", taken + 1)[-1 - taken :])
        *lines, rest = data.decode("utf-8", "replace").split("\n")
        steps = []
        for line in lines:
            # A bar is ended by the next one that is drawn over it, maybe much later: it is of when it came.
            came = self._rest_came if self._rest and not TERMINAL.sub("", line).strip() else now
            whole, self._rest = self._rest + line, ""
            counted = self._lines.read(whole, came)
            if counted is not None:
                steps += self._steps(counted, whole, came)
        if rest:
            self._rest, self._rest_came = (self._rest + rest)[-LINE_LIMIT:], now
        return steps

    @property
    def refusal(self) -> Cause | None:
        """Why the rates that the lines tell mean nothing; None where they may be right, or are not needed."""
        disagreement = self._disagreement() if self._by_stated_rate else None
        if disagreement is None or disagreement.reason not in REFUSALS:
            return None
        return Cause(REFUSALS[disagreement.reason], _figures(disagreement))

    def finish(self) -> list[RunWarning]:
        """What a reader must know of the rates, now that the log has ended."""
        warnings = []
        disagreement = self._disagreement()
        if disagreement is not None and self.refusal is None:
            # A counter alone needs the study's batch size to be right.
            rests_on = self._by_stated_rate or (self._of_samples and disagreement.reason is Reason.UNKNOWN)
            kind = WARNINGS[disagreement.reason] if rests_on else WarningKind.TOLD_NOT_USED
            warnings.append(RunWarning(kind, _figures(disagreement)))
        batch_size = self._stated_batch()
        if batch_size is not None and self._batch_size > 1:
            warnings.append(RunWarning(WarningKind.OTHER_BATCH_SIZE, {"told": batch_size, "given": self._batch_size}))
        if self._by_stated_rate and len(self._rates) == 1:
            warnings.append(RunWarning(WarningKind.ONE_READING))
        return warnings

    def _steps(self, counted: CountedLine, line: str, now: float) -> list[Step]:
        self._keep(counted, line, now)
        if self._last is None:
            # A format that is recognised with its second line counts from its first one on.
            self._last = counted.since if counted.grown else now
            begun = [Step(self._last, 0, 0.0, 0)]
            return [*begun, *self._later(counted, now)] if counted.grown else begun
        return self._later(counted, now)

    def _later(self, counted: CountedLine, now: float) -> list[Step]:
        """The step between the line before and this one; none where it shows nothing new."""
        last, reading = self._last, counted.reading
        assert last is not None
        samples = self._done(counted, now - last)
        if reading.counter is None:
            self._last = now
        if samples is None or self._samples + samples > LARGEST:
            return []
        self._last = now
        self._samples += samples
        return [Step(now, samples, 0.0, counted.epoch)]

    def _done(self, counted: CountedLine, seconds: float) -> int | None:
        """Samples since the line before; None where the line shows nothing new."""
        reading, grown = counted.reading, counted.grown
        if reading.counter is not None:
            if not grown:
                return None
            if reading.samples is not None:
                self.counts_samples = True
                return grown
            if reading.rate and seconds > 0:
                batch_seconds = reading.seconds if reading.seconds is not None else seconds / grown
                # Where several processes print the line, each tells its own rate.
                self._stated_batches.append(reading.rate * batch_seconds * counted.lines)
                self.counts_samples |= self.recognised is not None
            return grown * (self._stated_batch() or self._batch_size)
        rate = self._stated_rate(reading)
        if rate is None or rate > LARGEST:
            return None
        self._by_stated_rate = True
        self.counts_samples = reading.rate is not None
        self._rates.add(rate)
        return round(rate * seconds)

    def _stated_rate(self, reading: LogReading) -> float | None:
        if reading.rate is not None:
            return reading.rate
        if reading.batches is not None:
            return reading.batches * self._batch_size
        return self._batch_size / reading.seconds if reading.seconds else None

    def _stated_batch(self) -> int | None:
        """How many samples a batch has by the rate that the lines tell; None where that is what the study says, or
        the study says it and its own expression may have taken something else for a rate."""
        if not self._stated_batches or (self.recognised is None and self._batch_size > 1):
            return None
        batch_size = max(1, round(median(self._stated_batches)))
        return None if 1 / DISAGREES < batch_size / self._batch_size < DISAGREES else batch_size

    def _keep(self, counted: CountedLine, line: str, now: float) -> None:
        """Remember what a line tells of the time of a batch, to be held against when lines come."""
        reading = counted.reading
        if self.recognised is not None and reading.counter is not None:
            # Known formats tell no other unit than their own, and count.
            return
        seconds = reading.seconds_a_batch
        if seconds is None and reading.rate:
            seconds, self._of_samples = self._batch_size / reading.rate, True
        if reading.elapsed is not None and reading.step is not None:
            before, self._elapsed = self._elapsed, (reading.step, reading.elapsed)
            if before is not None and reading.step > before[0] and reading.elapsed > before[1]:
                seconds = (reading.elapsed - before[1]) / (reading.step - before[0])
        if seconds is None:
            return
        step = reading.step
        if step is None and reading.samples is not None:
            step = reading.samples // self._batch_size
        self._stated.append(StatedLine(now, seconds, step, numbers_of(line)))

    def _disagreement(self) -> Disagreement | None:
        return disagreement(tuple(self._stated), self._batch_size, self._of_samples)


def _figures(disagreement: Disagreement) -> dict[str, float]:
    return {"told": disagreement.stated, "seen": disagreement.seen}
