"""What affinity counts of processes that the kernel keeps in no group."""

from __future__ import annotations

import os
import subprocess
import sys

from sizer.limits.interface import LimitsBackend
from sizer.limits.supervised import JOIN_FAILED, join_command
from sizer.records.study import Limits
from sizer.words.runs import limits_in_words

BURN = "import time\nend = time.process_time() + {seconds}\nwhile time.process_time() < end: pass\n"


def test_the_program_has_the_cpus_of_its_limit(affinity: LimitsBackend) -> None:
    """nproc counts the CPUs that a process may run on."""
    with affinity.open("one", Limits(vcpus=1)) as group:
        assert (
            limits_in_words(group.limited_by) == f"affinity: CPUs {group.cpus[0]}, memory not limited, disk not limited"
        )
        assert subprocess.run(group.command(["nproc"]), capture_output=True, text=True, timeout=200).stdout == "1\n"


def test_the_time_of_children_that_ended_is_kept(affinity: LimitsBackend) -> None:
    """A worker that its parent waited for counts with its parent."""
    program = (
        f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {BURN.format(seconds=0.2)!r}])\n"
        "print('done', flush=True)\nsys.stdin.read()"
    )
    with affinity.open("children", Limits()) as group:
        child = subprocess.Popen(
            group.command([sys.executable, "-c", program]), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert child.stdout is not None
        child.stdout.readline()
        during = group.sample(0.0).core_seconds
        child.communicate(timeout=200)
        after = group.sample(1.0).core_seconds
    assert during >= 0.2
    assert after >= during


def test_a_daemon_that_left_session_and_parent_is_killed(affinity: LimitsBackend) -> None:
    """The mark in its environment stays."""
    program = (
        "import os, time\n"
        "if os.fork() == 0:\n os.setsid()\n if os.fork(): os._exit(0)\n"
        " print(os.getpid(), flush=True); time.sleep(60)\n"
        "os.wait(); os._exit(0)"
    )
    with affinity.open("daemon", Limits()) as group:
        child = subprocess.Popen(group.command([sys.executable, "-c", program]), stdout=subprocess.PIPE)
        assert child.stdout is not None
        daemon = int(child.stdout.readline())
        child.wait(timeout=200)
        group.kill()
        assert b"State:\tZ" in _status(daemon) or _status(daemon) == b""
        child.stdout.close()


def _status(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            return file.read()
    except OSError:
        return b""


def test_a_join_that_fails_is_reported_where_no_program_writes() -> None:
    """What a program prints, and its exit status, may be the same; one that runs reports nothing."""
    for affinity, reported in (((4095,), b"CPUs 4095\n"), ((), b"")):
        read_end, write_end = os.pipe()
        argv = join_command(["sh", "-c", "exit 125"], affinity=affinity, report=write_end)
        assert subprocess.run(argv, pass_fds=(write_end,), timeout=200).returncode == JOIN_FAILED
        os.close(write_end)
        assert os.read(read_end, 100) == reported
        os.close(read_end)
