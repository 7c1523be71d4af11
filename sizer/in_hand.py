"""Whether a study folder is being measured just now, and which run is in hand, without getting in the way."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from sizer.store import StudyFolder

LOCKS = Path("/proc/locks")
"""The kernel's list of file locks, as in proc_locks(5): to try the lock itself could refuse a sizer that starts."""


def is_held(folder: StudyFolder, locks: Path = LOCKS) -> bool:
    """Whether a sizer holds the folder now; False where the kernel does not tell."""
    with suppress(OSError):
        inode = (folder.path / ".lock").stat().st_ino
        # `1: FLOCK  ADVISORY  WRITE 708 00:13:11 0 EOF`; a line with `->` only waits for the one above.
        rows = [line.split() for line in locks.read_text().splitlines() if "->" not in line]
        return any(row[1] == "FLOCK" and row[5].endswith(f":{inode}") for row in rows if len(row) > 5)
    return False


def run_in_hand(folder: StudyFolder) -> str | None:
    """The id of the run that goes on in a folder that is held; None between two runs.

    It is the one whose log began since the folder is held, and after the last run was stored.
    """
    with suppress(OSError):
        held_since = (folder.path / ".lock").stat().st_mtime_ns
        stored = [path.stat().st_mtime_ns for path in (folder.path / "runs").glob("*.json")]
        logs = {path.stat().st_mtime_ns: path.stem for path in (folder.path / "logs").glob("*.log")}
        latest = max(logs, default=0)
        return logs[latest] if latest >= max([held_since, *stored]) and latest else None
    return None
