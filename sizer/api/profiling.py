"""A program of the user's own, profiled: a run without limits, the axes that follow from it, and their runs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from sizer.api.events import (
    AxesChosen,
    DisksNotRead,
    FirstRunEnded,
    FirstRunFailed,
    Noted,
    OnEvent,
    VariablesWithheld,
    ignore,
)
from sizer.api.fitted_model import open_study
from sizer.api.measuring import Asked, Measurement, measurement
from sizer.api.measuring_host import MeasuringHost, this_host
from sizer.api.same_profile import refuse_changed, refuse_other_job, sealed
from sizer.api.study_plan import StudyPlan, plan_study
from sizer.api.typed_job import disks_by_name, variables_wanted, variables_withheld, with_whole_path
from sizer.catalog.catalog import Catalog
from sizer.files.writing import write_text
from sizer.limits.delegation import AS_ROOT
from sizer.limits.interface import Capability, Control
from sizer.plan.axes_of_first_run import Abilities, chosen_axes, needs_of
from sizer.records.errors import InputError
from sizer.records.messages import Message
from sizer.records.own_programs import placeholders_in
from sizer.records.plain_text import typed_line, typed_path
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Note, NoteKind, RunSpec, Study
from sizer.storage.subprograms import never
from sizer.store.study_folder import StudyFolder, refuse_unusable
from sizer.study.own_job import Axes, OwnJob, own_job_text
from sizer.study.parse import parse_study
from sizer.words.profiling import profile_comments

LEFT_OUT = {Control.FRACTIONAL_VCPUS: NoteKind.NO_FRACTIONAL_VCPUS, Control.MEMORY: NoteKind.NO_MEMORY_AXIS}


@dataclass(frozen=True)
class Profile:
    """A job with the folder of its study, beside which its study file lies, and the host to measure it on."""

    job: OwnJob
    folder: Path
    host: MeasuringHost

    @property
    def study_file(self) -> Path:
        return self.folder.with_name(f"{self.folder.name}.yaml")

    def first_plan(self) -> StudyPlan:
        """The run without limits alone, made again where it crashed or timed out before."""
        once = replace(self, job=replace(self.job, repeats=1, batch_sizes=self.job.batch_sizes[:1]))
        return self._plan(once._study(once._text(Axes())), retry=True)

    def plan(self, first: Run | None) -> StudyPlan:
        """All runs, as they follow from the first one; None: as far as they are known without it."""
        return self._plan(self._study(self.text(first)))

    def text(self, first: Run | None) -> str:
        """The study file of all runs."""
        size, lacking = self.host.size, {each.control for each in self._lacking}
        abilities = Abilities(Control.FRACTIONAL_VCPUS not in lacking, Control.MEMORY not in lacking)
        needs = None if first is None else needs_of(first, size)
        chosen = chosen_axes(needs, size, abilities)
        floor = chosen.memory_floor and self.job.memory_floor
        comments = profile_comments(self.job.name, typed_path(self.study_file), typed_path(self.folder), needs)
        return self._text(Axes(chosen.vcpus, chosen.memory_bytes, floor, disks_by_name(self.job.disks)), comments)

    def first_run(self) -> Run | None:
        """The run without limits, where the folder has it with a rate."""
        if not (self.folder / "study.yaml").exists():
            return None
        return self.found_first(open_study(self.folder).runs())

    def found_first(self, runs: Sequence[Run]) -> Run | None:
        """The same among these."""
        spec = self.first_spec
        return next((run for run in runs if run.id == spec.id and needs_of(run, self.host.size) is not None), None)

    @property
    def first_spec(self) -> RunSpec:
        return self.first_plan().specs[0]

    def check(self) -> None:
        """Raise InputError for a folder or file that is of something else, HostError for what the host cannot do."""
        refuse_unusable(self.folder)
        refuse_changed(self.study_file, self.folder)
        workload = self.first_spec.workload
        if (self.folder / "study.yaml").exists():
            refuse_other_job(self.folder, open_study(self.folder), workload)
        self.plan(None).check(self.host)

    def remarks(self) -> Iterator[Noted | VariablesWithheld | DisksNotRead]:
        """What a person most likely wants to know before the first run."""
        yield from map(Noted, self.notes)
        workload = self.first_spec.workload
        names = variables_withheld(workload)
        if names:
            yield VariablesWithheld(names)
        told = placeholders_in(workload.run_words)
        if self.job.disks and not told & {"data", "scratch"}:
            yield DisksNotRead(tuple(disks_by_name(self.job.disks)), self.job.data is not None)

    @property
    def notes(self) -> tuple[Note, ...]:
        """The axes that are left out because this host cannot limit them, for the report."""
        again = f"profile --out {typed_path(self.folder)} -- {typed_line(self.job.command)}"
        return tuple(
            Note(LEFT_OUT[each.control], fix=each.fix_for(again) or AS_ROOT.command(again))
            for each in self._lacking
            if each.control in LEFT_OUT
        )

    @property
    def _lacking(self) -> list[Capability]:
        return [each for each in self.host.backend.capabilities() if not each.available]

    def _text(self, axes: Axes, comments: Sequence[str] = ()) -> str:
        return own_job_text(self.job, self.folder.name, axes, comments)

    def _study(self, text: str) -> Study:
        """The study of the file, with the values of variables that no file holds. Raises InputError."""
        if self.job.data is None and "data" in placeholders_in(self.job.command):
            raise InputError(
                "{placeholder} is in the command, and nothing says which data that is; add --data PATH.",
                placeholder="{data}",
            )
        try:
            study = parse_study(text, str(self.study_file), None, self.host.size, Catalog.load())
        except InputError as error:
            # Nobody has the file yet, so that its line says nothing.
            problem = error.values.get("problem")
            raise InputError("{problem}", problem=problem) if isinstance(problem, Message) else error from None
        kept = tuple(replace(each, workload=replace(each.workload, env=self.job.env)) for each in study.workloads)
        return replace(study, workloads=kept)

    def _plan(self, study: Study, retry: bool = False) -> StudyPlan:
        return plan_study(study, self.folder, self.host, retry)


def profile_of(job: OwnJob, folder: str | Path | None = None, host: MeasuringHost | None = None) -> Profile:
    """The profile of a job on this host; its folder is by default in the current one, by its name."""
    path = Path(f"{job.name}-profile") if folder is None else Path(os.path.normpath(folder))
    if path.name in ("", ".."):
        raise InputError(
            "{folder} cannot be the folder of a profile; give a new one, such as my-profile.", folder=folder
        )
    return Profile(with_whole_path(job), path, this_host() if host is None else host)


def profile(
    job: OwnJob, folder: str | Path | None = None, on_event: OnEvent = ignore, stop: Asked = never
) -> StudyFolder:
    """Measure a job without limits, choose the axes from that run, measure these, and conclude.

    Runs that the folder has are kept. Raises InputError for a job or folder that cannot be used, HostError for what
    this host cannot do.
    """
    with profile_measurement(profile_of(job, folder), on_event) as measuring:
        measuring.run(stop)
        return measuring.folder


@contextmanager
def profile_measurement(profile: Profile, on_event: OnEvent = ignore) -> Iterator[ProfileMeasurement]:
    """A profile ready to be measured in a folder that is new or gone on with. Raises InputError and HostError."""
    profile.check()
    for remark in profile.remarks():
        on_event(remark)
    first = profile.first_run()
    plan = profile.first_plan() if first is None else profile.plan(first)
    with measurement(plan, profile.host, on_event, profile.notes) as measuring:
        yield ProfileMeasurement(profile, measuring, on_event)


class ProfileMeasurement:
    """One stretch of profiling: the run without limits, if it is not there, and then all others."""

    def __init__(self, profile: Profile, measuring: Measurement, on_event: OnEvent) -> None:
        self.folder: StudyFolder = measuring.folder
        self.chosen = False
        self._profile = profile
        self._measuring = measuring
        self._on_event = on_event

    def run(self, stop: Asked = never, stop_now: Asked = never) -> frozenset[Outcome]:
        """Measure what is not finished, then conclude. How the planned runs ended, or the first one where it gave no
        rate: then nothing else is measured, and `chosen` stays false. None ended where it was interrupted."""
        first = self._first_run(stop, stop_now)
        if first is None:
            return frozenset()
        needs = needs_of(first, self._profile.host.size)
        if needs is None:
            self._on_event(FirstRunFailed(first, self.folder.log_of(first), variables_wanted(first)))
            return frozenset({first.outcome})
        plan, path = self._profile.plan(first), self._profile.study_file
        write_text(path, sealed(self._profile.text(first)))
        self.chosen = True
        self._measuring.go_on_with(plan)
        self._on_event(FirstRunEnded(first, needs))
        self._on_event(AxesChosen(plan.study, path, *self._measuring.to_come()))
        return self._measuring.run(stop, stop_now)

    def _first_run(self, stop: Asked, stop_now: Asked) -> Run | None:
        """The run without limits, made now if it is not there; None where it was interrupted."""
        there = self._profile.found_first(self.folder.runs())
        if there is not None:
            return there
        before = {(run.id, run.started_at) for run in self.folder.runs()}
        try:
            self._measuring.measure(stop, stop_now)
        finally:
            self.folder.free_room()
        spec = self._profile.first_spec
        made = [run for run in self.folder.runs() if run.id == spec.id and (run.id, run.started_at) not in before]
        return made[-1] if made else None
