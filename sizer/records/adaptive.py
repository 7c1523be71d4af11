"""The adaptive plan: what may be spent on a study's runs, and why each of them was made. Frozen records."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from sizer.records.domains import Count, Rate, Signed


@dataclass(frozen=True)
class Adaptive:
    """Runs are chosen one after another until every answer is settled, or `budget` seconds of runs or so many `runs`
    are spent; None is no such end. Those that were stored before count."""

    budget: Rate | None = None
    runs: Count | None = None

    @property
    def bounded(self) -> bool:
        return self.budget is not None or self.runs is not None


class RunReasonKind(str, Enum):
    """Why the adaptive plan made a run."""

    START = "start"
    """One of the first three, which show the least, the middle and the most of each axis."""
    ONLY_ONE = "only_one"
    """The workload has no other configuration."""
    NOT_SEEN = "not_seen"
    """No run had the `names[1]` of the axis `names[0]` yet."""
    BETWEEN_VCPUS = "between_vcpus"
    """Between `low` and `high` vCPUs the answer is open."""
    BETWEEN_MEMORY = "between_memory"
    """The same between `low` and `high` bytes of memory."""
    BETWEEN_DISKS = "between_disks"
    """The same between the disks `names`."""
    OWN_RUN = "own_run"
    """The answer itself was not measured yet."""
    NOT_SURE = "not_sure"
    """The answer, of `vcpus`, reaches what is asked for with a `probability` that is too low."""
    NOT_COMPARED = "not_compared"
    """The answer is the best of what was measured, as of several numbers of accelerators, and this was not yet."""
    NOT_FITTED = "not_fitted"
    """The runs do not carry an answer yet."""
    HOST_AGAIN = "host_again"
    """The host was last looked at `runs` runs ago."""
    HOST_OPEN = "host_open"
    """How slow the host was leaves the answer of the workload `names[0]` open."""


STUDY_AXES = ("vcpus", "memory", "disk", "batch_size", "gpu_count")
"""What a run may show that no other did."""
FIGURES: dict[RunReasonKind, tuple[str, ...]] = {
    RunReasonKind.BETWEEN_VCPUS: ("low", "high"),
    RunReasonKind.BETWEEN_MEMORY: ("low", "high"),
    RunReasonKind.NOT_SURE: ("probability",),
    RunReasonKind.HOST_AGAIN: ("runs",),
}
NAMED = frozenset({RunReasonKind.NOT_SEEN, RunReasonKind.BETWEEN_DISKS, RunReasonKind.HOST_OPEN})


@dataclass(frozen=True)
class RunReason:
    """One reason, with its figures by name; `again` if its configuration was measured before. `sizer.words` says it."""

    kind: RunReasonKind
    figures: dict[str, Signed] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    again: bool = False

    @property
    def lacking(self) -> str | None:
        """The first field that a reason of its kind needs and that it has not, as in a damaged file."""
        missing = next((name for name in FIGURES.get(self.kind, ()) if name not in self.figures), None)
        if missing is not None:
            return f"figures.{missing}"
        of_axis = self.kind is RunReasonKind.NOT_SEEN
        named = bool(self.names) and (not of_axis or self.names[0] in STUDY_AXES)
        return "names" if self.kind in NAMED and not named else None


class PlanEndKind(str, Enum):
    """Why the adaptive plan makes no further run."""

    SETTLED = "settled"
    """Every workload's answer has its probability, and no run that is left would do much for it."""
    BUDGET = "budget"
    """No run that is left fits into what remains of the budget."""
    RUNS = "runs"
    """As many runs are made as were allowed."""
    NOTHING_LEFT = "nothing_left"
    """Every run of the study is made, or none that is left would tell more of what is open."""
