from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from sizer.limits.identity import owner_is_dead
from sizer.limits.process_tree import MARK
from sizer.records.messages import HostError, Interrupted
from sizer.storage.subprograms import complete

HANGS_SECONDS = 600
"""As long as nobody waits for a test, however busy the machine is."""


def test_a_stop_ends_the_program() -> None:
    """Whoever presses Ctrl-C does not wait for a long preparation."""
    began = time.monotonic()
    with pytest.raises(Interrupted):
        complete(["sleep", str(HANGS_SECONDS)], stop=lambda: True)
    assert time.monotonic() - began < HANGS_SECONDS / 2


def test_a_program_that_does_not_end_is_given_up() -> None:
    """What hangs must not hang sizer: one sentence says what it was."""
    began = time.monotonic()
    with pytest.raises(HostError, match="sleep has not ended after 0 s"):
        complete(["sleep", str(HANGS_SECONDS)], patience=0.1)
    assert time.monotonic() - began < HANGS_SECONDS / 2


def test_what_a_program_leaves_running_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A daemon of its that holds the pipes open."""
    monkeypatch.setattr("sizer.storage.subprograms.GRACE_SECONDS", 0.2)
    began = time.monotonic()
    done = complete(["sh", "-c", f"sleep {HANGS_SECONDS} & echo $!; exit 4"])
    os.kill(int(done.stdout), signal.SIGKILL)
    assert done.returncode == 4
    assert time.monotonic() - began < HANGS_SECONDS / 2


def test_a_program_carries_our_mark() -> None:
    """So that the next sizer ends it if this one is killed."""
    mark = complete(["sh", "-c", f'printf %s "${MARK}"'], {"PATH": os.environ["PATH"]}).stdout
    assert mark.endswith("-sh")
    assert not owner_is_dead(mark)


def test_ctrl_c_at_the_terminal_does_not_reach_the_program() -> None:
    """A signal to our process group leaves the program alone: we decide when it ends."""
    code = (
        "import signal\nfrom sizer.storage.subprograms import complete\nsignal.signal(signal.SIGINT, lambda *_: None)\n"
        "print('ready', flush=True)\nprint(complete(['sh', '-c', 'sleep 1; echo whole']).stdout)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.3)
    os.killpg(process.pid, signal.SIGINT)
    assert "whole" in process.communicate()[0]
