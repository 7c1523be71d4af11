"""What every way of limiting promises, whatever is behind it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sizer.limits.interface import Control, Group, LimitsBackend
from sizer.limits.supervised import OOM_SCORE
from sizer.records.messages import HostError
from sizer.records.study import Limits
from tests import ROOT

ONE_CPU = Limits(vcpus=1)

GROWING = (
    *("core_seconds", "host_core_seconds", "periods", "throttled_periods", "oom_kills"),
    *("read_bytes", "written_bytes", "read_ios", "write_ios", "cpu_stall", "memory_stall", "io_stall"),
    *("peak_memory_bytes", "steal_core_seconds"),
)
STALLS = {"cpu_stall", "memory_stall", "io_stall"}

BATCHED_BYTES = 1 << 20
"""How far the kernel's parts of memory may lag behind their sum: each CPU hands its changes in by batches."""


@contextmanager
def waiting(group: Group) -> Iterator[subprocess.Popen[bytes]]:
    """A program in the group that has started and would wait for a minute."""
    program = "import time; print('up', flush=True); time.sleep(60)"
    child = subprocess.Popen(group.command([sys.executable, "-c", program]), stdout=subprocess.PIPE)
    child.stdout.readline()
    try:
        yield child
    finally:
        child.kill()
        child.communicate(timeout=200)


def test_what_is_missing_is_what_is_not_available(backend: LimitsBackend) -> None:
    """Every control is told of once, and limits that need one are refused exactly where it is not available: a tier
    that is a real mount needs none. A limit above what the host has would limit nothing, and is refused, too."""
    capabilities = backend.capabilities()
    assert [capability.control for capability in capabilities] == list(Control)
    lacking = {capability.control for capability in capabilities if not capability.available}
    needed = backend.missing(Limits(vcpus=0.5, memory_bytes=1 << 28, disk="slow"))
    assert {capability.control for capability in needed} == lacking
    assert backend.missing(ONE_CPU) == backend.missing(Limits(disk="nvme"), throttled=False) == ()
    for limits in (Limits(vcpus=4096), Limits(memory_bytes=1 << 60)):
        assert any("were asked for" in str(capability.how) for capability in backend.missing(limits))
        with pytest.raises(HostError):
            backend.open("toomuch", limits)


def test_the_program_is_as_it_would_be_without(backend: LimitsBackend) -> None:
    """Joining a group changes neither its pid nor its exit status; arguments reach it unchanged. The kernel's killer
    prefers it to sizer; one that was told to be preferred still more stays as it is."""
    ours = int(Path("/proc/self/oom_score_adj").read_text())
    arguments = ["a b", "$HOME", "'", "--", "", "*"]
    with backend.open("pid", ONE_CPU) as group:
        program = "import os, sys; print(os.getpid(), sys.argv[1:]); sys.exit(7)"
        command = group.command([sys.executable, "-c", program, *arguments])
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        output, _ = child.communicate(timeout=200)
        assert (output.strip(), child.returncode) == (f"{child.pid} {arguments!r}", 7)
        show = group.command(["cat", "/proc/self/oom_score_adj"])
        raising = ["sh", "-c", 'echo 900 >/proc/self/oom_score_adj; exec "$@"', "sh", *show]
        for command, score in ((show, max(OOM_SCORE, ours)), (raising, 900)):
            shown = subprocess.run(command, capture_output=True, text=True, timeout=200)
            assert int(shown.stdout) == score


def test_a_sample_counts_up_and_carries_its_time(backend: LimitsBackend) -> None:
    """Counters never fall, and only those that are named as accounted differ from 0: all stalls or none, as
    `tells_pressure` says. What is anonymous, page cache and the kernel's own is at most what is charged."""
    with backend.open("sample", ONE_CPU) as group, waiting(group):
        first, second = group.sample(1.0), group.sample(2.0)
        accounted = group.accounted
    assert (first.time, second.time) == (1.0, 2.0)
    for field in GROWING:
        assert getattr(second, field) >= getattr(first, field) >= 0
    assert {name for name, value in vars(second).items() if value} - {"time"} <= accounted
    assert accounted & STALLS == (STALLS if backend.tells_pressure else set())
    parts = (second.anonymous_bytes, second.page_cache_bytes, second.kernel_bytes)
    assert min(parts) >= 0
    assert sum(parts) <= second.memory_bytes + BATCHED_BYTES


@pytest.mark.parametrize("end", ["kill", "close"])
def test_nobody_is_left(backend: LimitsBackend, end: str) -> None:
    """After `kill` or `close` the program is dead, by SIGKILL; to close again does nothing."""
    group = backend.open(end, ONE_CPU)
    with waiting(group) as child:
        getattr(group, end)()
        assert child.wait(timeout=200) == -9
    group.close()
    group.close()


@pytest.mark.alone
def test_a_living_sizers_group_is_no_leftover(backend: LimitsBackend) -> None:
    """`remove_leftovers` leaves the groups of this very process alone."""
    with backend.open("living", ONE_CPU) as group, waiting(group) as child:
        assert not [name for name in backend.remove_leftovers() if name.endswith("living")]
        assert child.poll() is None


_ABANDON = """
import os, subprocess, sys, time
from sizer.limits.detection import detect
from sizer.limits.backends.affinity import AffinityBackend
from sizer.limits.topology import read_machine
from sizer.limits.tree import Tree
from sizer.records.study import Limits
from sizer.records.messages import Message
backend = AffinityBackend(read_machine(Tree()), Message(""), {}) if sys.argv[1] == "affinity" else detect()
group = backend.open("abandoned", Limits(vcpus=1))
child = subprocess.Popen(group.command(["sleep", "60"]), start_new_session=True, stdout=subprocess.DEVNULL)
print(child.pid, flush=True)
while open(f"/proc/{child.pid}/comm").read().strip() != "sleep":
    time.sleep(0.01)
os.kill(os.getpid(), 9)
"""


@pytest.mark.alone
@pytest.mark.parametrize("kind", ["affinity", pytest.param("real", marks=pytest.mark.root)])
def test_what_a_killed_sizer_left_is_killed_and_removed(kind: str, request: pytest.FixtureRequest) -> None:
    """After a kill -9 of sizer the next one ends the run that was in hand."""
    backend = request.getfixturevalue(kind)
    dead = subprocess.run(
        [sys.executable, "-c", _ABANDON, kind],
        stdout=subprocess.PIPE,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
    )
    assert dead.returncode == -9
    assert any(name.endswith("-abandoned") for name in backend.remove_leftovers())
    status = Path(f"/proc/{int(dead.stdout)}/stat")
    assert not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z"
    assert not any(name.endswith("-abandoned") for name in backend.remove_leftovers())
