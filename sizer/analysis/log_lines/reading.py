"""What one line of a log tells, and what every known format has in common. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from sizer.records.frameworks import MEANINGS

LARGEST = 1e18
"""Larger than any rate, time or counter that a program can mean, and than all of its samples."""


SEPARATOR = re.compile("[,'\u2019_ \u00a0\u2009\u202f]")
GROUPED = re.compile(rf"[1-9]\d{{0,2}}({SEPARATOR.pattern})\d{{3}}(?:\1\d{{3}})*(?:\.\d+)?")
"""`1,234` and `1'234.5`: groups of three digits. A comma before any other number of digits is a decimal one, as in
`1,5`, which is not read: of `1,234` nobody could say which it is."""

TIMES = ("elapsed", "seconds")
CLOCK = re.compile(r"(?:(\d+) days?, )?(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)")
"""`1:02:03`, `02:03`, and `1 day, 2:03:04`."""


@dataclass(frozen=True)
class LogReading:
    """Counters (`step` of batches, `samples`) count from the start of the run, or of the epoch, which has `total`
    batches. What is told of the speed: `rate` in samples/s, `seconds` a batch, `batches` a second, `elapsed` seconds
    since the epoch began. None is not told. A line of an evaluation is none of `training`, and counts nothing. The
    `first` line of a counter says from where on it counts.
    """

    step: int | None = None
    samples: int | None = None
    total: int | None = None
    epoch: int | None = None
    rate: float | None = None
    seconds: float | None = None
    batches: float | None = None
    elapsed: float | None = None
    training: bool = True
    first: bool = False

    @property
    def counter(self) -> int | None:
        """What the line has counted so far: samples where it counts them, else batches."""
        return self.samples if self.samples is not None else self.step

    @property
    def seconds_a_batch(self) -> float | None:
        """What the line tells of a batch's time, in seconds, however it says it; None where it tells a rate of samples
        or nothing."""
        if self.seconds is not None:
            return self.seconds
        return 1 / self.batches if self.batches else None


def reading_of(match: re.Match[str]) -> LogReading | None:
    """The reading that an expression's groups found; None where one is no number that a program can mean."""
    try:
        numbers = {name: _number(name, text) for name, text in match.groupdict().items() if name in MEANINGS and text}
    except ValueError:
        return None
    if not all(0 <= number <= LARGEST for number in numbers.values()):
        return None
    seconds = numbers.get("seconds")
    if seconds is None and "milliseconds" in numbers:
        seconds = numbers["milliseconds"] / 1000
    if seconds is not None and seconds <= 1 / LARGEST:
        return None
    reading = LogReading(
        step=_count(numbers, "step", "done"),
        samples=_count(numbers, "samples"),
        total=_count(numbers, "total"),
        epoch=_count(numbers, "epoch"),
        rate=numbers.get("rate"),
        seconds=seconds,
        batches=numbers.get("batches"),
        elapsed=numbers.get("elapsed"),
    )
    values = (reading.counter, reading.rate, reading.seconds, reading.batches)
    return reading if any(value is not None for value in values) else None


def _number(name: str, text: str) -> float:
    """The number that a group found; of a time also `1:02:03`. Raises ValueError for what is none."""
    clock = CLOCK.fullmatch(text) if name in TIMES else None
    if clock is not None:
        days, hours, minutes, seconds = (float(part or 0) for part in clock.groups())
        return 86400 * days + 3600 * hours + 60 * minutes + seconds
    text = text.rstrip(",;")
    return float(SEPARATOR.sub("", text) if GROUPED.fullmatch(text) else text)


def _count(numbers: dict[str, float], *names: str) -> int | None:
    return next((int(numbers[name]) for name in names if name in numbers), None)


# What every known format of a log has in common.

EVALUATION = LogReading(training=False)
"""A line of an evaluation, which says nothing of the training."""


class Format(Protocol):
    """Reads the lines of one format in their order; what came before may say what a line is of."""

    @property
    def name(self) -> str:
        """One of LOG_FORMATS; a bar's is known better with each line."""

    def read(self, line: str) -> LogReading | None:
        """What a line tells; None where it is not of this format."""


@dataclass(frozen=True)
class LineFormat:
    """A format of which each line says all itself: an expression for a line of the training, and one for what looks
    like it, or belongs to it, and is an evaluation. A line without any of its `marks` is neither, and costs nothing."""

    name: str
    marks: tuple[str, ...]
    training: re.Pattern[str]
    evaluation: re.Pattern[str] | None = None

    def read(self, line: str) -> LogReading | None:
        if not any(mark in line for mark in self.marks):
            return None
        match = self.training.search(line)
        if match:
            return reading_of(match)
        return EVALUATION if self.evaluation and self.evaluation.search(line) else None
