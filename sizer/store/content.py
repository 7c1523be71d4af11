"""What lies in a study folder, and the mark by which who measures it knows that somebody looks at its page."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from sizer.files.own_folder import check_content, check_folder, open_lock

WATCHED = ".watched"
MARK_SECONDS = 60.0
"""For which one mark holds; whoever shows the page sets it more often."""

FOLDERS = ("runs", "logs")
FILES = (
    *(".lock", WATCHED, "study.yaml", "host.json", "model.json", "recommendation.json"),
    *("measurements.csv", "report.html"),
)
"""All that sizer reads and writes in a study folder, beside what lies in its folders."""


def refuse_what_leads_elsewhere(path: Path) -> None:
    """Raise InputError where the folder, or what is read or written in it, is a link, a pipe or another user's."""
    if os.path.lexists(path):
        check_folder(path)
        check_content(path, FOLDERS, FILES)


def mark_watched(folder: Path) -> None:
    """Say that the page of the study in `folder` is looked at now; OSError where that cannot be written."""
    descriptor = open_lock(folder / WATCHED)
    try:
        os.utime(descriptor)
    finally:
        os.close(descriptor)


def unmark_watched(folder: Path) -> None:
    """Nobody looks any more."""
    with suppress(OSError):
        (folder / WATCHED).unlink()


def is_watched(folder: Path) -> bool:
    """Whether the mark was set within the last minute."""
    with suppress(OSError):
        return 0 <= time.time() - (folder / WATCHED).lstat().st_mtime < MARK_SECONDS
    return False
