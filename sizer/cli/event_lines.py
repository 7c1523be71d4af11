"""What happens while a study is measured or imported, as lines on stderr.

Sentences are taken from `words` as they are said, so that a command loads those that it says and no others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from sizer import api
from sizer.cli.progress import RunProgress
from sizer.files.tables import named
from sizer.records.plain_text import typed_path
from sizer.records.study import Study
from sizer.words.answers import conclusion_line
from sizer.words.language import in_words
from sizer.words.names import terms_of
from sizer.words.notes import note_in_words
from sizer.words.planning import plan_ended_line, unfinished_ended
from sizer.words.profiling import axes_lines, disks_not_read, first_run_failed, needs_lines, variables_withheld
from sizer.words.runs import following_in_words, host_lines
from sizer.words.terminal import (
    announcement_in_words,
    answer_not_written,
    busy_host_in_words,
    data_lacking,
    disk_checking,
    disk_deviates,
    disk_unusable,
    doubt_in_words,
    leftover_in_words,
    measured_beside,
    note_said,
    nothing_left,
    page_not_written,
    problem_said,
    report_written,
    runs_left,
    runs_taken_back,
    setting_up,
    setup_failed,
    stood_still,
    table_imported,
    unknown_columns,
    warning_said,
)


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
