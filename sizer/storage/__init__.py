"""Data sets and disks: provided, checked, and removed again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sizer.lazily import exports

if TYPE_CHECKING:
    from sizer.storage.announcements import Announcement, AnnouncementKind, Leftover, LeftoverKind
    from sizer.storage.data_cache import cache_folder
    from sizer.storage.data_sets import DataSets, check_cache, check_data
    from sizer.storage.disk_check import Fio, check_disk, deviations, expected
    from sizer.storage.disks import emulated_volume, missing_for_emulation, mount_answers, real_volume
    from sizer.storage.leftovers import remove_what_was_left
    from sizer.storage.page_cache import evict, files_of, resident_bytes
    from sizer.storage.placement import Placement, room_on_emulated, temporary_folder
    from sizer.storage.subprograms import never
else:
    __getattr__ = exports(__name__, __file__)

__all__ = [
    "Announcement",
    "AnnouncementKind",
    "DataSets",
    "Fio",
    "Leftover",
    "LeftoverKind",
    "Placement",
    "cache_folder",
    "check_cache",
    "check_data",
    "check_disk",
    "deviations",
    "emulated_volume",
    "evict",
    "expected",
    "files_of",
    "missing_for_emulation",
    "mount_answers",
    "never",
    "real_volume",
    "remove_what_was_left",
    "resident_bytes",
    "room_on_emulated",
    "temporary_folder",
]
