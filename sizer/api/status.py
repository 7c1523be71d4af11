"""How far a study is: what is planned, stored and going on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sizer.adaptive import NextRun, Unfinished, chooser_of, unfinished
from sizer.api.fitted_model import stored_study, with_corrections
from sizer.model import Model, Uncorrected, uncorrected
from sizer.plan import UNFINISHED, batch_searches, estimate_seconds, of_older_form, plan, remaining, searches
from sizer.records import PlanEnd, Run, RunSpec
from sizer.store import StudyFolder, current_run, is_held
from sizer.study import recorded_size


@dataclass(frozen=True)
class StudyStatus:
    """What is planned and stored; `held` says whether a sizer measures, `current` is the id of the run that goes on.

    `chosen` is what an adaptive plan does next, or how it ended; None of a study that asks for all of its runs.
    `searching` are the searches that have a run left after all others; `uncorrected`, while nobody measures,
    the workloads that a probe corrects nothing of.
    """

    specs: Sequence[RunSpec]
    runs: Sequence[Run]
    held: bool
    current: str | None
    chosen: NextRun | PlanEnd | None = None
    searching: tuple[Unfinished, ...] = ()
    uncorrected: tuple[Uncorrected, ...] = ()

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
    held = is_held(folder)
    current = current_run(folder) if held else None
    runs = folder.runs()
    specs = asked_specs(folder, {current, *(run.id for run in runs)})
    chosen = chosen_next(folder, runs, _stored_model(folder))
    kept = uncorrected(with_corrections(folder)) if folder.study.probe and not held else ()
    return StudyStatus(specs, runs, held, current, chosen, searches_left(folder, specs, runs, chosen), kept)


def _stored_model(folder: StudyFolder) -> Model | None:
    if folder.study.adaptive is None:
        return None
    stored = stored_study(folder.path)
    return None if stored is None else stored.model


def asked_specs(folder: StudyFolder, begun: Collection[str | None]) -> tuple[RunSpec, ...]:
    """The runs that the study of a folder asks for; of an adaptive plan, which asks for as many as an answer needs,
    those of the ids in `begun`."""
    specs = tuple(plan(folder.study, recorded_size(folder.host)))
    return specs if folder.study.adaptive is None else tuple(spec for spec in specs if spec.id in begun)


def chosen_next(folder: StudyFolder, runs: Sequence[Run], model: Model | None) -> NextRun | PlanEnd | None:
    """What the adaptive plan of a folder makes after these runs, or why none; None where all runs are asked for.

    `model` is that of all of them, where it is there: nothing is fitted a second time then.
    """
    made = [run for run in runs if run.outcome not in UNFINISHED]
    chooser = chooser_of(folder.study, recorded_size(folder.host), model if len(made) == len(runs) else None)
    return None if chooser is None else chooser.next_run(made)


def searches_left(
    folder: StudyFolder, specs: Sequence[RunSpec], runs: Sequence[Run], chosen: NextRun | PlanEnd | None
) -> tuple[Unfinished, ...]:
    """The searches of a folder that have a run left, where all runs before them are made: `specs` that are asked for,
    and what an adaptive plan has `chosen`."""
    if isinstance(chosen, NextRun) or remaining(specs, runs):
        return ()
    study, size = folder.study, recorded_size(folder.host)
    made = [run for run in runs if run.outcome not in UNFINISHED]
    return unfinished([*searches(study, size), *batch_searches(study, size)], made, study)
