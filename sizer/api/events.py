"""What happens while a study is measured or imported, as records for whoever looks on: a closed set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sizer.analysis import Live
from sizer.api.conclusions import Conclusion
from sizer.exchange import Imported
from sizer.records import Run, RunSpec, SizerError


@dataclass(frozen=True)
class Notice:
    """One sentence about data, disks or this host."""

    text: str
    is_warning: bool = False


@dataclass(frozen=True)
class RunsTakenBack:
    """Runs that an earlier start measured and could not store are in the folder now."""

    count: int
    source: Path
    folder: Path


@dataclass(frozen=True)
class NothingLeft:
    """All runs of the study, so many, were made before."""

    count: int


@dataclass(frozen=True)
class MeasuringStarted:
    """Runs that the study plans, those made already, and the seconds that the others are expected to take."""

    total: int
    finished: int
    seconds_left: float


@dataclass(frozen=True)
class RunStarted:
    """A run begins: the seconds that it, and that it and all after it, are expected to take."""

    spec: RunSpec
    seconds: float
    seconds_left: float


@dataclass(frozen=True)
class RunFinished:
    """A run has ended, however it did, and is stored unless it was interrupted; `log` is what it printed."""

    run: Run
    log: Path | None


@dataclass(frozen=True)
class RunsLeft:
    """So many of the planned runs are still to be made as the conclusion is drawn."""

    left: int
    planned: int


@dataclass(frozen=True)
class Concluded:
    """Model, recommendation, table and report are written into the folder."""

    conclusion: Conclusion
    report: Path


@dataclass(frozen=True)
class NotConcluded:
    """They could not be written, beside the error that ended the runs and is raised after this."""

    error: SizerError


@dataclass(frozen=True)
class TableRead:
    """Every row of a table of measurements was understood; nothing is written yet."""

    source: Path
    table: Imported


@dataclass(frozen=True)
class TableImported:
    """The runs of the table are stored in the folder."""

    table: Imported
    folder: Path


Event = (
    Notice
    | RunsTakenBack
    | NothingLeft
    | MeasuringStarted
    | RunStarted
    | Live
    | RunFinished
    | RunsLeft
    | Concluded
    | NotConcluded
    | TableRead
    | TableImported
)

OnEvent = Callable[[Event], None]


def ignore(_: Event) -> None:
    """For a caller who does not look on."""
