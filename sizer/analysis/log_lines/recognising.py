"""Which known format a log has, found from its lines, what they tell, how much was done between two of them, and what
a whole log would give. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sizer.analysis.log_lines.keras_bars import KerasBars
from sizer.analysis.log_lines.line_formats import LINE_FORMATS
from sizer.analysis.log_lines.progress_bars import ProgressBars
from sizer.analysis.log_lines.reading import Format, LogReading, reading_of
from sizer.records.frameworks import compiled, format_called

# How much a program did between two lines, from their counters.

LEFT = 2
"""The end of an epoch that no line has shown counts up to so many times the most that came between two lines. More than
that was not run: a loop may be left before its end."""


LAG = 2
"""Batches that a process may be behind another one which prints the same line."""


class Progress:
    """Follows one counter through its epochs.

    Several processes may print the same lines, one somewhat later than another: the one that is ahead counts.
    """

    def __init__(self) -> None:
        self.epoch = 0
        """How many epochs began after the first one that was seen."""
        self.since = 0.0
        """When the line came that it has counted to."""
        self.repeats = 0
        """Lines since then that showed nothing new."""
        self._last: int | None = None
        self._told_epoch: int | None = None
        self._total: int | None = None
        self._most = 0

    def advance(self, reading: LogReading, came: float) -> int | None:
        """What was done since the line before; None of the first line, 0 where nothing was."""
        grown = self._grown(reading)
        if grown == 0:
            self.repeats += 1
        else:
            self.since, self.repeats = came, 0
        return grown

    def _grown(self, reading: LogReading) -> int | None:
        now = reading.counter
        assert now is not None
        before, epoch = self._last, self._told_epoch
        if before is None:
            self._keep(reading, now)
            return None
        if reading.first:
            self._keep(reading, now)
            self._told_epoch = reading.epoch
            return 0
        if reading.epoch is not None and epoch is not None and reading.epoch != epoch:
            if reading.epoch < epoch:
                return 0
            # A counter that is told with the epoch, and goes on over its end, is that of the run.
            grown = now - before if now >= before and reading.total is None else self._rest(before) + now
            self.epoch += 1
        elif now >= before:
            grown = now - before
            self._most = max(self._most, grown)
        elif self._begins_again(now, before, reading):
            grown = self._rest(before) + now
            self.epoch += 1
        else:
            return 0
        self._keep(reading, now)
        return grown

    def skip(self, reading: LogReading, came: float) -> None:
        """Go on to this line without counting what was done; an epoch that begins with it counts."""
        if reading.counter is not None and self._last is not None and reading.counter >= self._last:
            self._keep(reading, reading.counter)
            self.since = came

    def _keep(self, reading: LogReading, now: int) -> None:
        self._last, self._total = now, reading.total
        if reading.epoch is not None:
            self._told_epoch = reading.epoch

    def _begins_again(self, now: int, before: int, reading: LogReading) -> bool:
        """Whether a smaller counter is that of a new epoch, and not that of a process which lags behind."""
        if reading.epoch is not None:
            return False
        if self._total is not None and before >= self._total:
            return True
        return now <= before // 2 and (before - now > LAG or now == 0 < before - 1)

    def _rest(self, before: int) -> int:
        rest = max(0, self._total - before) if self._total is not None else 0
        return rest if rest <= LEFT * self._most else 0


LINE_LIMIT = 4096
"""Characters of a line's end that are looked at: no program prints its rate in a longer line, and an expression that
looks at a line of a megabyte from each of its characters takes hours."""

TERMINAL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x08\x1b]")
"""Colours, cursor movements and backspaces, which are no part of what a line says."""

MARKS = re.compile(
    r"/it\b|/s\b|/step|/sample|\bit/s|ETA: |Unknown|\d/\d+ - |\biter |Time|time|ms/batch|Speed: |images/sec"
    r"|examples/sec|Iteration |loss|SamplesPerSec|samplesPerSec|Epoch|batches|\[\d+:\d\d|Train on |GPU_mem|Class "
)
"""A line without one of these is of no known format: it costs one expression instead of twenty."""

BARS = frozenset({"tqdm", "hugging_face_trainer", "lightning", "ultralytics"})


def _formats(name: str | None) -> list[Format]:
    """The format of this name, or all of them; the most particular first."""
    if name in BARS:
        return [ProgressBars()]
    if name == "keras":
        return [KerasBars()]
    if name is not None:
        return [format_ for format_ in LINE_FORMATS if format_.name == name]
    return [KerasBars(), *LINE_FORMATS, ProgressBars()]


class OwnExpression:
    """A user's expression as a format."""

    name = ""

    def __init__(self, pattern: str) -> None:
        self._expression = compiled(pattern)
        self.no_rate = ""
        """What the first line matched with that tells a rate which is no number."""

    def read(self, line: str) -> LogReading | None:
        match = self._expression.search(line)
        reading = reading_of(match) if match else None
        if match and reading is None:
            self.no_rate = self.no_rate or match[0]
        return reading


