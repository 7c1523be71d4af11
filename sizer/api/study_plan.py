"""Everything that measuring a study takes: the runs of its plan, and those that follow from other runs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from sizer.api.preconditions import caps_memory, check_interpreters, check_preconditions, doubts, interpreted
from sizer.api.studies import MeasuringHost
from sizer.files.own_folder import check_own_cache
from sizer.host.machine import Host, with_frameworks
from sizer.limits.users import run_user
from sizer.model.model import Model
from sizer.model.runs import as_asked
from sizer.plan.chooser import Chooser, NextRun, PlanEnd, Unfinished, chooser_of, most_to_follow, next_of, unfinished
from sizer.plan.conclusions import names_of_devices, place_of
from sizer.plan.configurations import configurations as configurations_of
from sizer.plan.following import BatchSearch, Following, Search, TwoEpochs, following_runs
from sizer.plan.run_order import FAILED, UNFINISHED, plan, reference, remaining
from sizer.recommend.edges import StillPlanned
from sizer.records.answer import Doubt
from sizer.records.prediction import Configuration
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import DiskTier, FrameworkPython, RunSpec, Study, Workload
from sizer.store.study_folder import StudyFolder
from sizer.study.presets import recorded_size


@dataclass(frozen=True)
class StudyPlan:
    """A study to be measured: its runs and those that follow from them, where they are stored, which are there already,
    with which outcomes one of these is measured again, the reference configuration, what chooses the runs of an
    adaptive plan, and the folder that the study file lies in, where it is known."""

    study: Study
    specs: Sequence[RunSpec]
    following: Sequence[Following]
    folder: Path
    finished: Sequence[Run] = ()
    unfinished: frozenset[Outcome] = UNFINISHED
    reference: RunSpec | None = None
    chooser: Chooser | None = None
    beside: Path | None = None

    @property
    def all_specs(self) -> list[RunSpec]:
        """The runs of the plan, of each search for a memory floor the one with the largest cap, and of each search for
        the largest batch the first one."""
        floors = (search.at(search.most_bytes) for search in self.following if isinstance(search, Search))
        return [*self.specs, *floors, *(search.base for search in self.following if isinstance(search, BatchSearch))]

    @property
    def kept(self) -> list[Run]:
        """The runs that are there and not measured again."""
        return [run for run in self.finished if run.outcome not in self.unfinished]

    @property
    def todo(self) -> tuple[RunSpec, ...]:
        """The runs of the plan that are not there yet, or are measured again."""
        return remaining(self.specs, self.finished, self.unfinished)

    @property
    def left(self) -> list[RunSpec]:
        """The runs to do, of each search that goes on the next one, and the passes that may come."""
        searched = (spec for search, spec in self.next_runs(self.kept) if not isinstance(search, TwoEpochs))
        passes = (two_epochs.at(two_epochs.most_bytes) for two_epochs in self.passes_to_come)
        return [*self.todo, *searched, *passes]

    def next_runs(self, runs: Sequence[Run]) -> list[tuple[Following, RunSpec]]:
        """Of each pass and search the next run, where these runs show that there is one."""
        return [(search, spec) for search in self.following if (spec := search.next_run(runs)) is not None]

    def unfinished_following(
        self, runs: Sequence[Run], chosen: NextRun | PlanEnd | None = None
    ) -> tuple[Unfinished, ...]:
        """The same with what of an adaptive plan has no room for that run; `chosen` is what that does itself."""
        return unfinished(self.following, runs, self.study, chosen)

    def at_most(self, runs: Sequence[Run]) -> tuple[int, float]:
        """Of an adaptive plan, how many more runs may be made, those of searches and passes among them, and how many
        seconds they may take."""
        passes = [two_epochs for two_epochs in self.passes_to_come if two_epochs.next_run(runs) is None]
        after = [*most_to_follow(self.following, runs), *(pass_.at(pass_.most_bytes) for pass_ in passes)]
        return self.chooser.at_most(runs, after) if self.chooser is not None else (0, 0.0)

    @property
    def passes_to_come(self) -> list[TwoEpochs]:
        """The passes that will be made, or may be when the runs before them show how."""
        passes = [search for search in self.following if isinstance(search, TwoEpochs)]
        return [pass_ for pass_ in passes if pass_.next_run(self.kept) or (self.todo and not pass_.is_done(self.kept))]

    @property
    def workloads(self) -> list[Workload]:
        """Each workload that would run."""
        return list(dict.fromkeys(spec.workload for spec in self.left))

    @property
    def disks(self) -> list[DiskTier]:
        """Each disk that would be used."""
        names = dict.fromkeys(spec.limits.disk for spec in self.left if spec.limits.disk is not None)
        return [self.study.disk(name) for name in names]

    @property
    def doubts(self) -> list[Doubt]:
        """What lets runs that are left end as `unsupported` or `crashed` although every limit can be set."""
        return doubts(self.left, self.beside, self.study.frameworks, self.study.run_as)

    def check(self, host: MeasuringHost) -> None:
        """Raise InputError for data or a mount that is not there, or a cache that others may write to; HostError for
        what the host cannot limit.

        Nothing that the study names is started: it may be a stranger's.
        """
        check_own_cache(host.cache)
        check_preconditions(self.all_specs, self.study, host.backend)

    @property
    def chosen_interpreters(self) -> list[FrameworkPython]:
        """Those that the study names and that its runs use."""
        used = interpreted(self.all_specs, self.study)
        return [framework for framework in self.study.frameworks if framework.framework in used]

    def interpreters(self) -> dict[str, Path]:
        """The interpreter of each framework that is used. Raises InputError for one that the study names and that
        cannot run its programs, which is only known when it is started."""
        return check_interpreters(self.all_specs, self.study)

    def with_interpreters(self, host: Host) -> Host:
        """The host with the versions of the frameworks that are used. Raises as `interpreters`."""
        chosen = [interpreter.framework for interpreter in self.chosen_interpreters]
        return with_frameworks(
            host, self.interpreters(), chosen, run_user(self.study.run_as).becoming if chosen else ()
        )

    @cached_property
    def _planned(self) -> frozenset[str]:
        return frozenset(spec.id for spec in self.specs)

    def asks_for(self, run: Run) -> bool:
        """Whether the study asks for a run: a folder may hold others, of a time when its axes were longer."""
        return run.id in self._planned or any(search.includes(run.spec) for search in self.following)


def plan_study(
    study: Study, folder: str | Path, host: MeasuringHost, retry: bool = False, finished: Sequence[Run] = ()
) -> StudyPlan:
    """The plan of a study on this host; with `retry`, runs that crashed or timed out before are measured again.

    Raises InputError for a study of more runs than anyone waits for.
    """
    size, capped = host.size, caps_memory(host.backend)
    return StudyPlan(
        study,
        specs=plan(study, size),
        following=tuple(run for run in following_runs(study, size) if capped or not isinstance(run, TwoEpochs)),
        folder=Path(folder),
        finished=finished,
        unfinished=UNFINISHED | FAILED if retry else UNFINISHED,
        reference=reference(study, size),
        chooser=chooser_of(study, size),
    )


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
