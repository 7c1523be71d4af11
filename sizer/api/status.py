"""How far a study is: what is planned, stored and going on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sizer.api.measuring_host import recorded_size
from sizer.plan import estimate_seconds, of_older_form, plan, remaining
from sizer.records import Run, RunSpec
from sizer.store import StudyFolder, current_run, is_held


@dataclass(frozen=True)
class StudyStatus:
    """What is planned and stored; `held` says whether a sizer measures, `current` is the id of the run that goes on."""

    specs: Sequence[RunSpec]
    runs: Sequence[Run]
    held: bool
    current: str | None

    @property
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
    specs = plan(folder.study, recorded_size(folder.host))
    held = is_held(folder)
    current = current_run(folder) if held else None
    if folder.study.adaptive is not None:  # only as many of them are asked for as an answer needs
        begun = {current, *(run.id for run in folder.runs())}
        specs = tuple(spec for spec in specs if spec.id in begun)
    return StudyStatus(specs, folder.runs(), held, current)
