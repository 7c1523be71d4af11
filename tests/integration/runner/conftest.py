"""Where a run of these tests finds what it needs."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sizer.runner.commands import RunPaths
from sizer.runner.launcher import RunContext


@pytest.fixture
def context(tmp_path: Path) -> Iterator[RunContext]:
    """No data and no disk of its own, a log in `tmp_path`, and a temporary folder with a path as short as a run's: the
    names of sockets in it are."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        paths = RunPaths(Path(sys.executable), tmp_path, None, None, scratch, scratch)
        yield RunContext(paths, None, None, None, 2, 2**34, os.environ, tmp_path / "run.log")
