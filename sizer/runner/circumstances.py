"""What is found around a run: data that is no longer there, a disk that was full, memory that it left taken."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from sizer.records.run import Cause, CauseKind, DataSet, RunWarning, WarningKind
from sizer.records.study import RunSpec
from sizer.storage.page_cache import files_of

FULL_BYTES = 1 << 20
FULL_SHARE = 0.05
"""A disk with less room than both is full: file systems keep some for themselves and refuse before there is none."""

NO_ROOM = ("No space left on device", "Disk quota exceeded", "MDB_MAP_FULL")
"""What programs print of it, by the C library's own words."""

NO_INPUT = (
    "EOFError",
    "/dev/tty: No such device or address",
    "'/dev/tty'",
    "not a terminal",
    "not a TTY",
    "not a tty",
)
"""What programs print that wanted somebody to type: Python's `input`, shells, libraries that ask for a password."""

QUESTION = re.compile(
    r"(\?|\by(es)?/no?\W*|\b(password|passphrase|token|user ?name|login|press \w+)\b.*[:>.])$", re.IGNORECASE
)
"""How a line ends that waits for an answer."""

CHOICE = re.compile(r"[\[(]\s*y(?:es)?\s*[/|]\s*no?\s*[\])]|\by(?:es)? or no?\b", re.IGNORECASE)
"""What only a question has: `[y/N]`. A program that goes on without the answer prints more behind it."""

SHARED_MEMORY = Path("/dev/shm")

FILE = re.compile(r"[^\s-]\S{0,500}(?:/\S{1,100}|\.\w{1,5})")
"""A word that is the path of a file: `train.py`, `configs/base`."""

MOST_FILES_NAMED = 3
"""Files that are named; of more their number is said."""


MOST_FILES = 50_000
"""Of a folder that a program is started in; to look at as many takes half a second."""

UNSEEN_FOLDERS = frozenset({"__pycache__", ".git"})

CHANGED = {
    CauseKind.DATA_GONE: WarningKind.DATA_GONE,
    CauseKind.DATA_PARTLY_GONE: WarningKind.DATA_PARTLY_GONE,
}


def missing_data(data_set: DataSet | None, spec: RunSpec) -> Cause | None:
    """What is gone of the data set since the study began; None where it is as it was.

    A command may remove files of its own from its data, so of it only a data set that is gone altogether counts.
    """
    if data_set is None:
        return None
    path = Path(data_set.path)
    if not path.exists():
        return Cause(CauseKind.DATA_GONE, text=str(path))
    size = _size(path)
    if size < (1 if spec.workload.kind == "command" else data_set.bytes):
        return Cause(CauseKind.DATA_PARTLY_GONE, {"bytes": size, "whole": data_set.bytes}, str(path))
    return None


def asked_for_input(last_words: str, in_a_line: bool) -> Cause | None:
    """By its last words; a question is one where it offers a choice, or the cursor was left behind it, `in_a_line`."""
    question = in_a_line and QUESTION.search(last_words.rstrip().rpartition("\n")[2])
    asked = question or CHOICE.search(last_words) or any(words in last_words for words in NO_INPUT)
    return Cause(CauseKind.ASKED_FOR_INPUT) if asked else None


def not_in_folder(command: Sequence[str], folder: Path, last_words: str) -> Cause | None:
    """A file that the command names and its last words complain of, where it was started in an empty folder."""
    for word in command[1:]:
        named = FILE.fullmatch(word) and not os.path.isabs(word) and word in last_words
        if named and not os.path.exists(folder / word):
            return Cause(CauseKind.NOT_IN_FOLDER, text=word)
    return None


def data_changed(missing: Cause) -> RunWarning:
    """The same as a warning, which a run of any outcome has."""
    return RunWarning(CHANGED[missing.kind], missing.figures, missing.text)


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
    sizes = {}
    with suppress(OSError), os.scandir(SHARED_MEMORY) as entries:
        for entry in entries:
            with suppress(OSError):
                facts = entry.stat(follow_symlinks=False)
                if facts.st_uid == os.geteuid():
                    sizes[entry.name] = facts.st_blocks * 512
    return sizes


def left_in_memory(before: Mapping[str, int], after: Mapping[str, int]) -> RunWarning | None:
    """Pure: which files came into shared memory meanwhile and are still there. They may be another program's, so they
    are named and not removed."""
    left = sorted(name for name in after if name not in before)
    if not left:
        return None
    names = ", ".join(str(SHARED_MEMORY / name) for name in left[:MOST_FILES_NAMED])
    figures: dict[str, float] = {
        "bytes": sum(after[name] for name in left),
        "more": max(0, len(left) - MOST_FILES_NAMED),
    }
    return RunWarning(WarningKind.MEMORY_LEFT, figures, names)


Files = dict[str, tuple[int, int, int]]
"""Inode, bytes and time of the last change of each file in a folder, by its path from there."""


def files_below(folder: Path, passed_over: Path) -> Files | None:
    """The files of a folder a program is started in, but for that of sizer; None where they are more than MOST_FILES.

    What Python compiles and what git keeps is not looked at.
    """
    files: Files = {}
    for where, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in UNSEEN_FOLDERS]
        for name in names:
            path = os.path.join(where, name)
            with suppress(OSError):
                facts = os.lstat(path)
                files[os.path.relpath(path, folder)] = facts.st_ino, facts.st_size, facts.st_mtime_ns
        if len(files) > MOST_FILES:
            return None
    files.pop(os.path.relpath(passed_over, folder), None)
    return files


def files_changed(before: Files | None, after: Files | None) -> RunWarning | None:
    """Pure: which files a run made or changed where it was started; those that it removed leave nothing behind."""
    if before is None or after is None:
        return None
    changed = sorted(name for name, facts in after.items() if before.get(name) != facts)
    if not changed:
        return None
    figures: dict[str, float] = {"files": len(changed), "more": max(0, len(changed) - MOST_FILES_NAMED)}
    return RunWarning(WarningKind.FILES_CHANGED, figures, ", ".join(changed[:MOST_FILES_NAMED]))


class Room:
    """The least room that was left during a run on each disk that it writes to."""

    def __init__(self, scratch: Path, output: Path) -> None:
        if output.stat().st_dev == scratch.stat().st_dev:
            self._folders = {CauseKind.SCRATCH_AND_OUTPUT_FULL: scratch}
        else:
            self._folders = {CauseKind.OUTPUT_FULL: output, CauseKind.SCRATCH_FULL: scratch}
        self._folders[CauseKind.SHARED_MEMORY_FULL] = SHARED_MEMORY
        self._were_full: dict[CauseKind, Path] = {}

    def poll(self) -> None:
        """Note which disks are full now; about 10 us."""
        for kind, folder in self._folders.items():
            if kind not in self._were_full and _is_full(folder):
                self._were_full[kind] = folder

    def want(self, last_words: str) -> tuple[Cause, ...]:
        """Which disks were full: by what was seen, or else by the workload's own last words."""
        complains = any(words in last_words for words in NO_ROOM)
        named = {kind: folder for kind, folder in self._folders.items() if complains and str(folder) in last_words}
        full = named or self._were_full
        if full:
            return tuple(Cause(kind, text=str(_mount_point(folder))) for kind, folder in full.items())
        return (Cause(CauseKind.DISK_FULL),) if complains else ()


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
