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


def test_each_control_is_told_of_once(backend: LimitsBackend) -> None:
    """`capabilities` names every Control exactly once."""
    assert [capability.control for capability in backend.capabilities()] == list(Control)


def test_what_is_missing_is_what_is_not_available(backend: LimitsBackend) -> None:
    """Limits that need a control are refused exactly where the control is not available."""
    lacking = {capability.control for capability in backend.capabilities() if not capability.available}
    needed = backend.missing(Limits(vcpus=0.5, memory_bytes=1 << 28, disk="slow"))
    assert {each.control for each in needed} == lacking
    assert backend.missing(ONE_CPU) == ()


def test_a_real_mount_needs_no_disk_control(backend: LimitsBackend) -> None:
    """A tier that is a real mount is not throttled and so asks nothing of the host."""
    assert backend.missing(Limits(disk="nvme"), throttled=False) == ()


@pytest.mark.parametrize("limits", [Limits(vcpus=4096), Limits(memory_bytes=1 << 60)])
def test_more_than_the_host_has_is_refused(backend: LimitsBackend, limits: Limits) -> None:
    """A limit above what the host has would limit nothing, and is an error of the host before anything runs."""
    assert any("were asked for" in str(each.how) for each in backend.missing(limits))
    with pytest.raises(HostError):
        backend.open("toomuch", limits)


def test_the_program_keeps_the_pid_and_its_own_exit_status(backend: LimitsBackend) -> None:
    """Joining a group changes neither the pid nor the exit status of the program."""
    with backend.open("pid", ONE_CPU) as group:
        program = "import os, sys; print(os.getpid()); sys.exit(7)"
        child = subprocess.Popen(group.command([sys.executable, "-c", program]), stdout=subprocess.PIPE, text=True)
        output, _ = child.communicate(timeout=200)
        assert (int(output), child.returncode) == (child.pid, 7)


def test_a_run_goes_before_sizer_when_the_host_is_out_of_memory(backend: LimitsBackend) -> None:
    """The kernel's killer prefers its processes; one that was told to prefer us still more stays as it is."""
    ours = int(Path("/proc/self/oom_score_adj").read_text())
    with backend.open("score", ONE_CPU) as group:
        show = group.command(["cat", "/proc/self/oom_score_adj"])
        shown = subprocess.run(show, capture_output=True, text=True, timeout=200)
        assert int(shown.stdout) == max(OOM_SCORE, ours)
        told = ["sh", "-c", 'echo 900 >/proc/self/oom_score_adj; exec "$@"', "sh", *show]
        assert int(subprocess.run(told, capture_output=True, text=True, timeout=200).stdout) == 900


def test_arguments_arrive_as_they_are(backend: LimitsBackend) -> None:
    """Spaces, quotes, dollars and double dashes in arguments reach the program unchanged."""
    arguments = ["a b", "$HOME", "'", "--", "", "*"]
    with backend.open("args", ONE_CPU) as group:
        program = "import sys; print(sys.argv[1:])"
        shown = subprocess.run(
            group.command([sys.executable, "-c", program, *arguments]), capture_output=True, text=True, timeout=200
        )
        assert shown.stdout.strip() == repr(arguments)


def test_a_sample_counts_up_and_carries_its_time(backend: LimitsBackend) -> None:
    """Counters never fall, and only those that are named as accounted differ from 0."""
    with backend.open("sample", ONE_CPU) as group, waiting(group):
        first, second = group.sample(1.0), group.sample(2.0)
    assert (first.time, second.time) == (1.0, 2.0)
    for field in GROWING:
        assert getattr(second, field) >= getattr(first, field) >= 0
    counted = {name for name, value in vars(second).items() if value} - {"time"}
    assert counted <= group.accounted


def test_the_parts_of_memory_are_no_more_than_the_whole(backend: LimitsBackend) -> None:
    """What is anonymous, page cache and the kernel's own adds up to at most what is charged."""
    with backend.open("parts", ONE_CPU) as group, waiting(group):
        sample = group.sample(0.0)
    parts = (sample.anonymous_bytes, sample.page_cache_bytes, sample.kernel_bytes)
    assert min(parts) >= 0
    assert sum(parts) <= sample.memory_bytes + BATCHED_BYTES


def test_stalls_are_accounted_where_the_backend_tells_of_pressure(backend: LimitsBackend) -> None:
    """All three or none, as `tells_pressure` says."""
    with backend.open("stalls", ONE_CPU) as group:
        assert group.accounted & STALLS == (STALLS if backend.tells_pressure else set())


def test_kill_leaves_nobody(backend: LimitsBackend) -> None:
    """After `kill` the program is dead, by SIGKILL."""
    with backend.open("kill", ONE_CPU) as group, waiting(group) as child:
        group.kill()
        assert child.wait(timeout=200) == -9


def test_close_kills_and_can_be_called_again(backend: LimitsBackend) -> None:
    """`close` ends a run that still goes on; a second call does nothing."""
    group = backend.open("close", ONE_CPU)
    with waiting(group) as child:
        group.close()
        assert child.wait(timeout=200) == -9
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
