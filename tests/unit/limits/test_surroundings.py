"""What is around a run: a quota above the groups of sizer, a container's for example, and time the hypervisor took."""

from __future__ import annotations

import os

import pytest

from sizer.limits.detection import backend_for
from sizer.limits.interface import Control, LimitsBackend
from sizer.limits.machine import Machine
from sizer.limits.surroundings import steal_core_seconds
from sizer.limits.tree import Tree


def how(backend: LimitsBackend) -> str:
    return str(next(each.how for each in backend.capabilities() if each.control is Control.VCPUS))


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


def test_steal_is_that_of_all_cpus_in_seconds() -> None:
    """The first line sums the CPUs, in ticks."""
    ticks = os.sysconf("SC_CLK_TCK")
    assert steal_core_seconds(f"cpu  9 9 9 9 9 9 9 {ticks // 2} 0 0\ncpu0 9 9 9 9 9 9 9 7\n") == 0.5


@pytest.mark.parametrize("text", ["", "cpu  1 2 3 4 5 6 7\n", "intr 1 2 3 4 5 6 7 8 9\n"])
def test_a_kernel_that_does_not_tell_has_none(text: str) -> None:
    """What is not known is not nothing stolen."""
    assert steal_core_seconds(text) is None
