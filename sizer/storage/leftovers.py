"""What killed sizers left on this host is removed before anything is measured. The living keep what is theirs.

In an order that is right again after a kill in its middle: what could still make things goes first, then the things.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from sizer.limits import LimitsBackend, end_left
from sizer.records import (
    HostError,
    Message,
)
from sizer.storage import data_cache, disks, placement


def remove_what_was_left(backend: LimitsBackend, mounts: Iterable[Path], cache: Path) -> tuple[Message, ...]:
    """Remove what is left on this host, on the study's own `mounts` and in the `cache`. A sentence for each kind.

    Raises HostError for processes and groups that will not go: beside them nothing could be measured. What else
    cannot be removed is named in a sentence, too.
    """
    # Before their groups, because one may be about to join; not waited for, because one in a frozen group cannot die.
    processes = end_left(wait=False)
    groups = backend.remove_leftovers()
    processes = tuple(sorted({*processes, *end_left()}))
    found = [_removed(Message("programs"), processes), _removed(Message("groups"), groups)]
    places: list[tuple[Message, Callable[[], Sequence[Path]]]] = [
        (Message("emulated disks"), partial(disks.remove_leftovers, cache / "disks")),
        *[(Message("folders on disks"), partial(disks.remove_left_folders, mount)) for mount in mounts],
        (Message("temporary folders"), placement.remove_leftovers),
        (Message("unfinished data sets"), partial(data_cache.remove_leftovers, cache)),
    ]
    for what, remove_left in places:
        try:
            found.append(_removed(what, [str(path) for path in remove_left()]))
        except (HostError, OSError) as error:
            found.append(
                Message("{what} that a killed sizer left cannot be removed: {problem}", what=what, problem=error)
            )
    return tuple(message for message in found if message is not None)


def _removed(what: Message, names: Sequence[str]) -> Message | None:
    if not names:
        return None
    return Message("removed {what} that a killed sizer left: {names}", what=what, names=", ".join(names))
