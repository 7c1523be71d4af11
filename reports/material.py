"""What a report is made from: the records of one study, and what was concluded from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sizer.adaptive.chosen import NextRun, PlanEnd, next_of
from sizer.adaptive.to_follow import Unfinished
from sizer.model.model import Model
from sizer.plan.reference_runs import Spread
from sizer.records.answer import Recommendation
from sizer.records.run import DiskCheck, Run
from sizer.records.study import Note, Study


@dataclass(frozen=True)
class Progress:
    """How far a study is: by workload, how many runs it asks for, how many of them are there, and how many others are
    stored, of an `older` form of the study file; `chosen` is what an adaptive plan does next, or how it ended, and
    `searching` are the searches that have a run left after all others."""

    planned: Mapping[str, int]
    finished: Mapping[str, int]
    older: Mapping[str, int] = field(default_factory=dict)
    chosen: NextRun | PlanEnd | None = None
    searching: tuple[Unfinished, ...] = ()

    @property
    def is_complete(self) -> bool:
        return next_of(self.chosen) is None and self._all_runs and not self.searching

    @property
    def _all_runs(self) -> bool:
        return sum(self.finished.values()) >= sum(self.planned.values())

    def is_missing(self, workload: str) -> bool:
        """Whether runs of that workload are still to be made."""
        return self.finished.get(workload, 0) < self.planned.get(workload, 0)


@dataclass(frozen=True)
class Material:
    """All that a page shows. `host` is host.json as stored, `notes` are about the whole study, `drift` is how far the
    host drifted meanwhile, None where it did not. `measurements_csv` and `measurements_json` are the table of all runs,
    which a reader can save. `folder` is the study's, as one types it; `progress` None is unknown, as of runs made
    elsewhere.
    """

    study: Study
    host: Mapping[str, Any]
    runs: tuple[Run, ...]
    model: Model | None
    recommendation: Recommendation | None
    disk_checks: tuple[DiskCheck, ...]
    notes: tuple[Note, ...]
    created_at: str
    version: str
    drift: Spread | None = None
    measurements_csv: str = ""
    measurements_json: str = ""
    folder: str = ""
    progress: Progress | None = None
