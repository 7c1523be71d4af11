"""What a whole log would give, read after the fact: when its lines came is not known then. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from sizer.analysis.log_lines.reading import LogReading
from sizer.analysis.log_lines.recognising import LogLines

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
