"""From planned runs to stored runs and their answer."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

from sizer.cli import preconditions
from sizer.cli.answering import answer
from sizer.cli.interrupts import Interrupts
from sizer.cli.preparing import Bench, Ready, prepare_data
from sizer.cli.progress import Progress
from sizer.cli.wording import emulated_disks
from sizer.plan import (
    FAILED,
    TYPICAL_RUNS,
    UNFINISHED,
    Search,
    TwoEpochs,
    changed_marks,
    estimate_seconds,
    is_measurement,
    reference,
    remaining,
    searches,
    two_epoch_passes,
)
from sizer.records import FAULTS, HostError, Interrupted, Outcome, Run, RunSpec, SizerError, Study, typed_path
from sizer.runner import Hooks, host_load
from sizer.storage import Placement, remove_what_was_left, room_on_emulated
from sizer.store import StudyFolder, keep_unsaved, take_back, unsaved_place
from sizer.study import Facts
from sizer.words import busy_host_in_words, following_in_words


def measure(
    study: Study,
    specs: Sequence[RunSpec],
    folder: StudyFolder,
    bench: Bench,
    unfinished: Collection[Outcome] = UNFINISHED,
) -> int:
    """Run what is not finished yet, then write the answer, whatever stopped the runs. The exit code.

    A run that ended in an outcome of `unfinished` before is measured again.

    Raises HostError when a run cannot be stored; those before it are, and the answer is written from them.
    """
    mounts = [Path(tier.path) for tier in study.disks if tier.path is not None]
    for sentence in remove_what_was_left(bench.backend, mounts, bench.cache):
        _say(sentence)
    with Interrupts() as interrupts:
        measuring = _Measuring(study, specs, folder, bench, interrupts)
        try:
            with suppress(Interrupted):
                measuring.run(unfinished)
        except BaseException:
            measuring.conclude_as_far_as_possible()
            raise
        measuring.conclude()
        interrupted = interrupts.finish()
    if interrupted:
        _say(f"interrupted; go on with: sizer resume {typed_path(folder.path)}")
        return Interrupted.exit_code
    failed = measuring.outcomes() & FAULTS
    if failed & FAILED:
        again = f"sizer resume {typed_path(folder.path)} --retry"
        _say(f"runs failed; when their cause is mended, measure them again with: {again}")
    return 4 if failed else 0


class _Measuring:
    """One stretch of measuring: data first, then disks, then run after run, and what follows from these: two-epoch
    passes, and the search for memory floors."""

    def __init__(
        self, study: Study, specs: Sequence[RunSpec], folder: StudyFolder, bench: Bench, interrupts: Interrupts
    ) -> None:
        self._study = study
        self._specs = specs
        self._folder = folder
        self._bench = bench
        self._interrupts = interrupts
        here = Facts(bench.host.cpus, bench.host.memory_bytes)
        self._reference = reference(study, here)
        passes = two_epoch_passes(study, here) if preconditions.caps_memory(bench.backend) else ()
        self._following: tuple[Search | TwoEpochs, ...] = (*passes, *searches(study, here))
        self._set_aside: frozenset[tuple[str, str | None]] = frozenset()

    def run(self, unfinished: Collection[Outcome]) -> None:
        """Every run that is left, or ended in such an outcome before.

        Raises Interrupted between two runs, HostError when a run cannot be stored.
        """
        self._take_back()
        specs = self._specs
        todo = remaining(specs, self._folder.runs(), unfinished)
        self._set_aside = frozenset(map(_which, (run for run in self._folder.runs() if run.outcome in unfinished)))
        needed = [*todo, *(spec for spec in map(self._next, self._following) if spec is not None)]
        if not needed:
            _say(f"all {len(specs)} runs are finished already; for new ones choose another folder with --out")
            return
        progress = Progress(len(specs), len(specs) - len(todo), self._left(todo), emulated=emulated_disks(self._study))
        self._tell_load(progress)
        self._folder.hold_room()
        data = prepare_data(self._study, needed, self._bench.cache, progress.say, self._interrupts.finish)
        room = room_on_emulated(self._study, [spec for spec in needed if spec.workload in data.sets], data.sets)
        with Placement(self._bench.cache, room, progress.say, self._interrupts.finish) as places:
            ready = Ready(self._study, self._bench, data, places)
            ready.prepare(needed, progress.say, self._interrupts.finish)
            for number, spec in enumerate(todo):
                self._launch(spec, self._left(todo[number:]), ready, progress)
            for each in self._following:
                self._follow(each, ready, progress)

    def conclude(self) -> None:
        """Write the marks of drift and the answer from every run that is stored. Raises HostError."""
        self._folder.free_room()
        if self._folder.runs():
            self._mark_drift()
            left = len(remaining(self._specs, self._folder.runs()))
            if left:
                _say(f"{left} of {len(self._specs)} runs are still to be made; the answer is that of the others")
            answer(self._folder, say=_say)
            _say(f"report: {self._folder.report_path}")

    def conclude_as_far_as_possible(self) -> None:
        """The same, where something else is to be told first: what cannot be written now, `sizer report` writes."""
        try:
            self.conclude()
        except SizerError as error:
            _say(f"the answer is not written: {error}")

    def outcomes(self) -> frozenset[Outcome]:
        """How the runs that the study asks for ended."""
        return frozenset(run.outcome for run in self._folder.runs() if self._asked(run))

    def _take_back(self) -> None:
        """Store the runs that an earlier start could not put into the folder."""

        def store(run: Run) -> bool:
            if self._asked(run):
                self._folder.add(run)
                return True
            return False

        path, host, cache = self._folder.path, self._folder.host, self._bench.cache
        taken = take_back(path, host, cache, store)
        if taken:
            counted = "1 run of this study was" if taken == 1 else f"{taken} runs of this study were"
            _say(
                f"{counted} measured before and could not be stored then; "
                f"taken from {unsaved_place(path, host, cache)} into {path}"
            )

    def _tell_load(self, progress: Progress) -> None:
        sentence = busy_host_in_words(host_load(self._bench.backend))
        if sentence:
            progress.say(sentence)

    def _asked(self, run: Run) -> bool:
        """Whether the study asks for a run: a folder may hold others, of a time when its axes were longer."""
        planned: Collection[str] = {spec.id for spec in self._specs}
        return run.id in planned or any(each.includes(run.spec) for each in self._following)

    def _left(self, todo: Sequence[RunSpec]) -> float:
        """Seconds that these runs, and the passes and searches after them, are expected to take."""
        after = [
            spec
            for each in self._following
            if (spec := self._next(each))
            for _ in range(TYPICAL_RUNS if isinstance(each, Search) else 1)
        ]
        return estimate_seconds([*todo, *after], self._folder.runs())

    def _next(self, following: Search | TwoEpochs) -> RunSpec | None:
        return following.next_run(run for run in self._folder.runs() if _which(run) not in self._set_aside)

    def _launch(self, spec: RunSpec, left: float, ready: Ready, progress: Progress) -> Run:
        """Measure one configuration and store it."""
        if self._interrupts.finish():
            raise Interrupted("interrupted between two runs")
        self._folder.hold_room()
        progress.begin(spec, left)
        self._interrupts.expect(estimate_seconds([spec], self._folder.runs()))
        run = ready.launch(spec, self._folder.log_path(spec.id), Hooks(progress.watch, self._interrupts.now))
        self._interrupts.expect(None)
        if run.outcome is not Outcome.INTERRUPTED:
            self._store(run)
        progress.end(run, self._folder.log_of(run))
        if self._reference is not None and is_measurement(run.spec, self._reference):
            self._mark_drift()
        return run

    def _store(self, run: Run) -> None:
        """Store a run. Raises HostError that says where it lies instead, if the folder does not take it."""
        folder = self._folder
        try:
            folder.add(run)
        except HostError as error:
            try:
                aside = keep_unsaved(run, folder.path, folder.host, self._bench.cache)
            except HostError as second:
                raise HostError(f"{error}; nor can the run just measured be kept in the cache: {second}") from error
            raise HostError(
                f"{error}; the run just measured is kept in {aside}, and this takes it from there and goes on: "
                f"{folder.going_on}"
            ) from error

    def _follow(self, each: Search | TwoEpochs, ready: Ready, progress: Progress) -> None:
        """Run after run until the floor is found or the pass is made, or a run shows that it cannot be."""
        while (spec := self._next(each)) is not None:
            if self._launch(spec, self._left(()), ready, progress).outcome in UNFINISHED:
                break
        progress.say(following_in_words(each, self._folder.runs()))

    def _mark_drift(self) -> None:
        """Write each run again whose warning of drift is not what the runs of the reference say by now."""
        for run in changed_marks(self._folder.runs(), self._reference):
            self._folder.add(run)


def _which(run: Run) -> tuple[str, str | None]:
    """Tells a run from another measurement of the same configuration."""
    return run.id, run.started_at


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
