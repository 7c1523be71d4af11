"""What a person sees while runs go on: a bar on a terminal, plain lines anywhere else. Always on stderr."""

from __future__ import annotations

import math
import shutil
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TextIO

from sizer import api
from sizer.analysis.monitor import Live
from sizer.cli.language import within
from sizer.cli.printing import controls
from sizer.files.tables import named
from sizer.records.messages import printable, typed_path
from sizer.records.run import Run
from sizer.records.run_kinds import Purpose
from sizer.records.study import RunReason, RunSpec, Study
from sizer.words.answers import conclusion_line
from sizer.words.language import in_words, rate_in_words
from sizer.words.names import terms_of
from sizer.words.notes import note_in_words
from sizer.words.planning import chosen_in_words, plan_ended_line, unfinished_ended
from sizer.words.profiling import axes_lines, disks_not_read, first_run_failed, needs_lines, variables_withheld
from sizer.words.runs import following_in_words, host_lines, result_and_doubts, run_in_words
from sizer.words.terminal import (
    announcement_in_words,
    answer_not_written,
    busy_host_in_words,
    data_lacking,
    disk_checking,
    disk_deviates,
    disk_unusable,
    doubt_in_words,
    ended_line,
    leftover_in_words,
    measured_beside,
    no_step_yet,
    note_said,
    nothing_left,
    page_not_written,
    problem_said,
    progress_begun,
    progress_chosen,
    progress_line,
    reading_now,
    reading_yet,
    reference_again,
    report_written,
    runs_left,
    runs_taken_back,
    setting_up,
    setup_failed,
    step_in_words,
    stood_still,
    table_imported,
    unknown_columns,
    warning_said,
)

BAR_WIDTH = 8
"""Narrow, and the rate right after it, since a terminal of 80 columns cuts the end of the line."""


SILENT_SECONDS = 60.0
"""Without a step, after which whoever waits is told how long it may go on; of one that reads its data each time that
it has taken twice as long."""


class RunProgress:
    """Counts finished runs; the total grows with runs that no plan could name before.

    `left` is what the runs not yet finished are expected to take, in seconds; `emulated` names the
    disks of the study that are emulated.
    """

    def __init__(
        self, total: int, finished: int, left: float, stream: TextIO | None = None, emulated: Collection[str] = ()
    ) -> None:
        self._total = total
        self._finished = finished
        self._left = left
        self._stream = stream or sys.stderr
        self._emulated = emulated
        self._is_terminal = self._stream.isatty()
        self._tell_at = SILENT_SECONDS
        self._began = time.monotonic()

    def say(self, text: str) -> None:
        """A line that stays."""
        self._clear()
        print(text, file=self._stream, flush=True)

    def begin(self, spec: RunSpec, left: float, why: RunReason | None = None) -> None:
        """A run begins; `why` an adaptive plan chose it is a line that stays, also on a terminal."""
        self._left = left
        self._total = max(self._total, self._finished + 1)
        self._began = time.monotonic()
        self._tell_at = SILENT_SECONDS
        if why is not None:
            self.say(
                progress_chosen(
                    self._finished + 1,
                    self._total,
                    chosen_in_words(run_in_words(spec, self._emulated), why),
                )
            )
        elif not self._is_terminal:
            self.say(progress_begun(self._finished + 1, self._total, self._words(spec), left))

    def watch(self, live: Live) -> None:
        given_up = live.given_up_seconds
        if given_up is not None and self._tell_at <= live.seconds < given_up:
            told = live.reading
            if told is None:
                self._tell_at = math.inf
                self.say(no_step_yet(live.seconds, given_up))
            else:
                self._tell_at = 2 * live.seconds
                self.say(reading_yet(live.seconds, told.bytes, told.whole, given_up))
        if not self._is_terminal:
            return
        done = round(BAR_WIDTH * self._finished / max(1, self._total))
        bar = "#" * done + "." * (BAR_WIDTH - done)
        rate = rate_in_words(live.throughput, live.unit) if live.throughput is not None else None
        rate = reading_now(live.reading.bytes, live.reading.whole) if live.reading is not None else rate
        left = max(0.0, self._left - (time.monotonic() - self._began))
        used = live.cores, live.read_bytes_per_second, live.written_bytes_per_second
        line = progress_line(bar, self._finished, self._total, left, rate, self._words(live.spec), used)
        self._clear()
        self._stream.write(within(printable(line), shutil.get_terminal_size().columns - 1))
        self._stream.flush()

    def end(self, run: Run, log: Path | None = None) -> None:
        """The result of a run, and its `log` where that says more."""
        self._finished += 1
        known = {run.disk.tier.name} if run.disk is not None and run.disk.tier.emulated is not None else self._emulated
        self.say(ended_line(run_in_words(run.spec, known), result_and_doubts(run, log)))

    def _words(self, spec: RunSpec) -> str:
        run = run_in_words(spec, self._emulated)
        return reference_again(run) if spec.purpose is Purpose.REFERENCE else run

    def _clear(self) -> None:
        if self._is_terminal:
            controls(self._stream, "\r\x1b[K")


