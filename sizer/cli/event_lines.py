"""What happens while a study is measured or imported, as lines on stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sizer import api
from sizer.cli.answers import verdict
from sizer.cli.folders import LEFT_OUT
from sizer.cli.progress import Progress
from sizer.cli.wording import emulated_disks
from sizer.files import named
from sizer.records import Study


class EventPrinter:
    """Prints each event; `expect` hears how many seconds the run that begins takes, and None as it ends."""

    def __init__(self, study: Study | None = None) -> None:
        self.expect: Callable[[float | None], None] = lambda _: None
        self._emulated = emulated_disks(study) if study is not None else frozenset()
        self._progress = Progress(0, 0, 0.0, emulated=self._emulated)

    def __call__(self, event: api.Event) -> None:
        match event:
            case api.MeasuringStarted():
                counts = event.total, event.finished, event.seconds_left
                self._progress = Progress(*counts, emulated=self._emulated)
            case api.RunStarted():
                self._progress.begin(event.spec, event.seconds_left)
                self.expect(event.seconds)
            case api.Live():
                self._progress.watch(event)
            case api.RunFinished():
                self.expect(None)
                self._progress.end(event.run, event.log)
            case _:
                for line in _lines(event):
                    self._progress.say(line)


def _lines(event: api.Event) -> Iterator[str]:
    match event:
        case api.Notice():
            yield f"warning: {event.text}" if event.is_warning else event.text
        case api.RunsTakenBack():
            counted = "1 run of this study was" if event.count == 1 else f"{event.count} runs of this study were"
            yield (
                f"{counted} measured before and could not be stored then; taken from {event.source} into {event.folder}"
            )
        case api.NothingLeft():
            yield f"all {event.count} runs are finished already; for new ones choose another folder with --out"
        case api.RunsLeft():
            yield f"{event.left} of {event.planned} runs are still to be made; the answer is that of the others"
        case api.Concluded():
            yield from _conclusion(event.conclusion)
            yield f"report: {event.report}"
        case api.NotConcluded():
            yield f"the answer is not written: {event.error}"
        case api.TableRead():
            if event.table.unknown:
                unknown = named(event.table.unknown)
                yield f"warning: {event.source}: sizer knows nothing of {unknown}; kept in each run and by export"
            yield from (f"note: {note}" for note in event.table.notes[1:])
        case api.TableImported():
            runs = event.table.runs
            workloads = len({run.spec.workload.name for run in runs})
            yield f"{_counted(len(runs), 'run')} of {_counted(workloads, 'workload')} imported into {event.folder}"


def _conclusion(conclusion: api.Conclusion) -> Iterator[str]:
    """What could not be read or drifted, and the verdict of each workload."""
    yield from (f"{LEFT_OUT}: {problem}" for problem in conclusion.problems)
    yield from conclusion.notes
    yield from (verdict(each, conclusion.model) for each in conclusion.recommendation.workloads)


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
