"""What happens while a study is measured or imported, as records for whoever looks on: a closed set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sizer.analysis.monitor import Live as Live
from sizer.api.fitted_model import StepBegun as StepBegun
from sizer.storage.announcements import Announcement as Announcement
from sizer.storage.announcements import Leftover as Leftover

if TYPE_CHECKING:
    from sizer.exchange.imported import Imported
    from sizer.host.findings import BusyBy
    from sizer.host.lock import MeasuringProcess
    from sizer.model.model import Model
    from sizer.plan.axes_of_first_run import Needs
    from sizer.plan.chosen import PlanEnd, Unfinished
    from sizer.plan.following import Following
    from sizer.plan.reference_runs import Spread
    from sizer.records.answer import Doubt, Recommendation
    from sizer.records.messages import Lines, Message, SizerError
    from sizer.records.notes import Note
    from sizer.records.run import DiskCheck, Failure, Run
    from sizer.records.study import RunReason, RunSpec, Study


@dataclass(frozen=True)
class Doubted:
    """The runs of a workload may fail here although every limit can be set."""

    doubt: Doubt


@dataclass(frozen=True)
class HostBusy:
    """Something else uses this host as measuring begins."""

    busy: BusyBy


@dataclass(frozen=True)
class MeasuredBeside:
    """A sizer of another user measures on this host, too, as measuring begins."""

    other: MeasuringProcess


@dataclass(frozen=True)
class DataLacking:
    """The data of a workload cannot be had, so its runs are refused."""

    workload: str
    why: Exception


@dataclass(frozen=True)
class SettingUp:
    """The command that a workload is set up with is about to be run."""

    workload: str


@dataclass(frozen=True)
class SetupFailed:
    """It failed, so the runs of the workload are refused."""

    workload: str
    failure: Failure


@dataclass(frozen=True)
class DiskChecking:
    """A disk is about to be checked with fio."""

    disk: str


@dataclass(frozen=True)
class DiskChecked:
    """What fio measured of a disk."""

    check: DiskCheck


@dataclass(frozen=True)
class DiskUnusable:
    """A disk cannot be used, so runs on it are refused."""

    disk: str
    why: Exception


@dataclass(frozen=True)
class FollowingEnded:
    """A search, or a two-epoch pass, has ended, or an adaptive plan has no room for its next run, which is `left` then;
    `runs` are all runs of the study in `folder`."""

    following: Following
    runs: tuple[Run, ...]
    left: Unfinished | None = None
    folder: Path | None = None


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
    """A run begins: the seconds that it, and that it and all after it, are expected to take; `why` an adaptive plan
    makes it, None where the study asks for it."""

    spec: RunSpec
    seconds: float
    seconds_left: float
    why: RunReason | None = None


@dataclass(frozen=True)
class AdaptiveEnded:
    """The adaptive plan of the study in `folder` makes no further run; `left` are searches and passes that come next,
    as far as its bound has room."""

    end: PlanEnd
    folder: Path
    left: tuple[Unfinished, ...] = ()


@dataclass(frozen=True)
class RunFinished:
    """A run has ended, however it did, and is stored unless it was interrupted; `log` is what it printed."""

    run: Run
    log: Path | None


@dataclass(frozen=True)
class StoodStill:
    """sizer itself stood still for so many seconds during a run, which is made again."""

    seconds: float


@dataclass(frozen=True)
class FirstRunEnded:
    """A program's run without limits is there, and what it needs by that."""

    run: Run
    needs: Needs


@dataclass(frozen=True)
class FirstRunFailed:
    """It gave no rate, so nothing else is measured: `log` is what it printed, and `withheld` the variables of this
    environment that its last words name and that it did not get."""

    run: Run
    log: Path | None
    withheld: tuple[str, ...]


@dataclass(frozen=True)
class AxesChosen:
    """The study that follows from it is written at `path`: so many `runs` are left, which take about `seconds`."""

    study: Study
    path: Path
    runs: int
    seconds: float


@dataclass(frozen=True)
class Noted:
    """What a reader of the study must know of the whole of it."""

    note: Note


@dataclass(frozen=True)
class VariablesWithheld:
    """Variables of this environment that a program of this kind often reads, and does not get."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class DisksNotRead:
    """The command is not told where its data lies on `disks`, so it reads nothing from there."""

    disks: tuple[str, ...]
    has_data: bool


@dataclass(frozen=True)
class RunsLeft:
    """So many of the planned runs are still to be made as the conclusion is drawn."""

    left: int
    planned: int


@dataclass(frozen=True)
class HostSeen:
    """What the runs of a study say of the host that measured them: how far it drifted, None where it did not, and
    beside how many of its completed `runs` something else used its CPUs."""

    drift: Spread | None
    beside_others: int
    runs: int


@dataclass(frozen=True)
class Conclusion:
    """What the runs of a study say; `problems` about files among them that cannot be read."""

    model: Model
    recommendation: Recommendation
    host: HostSeen
    problems: tuple[Message | Lines, ...]


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
class NotShown:
    """The page could not be written for whoever looks at it meanwhile; the runs go on."""

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
    Announcement
    | Leftover
    | Doubted
    | HostBusy
    | MeasuredBeside
    | DataLacking
    | SettingUp
    | SetupFailed
    | DiskChecking
    | DiskChecked
    | DiskUnusable
    | FollowingEnded
    | RunsTakenBack
    | NothingLeft
    | MeasuringStarted
    | RunStarted
    | AdaptiveEnded
    | Live
    | RunFinished
    | StoodStill
    | FirstRunEnded
    | FirstRunFailed
    | AxesChosen
    | Noted
    | VariablesWithheld
    | DisksNotRead
    | RunsLeft
    | Concluded
    | NotConcluded
    | NotShown
    | StepBegun
    | TableRead
    | TableImported
)

OnEvent = Callable[[Event], None]


def ignore(_: Event) -> None:
    """For a caller who does not look on."""
