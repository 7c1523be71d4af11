"""What the study of a folder asks for, and what of it is left: planned runs, searches, an adaptive plan's next run."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from sizer.model.model import Model
from sizer.model.runs import as_asked
from sizer.plan.chooser import NextRun, PlanEnd, Unfinished, chooser_of, next_of, unfinished
from sizer.plan.conclusions import names_of_devices, place_of
from sizer.plan.configurations import configurations as configurations_of
from sizer.plan.following import TwoEpochs, following_runs
from sizer.plan.run_order import UNFINISHED, plan, remaining
from sizer.recommend.edges import StillPlanned
from sizer.records.prediction import Configuration
from sizer.records.run import Run
from sizer.records.study import RunSpec
from sizer.store.study_folder import StudyFolder
from sizer.study.presets import recorded_size


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
    searches = [following for following in following_runs(study, size) if not isinstance(following, TwoEpochs)]
    return unfinished(searches, made, study, chosen)


def still_planned(
    folder: StudyFolder, runs: Sequence[Run], chosen: NextRun | PlanEnd | None
) -> dict[str, StillPlanned]:
    """What is left of each workload after these runs; `chosen` is what an adaptive plan does."""
    study, size = folder.study, recorded_size(folder.host)
    if study.imported:
        return {}
    following, plans = next_of(chosen), {}
    for workload in study.workloads:
        name = workload.workload.name
        mine = as_asked([run for run in runs if run.spec.workload.name == name])
        names = names_of_devices(mine) if workload.devices else None
        tried = {place_of(run.spec, size, names) for run in mine}
        places = [place_of(spec, size, names) for spec in configurations_of(workload, study, size)]
        left = StillPlanned(tuple(place for place in places if place not in tried))
        if following is not None and following.spec.workload.name == name and following.spec.stage is None:
            place = place_of(following.spec, size, names)
            left = replace(left, next_run=_as_varied(place, places), again=place in tried)
        plans[name] = left
    return plans


def _as_varied(place: Configuration, places: Sequence[Configuration]) -> Configuration:
    """The place, without what is the same in all places of memory, disk, batch size and accelerators."""
    names = ("memory_bytes", "disk", "batch_size", "gpu_count")
    same = [name for name in names if len({getattr(configuration, name) for configuration in places}) < 2]
    return replace(place, **dict.fromkeys(same))
