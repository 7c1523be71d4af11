"""A measured program that waits before its first step until a test lets it go on: a signal comes while it runs."""

from __future__ import annotations

import os
import time
from pathlib import Path

LONGEST = 300.0
"""Seconds after which something that does not come never will."""


class Gate:
    """Stands before the first step of a program: the first `free` runs of it pass, any other waits until it is open."""

    def __init__(self, program: Path, free: int = 0) -> None:
        self._begun, self._opened = program.with_name("begun"), program.with_name("opened")
        self._free = free
        owner = program.stat()
        self._begun.mkdir()
        os.chown(self._begun, owner.st_uid, owner.st_gid)
        waiting = f"""
import os as _os, time as _time
_before = len(_os.listdir({str(self._begun)!r}))
open(_os.path.join({str(self._begun)!r}, str(_os.getpid())), "w").close()
while _before >= {free} and not _os.path.exists({str(self._opened)!r}):
    _time.sleep(0.02)
"""
        program.write_text(waiting + program.read_text())

    def wait(self) -> None:
        """Until a run stands before it."""
        until = time.monotonic() + LONGEST
        while len(list(self._begun.iterdir())) <= self._free:
            assert time.monotonic() < until, "no run began"
            time.sleep(0.02)

    def open(self) -> None:
        """Let it and all others pass."""
        self._opened.touch()
