"""A program that knows nothing of sizer is measured by what it prints on its log."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from statistics import median

from sizer.analysis.log_clock_check import (
    DISAGREES,
    Disagreement,
    Reason,
    StatedLine,
    disagreement,
    numbers_of,
)
from sizer.analysis.log_lines.reading import LARGEST, LogReading
from sizer.analysis.log_lines.recognising import LINE_LIMIT, TERMINAL, CountedLine, LogLines
from sizer.records.run import Cause, CauseKind, RunWarning, Step, WarningKind

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
            kind = WARNINGS[disagreement.reason] if self._rests_on(disagreement) else WarningKind.TOLD_NOT_USED
            warnings.append(RunWarning(kind, _figures(disagreement)))
        batch_size = self._stated_batch()
        if batch_size is not None and self._batch_size > 1:
            warnings.append(RunWarning(WarningKind.OTHER_BATCH_SIZE, {"told": batch_size, "given": self._batch_size}))
        if self._by_stated_rate and len(self._rates) == 1:
            warnings.append(RunWarning(WarningKind.ONE_READING))
        return warnings

    def _rests_on(self, disagreement: Disagreement) -> bool:
        """Whether the rate is wrong where what is told is: a counter alone needs the study's batch size to be right."""
        return self._by_stated_rate or (self._of_samples and disagreement.reason is Reason.UNKNOWN)

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
