"""What cgroup v2 limits write and count, on a described host."""

from __future__ import annotations

import os
import subprocess
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from sizer.limits.backends.delegation import is_kept
from sizer.limits.backends.v2 import SUPERVISOR
from sizer.limits.detection import backend_for
from sizer.limits.interface import Control, LimitsBackend
from sizer.limits.topology import Machine
from sizer.limits.tree import Counters, Reading, Tree, number
from sizer.records.run import Sample
from sizer.records.study import Limits
from sizer.words.runs import limits_in_words
from tests.described_hosts import ELSEWHERE

ROOT = "/sys/fs/cgroup"


def group_file(tree: Tree, file: str) -> Path:
    (path,) = tree.path(f"{ROOT}/sizer").glob(f"*/{file}")
    return path


def test_before_linux_5_18_the_kernels_memory_is_the_sum_of_what_is_told(v2: LimitsBackend, v2_tree: Tree) -> None:
    """There the `kernel` line is missing; page tables may be missing, too."""
    with v2.open("a", Limits()) as group:
        lines = "anon 1\nkernel_stack 16\nslab 500\nslab_reclaimable 400\npercpu 8\nvmalloc 3\nsock 5\n"
        group_file(v2_tree, "memory.stat").write_text(lines)
        assert group.sample(0.0).kernel_bytes == 532


@pytest.mark.parametrize(
    ("file", "counter"),
    [("memory.swap.current", "swap_bytes"), ("memory.peak", "peak_memory_bytes"), ("io.pressure", "io_stall")],
)
def test_what_the_kernel_does_not_count_is_not_accounted(
    v2: LimitsBackend, v2_tree: Tree, file: str, counter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel without swap, one before 5.19 without a high-water mark, and pressure that is switched off: the files
    are not there and the run goes on.
    """
    make = type(v2_tree).make

    def make_without(tree: Tree, directory: Path) -> None:
        make(tree, directory)
        (directory / file).unlink(missing_ok=True)

    monkeypatch.setattr(type(v2_tree), "make", make_without)
    with v2.open("a", Limits()) as group:
        assert group.accounted == {field.name for field in fields(Sample)} - ELSEWHERE - {counter}
        assert getattr(group.sample(0.0), counter) == 0


def test_a_file_that_cannot_be_read_is_not_counted(tmp_path: Path) -> None:
    """Older kernels started with psi=0 show pressure files and refuse to read them; so does a folder."""
    (tmp_path / "cpu.stat").write_text("usage_usec 1\n")
    used = Reading("cpu", "cpu.stat", {"core_seconds": number("usage_usec", 1e6)})
    counters = Counters({tmp_path: replace(used, fields={"cpu_stall": number()}), tmp_path / "cpu.stat": used})
    assert counters.accounted == {"core_seconds"}
    assert counters.sample(2.0) == Sample(2.0, core_seconds=1e-6)
    counters.close()


def test_a_user_uses_the_scope_that_was_delegated(
    v2_tree: Any, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The processes in the scope move into a group of their own, since a group with processes hands nothing down."""
    scope = v2_tree.path(f"{ROOT}/user.slice/run.scope")
    control = {"cgroup.type": "domain", "cgroup.controllers": "cpu memory pids", "cgroup.subtree_control": ""}
    v2_tree.describe(scope, {"cgroup.procs": "4242\n4243", **control})
    top = v2_tree.path(ROOT)
    monkeypatch.setattr(type(v2_tree), "writable", lambda _, path: path != top)
    backend = backend_for(v2_tree, machine)
    with backend.open("mine", Limits(vcpus=0.5, memory_bytes=1 << 28)) as group:
        assert (scope / SUPERVISOR / "cgroup.procs").read_text().split() == ["4242", "4243"]
        assert [path.name.rpartition("-")[2] for path in (scope / "sizer").iterdir() if path.is_dir()] == ["mine"]
        # cpuset was not delegated: affinity holds the CPUs instead, and the record says so.
        assert limits_in_words(group.limited_by).startswith(
            f"cgroup v2: affinity to CPUs {group.cpus[0]}, quota of 0.5 vCPU, memory"
        )
        assert subprocess.run(group.command(["nproc"]), capture_output=True, text=True, timeout=200).stdout == "1\n"
    by_control = {capability.control: capability for capability in backend.capabilities()}
    assert by_control[Control.VCPUS].how == "CPU affinity"
    assert not by_control[Control.DISK].available
    assert "not delegated" in str(by_control[Control.DISK].how)
    assert by_control[Control.DISK].fix == "sudo $(command -v sizer) run STUDY.yaml"


@pytest.mark.parametrize(("answer", "backend"), [("no", "affinity"), ("yes", "cgroup v2"), ("", "cgroup v2")])
def test_a_scope_that_systemd_keeps_for_itself_is_left_alone(
    v2_tree: Any, machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: str, backend: str
) -> None:
    """A desktop's terminal lies in a group that its user may write to: systemd is asked whether it was handed over."""
    (tmp_path / "systemctl").write_text(f'#!/bin/sh\n[ "$5" = terminal.scope ] && echo {answer}\n')
    (tmp_path / "systemctl").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    scope = v2_tree.path(f"{ROOT}/user.slice/user@1000.service/app.slice/terminal.scope")
    control = {"cgroup.procs": "4242", "cgroup.controllers": "cpu memory", "cgroup.subtree_control": ""}
    v2_tree.describe(scope, control)
    v2_tree.path("/proc/self/cgroup").write_text("0::/user.slice/user@1000.service/app.slice/terminal.scope\n")
    top = v2_tree.path(ROOT)
    monkeypatch.setattr(type(v2_tree), "writable", lambda _, path: path != top)
    assert backend_for(v2_tree, machine).name == backend
    assert (scope / "cgroup.procs").read_text() == "4242"


def test_the_group_of_the_users_systemd_itself_is_left_alone(v2_tree: Tree) -> None:
    """What is no unit's was handed to nobody; outside of it the owner of a group decides."""
    top = v2_tree.path(ROOT)
    assert is_kept(top / "user@1000.service/app.slice", top)
    assert not is_kept(top / "mine", top)
    assert not is_kept(top, top)


def test_sizer_started_again_in_the_scope_finds_it(
    v2_tree: Any, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shell that an earlier sizer moved into the supervisor group starts the next one there."""
    scope = v2_tree.path(f"{ROOT}/run.scope")
    for group in (scope, scope / SUPERVISOR):
        control = {"cgroup.procs": "", "cgroup.controllers": "cpu", "cgroup.subtree_control": ""}
        v2_tree.describe(group, control)
    v2_tree.path("/proc/self/cgroup").write_text(f"0::/run.scope/{SUPERVISOR}\n")
    top = v2_tree.path(ROOT)
    monkeypatch.setattr(type(v2_tree), "writable", lambda _, path: path != top)
    with backend_for(v2_tree, machine).open("mine", Limits(vcpus=0.5)):
        assert (scope / "sizer").is_dir()


def test_processes_are_killed_one_by_one_before_linux_5_14(v2: LimitsBackend, v2_tree: Tree) -> None:
    """Without cgroup.kill a group ends by signals."""
    with v2.open("old", Limits()) as group:
        group_file(v2_tree, "cgroup.kill").unlink()
        child = subprocess.Popen(group.command(["sh", "-c", "echo up; exec sleep 60"]), stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        group.kill()
        child.communicate(timeout=200)
    assert child.returncode == -9
