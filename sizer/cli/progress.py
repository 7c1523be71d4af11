"""What a person sees while runs go on: a bar on a terminal, plain lines anywhere else. Always on stderr."""

from __future__ import annotations

import math
import shutil
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TextIO

from sizer.api import events
from sizer.cli.language import within
from sizer.cli.printing import controls
from sizer.files.tables import named
from sizer.plan.chooser import Unfinished
from sizer.records.messages import printable, typed_path
from sizer.records.run_kinds import Purpose
from sizer.records.study import RunSpec
from sizer.words import terminal
from sizer.words.answers import conclusion_line
from sizer.words.language import in_words, rate_in_words
from sizer.words.names import terms_of_answer
from sizer.words.runs import following_in_words, host_lines, result_and_doubts, run_in_words
from sizer.words.studies import planning, profiling
from sizer.words.studies.notes import note_in_words

BAR_WIDTH = 8
"""Narrow, and the rate right after it, since a terminal of 80 columns cuts the end of the line."""
SILENT_SECONDS = 60.0
"""Without a step, after which whoever waits is told how long it may go on; of one that reads its data each time that
it has taken twice as long."""


class EventPrinter:
    """Prints each event; `expect` hears how many seconds the run that begins takes, and None as it ends.

    The total of runs grows with those that no plan could name before. `emulated` are the disks of the study that are.
    """

    def __init__(self, emulated: Collection[str] = (), stream: TextIO | None = None) -> None:
        self.expect: Callable[[float | None], None] = lambda _: None
        self._emulated = emulated
        self._stream = stream or sys.stderr
        self._is_terminal = self._stream.isatty()
        self._total, self._finished, self._left = 0, 0, 0.0
        self._begin(0.0)

    def __call__(self, event: events.Event) -> None:
        """Print what happened."""
        match event:
            case events.MeasuringStarted():
                self._total, self._finished, self._left = event.total, event.finished, event.seconds_left
            case events.RunStarted():
                self._begin(event.seconds_left)
                self._total = max(self._total, self._finished + 1)
                self.expect(event.seconds)
            case events.RunFinished():
                self._finished += 1
                self.expect(None)
        if isinstance(event, events.Live):
            self._watch(event)
        else:
            self._say(self._lines(event))

    def _begin(self, left: float) -> None:
        self._left = left
        self._began = time.monotonic()
        self._tell_at = SILENT_SECONDS

    def _say(self, lines: Iterable[str]) -> None:
        """Lines that stay."""
        for line in lines:
            self._show("")
            print(line, file=self._stream, flush=True)

    def _show(self, line: str) -> None:
        """What a terminal shows until something else is said; '' is nothing."""
        if self._is_terminal:
            controls(self._stream, "\r\x1b[K")
            self._stream.write(printable(line))
            self._stream.flush()

    def _watch(self, live: events.Live) -> None:
        """Say how far a run is; where it has made no step for long, in a line that stays."""
        given_up, reading = live.given_up_seconds, live.reading
        if given_up is not None and self._tell_at <= live.seconds < given_up:
            self._tell_at = math.inf if reading is None else 2 * live.seconds
            self._say(
                [
                    terminal.no_step_yet(live.seconds, given_up)
                    if reading is None
                    else terminal.reading_yet(live.seconds, reading.bytes, reading.whole, given_up)
                ]
            )
        if not self._is_terminal:
            return
        done = round(BAR_WIDTH * self._finished / max(1, self._total))
        rate = rate_in_words(live.throughput, live.unit) if live.throughput is not None else None
        line = terminal.progress_line(
            "#" * done + "." * (BAR_WIDTH - done),
            self._finished,
            self._total,
            max(0.0, self._left - (time.monotonic() - self._began)),
            rate if reading is None else terminal.reading_now(reading.bytes, reading.whole),
            self._run(live.spec),
            (live.cores, live.read_bytes_per_second, live.written_bytes_per_second),
        )
        self._show(within(printable(line), shutil.get_terminal_size().columns - 1))

    def _run(self, spec: RunSpec) -> str:
        run = run_in_words(spec, self._emulated)
        return terminal.reference_again(run) if spec.purpose is Purpose.REFERENCE else run

    def _lines(self, event: events.Event) -> Iterator[str]:
        """An event in words."""
        match event:
            case events.Announcement():
                yield terminal.announcement_in_words(event)
            case events.Leftover():
                yield terminal.leftover_in_words(event)
            case events.Doubt():
                yield terminal.warning_said(terminal.doubt_in_words(event))
            case events.Note():
                yield terminal.note_said(note_in_words(event))
            case events.BusyBy():
                yield terminal.busy_host_in_words(event)
            case events.MeasuringProcess():
                yield terminal.measured_beside(event)
            case events.SetupFailed():
                yield terminal.setup_failed(event.workload, event.failure)
            case events.DiskCheck():
                if event.deviates:
                    yield terminal.disk_deviates(event)
            case events.RunStarted():
                number = self._finished + 1
                if event.why is not None:
                    run = planning.chosen_in_words(run_in_words(event.spec, self._emulated), event.why)
                    yield terminal.progress_chosen(number, self._total, run)
                elif not self._is_terminal:
                    yield terminal.progress_begun(number, self._total, self._run(event.spec), event.seconds_left)
            case events.RunFinished():
                disk = event.run.disk
                disks = [disk.tier.name] if disk is not None and disk.tier.emulated is not None else self._emulated
                yield terminal.ended_line(run_in_words(event.run.spec, disks), result_and_doubts(event.run, event.log))
            case events.FollowingEnded(following, runs, Unfinished() as left):
                yield planning.unfinished_ended(left, runs, typed_path(event.folder))
            case events.FollowingEnded(following, runs):
                yield following_in_words(following, runs)
            case events.FirstRunEnded(run, needs):
                if needs is None:
                    yield from profiling.first_run_failed(run, event.log, event.withheld)
                else:
                    yield from profiling.needs_lines(needs, run.spec.workload.name)
            case events.AxesChosen():
                yield from profiling.axes_lines(event.study, event.path, event.runs, event.seconds)
            case events.AdaptiveEnded():
                yield planning.plan_ended_line(event.end, event.left, typed_path(event.folder), self._emulated)
            case events.Conclusion():
                yield from _conclusion(event)
            case events.TableImported():
                yield from _table(event)


