"""How far a study is: what is planned, stored and going on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sizer.api.fitted_model import stored_study
from sizer.api.study_plan import asked_specs, chosen_next, searches_left
from sizer.model.model import Model
from sizer.plan.chooser import NextRun, PlanEnd, Unfinished, next_of
from sizer.plan.run_order import estimate_seconds, of_older_form, remaining
from sizer.records.run import Run
from sizer.records.study import RunSpec
from sizer.store.study_folder import StudyFolder, current_run, is_held


@dataclass(frozen=True)
class StudyStatus:
    """What is planned and stored; `held` says whether a sizer measures, `current` is the id of the run that goes on.

    `chosen` is what an adaptive plan does next, or how it ended; None of a study that asks for all of its runs.
    `searching` are the searches that have a run left after all others.
    """

    specs: Sequence[RunSpec]
    runs: Sequence[Run]
    held: bool
    current: str | None
    chosen: NextRun | PlanEnd | None = None
    searching: tuple[Unfinished, ...] = ()

    @cached_property
    def todo(self) -> tuple[RunSpec, ...]:
        return remaining(self.specs, self.runs)

    @property
    def finished(self) -> int:
        return len(self.specs) - len(self.todo)

    @property
    def older(self) -> int:
        """Stored runs of an older form of the study file."""
        return len(of_older_form(self.specs, self.runs))

    @property
    def followed(self) -> int:
        """Stored runs of searches and passes, which follow from those that are planned."""
        planned = {spec.id for spec in self.specs}
        return sum(run.id not in planned for run in self.runs) - self.older

    @property
    def next_run(self) -> NextRun | None:
        """What an adaptive plan does next, or would do if its bound had room."""
        return next_of(self.chosen)

    @property
    def warned(self) -> int:
        return sum(bool(run.warnings) for run in self.runs)

    @property
    def seconds_left(self) -> float:
        return estimate_seconds(self.todo, self.runs)


def study_status(folder: StudyFolder) -> StudyStatus:
    """How far the study of a folder is; of an imported one, all runs are there."""
    if folder.study.imported:
        runs = folder.runs()
        return StudyStatus([run.spec for run in runs], runs, False, None)
    held = is_held(folder)
    current = current_run(folder) if held else None
    runs = folder.runs()
    specs = asked_specs(folder, {current, *(run.id for run in runs)})
    chosen = chosen_next(folder, runs, _stored_model(folder))
    return StudyStatus(specs, runs, held, current, chosen, searches_left(folder, specs, runs, chosen))


def _stored_model(folder: StudyFolder) -> Model | None:
    if folder.study.adaptive is None:
        return None
    stored = stored_study(folder.path)
    return None if stored is None else stored.model
