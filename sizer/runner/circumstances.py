"""What is found around a run: data that is no longer there, a disk that was full, memory that it left taken."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from sizer.records import DataSet, RunSpec, format_bytes
from sizer.storage import files_of

FULL_BYTES = 1 << 20
FULL_SHARE = 0.05
"""A disk with less room than both is full: file systems keep some for themselves and refuse before there is none."""

NO_ROOM = ("No space left on device", "Disk quota exceeded", "MDB_MAP_FULL")
"""What programs print of it, by the C library's own words."""

SHARED_MEMORY = Path("/dev/shm")

MOST_NAMED = 3
"""Files that are named; of more their number is said."""


def missing_data(data_set: DataSet | None, spec: RunSpec) -> str | None:
    """What is gone of the data set since the study began, and what to do; None where it is as it was.

    A command may remove files of its own from its data, so of it only a data set that is gone altogether counts.
    """
    if data_set is None:
        return None
    path = Path(data_set.path)
    if not path.exists():
        return f"its data set {path} is no longer there: put it back"
    size = _size(path)
    if size < (1 if spec.workload.kind == "command" else data_set.bytes):
        still = f"{format_bytes(size)} of {format_bytes(data_set.bytes)}"
        return f"of its data set {path} only {still} are still there: put the rest back"
    return None


def _size(path: Path) -> int:
    size = 0
    for item in files_of(path):
        with suppress(OSError):
            size += item.stat().st_size
    return size


def shared_memory() -> dict[str, int]:
    """The bytes of each file of ours in shared memory, by its name; empty where it cannot be read.

    Such files outlive the programs that made them, and their memory stays taken.
    """
    found = {}
    with suppress(OSError), os.scandir(SHARED_MEMORY) as entries:
        for entry in entries:
            with suppress(OSError):
                facts = entry.stat(follow_symlinks=False)
                if facts.st_uid == os.geteuid():
                    found[entry.name] = facts.st_blocks * 512
    return found


def left_in_memory(before: Mapping[str, int], after: Mapping[str, int]) -> str | None:
    """Pure: which files came into shared memory meanwhile and are still there. They may be another program's, so they
    are told and not removed."""
    left = sorted(name for name in after if name not in before)
    if not left:
        return None
    more = f" and {len(left) - MOST_NAMED} more" if len(left) > MOST_NAMED else ""
    names = ", ".join(str(SHARED_MEMORY / name) for name in left[:MOST_NAMED])
    size = format_bytes(sum(after[name] for name in left))
    return f"{names}{more}, {size} of memory; remove what no other program uses"


class Room:
    """The least room that was left during a run on each disk that it writes to."""

    def __init__(self, spec: RunSpec, scratch: Path, output: Path) -> None:
        disk = f"disk `{spec.limits.disk}`" if spec.limits.disk is not None else "the disk"
        if output.stat().st_dev == scratch.stat().st_dev:
            self._folders = {f"{disk} under its scratch folder (TMPDIR) and its output": scratch}
        else:
            self._folders = {f"{disk} under its output": output, "the disk under its scratch folder (TMPDIR)": scratch}
        self._folders["shared memory"] = SHARED_MEMORY
        self._were_full: dict[str, Path] = {}

    def look(self) -> None:
        """Note which disks are full now; about 10 us."""
        for name, folder in self._folders.items():
            if name not in self._were_full and _is_full(folder):
                self._were_full[name] = folder

    def want(self, last_words: str) -> str | None:
        """Which disk was full, and what to do: by what was seen, or else by the workload's own last words."""
        complains = any(words in last_words for words in NO_ROOM)
        named = {name: folder for name, folder in self._folders.items() if complains and str(folder) in last_words}
        found = named or self._were_full
        if found:
            places = " and ".join(f"{name} ({_mount_point(folder)})" for name, folder in found.items())
            return f"{places} was full: make room there, or measure on a larger one"
        return "a disk that it wrote to was full: make room there" if complains else None


def _is_full(folder: Path) -> bool:
    try:
        state = os.statvfs(folder)
    except OSError:
        return False
    free = (state.f_bfree if os.geteuid() == 0 else state.f_bavail) * state.f_frsize
    without_inodes = state.f_files > 0 and state.f_ffree == 0
    return without_inodes or free < min(FULL_BYTES, FULL_SHARE * state.f_blocks * state.f_frsize)


def _mount_point(folder: Path) -> Path:
    folder = folder.absolute()
    while not os.path.ismount(folder):
        folder = folder.parent
    return folder
