"""What an adaptive plan does after the runs so far, as a record: the next run, or how it ended."""

from __future__ import annotations

from dataclasses import dataclass

from sizer.records.adaptive import PlanEndKind, RunReason
from sizer.records.study import RunSpec


@dataclass(frozen=True)
class NextRun:
    """A run to make, and why; `why` is None for one that the study asks for whatever the answer is."""

    spec: RunSpec
    why: RunReason | None


@dataclass(frozen=True)
class PlanEnd:
    """How the plan ended: the workloads that are `settled`, those that are still `open`, and of these the ones that
    `failed` in every run that was made of them, after how many runs and seconds of them.

    `then` is the run that its bound has no room for, None where no bound is in the way, and `enough` a budget in
    seconds, or a number of runs, that has room for it and for as many more as were made.
    """

    kind: PlanEndKind
    settled: tuple[str, ...]
    open: tuple[str, ...]
    runs: int
    seconds: float
    failed: tuple[str, ...] = ()
    then: NextRun | None = None
    enough: float | None = None

    @property
    def bound_spent(self) -> float:
        """What is spent of the bound that `enough` is of."""
        return self.runs if self.kind is PlanEndKind.RUNS else self.seconds


def next_of(chosen: NextRun | PlanEnd | None) -> NextRun | None:
    """The run that it makes next, or would make if its bound had room."""
    return chosen.then if isinstance(chosen, PlanEnd) else chosen
