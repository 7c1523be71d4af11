"""What is around a run: a quota above the groups of sizer, a container's for example, and time the hypervisor took."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sizer.limits.detection import backend_for
from sizer.limits.interface import Control, LimitsBackend
from sizer.limits.machine import Machine
from sizer.limits.surroundings import quota_above, steal_core_seconds
from sizer.limits.tree import Tree
from sizer.records.study import Limits


def how(backend: LimitsBackend) -> str:
    return str(next(each.how for each in backend.capabilities() if each.control is Control.VCPUS))


def test_a_containers_quota_is_told_under_v1(v1_tree: Tree, machine: Machine) -> None:
    """The top that a container sees is its own group, and -1 is no quota."""
    assert how(backend_for(v1_tree, machine)) == "cpuset"
    v1_tree.path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us").write_text("150000\n")
    assert how(backend_for(v1_tree, machine)) == "cpuset; but a parent group has a quota of 1.5 vCPU"


def test_a_containers_quota_is_told_under_v2(v2_tree: Tree, machine: Machine) -> None:
    """`max` is no quota."""
    quota = v2_tree.path("/sys/fs/cgroup/cpu.max")
    quota.write_text("max 100000\n")
    assert how(backend_for(v2_tree, machine)) == "cpuset"
    quota.write_text("50000 100000\n")
    assert how(backend_for(v2_tree, machine)) == "cpuset; but a parent group has a quota of 0.5 vCPU"


@pytest.mark.parametrize("host", ["v1_tree", "v2_tree"])
def test_without_groups_it_is_the_quota_that_the_process_has(
    host: str, machine: Machine, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run by affinity stays in the group of sizer; a container may see a path that is only in the host."""
    tree: Tree = request.getfixturevalue(host)
    top, file, quota = (
        ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "200000")
        if host == "v1_tree"
        else ("/sys/fs/cgroup", "cpu.max", "200000 100000")
    )
    tree.path("/proc/self/cgroup").write_text("3:cpu,cpuacct:/docker/abc\n0::/docker/abc\n")
    tree.path(f"{top}/{file}").write_text(quota)
    monkeypatch.setattr(type(tree), "writable", lambda *_: False)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert how(backend_for(tree, machine)) == "CPU affinity; but a parent group has a quota of 2 vCPU"


def test_the_smallest_quota_on_the_way_up_holds(tmp_path: Path) -> None:
    """Up to the top of the hierarchy and no further; a group that is not there has none."""
    for folder, quota in (("", "1000 100000"), ("top", "300000 100000"), ("top/slice", "150000 100000")):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "cpu.max").write_text(quota)
    assert quota_above(Tree(), tmp_path / "top/slice/sizer", tmp_path / "top") == 1.5


def test_steal_is_that_of_all_cpus_in_seconds() -> None:
    """The first line sums the CPUs, in ticks."""
    ticks = os.sysconf("SC_CLK_TCK")
    assert steal_core_seconds(f"cpu  9 9 9 9 9 9 9 {ticks // 2} 0 0\ncpu0 9 9 9 9 9 9 9 7\n") == 0.5


@pytest.mark.parametrize("text", ["", "cpu  1 2 3 4 5 6 7\n", "intr 1 2 3 4 5 6 7 8 9\n"])
def test_a_kernel_that_does_not_tell_has_none(text: str) -> None:
    """What is not known is not nothing stolen."""
    assert steal_core_seconds(text) is None


@pytest.mark.parametrize("host", ["v1_tree", "v2_tree"])
def test_it_is_accounted_where_the_kernel_tells(host: str, machine: Machine, request: pytest.FixtureRequest) -> None:
    """A column that is missing is not a zero."""
    tree: Tree = request.getfixturevalue(host)
    backend: LimitsBackend = backend_for(tree, machine)
    with backend.open("with", Limits()) as group:
        assert "steal_core_seconds" in group.accounted
    tree.path("/proc/stat").write_text("cpu  1 2 3 4\n")
    with backend.open("without", Limits()) as group:
        assert "steal_core_seconds" not in group.accounted
        assert group.sample(0.0).steal_core_seconds == 0.0
