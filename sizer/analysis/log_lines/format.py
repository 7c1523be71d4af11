"""What every known format of a log has in common."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from sizer.analysis.log_lines.reading import LogReading, reading_of

EVALUATION = LogReading(training=False)
"""A line of an evaluation, which says nothing of the training."""


class Format(Protocol):
    """Reads the lines of one format in their order; what came before may say what a line is of."""

    @property
    def name(self) -> str:
        """One of KNOWN_LOGS; a bar's is known better with each line."""

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