@dataclass(frozen=True)
class CountedLine:
    """One line of the training: what it tells, and how much its counter grew: None of the first line of all, and of a
    line that counts nothing. `since` is when the line came that it grew from, and `lines` how many came after that one.
    `epoch` counts those that began since the first line."""

    reading: LogReading
    grown: int | None
    since: float
    lines: int
    epoch: int


class LogLines:
    """Reads lines in their order by a pattern, or by the known format that shows that it is theirs.

    A format is recognised when its counter grows. One that prints whole lines takes the place of bars, which may be
    those of what was done before the training.
    """

    def __init__(self, pattern: str | None) -> None:
        """Raises InputError for a pattern that cannot be read."""
        named = format_called(pattern) if pattern is not None else None
        self._own = pattern is not None and named is None
        self._expression = OwnExpression(pattern) if pattern is not None and named is None else None
        formats = [self._expression] if self._expression is not None else _formats(named)
        self._all: Sequence[tuple[Format, Progress]] = [(format_, Progress()) for format_ in formats]
        self._chosen: Format | None = formats[0] if pattern is not None else None
        self._marks = None if self._own else MARKS
        self.evaluations = 0
        """Lines of evaluations that were passed over."""

    @property
    def recognised(self) -> str | None:
        """The name of the known format; None before one is recognised, and with a user's own expression."""
        return self._chosen.name if self._chosen is not None and not self._own else None

    @property
    def is_decided(self) -> bool:
        """Whether lines are read by one expression, and not by all that they may match."""
        return self._chosen is not None and not isinstance(self._chosen, ProgressBars)

    @property
    def no_rate(self) -> str:
        """What the user's own expression matched with that is no number; empty where nothing is."""
        return self._expression.no_rate if self._expression is not None else ""

    def read(self, line: str, came: float = 0.0) -> CountedLine | None:
        """What a line that `came` then tells of the training; None where it tells nothing."""
        line = line[-LINE_LIMIT:]
        if self._marks is not None and not self._marks.search(line):
            return None
        if "\x1b" in line or "\x08" in line:
            line = TERMINAL.sub("", line)
        first = None
        for form, progress in self._candidates():
            reading = form.read(line)
            if reading is None:
                continue
            if not reading.training:
                self.evaluations += form is self._chosen
                progress.skip(reading, came)
                continue
            counted = self._counted(form, progress, reading, came)
            first = first or counted
        return first

    def _candidates(self) -> list[tuple[Format, Progress]]:
        if self._chosen is None or not isinstance(self._chosen, ProgressBars) or len(self._all) == 1:
            return [pair for pair in self._all if self._chosen in (None, pair[0])]
        return list(self._all)

    def _counted(self, form: Format, progress: Progress, reading: LogReading, came: float) -> CountedLine | None:
        """The line as one of the training, if it is of the chosen format, which this one may become with it."""
        since, lines = progress.since, 1 + progress.repeats
        grown = progress.advance(reading, came) if reading.counter is not None else None
        better = self._chosen is None or (isinstance(self._chosen, ProgressBars) and form is not self._chosen)
        if better and grown:
            self._chosen = form
        return CountedLine(reading, grown, since, lines, progress.epoch) if form is self._chosen else None


# What a whole log would give, read after the fact: when its lines came is not known then.

LINE_ENDS = re.compile(r"\r\n|[\r\n]")


@dataclass(frozen=True)
class ReadLine:
    """A line of the training by its number, from 1 on: what it tells, and by how much its counter grew."""

    number: int
    reading: LogReading
    grown: int


@dataclass(frozen=True)
class LogContent:
    """A log as it was read: by which known format, how many lines it has, those of its training, how many epochs began
    after the first one, how many lines of evaluations were passed over, and what the user's own expression matched with
    first that is no number."""

    recognised: str | None
    lines: int
    read: tuple[ReadLine, ...]
    epochs: int
    evaluations: int
    no_number: str = ""

    @property
    def grown(self) -> int:
        """All that was counted between the first line and the last, in batches or samples."""
        return sum(line.grown for line in self.read)

    @property
    def counts(self) -> bool:
        return any(line.reading.counter is not None for line in self.read)

    @property
    def counts_samples(self) -> bool:
        return any(line.reading.samples is not None for line in self.read)


def read_log(text: str, pattern: str | None) -> LogContent:
    """Read a log by a pattern, or by the known format that it has. Raises InputError for a pattern that is none."""
    lines = LINE_ENDS.split(text)
    source = LogLines(pattern if pattern is not None else _format_of(lines))
    read, epochs = [], 0
    for number, line in enumerate(lines, 1):
        counted = source.read(line)
        if counted is not None:
            read.append(ReadLine(number, counted.reading, counted.grown or 0))
            epochs = counted.epoch
    count = len(lines) - (not lines[-1])
    return LogContent(
        source.recognised if read else None, count, tuple(read), epochs, source.evaluations, source.no_rate
    )


def _format_of(lines: Iterable[str]) -> str | None:
    """The known format of these lines: one shows itself only with its second line."""
    source = LogLines(None)
    for line in lines:
        source.read(line)
    return source.recognised
