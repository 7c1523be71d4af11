"""Names that tell which sizer a thing belongs to, so that what a killed sizer left is recognised."""

from __future__ import annotations

import os
import re
from pathlib import Path

BASE = "sizer"
"""The directory, in each hierarchy, that holds the groups."""

_NAME = re.compile(r"(?P<pid>\d+)-(?P<start>\d+)-.+")


def owned_name(what: str) -> str:
    """`<pid>-<start time>-<what>`: a pid alone is used again by the kernel, with its start time it is not."""
    pid = os.getpid()
    return f"{pid}-{_start_ticks(pid)}-{what}"


def owner_is_dead(name: str) -> bool:
    """Whether this is such a name and its sizer no longer lives."""
    match = _NAME.fullmatch(name)
    return match is not None and _start_ticks(int(match["pid"])) != int(match["start"])


def _start_ticks(pid: int) -> int | None:
    """Field 22 of /proc/PID/stat (proc(5)), counted after the command's name, which may hold spaces and brackets."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = status.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else int(fields[19])
