"""Two processes train one network together, which exchange gradients over loopback by gloo."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT

pytestmark = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is an extra: pip install .[pytorch]")

PROGRAM = [sys.executable, "-m", "workloads.image_training", "--framework", "pytorch", "--network", "squeezenet"]
TOGETHER = [*PROGRAM, "--batch-size", "2", "--gpu-count", "2", "--threads", "2"]
PATIENCE = 240.0
"""Seconds; PyTorch's import alone takes 20 where others use the CPUs."""


@contextmanager
def started(*more: str) -> Iterator[tuple[subprocess.Popen[str], Any]]:
    """The program and the stream of its events; nothing of it is left afterwards."""
    read, write = os.pipe()
    process = subprocess.Popen(
        [*TOGETHER, *more],
        env={**os.environ, "PYTHONPATH": str(ROOT), "SIZER_EVENTS_FD": str(write)},
        pass_fds=[write],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(write)
    try:
        with os.fdopen(read) as events:
            yield process, events
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        process.communicate()


def children(parent: int) -> list[int]:
    """The processes that it has started itself."""
    pids = Path(f"/proc/{parent}/task/{parent}/children").read_text("ascii").split()
    return [int(pid) for pid in pids]


def is_gone(process: int) -> bool:
    """Whether it ends in time; what nobody has waited for yet has ended."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state in "ZX":
            return True
        time.sleep(0.1)
    return False


def test_a_step_is_of_all_ranks() -> None:
    """One event for each step, from rank 0 alone, and all has ended with it."""
    with started("--steps", "3") as (process, events):
        lines = [json.loads(line) for line in events]
        output = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, output
    assert [(line["event"], line.get("samples")) for line in lines] == [
        ("start", None),
        *[("step", 4)] * 3,
        ("end", None),
    ]
    assert lines[0]["gpu_count"] == 2
    assert "12 images" in output[0]


@pytest.mark.parametrize(
    ("first", "number"),
    [(False, signal.SIGKILL), (True, signal.SIGKILL), pytest.param(True, signal.SIGTERM, marks=pytest.mark.long)],
)
def test_none_outlives_another(first: bool, number: signal.Signals) -> None:
    """Whether the first is killed or asked to stop. A rank that dies ends the program with a sentence that says which
    one and why, in place of a wait for ever."""
    with started() as (process, events):
        while first and '"step"' not in events.readline():
            assert process.poll() is None
        events.readline()
        (other,) = children(process.pid)
        os.kill(process.pid if first else other, number)
        err = process.communicate(timeout=PATIENCE)[1]
    assert is_gone(other)
    assert process.returncode == (71 if not first else 0 if number == signal.SIGTERM else -number)
    assert first or "the process of device 1 of 0 to 1 was killed by SIGKILL" in err
