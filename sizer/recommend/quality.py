"""What the runs themselves say against an answer: their warnings, and those that gave no rate."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean, median

from sizer.model.advice import counted_outcomes
from sizer.model.isolation import as_asked
from sizer.model.observations import beside_others
from sizer.model.starved import is_starved
from sizer.records.configuration import Configuration
from sizer.records.prediction import Reason, ReasonCode, reason
from sizer.records.run import Run, WarningKind
from sizer.records.run_kinds import FINDINGS, Outcome

DOUBTS = (
    WarningKind.CONTENDED,
    WarningKind.STOLEN,
    WarningKind.GPU_SHARED,
    WarningKind.DRIFTING,
    WarningKind.IMPRECISE,
    WarningKind.UNSETTLED,
    WarningKind.SHORT,
    WarningKind.ONE_READING,
    WarningKind.OTHER_BATCH_SIZE,
)
"""Warnings that make a run's rate doubtful. How far most of them may have moved it is in the model's likelihood."""

IN_STUDY = {WarningKind.ONE_READING: "counter", WarningKind.OTHER_BATCH_SIZE: "batch_size"}
"""Doubts that no noise describes: the study file removes them, and by what. An answer that rests on them says so."""

MISTOLD = {
    WarningKind.BATCHES_FOR_SAMPLES: "batches",
    WarningKind.LINES_OF_RANKS: "counter",
    WarningKind.TOLD_UNLIKE_SEEN: "units",
}
"""Warnings that a run's rate is known to be wrong by some factor, and what to correct in its pattern."""

ALIKE = 1.2
"""Rates that are wrong by factors this near to one another compare specs as true rates do: so far may a log be from the
arrival of its lines without a warning."""


@dataclass(frozen=True)
class Quality:
    """How many of a workload's completed runs have a doubt of IN_STUDY; `failed` is None if none failed.

    `mistold` is None unless some tell a rate that is known to be wrong, `mixed` unless some may be of another job.
    `doubtful_at` are the configurations of which every run is doubtful, `starved` in how many runs others had the
    vCPUs; `others` how many cores something else used
    beside the runs of a configuration, in the mean, where that marked each of them.
    """

    completed: int = 0
    doubtful: int = 0
    doubts: tuple[WarningKind, ...] = ()
    failed: Reason | None = None
    mistold: Reason | None = None
    mixed: Reason | None = None
    doubtful_at: frozenset[Configuration] = frozenset()
    starved: int = 0
    others: Mapping[Configuration, float] = field(default_factory=dict)

    @property
    def poor(self) -> bool:
        """Whether at least half of the runs are doubtful."""
        return 0 < self.completed <= 2 * self.doubtful

    def rests_on_doubt(self, configuration: Configuration) -> bool:
        """Whether at least half of the runs are doubtful, or all of those at this configuration, or others had the
        vCPUs of some, which could be faster than they were."""
        return self.poor or configuration in self.doubtful_at or self.starved > 0

    @property
    def warning(self) -> Reason | None:
        """How many runs are doubtful; None if none is."""
        if not self.doubtful:
            return None
        doubts = tuple(doubt.value for doubt in self.doubts)
        counts = {"completed": float(self.completed), "doubtful": float(self.doubtful)}
        return reason(ReasonCode.RUNS_DOUBTFUL, **counts, doubts=doubts)

    @property
    def lower_bounds(self) -> Reason | None:
        """In how many runs others had their vCPUs; None where in none."""
        if not self.starved:
            return None
        return reason(ReasonCode.RUNS_STARVED, starved=float(self.starved), completed=float(self.completed))

    @property
    def remedy(self) -> str:
        """How to repeat them: with what the study file lacks; empty where it lacks nothing."""
        return IN_STUDY[self.doubts[0]] if self.doubts else ""


def quality_of(runs: Sequence[Run]) -> Quality:
    """Of the runs of one workload, but not those that search for the memory floor or isolate a stage."""
    runs = as_asked(runs)
    completed = [run for run in runs if run.outcome is Outcome.COMPLETED]
    found = [_doubts(run) for run in completed]
    named = tuple(doubt for doubt in IN_STUDY if any(doubt in doubts for doubts in found))
    return Quality(
        completed=len(completed),
        doubtful=sum(map(bool, found)),
        doubts=named,
        failed=_failed(runs),
        mistold=_mistold(completed),
        mixed=_mixed(completed),
        doubtful_at=_doubtful_configurations(completed),
        starved=sum(map(is_starved, completed)),
        others=_used_by_others(completed),
    )


def rates_mistold(runs: Sequence[Run]) -> Reason | None:
    """Why the rates of one workload are known to be wrong; None where they are not."""
    return quality_of(runs).mistold


def _mistold(completed: Sequence[Run]) -> Reason | None:
    """How many tell a wrong rate, what to correct, and whether all are wrong by the same factor."""
    found = [warning for run in completed for warning in run.warnings if warning.kind in MISTOLD]
    if not found:
        return None
    factors = [warning.figures["told"] / warning.figures["seen"] for warning in found if warning.figures.get("seen")]
    alike = len(factors) == len(completed) and max(factors) <= ALIKE * min(factors)
    return reason(
        ReasonCode.RATES_MISTOLD,
        mistold=float(len(found)),
        completed=float(len(completed)),
        factor=median(factors) if factors else None,
        alike=alike,
        correct=Counter(MISTOLD[warning.kind] for warning in found).most_common(1)[0][0],
    )


def _mixed(completed: Sequence[Run]) -> Reason | None:
    """By how much rows of one configuration differ at the most, and in which columns."""
    found = [warning for run in completed for warning in run.warnings if warning.kind is WarningKind.MAY_BE_ANOTHER_JOB]
    if not found:
        return None
    columns = Counter(column for warning in found for column in (warning.text or "").split("; "))
    factor = max(warning.figures["factor"] for warning in found)
    return reason(ReasonCode.JOBS_MIXED, factor=factor, columns=tuple(column for column, _ in columns.most_common()))


def _doubtful_configurations(completed: Sequence[Run]) -> frozenset[Configuration]:
    trusted = {run.configuration for run in completed if not _doubts(run)}
    return frozenset({run.configuration for run in completed} - trusted)


def _used_by_others(completed: Sequence[Run]) -> dict[Configuration, float]:
    runs: dict[Configuration, list[Run]] = defaultdict(list)
    for run in completed:
        runs[run.configuration].append(run)
    cores = {
        configuration: mean(sum(warning.figures.get("cores", 0.0) for warning in run.warnings) for run in group)
        for configuration, group in runs.items()
        if all(map(beside_others, group))
    }
    return {configuration: used for configuration, used in cores.items() if used > 0}


def _doubts(run: Run) -> set[WarningKind]:
    return {warning.kind for warning in run.warnings} & set(IN_STUDY)


def _failed(runs: Sequence[Run]) -> Reason | None:
    failed = [run.outcome for run in runs if run.outcome not in FINDINGS]
    if not failed:
        return None
    counts = {"failed": float(len(failed)), "runs": float(len(runs))}
    return reason(ReasonCode.RUNS_FAILED, **counts, **counted_outcomes(failed))