def _conclusion(conclusion: events.Conclusion) -> Iterator[str]:
    """What could not be read, what the host did, each workload's verdict."""
    yield from map(terminal.problem_said, conclusion.problems)
    host = conclusion.host
    yield from host_lines(host.drift, host.beside_others, host.runs)
    for answer in conclusion.recommendation.workloads:
        yield conclusion_line(answer, terms_of_answer(answer, conclusion.model.workload(answer.workload)))
    yield terminal.report_written(conclusion.report)


def _table(event: events.TableImported) -> Iterator[str]:
    table = event.table
    if event.folder is not None:
        workloads = {run.spec.workload.name for run in table.runs}
        yield terminal.table_imported(len(table.runs), len(workloads), event.folder)
        return
    if table.unknown:
        yield terminal.unknown_columns(event.source, in_words(named(table.unknown)))
    yield from (terminal.note_said(note_in_words(note)) for note in table.notes[1:])


QUIET_SECONDS = 3.0
"""An import that is done by then says nothing of how far it is, but on a terminal."""


class ImportProgress(EventPrinter):
    """Prints the events of an import: of each step that begins, how far it is, which a terminal shows until the next
    one does."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, stream: TextIO | None = None) -> None:
        super().__init__(stream=stream)
        self._clock = clock
        self._since = clock()

    def __call__(self, event: events.Event) -> None:
        if not isinstance(event, events.StepBegun):
            self._show("")
            super().__call__(event)
            return
        seconds, place = self._clock() - self._since, (event.workload, event.number, event.of)
        line = terminal.step_in_words(event.stage.value, event.share, seconds, *place)
        if self._is_terminal:
            self._show(line)
        elif seconds >= QUIET_SECONDS:
            self._say([line])