class EventPrinter:
    """Prints each event; `expect` hears how many seconds the run that begins takes, and None as it ends."""

    def __init__(self, study: Study | None = None) -> None:
        self.expect: Callable[[float | None], None] = lambda _: None
        self._emulated = study.emulated_disks if study is not None else frozenset()
        self._progress = RunProgress(0, 0, 0.0, emulated=self._emulated)

    def __call__(self, event: api.events.Event) -> None:
        match event:
            case api.events.MeasuringStarted():
                counts = event.total, event.finished, event.seconds_left
                self._progress = RunProgress(*counts, emulated=self._emulated)
            case api.events.RunStarted():
                self._progress.begin(event.spec, event.seconds_left, event.why)
                self.expect(event.seconds)
            case api.events.Live():
                self._progress.watch(event)
            case api.events.RunFinished():
                self.expect(None)
                self._progress.end(event.run, event.log)
            case _:
                for line in _lines(event, self._emulated):
                    self._progress.say(line)


def _lines(event: api.events.Event, emulated: Collection[str]) -> Iterator[str]:
    match event:
        case api.events.Announcement():
            yield announcement_in_words(event)
        case api.events.Leftover():
            yield leftover_in_words(event)
        case api.events.Doubted():
            yield warning_said(doubt_in_words(event.doubt))
        case api.events.HostBusy():
            yield busy_host_in_words(event.busy)
        case api.events.MeasuredBeside():
            yield measured_beside(event.other)
        case api.events.DataLacking():
            yield data_lacking(event.workload, in_words(event.why))
        case api.events.SettingUp():
            yield setting_up(event.workload)
        case api.events.SetupFailed():
            yield setup_failed(event.workload, event.failure)
        case api.events.DiskChecking():
            yield disk_checking(event.disk)
        case api.events.DiskChecked():
            if event.check.deviates:
                yield disk_deviates(event.check)
        case api.events.DiskUnusable():
            yield disk_unusable(event.disk, in_words(event.why))
        case api.events.FollowingEnded():
            if event.left is not None:
                yield unfinished_ended(event.left, event.runs, typed_path(event.folder))
            else:
                yield following_in_words(event.following, event.runs)
        case api.events.RunsTakenBack():
            yield runs_taken_back(event.count, event.source, event.folder)
        case api.events.NothingLeft():
            yield nothing_left(event.count)
        case api.events.StoodStill():
            yield stood_still(event.seconds)
        case api.events.FirstRunEnded():
            yield from needs_lines(event.needs, event.run.spec.workload.name)
        case api.events.FirstRunFailed():
            yield from first_run_failed(event.run, event.log, event.withheld)
        case api.events.AxesChosen():
            yield from axes_lines(event.study, event.path, event.runs, event.seconds)
        case api.events.Noted():
            yield note_said(note_in_words(event.note))
        case api.events.VariablesWithheld():
            yield note_said(variables_withheld(event.names))
        case api.events.DisksNotRead():
            yield warning_said(disks_not_read(event.disks, event.has_data))
        case api.events.AdaptiveEnded():
            yield plan_ended_line(event.end, event.left, typed_path(event.folder), emulated)
        case api.events.RunsLeft():
            yield runs_left(event.left, event.planned)
        case api.events.Concluded():
            yield from _conclusion(event.conclusion)
            yield report_written(event.report)
        case api.events.NotConcluded():
            yield answer_not_written(in_words(event.error))
        case api.events.NotShown():
            yield page_not_written(in_words(event.error))
        case api.events.TableRead():
            if event.table.unknown:
                yield unknown_columns(event.source, in_words(named(event.table.unknown)))
            yield from (note_said(note_in_words(note)) for note in event.table.notes[1:])
        case api.events.TableImported():
            runs = event.table.runs
            yield table_imported(len(runs), len({run.spec.workload.name for run in runs}), event.folder)


