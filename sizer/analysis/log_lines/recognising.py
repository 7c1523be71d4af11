"""Which known format a log has, found from its lines, and what they tell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sizer.analysis.log_lines.format import Format
from sizer.analysis.log_lines.keras_bars import KerasBars
from sizer.analysis.log_lines.line_formats import LINE_FORMATS
from sizer.analysis.log_lines.progress import Progress
from sizer.analysis.log_lines.progress_bars import ProgressBars
from sizer.analysis.log_lines.reading import LogReading, reading_of
from sizer.records.own_programs import compiled, known_log

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
        named = known_log(pattern) if pattern is not None else None
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
