"""What storage does that takes a while, and what it removes, as records for whoever looks on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from sizer.records.messages import Message


class AnnouncementKind(str, Enum):
    """What takes a while."""

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


@dataclass(frozen=True)
class Announcement:
    """One thing that takes a while, with what its kind needs."""

    kind: AnnouncementKind
    folder: str = ""
    source: str = ""
    name: str = ""
    bytes: int = 0
    why: Message | None = None


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
