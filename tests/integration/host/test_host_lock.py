"""One sizer measures a host at a time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sizer.host.lock import is_host_measured, measuring_alone
from sizer.records.errors import HostError

HOLD = """
import sys
from sizer.host.lock import measuring_alone
with measuring_alone(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def name() -> str:
    """A name of this test's own, so that a sizer that measures meanwhile does not matter."""
    return f"\0sizer-test-{os.getpid()}"


@pytest.fixture
def holder(name: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the host."""
    argv = [sys.executable, "-c", HOLD.replace("sys.argv[1]", repr(name))]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_the_second_is_told_who_measures(holder: subprocess.Popen[str], name: str) -> None:
    """Process id, command line, and what to type; exit code 3."""
    with pytest.raises(HostError) as refused, measuring_alone(name):
        pass
    assert f"process {holder.pid}: {sys.executable} -c" in str(refused.value)
    assert str(refused.value).endswith(f"kill {holder.pid}")
    assert "\n" not in str(refused.value)
    assert refused.value.exit_code == 3


def test_a_killed_sizer_holds_nothing(holder: subprocess.Popen[str], name: str) -> None:
    """The kernel gives the host free with the process, whatever ended it."""
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with measuring_alone(name):
        pass


def test_children_do_not_keep_the_lock(name: str) -> None:
    """A daemon that outlives its sizer does not lock the host."""
    with measuring_alone(name):
        child = subprocess.Popen(["sleep", "60"])
    try:
        with measuring_alone(name):
            pass
    finally:
        child.kill()
        child.wait()


def test_many_may_ask(holder: subprocess.Popen[str], name: str) -> None:
    """However often the second one is typed, it gets the same sentence."""
    for _ in range(50):
        with pytest.raises(HostError, match=f"process {holder.pid}"), measuring_alone(name):
            pass


def test_whoever_asks_often_sees_it_held(holder: subprocess.Popen[str], name: str) -> None:
    """And free, once it is; the one that measures is not asked."""
    assert is_host_measured(name)
    assert not is_host_measured(name[:-1])
    assert not is_host_measured(name, Path("/proc/none"))
    holder.kill()
    holder.wait()
    assert not is_host_measured(name)
