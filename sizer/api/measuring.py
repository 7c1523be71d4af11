"""From planned runs to stored runs and what follows from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from sizer.api import events
from sizer.api.conclusions import WatchedPage, conclude
from sizer.api.preconditions import without_lacking
from sizer.api.preparing import Preparation, SetUp, prepare_data
from sizer.api.studies import MeasuringHost, StudyPlan, plan_study, this_host
from sizer.host.lock import measuring_alone
from sizer.host.speed import host_speed, probe, seconds_for
from sizer.model.runs import is_bound
from sizer.plan.chooser import Chooser, NextRun, PlanEnd, Unfinished, within
from sizer.plan.following import Following
from sizer.plan.run_order import UNFINISHED, changed_marks, estimate_seconds, is_measurement, remaining
from sizer.plan.seen_times import SeenTimes
from sizer.records.messages import HostError, Interrupted, SizerError
from sizer.records.notes import Note
from sizer.records.run import CauseKind, Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Adaptive, RunReason, RunSpec, Study
from sizer.runner.sampling import host_load
from sizer.runner.watching import Hooks
from sizer.storage.leftovers import remove_what_was_left
from sizer.storage.placement import Placement, room_on_emulated
from sizer.storage.subprograms import never
from sizer.store.study_folder import StudyFolder
from sizer.store.unsaved import keep_unsaved, take_back, unsaved_folder

Asked = Callable[[], bool]


def measure(
    study: Study, folder: str | Path, on_event: events.OnEvent = events.ignore, stop: Asked = never, retry: bool = False
) -> StudyFolder:
    """Measure what is not finished yet of a study, and conclude: model, recommendation, table and report.

    `on_event` hears what happens; once `stop` says so, no further run begins. With `retry`, runs that crashed or timed
    out before are measured again. Raises InputError for a study or folder that cannot be used, HostError for what this
    host cannot do.
    """
    host = this_host()
    with measurement(plan_study(study, folder, host, retry), host, on_event) as measuring:
        measuring.run(stop)
        return measuring.folder


@contextmanager
def measurement(
    plan: StudyPlan, host: MeasuringHost, on_event: events.OnEvent = events.ignore, notes: Sequence[Note] = ()
) -> Iterator[Measurement]:
    """A study ready to be measured in a folder that is new or gone on with; no other sizer measures here meanwhile.

    `notes` are for a reader of the report. Raises InputError and HostError.
    """
    plan.check(host)
    described = plan.with_interpreters(host.host)
    with _alone(on_event), StudyFolder.create(plan.folder, plan.study, described, notes) as folder:
        yield _ready(plan, folder, host, on_event)


@contextmanager
def continued(
    path: str | Path, host: MeasuringHost, on_event: events.OnEvent = events.ignore, retry: bool = False
) -> Iterator[Measurement]:
    """A study that its folder holds, ready to be gone on with. Raises InputError and HostError."""
    with _alone(on_event), StudyFolder.open(Path(path)).locked() as folder:
        folder.check_host(host.host)
        plan = plan_study(folder.study, folder.path, host, retry)
        plan.check(host)
        folder.go_on_with_versions(plan.with_interpreters(host.host))
        yield _ready(plan, folder, host, on_event)


@contextmanager
def _alone(on_event: events.OnEvent) -> Iterator[None]:
    """Hold the host, and say who of other users measures on it all the same."""
    with measuring_alone() as others:
        for other in others:
            on_event(other)
        yield


def _ready(plan: StudyPlan, folder: StudyFolder, host: MeasuringHost, on_event: events.OnEvent) -> Measurement:
    """Say before any data is made which runs cannot do well here, and remove what a killed sizer left."""
    for doubt in replace(plan, finished=folder.runs()).doubts:
        on_event(doubt)
    mounts = [Path(tier.path) for tier in plan.study.disks if tier.path is not None]
    for leftover in remove_what_was_left(host.backend, mounts, host.cache):
        on_event(leftover)
    return Measurement(plan, folder, host, on_event)


class Measurement:
    """One stretch of measuring: data first, then disks, then run after run, and what follows from these: two-epoch
    passes, and the searches for memory floors and largest batches."""

    def __init__(
        self, plan: StudyPlan, folder: StudyFolder, host: MeasuringHost, on_event: events.OnEvent = events.ignore
    ) -> None:
        self.folder = folder
        self._plan = plan
        self._host = host
        self._on_event = on_event
        self._stop: Asked = never
        self._stop_now: Asked = never
        self._set_aside: frozenset[tuple[str, str | None]] = frozenset()
        self._set_up = SetUp()
        self._ended: PlanEnd | None = None
        self._said_busy = False
        self._page = WatchedPage()

    def run(self, stop: Asked = never, stop_now: Asked = never) -> frozenset[Outcome]:
        """Measure what is not finished, then conclude, whatever stopped the runs. How the planned runs ended.

        Once `stop` says so, no further run begins; `stop_now` ends the one that goes on, too. Raises HostError when a
        run cannot be stored; those before it are, and the conclusion is drawn from them.
        """
        try:
            self.measure(stop, stop_now)
        except BaseException:
            # What cannot be written now, `sizer report` writes.
            try:
                self._conclude()
            except SizerError as error:
                self._announce(events.AnnouncementKind.NOT_CONCLUDED, why=error)
            raise
        self._conclude()
        return frozenset(run.outcome for run in self.folder.runs() if self._plan.asks_for(run) and not is_bound(run))

    def measure(self, stop: Asked = never, stop_now: Asked = never) -> None:
        """The same without a conclusion."""
        self._stop, self._stop_now = stop, stop_now
        with suppress(Interrupted):
            self._run()

    def go_on_with(self, plan: StudyPlan) -> None:
        """From now on measure this plan, whose study has the same workloads and longer axes. Raises HostError."""
        self._plan = plan
        self.folder.go_on_with(plan.study)

    def to_come(self) -> tuple[int, float]:
        """How many runs are left of the plan, with those of searches as there usually are, and seconds for them."""
        plan = replace(self._plan, finished=self.folder.runs())
        after = sum(search.usual_runs for search, _ in plan.next_runs(self._stored_runs()))
        return len(plan.todo) + after, self._left(plan.todo)

    def _run(self) -> None:
        """Every run that is left, or ended in an outcome before that is measured again.

        Raises Interrupted between two runs, HostError when a run cannot be stored.
        """
        self._take_back()
        study, cache = self._plan.study, self._host.cache
        plan = replace(self._plan, finished=self.folder.runs())
        todo = plan.todo
        self._set_aside = frozenset(map(_which, (run for run in plan.finished if run.outcome in plan.unfinished)))
        # The data of a pass is prepared, too, whose cap follows from runs that are still to be made.
        needed = plan.left
        if not needed:
            self._announce(events.AnnouncementKind.NOTHING_LEFT, count=len(plan.specs))
            return
        chooser = plan.chooser
        if chooser is not None:
            ended = chooser.next_run(self._stored_runs())
            left = plan.unfinished_following(self._stored_runs(), ended)
            if isinstance(ended, PlanEnd) and all(unfinished.bound is not None for unfinished in left):
                self._end_choosing(ended)
                for unfinished in left:
                    self._end_following(unfinished.following, unfinished)
                return
            count, seconds = plan.at_most(self._stored_runs())
            self._on_event(events.MeasuringStarted(len(plan.kept) + count, len(plan.kept), seconds))
        else:
            self._on_event(events.MeasuringStarted(len(plan.specs), len(plan.specs) - len(todo), self._left(todo)))
        busy = host_load(self._host.backend)
        if busy is not None and not self._said_busy:
            self._said_busy = True
            self._on_event(busy)
        if self.folder.speed is None:
            self._probe_speed(self._left(todo))
        self.folder.hold_room()
        needed = without_lacking(needed)
        data = prepare_data(study, needed, cache, self._on_event, self._stop, self._set_up)
        room = room_on_emulated(study, [spec for spec in needed if spec.workload in data.sets], data.sets)
        with Placement(cache, room, self._on_event, self._stop, data.user) as places:
            preparation = Preparation(study, self._host, data, places)
            preparation.prepare(needed, self._on_event, self._stop)
            if chooser is not None:
                self._choose(chooser, preparation)
            else:
                for number, spec in enumerate(todo):
                    self._launch(spec, self._left(todo[number:]), preparation)
            for following in plan.following:
                self._follow(following, preparation)
        if (speed := self.folder.speed) is not None and len(speed.probes) == 1:
            self._probe_speed(sum(run.wall_seconds for run in self.folder.runs()))

    def _probe_speed(self, expected: float) -> None:
        """How fast the host is, before the first run and after the last: what was probed before is kept."""
        host, before = self._host.host, self.folder.speed
        new = probe(host.cpus, seconds_for(expected))
        probes = (*before.probes, new) if before is not None else (new,)
        self.folder.keep_speed(host_speed(host.cpu_model, host.hyperthreads, probes))

    def _choose(self, chooser: Chooser, preparation: Preparation) -> None:
        """Run after run until every answer is settled, or what may be spent is.

        A sizer that was killed may have stored a run of the reference without what it says of the others.
        """
        self._mark_drift()
        while isinstance(chosen := chooser.next_run(self._stored_runs()), NextRun):
            _, seconds = self._plan.at_most(self._stored_runs())
            self._launch(chosen.spec, seconds, preparation, chosen.why)
        self._end_choosing(chosen)

    def _end_choosing(self, end: PlanEnd) -> None:
        self._ended = end
        left = self._plan.unfinished_following(self._stored_runs(), end)
        self._on_event(events.AdaptiveEnded(end, self.folder.path, left))

    def _conclude(self) -> None:
        """Write the marks of drift and the conclusion from every run that is stored. Raises HostError."""

        self.folder.check_in_place()
        self.folder.free_room()
        if self.folder.runs():
            self._mark_drift()
            planned = self._plan.specs
            left = len(remaining(planned, self.folder.runs()))
            if left and self._plan.study.adaptive is None:
                self._announce(events.AnnouncementKind.RUNS_LEFT, count=left, of=len(planned))
            self._on_event(conclude(self.folder))

    def _take_back(self) -> None:
        """Store the runs that an earlier start could not put into the folder."""

        def store(run: Run) -> bool:
            if self._plan.asks_for(run):
                self.folder.add(run)
                return True
            return False

        path, host, cache = self.folder.real_path, self.folder.host, self._host.cache
        taken = take_back(path, host, cache, store)
        if taken:
            source, target = str(unsaved_folder(path, host, cache)), str(self.folder.path)
            self._announce(events.AnnouncementKind.RUNS_TAKEN_BACK, source=source, folder=target, count=taken)

    def _left(self, todo: Sequence[RunSpec]) -> float:
        """Seconds that these runs, and the passes and searches after them, are expected to take."""
        after = [spec for search, spec in self._plan.next_runs(self._stored_runs()) for _ in range(search.usual_runs)]
        return within(self._plan.study.adaptive or Adaptive(), [*todo, *after], self.folder.runs())[1]

    def _stored_runs(self) -> list[Run]:
        """The runs that are there, without those that are measured again."""
        return [run for run in self.folder.runs() if _which(run) not in self._set_aside]

    def _launch(self, spec: RunSpec, left: float, preparation: Preparation, why: RunReason | None = None) -> Run:
        """Measure one configuration and store it, with why it was chosen.

        A run during which sizer stood still is made again, once; what came of it is not kept, but for its seconds.
        """
        self._stop_if_asked()
        self._show()
        self.folder.hold_room()
        runs = self.folder.runs()
        self._on_event(events.RunStarted(spec, estimate_seconds([spec], runs), left, why))
        hooks, start_up = Hooks(self._on_event, self._stop_now), SeenTimes(runs).start_up_seconds(spec)
        log = self.folder.log_path(spec.id)
        run = preparation.launch(spec, log, hooks, start_up)
        seconds = _stood_still_seconds(run)
        if seconds:
            self._stop_if_asked()
            self._announce(events.AnnouncementKind.STOOD_STILL, seconds=seconds)
            again = preparation.launch(spec, log, hooks, start_up)
            run = replace(again, wall_seconds=run.wall_seconds + again.wall_seconds)
        run = replace(run, reason=why)
        if run.outcome is not Outcome.INTERRUPTED:
            self._store(run)
        self._on_event(events.RunFinished(run, self.folder.log_of(run)))
        if self._plan.reference is not None and is_measurement(run.spec, self._plan.reference):
            self._mark_drift()
        return run

    def _stop_if_asked(self) -> None:
        if self._stop():
            raise Interrupted("Interrupted between two runs.")

    def _show(self) -> None:
        """Write the page as far as the study is, if somebody looks at it: between two runs that disturbs none."""
        try:
            self._page.write_if_due(self.folder)
        except SizerError as error:
            self._announce(events.AnnouncementKind.NOT_SHOWN, why=error)
        except Exception as error:
            # A fault in drawing must cost no run that is still to come; the conclusion at the end meets it again.
            fault = SizerError("internal error in sizer ({what})", what=repr(error))
            self._announce(events.AnnouncementKind.NOT_SHOWN, why=fault)

    def _announce(self, kind: events.AnnouncementKind, **values: Any) -> None:
        self._on_event(events.Announcement(kind, **values))

    def _store(self, run: Run) -> None:
        """Store a run. Raises HostError that says where it lies instead, if the folder does not take it."""
        folder = self.folder
        try:
            folder.add(run)
            return
        except HostError as first:
            error = first
        try:
            aside = keep_unsaved(run, folder.real_path, folder.host, self._host.cache)
        except HostError as second:
            raise HostError(
                "{error} The last run could not be stored in the cache either: {second}", error=error, second=second
            ) from error
        raise HostError(
            "{error} The last run is in {aside}; to store it and continue, type: {command}",
            error=error,
            aside=aside,
            command=folder.going_on,
        ) from error

    def _follow(self, search: Following, preparation: Preparation) -> None:
        """Run after run until what is searched for is found or the pass is made, a run shows that it cannot be, or what
        may be spent has no room for the next one."""
        left: Unfinished | None = None
        while (spec := search.next_run(self._stored_runs())) is not None:
            left = self._no_room(search)
            if left is not None or self._launch(spec, self._left(()), preparation).outcome in UNFINISHED:
                break
        self._end_following(search, left)

    def _no_room(self, search: Following) -> Unfinished | None:
        """What is left of a search or pass where a bound has no room for its next run; None where that can be made."""
        for left in self._plan.unfinished_following(self._stored_runs(), self._ended):
            if left.following == search and left.bound is not None:
                return left
        return None

    def _end_following(self, search: Following, left: Unfinished | None) -> None:
        self._on_event(events.FollowingEnded(search, self.folder.runs(), left, self.folder.path))

    def _mark_drift(self) -> None:
        """Write each run again whose warning of drift is not what the runs of the reference say by now."""
        for run in changed_marks(self.folder.runs(), self._plan.reference):
            self.folder.add(run)


def _which(run: Run) -> tuple[str, str | None]:
    """Tells a run from another measurement of the same configuration."""
    return run.id, run.started_at


def _stood_still_seconds(run: Run) -> float:
    """How long sizer itself stood still during the run, if that is why it has no rate."""
    cause = run.error.cause if run.error is not None else None
    return cause.figures["seconds"] if cause is not None and cause.kind is CauseKind.STOOD_STILL else 0.0
