"""Study folders that a person names."""

from __future__ import annotations

import sys
from pathlib import Path

from sizer import api
from sizer.store import StudyFolder

LEFT_OUT = "left out"
"""What a file among the runs is that cannot be read as one."""


def opened(path: str | Path) -> StudyFolder:
    """The study folder at `path`; what cannot be read among its runs is said on stderr and left out."""
    folder = api.open_study(path)
    for problem in folder.problems():
        print(f"{LEFT_OUT}: {problem}", file=sys.stderr)
    return folder
