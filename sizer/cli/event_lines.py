"""What happens while a study is measured or imported, as lines on stderr.

Sentences are taken from `words` as they are said, so that a command loads those that it says and no others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from sizer import api, words
from sizer.cli.progress import RunProgress
from sizer.files import named
from sizer.records import Study, typed_path


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
            yield words.announcement_in_words(event)
        case api.events.Leftover():
            yield words.leftover_in_words(event)
        case api.events.Doubted():
            yield words.warning_said(words.doubt_in_words(event.doubt))
        case api.events.HostBusy():
            yield words.busy_host_in_words(event.busy)
        case api.events.MeasuredBeside():
            yield words.measured_beside(event.other)
        case api.events.DataLacking():
            yield words.data_lacking(event.workload, words.in_words(event.why))
        case api.events.SettingUp():
            yield words.setting_up(event.workload)
        case api.events.SetupFailed():
            yield words.setup_failed(event.workload, event.failure)
        case api.events.DiskChecking():
            yield words.disk_checking(event.disk)
        case api.events.DiskChecked():
            if event.check.deviates:
                yield words.disk_deviates(event.check)
        case api.events.DiskUnusable():
            yield words.disk_unusable(event.disk, words.in_words(event.why))
        case api.events.FollowingEnded():
            if event.left is not None:
                yield words.unfinished_ended(event.left, event.runs, typed_path(event.folder))
            else:
                yield words.following_in_words(event.following, event.runs)
        case api.events.RunsTakenBack():
            yield words.runs_taken_back(event.count, event.source, event.folder)
        case api.events.NothingLeft():
            yield words.nothing_left(event.count)
        case api.events.StoodStill():
            yield words.stood_still(event.seconds)
        case api.events.FirstRunEnded():
            yield from words.needs_lines(event.needs, event.run.spec.workload.name)
        case api.events.FirstRunFailed():
            yield from words.first_run_failed(event.run, event.log, event.withheld)
        case api.events.AxesChosen():
            yield from words.axes_lines(event.study, event.path, event.runs, event.seconds)
        case api.events.Noted():
            yield words.note_said(words.note_in_words(event.note))
        case api.events.VariablesWithheld():
            yield words.note_said(words.variables_withheld(event.names))
        case api.events.DisksNotRead():
            yield words.warning_said(words.disks_not_read(event.disks, event.has_data))
        case api.events.AdaptiveEnded():
            yield words.plan_ended_line(event.end, event.left, typed_path(event.folder), emulated)
        case api.events.RunsLeft():
            yield words.runs_left(event.left, event.planned)
        case api.events.Concluded():
            yield from _conclusion(event.conclusion)
            yield words.report_written(event.report)
        case api.events.NotConcluded():
            yield words.answer_not_written(words.in_words(event.error))
        case api.events.NotShown():
            yield words.page_not_written(words.in_words(event.error))
        case api.events.TableRead():
            if event.table.unknown:
                yield words.unknown_columns(event.source, words.in_words(named(event.table.unknown)))
            yield from (words.note_said(words.note_in_words(note)) for note in event.table.notes[1:])
        case api.events.TableImported():
            runs = event.table.runs
            yield words.table_imported(len(runs), len({run.spec.workload.name for run in runs}), event.folder)


def _conclusion(conclusion: api.events.Conclusion) -> Iterator[str]:
    """What could not be read, what the host did, each workload's verdict."""
    yield from map(words.problem_said, conclusion.problems)
    host = conclusion.host
    yield from words.host_lines(host.drift, host.beside_others, host.runs)
    for answer in conclusion.recommendation.workloads:
        yield words.conclusion_line(answer, words.terms_of(conclusion.model.workload(answer.workload)))
