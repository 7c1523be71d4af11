"""The control groups of a process that measures, in whichever hierarchy."""

from __future__ import annotations

import glob
import os


def groups_of(process: int) -> list[str]:
    """The names of its groups that are there. Those of other processes may come and go while one looks."""
    paths = glob.glob("/sys/fs/cgroup/**/sizer/*", recursive=True)
    return [os.path.basename(path) for path in paths if os.path.isdir(path) and str(process) in os.path.basename(path)]