def _conclusion(conclusion: api.events.Conclusion) -> Iterator[str]:
    """What could not be read, what the host did, each workload's verdict."""
    yield from map(problem_said, conclusion.problems)
    host = conclusion.host
    yield from host_lines(host.drift, host.beside_others, host.runs)
    for answer in conclusion.recommendation.workloads:
        yield conclusion_line(answer, terms_of(conclusion.model.workload(answer.workload)))


QUIET_SECONDS = 3.0
"""An import that is done by then says nothing of how far it is."""
TICK_SECONDS = 1.0
EVERY_SECONDS = 10.0
"""Between two plain lines of one step; a step that begins has its own unless one was said in the last second."""


class ImportProgress:
    """Prints the events of an import; while it is entered, a timer says once a second how far it is."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, stream: TextIO | None = None) -> None:
        self._clock = clock
        self._stream = stream or sys.stderr
        self._is_terminal = self._stream.isatty()
        self._printer = EventPrinter()
        self._began = clock()
        self._step: api.events.StepBegun | None = None
        self._said: tuple[api.events.StepBegun, float] | None = None
        self._is_printing = False

    def __enter__(self) -> ImportProgress:
        self._before = signal.signal(signal.SIGALRM, lambda *_: self.tick())
        signal.setitimer(signal.ITIMER_REAL, TICK_SECONDS, TICK_SECONDS)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._before or signal.SIG_DFL)
        self._clear()

    def __call__(self, event: api.events.Event) -> None:
        with self._printing():
            if isinstance(event, api.events.StepBegun):
                self._step = event
                self._say()
            else:
                self._clear()
                self._printer(event)

    def tick(self) -> None:
        """Say how far it is, where it is time to, and nothing is just being printed."""
        if not self._is_printing:
            with self._printing():
                self._say()

    @contextmanager
    def _printing(self) -> Iterator[None]:
        self._is_printing = True
        try:
            yield
        finally:
            self._is_printing = False

    def _say(self) -> None:
        now = self._clock()
        if self._step is None or now - self._began < QUIET_SECONDS:
            return
        line = step_in_words(self._step.stage.value, self._step.share, now - self._began, *self._place())
        if self._is_terminal:
            self._clear()
            self._stream.write(printable(line))
            self._stream.flush()
        elif self._said is None or now - self._said[1] >= (EVERY_SECONDS if self._said[0] == self._step else 1.0):
            print(line, file=self._stream, flush=True)
            self._said = self._step, now

    def _place(self) -> tuple[str, int, int]:
        assert self._step is not None, "asked for only where there is one"
        return self._step.workload, self._step.number, self._step.of

    def _clear(self) -> None:
        if self._is_terminal:
            controls(self._stream, "\r\x1b[K")
