"""What killed sizers left on this host is removed before anything is measured. The living keep what is theirs.

In an order that is right again after a kill in its middle: what could still make things goes first, then the things.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from sizer.limits.interface import LimitsBackend
from sizer.limits.process_tree import end_left
from sizer.records.messages import HostError
from sizer.storage import data_cache, disks, placement
from sizer.storage.announcements import Leftover, LeftoverKind


def remove_what_was_left(backend: LimitsBackend, mounts: Iterable[Path], cache: Path) -> tuple[Leftover, ...]:
    """Remove what is left on this host, on the study's own `mounts` and in the `cache`; what was found of each kind.

    Raises HostError for processes and groups that will not go: beside them nothing could be measured. What else
    cannot be removed is named, too.
    """
    # Before their groups, because one may be about to join; not waited for, because one in a frozen group cannot die.
    processes = end_left(wait=False)
    groups = backend.remove_leftovers()
    processes = tuple(sorted({*processes, *end_left()}))
    leftovers = [Leftover(LeftoverKind.PROGRAMS, processes), Leftover(LeftoverKind.GROUPS, groups)]
    places: list[tuple[LeftoverKind, Callable[[], Sequence[Path]]]] = [
        (LeftoverKind.EMULATED_DISKS, partial(disks.remove_leftovers, cache / "disks")),
        *[(LeftoverKind.DISK_FOLDERS, partial(disks.remove_left_folders, mount)) for mount in mounts],
        (LeftoverKind.TEMPORARY_FOLDERS, placement.remove_leftovers),
        (LeftoverKind.DATA_SETS, partial(data_cache.remove_leftovers, cache)),
    ]
    for kind, remove_left in places:
        try:
            leftovers.append(Leftover(kind, tuple(str(path) for path in remove_left())))
        except (HostError, OSError) as error:
            leftovers.append(Leftover(kind, error=error))
    return tuple(leftover for leftover in leftovers if leftover.removed or leftover.error)
