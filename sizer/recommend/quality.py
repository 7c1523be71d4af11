"""What the runs themselves say against an answer: their warnings, and those that gave no rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sizer.model import as_asked, ended
from sizer.records import FINDINGS, Configuration, Outcome, Run, WarningKind

DOUBTS = (
    WarningKind.CONTENDED,
    WarningKind.STOLEN,
    WarningKind.DRIFTING,
    WarningKind.IMPRECISE,
    WarningKind.UNSETTLED,
    WarningKind.SHORT,
)
"""Warnings that make a run's rate doubtful."""

BY_HOST = frozenset({WarningKind.CONTENDED, WarningKind.STOLEN, WarningKind.DRIFTING})
"""Doubts that a quiet host removes."""


@dataclass(frozen=True)
class Quality:
    """How many of a workload's completed runs carry which doubts; `failed` is a sentence, empty if none did.

    `stands` are the configurations of which every run is doubtful.
    """

    completed: int = 0
    doubtful: int = 0
    doubts: tuple[WarningKind, ...] = ()
    failed: str = ""
    stands: frozenset[Configuration] = frozenset()

    @property
    def poor(self) -> bool:
        """Whether at least half of the runs are doubtful."""
        return 0 < self.completed <= 2 * self.doubtful

    def rests_on_doubt(self, stand: Configuration) -> bool:
        """Whether at least half of the runs are doubtful, or all of those at this configuration."""
        return self.poor or stand in self.stands

    @property
    def warning(self) -> str:
        """`3 of 4 runs were contended or imprecise`, `1 of 4 runs was short`; empty if none was."""
        if not self.doubtful:
            return ""
        verb = "was" if self.doubtful == 1 else "were"
        return f"{self.doubtful} of {self.completed} runs {verb} {' or '.join(doubt.value for doubt in self.doubts)}"

    @property
    def remedy(self) -> str:
        """How to repeat them."""
        return "on a quiet host" if BY_HOST & set(self.doubts) else "for longer"


def quality_of(runs: Sequence[Run]) -> Quality:
    """Of the runs of one workload, but not those that search for the memory floor or isolate a stage."""
    runs = as_asked(runs)
    completed = [run for run in runs if run.outcome is Outcome.COMPLETED]
    found = [_doubts(run) for run in completed]
    named = tuple(doubt for doubt in DOUBTS if any(doubt in doubts for doubts in found))
    return Quality(len(completed), sum(map(bool, found)), named, _failed(runs), _doubtful_stands(completed))


def _doubtful_stands(completed: Sequence[Run]) -> frozenset[Configuration]:
    trusted = {run.configuration for run in completed if not _doubts(run)}
    return frozenset({run.configuration for run in completed} - trusted)


def _doubts(run: Run) -> set[WarningKind]:
    return {warning.kind for warning in run.warnings} & set(DOUBTS)


def _failed(runs: Sequence[Run]) -> str:
    failed = [run.outcome for run in runs if run.outcome not in FINDINGS]
    if not failed:
        return ""
    return f"{len(failed)} of {len(runs)} runs gave no rate ({ended(failed)})"
