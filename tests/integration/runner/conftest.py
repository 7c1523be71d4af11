"""Where a run of these tests finds what it needs."""

from __future__ import annotations

import os
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sizer.limits.detection import detect
from sizer.records.run import Run
from sizer.records.study import RunSpec
from sizer.runner.commands import RunPaths
from sizer.runner.launcher import RunContext, launch
from sizer.runner.watching import UNWATCHED, Hooks

RATE = r"rate (?P<rate>[\d.]+)"
ASKED = ("seconds", "timeout", "vcpus", "memory_bytes")


@pytest.fixture
def context(tmp_path: Path) -> Iterator[RunContext]:
    """No data and no disk of its own, a log in `tmp_path`, and a temporary folder with a path as short as a run's: the
    names of sockets in it are."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        paths = RunPaths(Path(sys.executable), tmp_path, None, None, scratch, scratch)
        yield RunContext(paths, None, None, None, 2, 2**34, os.environ, tmp_path / "run.log")


@pytest.fixture
def measure(make_spec: Callable[..., RunSpec], context: RunContext) -> Callable[..., Run]:
    """Launch a command, which is measured by the rates that it prints, with what else is asked of its run, or is known
    of its workload."""

    def measured(
        *command: str, hooks: Hooks = UNWATCHED, pattern: str | None = RATE, batch_size: int = 8, **more: Any
    ) -> Run:
        spec = make_spec(*command, **{name: more.pop(name) for name in ASKED if name in more})
        workload = replace(spec.workload, pattern=pattern, **more)
        return launch(replace(spec, workload=workload, batch_size=batch_size), context, detect(), hooks)

    return measured


def python(body: str) -> tuple[str, str, str]:
    """The command of a program in Python."""
    return sys.executable, "-c", textwrap.dedent(body)
