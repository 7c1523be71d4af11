"""A program of the user's own, profiled: a run without limits, the axes that follow from it, and their runs."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from sizer.api import events
from sizer.api.fitted_model import open_study
from sizer.api.measuring import Asked, Measurement, measurement
from sizer.api.preconditions import Lacking, lacking_controls, notes_on
from sizer.api.studies import MeasuringHost, StudyPlan, plan_study, this_host
from sizer.catalog.catalog import Catalog
from sizer.files.given_files import read_given
from sizer.files.writing import write_text
from sizer.limits.interface import Control
from sizer.plan.axes_of_first_run import chosen_axes, needs_of
from sizer.records.device import HOST_DISK
from sizer.records.frameworks import placeholders_in
from sizer.records.messages import InputError, Message, typed_line, typed_path
from sizer.records.notes import Note
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import RunSpec, Study, Workload
from sizer.records.units import GIB, NamedTier, parse_tier
from sizer.runner.commands import withheld
from sizer.storage.subprograms import never
from sizer.store.continuing import measured
from sizer.store.study_folder import StudyFolder, refuse_unusable
from sizer.study.own_job import Axes, OwnJob, own_job_text
from sizer.study.parse import parse_study
from sizer.words.studies.profiling import profile_comments


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
        study = once._study(own_job_text(once.job, self.folder.name, Axes()))
        return plan_study(study, self.folder, self.host, retry=True)

    def plan(self, first: Run | None) -> StudyPlan:
        """All runs, as they follow from the first one; None: as far as they are known without it."""
        return plan_study(self._study(self.text(first)), self.folder, self.host)

    def text(self, first: Run | None) -> str:
        """The study file of all runs."""
        size = self.host.size
        needs = None if first is None else needs_of(first, size)
        chosen = chosen_axes(needs, size, self._lacking)
        floor = chosen.memory_floor and self.job.memory_floor
        comments = profile_comments(self.job.name, typed_path(self.study_file), typed_path(self.folder), needs)
        axes = Axes(chosen.vcpus, chosen.memory_bytes, floor, disks_by_name(self.job.disks))
        return own_job_text(self.job, self.folder.name, axes, comments)

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

    def remarks(self) -> Iterator[Note | events.Announcement]:
        """What a person most likely wants to know before the first run."""
        yield from self.notes
        workload = self.first_spec.workload
        names = variables_withheld(workload)
        if names:
            yield events.Announcement(events.AnnouncementKind.VARIABLES_WITHHELD, names=names)
        placeholders = placeholders_in(workload.run_words)
        if self.job.disks and not placeholders & {"data", "scratch"}:
            disks = tuple(disks_by_name(self.job.disks))
            yield events.Announcement(events.AnnouncementKind.DISKS_NOT_READ, names=disks, source=self.job.data or "")

    @property
    def notes(self) -> tuple[Note, ...]:
        """The axes that are left out because this host cannot limit them, for the report."""
        return notes_on({control: fix for control, fix in self._lacking.items() if control is not Control.DISK})

    @property
    def _lacking(self) -> Lacking:
        again = f"profile --out {typed_path(self.folder)} -- {typed_line(self.job.command)}"
        return lacking_controls(self.host.backend, again)

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
        kept = tuple(
            replace(workload, workload=replace(workload.workload, env=self.job.env)) for workload in study.workloads
        )
        return replace(study, workloads=kept)


def profile_of(job: OwnJob, folder: str | Path | None = None, host: MeasuringHost | None = None) -> Profile:
    """The profile of a job on this host; its folder is by default in the current one, by its name."""
    path = Path(f"{job.name}-profile") if folder is None else Path(os.path.normpath(folder))
    if path.name in ("", ".."):
        raise InputError(
            "{folder} cannot be the folder of a profile; give a new one, such as my-profile.", folder=folder
        )
    return Profile(with_whole_path(job), path, this_host() if host is None else host)


def profile(
    job: OwnJob, folder: str | Path | None = None, on_event: events.OnEvent = events.ignore, stop: Asked = never
) -> StudyFolder:
    """Measure a job without limits, choose the axes from that run, measure these, and conclude.

    Runs that the folder has are kept. Raises InputError for a job or folder that cannot be used, HostError for what
    this host cannot do.
    """
    with profile_measurement(profile_of(job, folder), on_event) as measuring:
        measuring.run(stop)
        return measuring.folder


@contextmanager
def profile_measurement(profile: Profile, on_event: events.OnEvent = events.ignore) -> Iterator[ProfileMeasurement]:
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

    def __init__(self, profile: Profile, measuring: Measurement, on_event: events.OnEvent) -> None:
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
            self._on_event(events.FirstRunEnded(first, None, self.folder.log_of(first), variables_wanted(first)))
            return frozenset({first.outcome})
        plan, path = self._profile.plan(first), self._profile.study_file
        write_text(path, sealed(self._profile.text(first)))
        self.chosen = True
        self._measuring.go_on_with(plan)
        self._on_event(events.FirstRunEnded(first, needs))
        self._on_event(events.AxesChosen(plan.study, path, *self._measuring.to_come()))
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


SEAL = "# sizer profile writes this file again as long as nobody changes it: "
"""Begins its last line, behind which stands what the rest comes to."""

OPTIONS = (
    *("cwd", "data", "pattern", "meter", "samples_per_step", "sample_unit", "env", "pass_env", "setup", "before"),
)
"""What of a workload an option of the same name says."""


def sealed(text: str) -> str:
    """The text with a last line that shows whether somebody has changed it."""
    return f"{text}{SEAL}{_digest(text)}\n"


def refuse_changed(path: Path, folder: Path) -> None:
    """Raise InputError where a file of another origin, or one that a person has changed, would be lost."""
    if not path.exists():
        return
    text, _, last = read_given(path, Message("a study file")).rpartition(SEAL)
    if not text or last.strip() != _digest(text):
        raise InputError(
            "{path} has been changed since `sizer profile` wrote it, or is not of it; go on with it by: sizer run "
            "{typed} --out {folder}, or choose another folder with --out.",
            path=path,
            typed=typed_path(path),
            folder=typed_path(folder),
        )


def refuse_other_job(path: Path, folder: StudyFolder, now: Workload) -> None:
    """Raise InputError where the folder has measured another command, or this one started otherwise."""
    for run in measured(folder.runs()):
        before = run.spec.workload
        if before.command != now.command:
            raise InputError(
                "{folder} is the profile of another command, `{command}`; choose another folder: sizer profile --out "
                "DIR -- ...",
                folder=path,
                command=typed_line(before.command),
            )
        changed = [name for name in OPTIONS if getattr(before, name) != getattr(now, name)]
        if changed:
            raise InputError(
                "{folder} was measured with another {option}; type the same as before, or choose another folder: sizer "
                "profile --out DIR -- ...",
                folder=path,
                option=f"--{changed[0].replace('_', '-')}",
            )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:12]


DEFAULT_TIER_SIZE = 500 * GIB
"""Bytes of a tier that is named without its size."""

OFTEN_READ = re.compile(
    r"(HF|TRANSFORMERS|HUGGINGFACE|TORCH|PYTORCH|KERAS|MXNET|NCCL|GLOO|WANDB|MLFLOW|NLTK|DATA|DATASET|MODEL)_"
    r"|TF_(CPP|ENABLE|FORCE|GPU|NUM|USE|XLA)_|XDG_CACHE_HOME$|LD_PRELOAD$"
)
"""Variables that training programs read, by the beginnings of their names."""


def with_whole_path(job: OwnJob) -> OwnJob:
    """The job with the whole path of its program, as the shell finds it: another shell may find another one.

    Raises InputError for a program that is not there: nothing of the profile could be measured.
    """
    program, *others = job.command
    if placeholders_in([program]):
        return job
    at = os.path.join(job.cwd, os.path.expanduser(program)) if "/" in program else program
    own = next((variable.value_in(os.environ) for variable in job.env if variable.name == "PATH"), None)
    located = shutil.which(at, path=os.environ.get("PATH") if own is None else own)
    if located is not None:
        return replace(job, command=(os.path.abspath(located), *others))
    name, equals, _ = program.partition("=")
    if equals and name.isidentifier():
        raise InputError(
            "`{word}` is not a program; set a variable with --env {word} before the command.", word=program
        )
    raise InputError("The program {program} was not found, or may not be executed; give its path.", program=program)


def variables_withheld(workload: Workload) -> tuple[str, ...]:
    """Variables of this environment that training programs often read, and that the workload does not get."""
    return tuple(sorted(name for name in withheld(workload, os.environ) if OFTEN_READ.match(name)))


def variables_wanted(run: Run) -> tuple[str, ...]:
    """Variables of this environment that the last words of a run name, and that it did not get."""
    words = set(re.findall(r"[A-Z_][A-Z0-9_]{3,}", run.error.last_lines)) if run.error is not None else set()
    return tuple(sorted(words & withheld(run.spec.workload, os.environ)))


def disks_by_name(typed: Sequence[str]) -> dict[str, str | NamedTier]:
    """The disks by their names in the study; raises InputError for one that is neither a folder nor a known tier."""
    disks: dict[str, str | NamedTier] = {}
    for text in typed:
        disk = _disk(text)
        name = Path(disk if isinstance(disk, str) else disk.name).name
        base = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("._-") or "disk"
        choices = [base, *(f"{base}-{number}" for number in range(2, len(typed) + 2))]
        disks[next(choice for choice in choices if choice not in disks and choice != HOST_DISK)] = disk
    return disks


def _disk(text: str) -> str | NamedTier:
    """A folder by its whole path, or a tier of the catalogue with its size. Raises InputError."""
    path = os.path.abspath(os.path.expanduser(text))
    if os.path.isdir(path):
        return path
    if text.startswith((".", "/", "~")) or "/" not in text.partition(":")[0]:
        raise InputError(
            "--disk {name}: there is no such folder; give a folder, or a tier listed by: sizer catalog list", name=text
        )
    tier = parse_tier(text)
    size = tier.size_bytes or DEFAULT_TIER_SIZE
    Catalog.load().disk(tier.name).rates(size, tier.iops, tier.bytes_per_second)
    return tier._replace(size_bytes=size)
