"""Where a run of these tests finds what it needs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from sizer.runner.commands import RunPaths
from sizer.runner.launcher import RunContext


@pytest.fixture
def context(tmp_path: Path) -> RunContext:
    """No data and no disk of its own, a log and a temporary folder below `tmp_path`."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    paths = RunPaths(Path(sys.executable), tmp_path, None, None, scratch, scratch)
    return RunContext(paths, None, None, None, 2, 2**34, os.environ, tmp_path / "run.log")
