"""What happens while a study is measured or imported, as records for whoever looks on: a closed set.

Where something that others know happens, their record is the event: a doubt, a note, what else uses the host as
measuring begins (`BusyBy`, `MeasuringProcess`), what fio measured of a disk (`DiskCheck`), how an adaptive plan ended
(`PlanEnd`), what a run does at the moment (`Live`). An `Announcement` is of one of many kinds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sizer.analysis.monitor import Live as Live
from sizer.api.fitted_model import StepBegun as StepBegun
from sizer.host.findings import BusyBy as BusyBy
from sizer.host.lock import MeasuringProcess as MeasuringProcess
from sizer.records.answer import Doubt as Doubt
from sizer.records.notes import Note as Note
from sizer.records.run import DiskCheck as DiskCheck
from sizer.storage.announcements import Announcement as Announcement
from sizer.storage.announcements import AnnouncementKind as AnnouncementKind
from sizer.storage.announcements import Leftover as Leftover

if TYPE_CHECKING:
    from sizer.exchange.imported import Imported
    from sizer.model.model import Model
    from sizer.plan.axes_of_first_run import Needs
    from sizer.plan.chooser import PlanEnd, Unfinished
    from sizer.plan.following import Following
    from sizer.plan.run_order import Spread
    from sizer.records.answer import Recommendation
    from sizer.records.messages import Lines, Message
    from sizer.records.run import Failure, Run
    from sizer.records.study import RunReason, RunSpec, Study


@dataclass(frozen=True)
class SetupFailed:
    """The command that a workload is set up with failed, so the runs of the workload are refused."""

    workload: str
    failure: Failure


@dataclass(frozen=True)
class FollowingEnded:
    """A search, or a two-epoch pass, has ended, or an adaptive plan has no room for its next run, which is `left` then;
    `runs` are all runs of the study in `folder`."""

    following: Following
    runs: tuple[Run, ...]
    left: Unfinished | None
    folder: Path


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
class FirstRunEnded:
    """A program's run without limits is there: what it needs by that. None where it gave no rate, so nothing else is
    measured: `log` is what it printed, and `withheld` the variables of this environment that its last words name and
    that it did not get."""

    run: Run
    needs: Needs | None
    log: Path | None = None
    withheld: tuple[str, ...] = ()


@dataclass(frozen=True)
class AxesChosen:
    """The study that follows from it is written at `path`: so many `runs` are left, which take about `seconds`."""

    study: Study
    path: Path
    runs: int
    seconds: float


@dataclass(frozen=True)
class HostSeen:
    """What the runs of a study say of the host that measured them: how far it drifted, None where it did not, and
    beside how many of its completed `runs` something else used its CPUs."""

    drift: Spread | None
    beside_others: int
    runs: int


@dataclass(frozen=True)
class Conclusion:
    """What the runs of a study say, by the `report` that is written with it; `problems` are about files among them that
    cannot be read."""

    model: Model
    recommendation: Recommendation
    host: HostSeen
    problems: tuple[Message | Lines, ...]
    report: Path


@dataclass(frozen=True)
class TableImported:
    """Every row of a table of measurements was understood; its runs are stored in `folder`, which is None before."""

    source: Path
    table: Imported
    folder: Path | None = None


Event = (
    Announcement
    | Leftover
    | Doubt
    | Note
    | BusyBy
    | MeasuringProcess
    | DiskCheck
    | SetupFailed
    | FollowingEnded
    | MeasuringStarted
    | RunStarted
    | AdaptiveEnded
    | Live
    | RunFinished
    | FirstRunEnded
    | AxesChosen
    | Conclusion
    | StepBegun
    | TableImported
)

OnEvent = Callable[[Event], None]


def ignore(_: Event) -> None:
    """For a caller who does not look on."""
