"""What runs need besides their spec: their data, and disks to put it on. What cannot be had is an outcome of the runs
that need it, and the others go on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from sizer import bundled
from sizer.api.events import OnEvent, SetupFailed
from sizer.api.preconditions import lacks_driver
from sizer.api.studies import MeasuringHost
from sizer.host.interpreters import interpreter
from sizer.limits.users import RunUser, run_user
from sizer.records.kinds import COMMAND, OPENCV
from sizer.records.messages import HostError, InputError, Interrupted
from sizer.records.run import Cause, CauseKind, DataSet, DiskCheck, Failure, Run
from sizer.records.study import DiskTier, RunSpec, Study, Workload
from sizer.runner.commands import RunPaths
from sizer.runner.launcher import RunContext, launch, refused
from sizer.runner.preparatory import set_up
from sizer.runner.watching import Hooks
from sizer.storage.announcements import Announcement, AnnouncementKind
from sizer.storage.data_sets import DataSets
from sizer.storage.disk_check import check_disk
from sizer.storage.page_cache import files_of
from sizer.storage.placement import Placement

SetUp = dict[object, Failure | None]
"""What workloads were set up with already, and how that failed, so that none is set up twice."""


def _failure(kind: CauseKind, error: Exception) -> Failure:
    return Failure(Cause(kind, text=str(error)))


@dataclass(frozen=True)
class PreparedData:
    """The `user` by whom runs are made, the data set of each workload, None for one that reads nothing, and why runs of
    the others are refused."""

    user: RunUser
    sets: dict[Workload, DataSet | None] = field(default_factory=dict)
    refused: dict[Workload, Failure] = field(default_factory=dict)


def prepare_data(
    study: Study, specs: Sequence[RunSpec], cache: Path, on_event: OnEvent, stop: Callable[[], bool], before: SetUp
) -> PreparedData:
    """Set the workloads of these runs up, and find, make or pack their data, which the user of the runs is to read.

    Raises Interrupted when `stop` says so.
    """
    workloads = dict.fromkeys(spec.workload for spec in specs)
    try:
        user = run_user(study.run_as)
    except HostError as error:
        return PreparedData(run_user(), refused=dict.fromkeys(workloads, _failure(CauseKind.REFUSED, error)))
    data, whole = PreparedData(user), set[Path]()
    for workload in workloads:
        try:
            for path in programs_of(workload, study):
                user.check_reads(path)
            if workload.cwd is not None:
                user.check_enters(Path(workload.cwd))
            failure = _set_up(workload, user, before, on_event, stop)
            if failure is not None:
                data.refused[workload] = failure
                continue
            if workload.data is not None:
                # Before sizer packs or indexes them with its own rights.
                _check_reads(user, Path(workload.data).expanduser())
            try:
                data_set = _data_sets(study, cache, user, on_event, stop, whole).prepare(workload)
            except (InputError, HostError, OSError) as error:
                data.refused[workload] = _failure(CauseKind.NO_DATA, error)
                on_event(Announcement(AnnouncementKind.DATA_LACKING, name=workload.name, why=error))
                continue
            if data_set is not None:
                _check_reads(user, Path(data_set.path))
            data.sets[workload] = data_set
        except HostError as error:
            data.refused[workload] = _failure(CauseKind.REFUSED, error)
    return data


def _data_sets(
    study: Study, cache: Path, user: RunUser, on_event: OnEvent, stop: Callable[[], bool], whole: set[Path]
) -> DataSets:
    chosen = study.python(OPENCV)
    return DataSets(
        cache,
        interpreter(OPENCV, chosen),
        bundled.WORKLOADS_PATH,
        study.embedded_images,
        on_event,
        stop=stop,
        whole=whole,
        # Who wrote the study has no rights of ours.
        maker=user if chosen is not None else None,
        reader=user,
    )


def _check_reads(user: RunUser, data: Path) -> None:
    """Raises HostError where this user cannot read all of the data that are there."""
    for path in [data] if data.is_dir() else files_of(data):
        if path.exists():
            user.check_reads(path)


def programs_of(workload: Workload, study: Study) -> tuple[Path, ...]:
    """What a run of the workload executes: its program, or the interpreter and the files of sizer's own; none where it
    is not found, which the run says."""
    if workload.kind != COMMAND:
        return interpreter(workload.framework, study.python(workload.framework)), bundled.WORKLOADS_PATH / "workloads"
    program, path = workload.command[0], workload.search_path(os.environ)
    executable = shutil.which(os.path.join(workload.cwd or "", program) if "/" in program else program, path=path)
    return () if executable is None else (Path(executable),)


def _set_up(
    workload: Workload, user: RunUser, done: SetUp, on_event: OnEvent, stop: Callable[[], bool]
) -> Failure | None:
    """Run its `setup`; those of one entry of the study file, and equal ones, are one."""
    if not workload.setup:
        return None
    key = workload.setup, workload.env, workload.pass_env, workload.cwd
    if key not in done:
        on_event(Announcement(AnnouncementKind.SETTING_UP, name=workload.name))
        try:
            done[key] = set_up(workload, user, os.environ, stop)
        except HostError as error:
            done[key] = _failure(CauseKind.SETUP_FAILED, error)
        _stop_if_asked(stop)
    failure = done[key]
    if failure is not None:
        on_event(SetupFailed(workload.name, failure))
    return failure


class Preparation:
    """Launches runs of a study where their data lies, on disks that fio has checked."""

    def __init__(self, study: Study, host: MeasuringHost, data: PreparedData, places: Placement) -> None:
        self._study = study
        self._host = host
        self._data = data
        self._places = places
        self._checks: dict[str, DiskCheck] = {}
        self._unusable: dict[str | None, Failure] = {}

    def prepare(self, specs: Sequence[RunSpec], on_event: OnEvent, stop: Callable[[], bool]) -> None:
        """Check every disk that these runs use, and copy their data to it. Raises Interrupted when `stop` says so."""
        for name in dict.fromkeys(spec.limits.disk for spec in specs if spec.limits.disk is not None):
            _stop_if_asked(stop)
            tier = self._study.disk(name)
            on_event(Announcement(AnnouncementKind.DISK_CHECKING, name=name))
            try:
                check = check_disk(tier, self._places.volume(tier), self._host.backend, self._host.fio, stop)
            except (HostError, InputError, OSError) as error:
                self._unusable[name] = _failure(CauseKind.REFUSED, error)
                on_event(Announcement(AnnouncementKind.DISK_UNUSABLE, name=name, why=error))
                continue
            self._checks[name] = check
            on_event(check)
        for spec in specs:
            # A copy that fails, fails again for the run that needs it, and is its outcome.
            with suppress(HostError, InputError, OSError):
                self._data_of(spec)
            _stop_if_asked(stop)

    def launch(self, spec: RunSpec, log_path: Path, hooks: Hooks, start_up_seconds: float | None = None) -> Run:
        """Measure one configuration; refused where what it needs could not be had, unsupported without a driver.

        `start_up_seconds` are those to its first step that other runs of its workload let expect.
        """
        failure = self._data.refused.get(spec.workload) or self._unusable.get(spec.limits.disk)
        if lacks_driver(spec.workload):
            failure = Failure(Cause(CauseKind.UNSUPPORTED))
        if failure is None:
            try:
                data_set, tier = self._data_of(spec), self._tier(spec)
                with self._places.folders(tier) as (scratch, output):
                    context = RunContext(
                        paths=RunPaths(
                            interpreter(spec.workload.framework, self._study.python(spec.workload.framework)),
                            bundled.WORKLOADS_PATH,
                            Path(data_set.path) if data_set else None,
                            data_set.format if data_set else None,
                            scratch,
                            output,
                        ),
                        data_set=data_set,
                        throttle=self._places.volume(tier).throttle(tier) if tier else None,
                        disk=self._checks.get(tier.name) if tier else None,
                        host_vcpus=self._host.host.cpus,
                        host_memory_bytes=self._host.host.memory_bytes,
                        environment=os.environ,
                        log_path=log_path,
                        start_up_seconds=start_up_seconds,
                        user=self._places.user,
                        processes=self._study.max_processes,
                    )
                    return launch(spec, context, self._host.backend, hooks)
            except (HostError, OSError) as error:
                failure = _failure(CauseKind.REFUSED, error)
        return refused(spec, failure, self._host.host.cpus, self._host.host.memory_bytes)

    def _data_of(self, spec: RunSpec) -> DataSet | None:
        return self._places.data(self._data.sets.get(spec.workload), self._tier(spec))

    def _tier(self, spec: RunSpec) -> DiskTier | None:
        return self._study.disk(spec.limits.disk) if spec.limits.disk is not None else None


def _stop_if_asked(stop: Callable[[], bool]) -> None:
    if stop():
        raise Interrupted("Interrupted before the first run.")
