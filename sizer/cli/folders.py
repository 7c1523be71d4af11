"""Study folders that a person names."""

from __future__ import annotations

import sys
from pathlib import Path

from sizer import api
from sizer.store import StudyFolder
from sizer.words import problem_said


def opened(path: str | Path) -> StudyFolder:
    """The study folder at `path`; what cannot be read among its runs is said on stderr and left out."""
    folder = api.open_study(path)
    for problem in folder.problems():
        print(problem_said(problem), file=sys.stderr)
    return folder
