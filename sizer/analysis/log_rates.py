"""A program that knows nothing of sizer is measured by the rate that it prints on its log."""

from __future__ import annotations

import re
from collections.abc import Callable

from sizer.records import MEANINGS, Step, compiled

LINE_LIMIT = 4096
"""Characters of a line's end that are looked at: no program prints its rate in a longer line, and an expression that
looks at a line of a megabyte from each of its characters takes hours."""

LARGEST = 1e18
"""Larger than any rate or time that a program can mean, and than all of its samples."""

PATTERN_SECONDS = 2.0
"""CPU time that the lines of one read (1 MiB) may take to be matched: those of the known patterns take 0.02 s."""


class LogRates:
    """Turns log lines into steps: a line with a rate represents the samples since the line before it."""

    def __init__(self, pattern: str, batch_size: int, clock: Callable[[], float]) -> None:
        self._pattern = compiled(pattern)
        self._batch_size = batch_size
        self._clock = clock
        self._rest = ""
        self._last: float | None = None
        self._epoch = 0
        self._progress = (0.0, 0.0)
        self._samples = 0
        self.no_rate = ""
        """What the first line matched with that tells a rate which is no number."""

    def feed(self, data: bytes) -> list[Step]:
        """The steps that these bytes of the log complete. A carriage return ends a line, too: progress bars use it."""
        *lines, rest = re.split(r"[\r\n]", self._rest + data.decode("utf-8", "replace"))
        self._rest = rest[-LINE_LIMIT:]
        steps = [self._step(match) for line in lines if (match := self._pattern.search(line[-LINE_LIMIT:]))]
        return [step for step in steps if step is not None]

    def _step(self, match: re.Match[str]) -> Step | None:
        numbers = _numbers(match)
        if numbers is None:
            self.no_rate = self.no_rate or match[0]
            return None
        now, last = self._clock(), self._last
        self._last = now
        rate = self._rate(numbers)
        if last is None:
            return Step(now, 0, 0.0, self._epoch)
        if rate is None or rate > LARGEST:
            return None
        samples = round(rate * (now - last))
        if self._samples + samples > LARGEST:
            return None
        self._samples += samples
        return Step(now, samples, 0.0, self._epoch)

    def _rate(self, numbers: dict[str, float]) -> float | None:
        """Samples/s in this line; None where the line only starts a new epoch."""
        if "rate" in numbers:
            return numbers["rate"]
        if "batches" in numbers:
            return numbers["batches"] * self._batch_size
        if "seconds" in numbers:
            return self._batch_size / numbers["seconds"]
        done, elapsed = numbers["done"], numbers["elapsed"]
        before, self._progress = self._progress, (done, elapsed)
        if done <= before[0] or elapsed <= before[1]:
            self._epoch += 1
            return None
        return (done - before[0]) * self._batch_size / (elapsed - before[1])


def _numbers(match: re.Match[str]) -> dict[str, float] | None:
    """The numbers that the groups of an expression found; None where one is no number that a rate can be made of."""
    try:
        numbers = {name: float(text) for name, text in match.groupdict().items() if name in MEANINGS and text}
    except ValueError:
        return None
    known = {"done", "elapsed"} <= set(numbers) or bool({"rate", "batches", "seconds"} & set(numbers))
    sane = all(0 <= number <= LARGEST for number in numbers.values()) and numbers.get("seconds", 1.0) > 1 / LARGEST
    return numbers if known and sane else None
