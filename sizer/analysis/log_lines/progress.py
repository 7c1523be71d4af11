"""How much a program did between two lines, from their counters. Pure."""

from __future__ import annotations

from sizer.analysis.log_lines.reading import LogReading

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
