"""How far the work on a folder is that takes long without a run: a step begins, and so much of all is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum


class Stage(str, Enum):
    """What an import does, in this order."""

    READING = "reading"
    STORING = "storing"
    FITTING = "fitting"
    RECOMMENDING = "recommending"
    REPORTING = "reporting"


BEGINS_AT = {
    Stage.READING: 0.0,
    Stage.STORING: 0.05,
    Stage.FITTING: 0.1,
    Stage.RECOMMENDING: 0.4,
    Stage.REPORTING: 0.5,
}
"""The share of the whole that is done as a stage begins: 288 rows of 3 workloads on 2 vCPUs, 2026."""


@dataclass(frozen=True)
class StepBegun:
    """A stage begins, or one of its `of` workloads, the `number`-th from 1."""

    stage: Stage
    workload: str = ""
    number: int = 1
    of: int = 1

    @property
    def share(self) -> float:
        """What is done of the whole as it begins, about."""
        begin = BEGINS_AT[self.stage]
        end = min((each for each in BEGINS_AT.values() if each > begin), default=1.0)
        return begin + (end - begin) * (self.number - 1) / self.of


OnStep = Callable[[StepBegun], object]


def no_step(_: StepBegun) -> None:
    """For a caller who does not look on."""
