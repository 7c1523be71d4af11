"""The command line as a person types it, in an empty folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Typed = Callable[..., subprocess.CompletedProcess[str]]

CHILD = """
import json, os, sys, time
descriptor = int(os.environ["SIZER_EVENTS_FD"])
def write(**fields):
    os.write(descriptor, (json.dumps(fields) + "\\n").encode())
write(event="start", sample_unit="image", batch_size=8, dataset_bytes=0, dataset_samples=0, bytes_per_sample=0)
while True:
    time.sleep(0.02)
    write(event="step", time=time.monotonic(), samples=8, input_wait=0.0, epoch=0)
"""

STUDY = """
name: quick
measure: {{repeats: 1, seconds: 1, precision: 0.2}}
workloads:
  - name: job
    kind: command
    command: [{python}, child.py]
    axes: {{vcpus: [0.5, 1, 2]}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a study of three short runs of a child that does nothing but step."""
    (tmp_path / "child.py").write_text(CHILD)
    (tmp_path / "study.yaml").write_text(
        STUDY.format(python=sys.executable).replace("child.py", str(tmp_path / "child.py"))
    )
    return tmp_path


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "SIZER_CACHE": str(tmp_path / "cache")}


@pytest.fixture
def sizer(folder: Path, environment: dict[str, str]) -> Typed:
    """Type `sizer ...` and wait for its end."""

    def typed(*words: str) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-m", "sizer", *words]
        return subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)

    return typed
