"""Whether somebody looks at a study's page now: a mark in its folder, by which who measures it knows."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from sizer.files.own_folder import open_lock

WATCHED = ".watched"
WATCHED_SECONDS = 60.0
"""For which one mark holds; whoever shows the page sets it more often."""


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
        return 0 <= time.time() - (folder / WATCHED).lstat().st_mtime < WATCHED_SECONDS
    return False
