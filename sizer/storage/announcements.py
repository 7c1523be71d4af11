"""What takes a while as sizer works, what goes wrong meanwhile, and what is removed: records for whoever looks on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from sizer.records.messages import Message


class AnnouncementKind(str, Enum):
    """What takes a while, or goes wrong while the rest goes on."""

    EMBEDDED_DATA = "embedded_data"
    """The embedded data set is made in `folder`."""
    PACKED_DATA = "packed_data"
    """The data at `source` is packed in the format `name` in `folder`."""
    INDEX = "index"
    """An index of the records at `source` is made in `folder`."""
    DAMAGED_DATA = "damaged_data"
    """The data in `folder` is not as it was made, as `why` says, and is made anew."""
    OTHER_SIZER = "other_sizer"
    """Another sizer makes data in `folder`, and this one waits for it."""
    DATA_MADE = "data_made"
    """The data in `folder` is made: its size in `bytes`."""
    PROGRAM = "program"
    """`name` is a line that the program which makes data printed, in its own words."""
    EMULATED_DISK = "emulated_disk"
    """The volume of the emulated disks is made in `folder`."""
    COPY = "copy"
    """So many `bytes` of data are copied to the disk `name`."""
    DATA_LACKING = "data_lacking"
    """The data of the workload `name` cannot be had, so its runs are refused."""
    SETTING_UP = "setting_up"
    """The command that the workload `name` is set up with is about to be run."""
    DISK_CHECKING = "disk_checking"
    """The disk `name` is about to be checked with fio."""
    DISK_UNUSABLE = "disk_unusable"
    """The disk `name` cannot be used, so runs on it are refused."""
    RUNS_TAKEN_BACK = "runs_taken_back"
    """`count` runs that an earlier start measured and could not store, and left at `source`, are in `folder` now."""
    NOTHING_LEFT = "nothing_left"
    """All runs of the study, `count` of them, were made before."""
    STOOD_STILL = "stood_still"
    """sizer itself stood still for so many `seconds` during a run, which is made again."""
    VARIABLES_WITHHELD = "variables_withheld"
    """The variables `names` of this environment, which a program of this kind often reads, are not passed on to it."""
    DISKS_NOT_READ = "disks_not_read"
    """The command is not told where its data lies on the disks `names`; `source` is the data, where it has some."""
    RUNS_LEFT = "runs_left"
    """`count` of the `of` runs that are planned are still to be made as the conclusion is drawn."""
    NOT_CONCLUDED = "not_concluded"
    """The conclusion could not be written, beside the error that ended the runs and is raised after this."""
    NOT_SHOWN = "not_shown"
    """The page could not be written for whoever looks at it meanwhile; the runs go on."""


@dataclass(frozen=True)
class Announcement:
    """One of them, with what its kind needs; `why` says what went wrong."""

    kind: AnnouncementKind
    folder: str = ""
    source: str = ""
    name: str = ""
    bytes: int = 0
    why: Message | Exception | None = None
    count: int = 0
    of: int = 0
    seconds: float = 0.0
    names: tuple[str, ...] = ()

    @property
    def typed(self) -> str:
        """The names as an option takes them."""
        return ",".join(self.names)


Announce = Callable[[Announcement], None]


class LeftoverKind(str, Enum):
    """What a killed sizer may leave on a host."""

    PROGRAMS = "programs"
    GROUPS = "groups"
    EMULATED_DISKS = "emulated_disks"
    DISK_FOLDERS = "disk_folders"
    TEMPORARY_FOLDERS = "temporary_folders"
    DATA_SETS = "data_sets"


@dataclass(frozen=True)
class Leftover:
    """What of one kind was removed, by name; `error` says why the rest cannot be removed."""

    kind: LeftoverKind
    removed: tuple[str, ...] = ()
    error: Exception | None = None
