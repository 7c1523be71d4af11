"""What the runs themselves say against an answer: their warnings, and those that gave no rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sizer.model import as_asked, counted_outcomes
from sizer.records import FINDINGS, Configuration, Outcome, Reason, ReasonCode, Run, WarningKind, reason

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
    """How many of a workload's completed runs are doubtful, and why; `failed` is None if none failed.

    `doubtful_at` are the configurations of which every run is doubtful.
    """

    completed: int = 0
    doubtful: int = 0
    doubts: tuple[WarningKind, ...] = ()
    failed: Reason | None = None
    doubtful_at: frozenset[Configuration] = frozenset()

    @property
    def poor(self) -> bool:
        """Whether at least half of the runs are doubtful."""
        return 0 < self.completed <= 2 * self.doubtful

    def rests_on_doubt(self, configuration: Configuration) -> bool:
        """Whether at least half of the runs are doubtful, or all of those at this configuration."""
        return self.poor or configuration in self.doubtful_at

    @property
    def warning(self) -> Reason | None:
        """How many runs are doubtful, and how to repeat them; None if none is."""
        return self._doubtful(self.remedy)

    @property
    def why_repeat(self) -> Reason | None:
        """The same without how to repeat them, which a suggestion says."""
        return self._doubtful(None)

    def _doubtful(self, repeat_how: str | None) -> Reason | None:
        if not self.doubtful:
            return None
        doubts = tuple(doubt.value for doubt in self.doubts)
        counts = {"completed": float(self.completed), "doubtful": float(self.doubtful)}
        return reason(
            ReasonCode.RUNS_DOUBTFUL,
            **counts,
            doubts=doubts,
            repeat_how=repeat_how,
        )

    @property
    def remedy(self) -> str:
        """How to repeat them: `quiet_host` or `longer`."""
        return "quiet_host" if BY_HOST & set(self.doubts) else "longer"


def quality_of(runs: Sequence[Run]) -> Quality:
    """Of the runs of one workload, but not those that search for the memory floor or isolate a stage."""
    runs = as_asked(runs)
    completed = [run for run in runs if run.outcome is Outcome.COMPLETED]
    found = [_doubts(run) for run in completed]
    named = tuple(doubt for doubt in DOUBTS if any(doubt in doubts for doubts in found))
    return Quality(len(completed), sum(map(bool, found)), named, _failed(runs), _doubtful_configurations(completed))


def _doubtful_configurations(completed: Sequence[Run]) -> frozenset[Configuration]:
    trusted = {run.configuration for run in completed if not _doubts(run)}
    return frozenset({run.configuration for run in completed} - trusted)


def _doubts(run: Run) -> set[WarningKind]:
    return {warning.kind for warning in run.warnings} & set(DOUBTS)


def _failed(runs: Sequence[Run]) -> Reason | None:
    failed = [run.outcome for run in runs if run.outcome not in FINDINGS]
    if not failed:
        return None
    counts = {"failed": float(len(failed)), "runs": float(len(runs))}
    return reason(ReasonCode.RUNS_FAILED, **counts, **counted_outcomes(failed))
