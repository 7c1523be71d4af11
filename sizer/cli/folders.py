"""Study folders that a person names."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sizer import api

if TYPE_CHECKING:
    from sizer.store.study_folder import StudyFolder


def opened(path: str | Path) -> StudyFolder:
    """The study folder at `path`; what cannot be read among its runs is said on stderr and left out."""
    folder = api.open_study(path)
    for problem in folder.problems():
        from sizer.words.terminal import problem_said

        print(problem_said(problem), file=sys.stderr)
    return folder
