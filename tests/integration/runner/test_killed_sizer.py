"""What a measured program has started ends with sizer, too, before anybody starts sizer again."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import psutil
import pytest

NAP = f"300.{os.getpid()}7"

STARTS = f"""
import os, sys
from pathlib import Path
from sizer.limits.supervised import Supervised
naps = ["sh", "-c", "env -i setsid sleep {NAP} & exec sleep {NAP}"]
Supervised(naps, {{"PATH": os.defpath}}, Path("/"), 2, 2)
print("started", flush=True)
sys.stdin.read()
"""


def naps() -> list[psutil.Process]:
    return [process for process in psutil.process_iter(["cmdline"]) if process.info["cmdline"] == ["sleep", NAP]]


def come_to(count: int) -> bool:
    """Whether there are so many of them before long."""
    deadline = time.monotonic() + 20
    while len(naps()) != count and time.monotonic() < deadline:
        time.sleep(0.02)
    return len(naps()) == count


@pytest.fixture
def starter() -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen([sys.executable, "-c", STARTS], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    yield process
    process.kill()
    process.communicate()
    for left in naps():
        left.kill()


def test_a_daemon_without_a_trace_ends_when_sizer_is_killed(starter: subprocess.Popen[str]) -> None:
    """It has nothing of the run by which the next start could find it."""
    assert starter.stdout.readline() == "started\n"
    assert come_to(2)
    starter.kill()
    assert come_to(0)
