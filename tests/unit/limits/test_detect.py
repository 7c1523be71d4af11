"""Which way of limiting a described host offers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sizer.limits.backends.delegation import AS_ROOT, SCOPE, scope_command
from sizer.limits.detection import backend_for, detect
from sizer.limits.interface import Control, LimitsBackend, Rerun
from sizer.limits.surroundings import STEAL
from sizer.limits.topology import Machine
from sizer.limits.tree import Tree
from sizer.records.study import Limits
from sizer.words.runs import limits_in_words


def test_v1_controllers_win_over_an_empty_v2_mount(v1_tree: Tree, machine: Machine) -> None:
    """A hybrid host limits by v1: a controller is in one of them only."""
    assert backend_for(v1_tree, machine).name == "cgroup v1"


def systemd(tree: Tree, *, manager: bool = True) -> Path:
    """A described host whose init is systemd; whether this user's manager runs there."""
    tree.path("/run/systemd/system").mkdir(parents=True)
    private = tree.path(f"/run/user/{os.geteuid()}/systemd/private")
    private.parent.mkdir(parents=True)
    if manager:
        private.touch()
    return private


@pytest.mark.parametrize(("host", "fix"), [("v1_tree", "chown -R"), ("v2_tree", "systemd-run --user")])
def test_an_ordinary_user_gets_affinity_and_the_command_that_would_give_more(
    host: str, fix: str, machine: Machine, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a user without delegation can do, and how to get the rest."""
    tree = request.getfixturevalue(host)
    monkeypatch.setattr(type(tree), "writable", lambda *_: False)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    systemd(tree)
    backend = backend_for(tree, machine)
    assert backend.name == "affinity"
    memory, disk = backend.missing(Limits(memory_bytes=1 << 28, disk="slow"))
    assert memory.control is Control.MEMORY
    assert fix in (memory.fix or "")
    assert "unified" not in (memory.fix or ""), "pressure is accounting: it is not asked of root"
    assert disk.remedy == AS_ROOT, "a throttled disk needs a loop device, which nobody delegates"


def test_the_command_for_a_delegated_scope_works_where_it_is_typed(v2_tree: Tree) -> None:
    """In a session as it is; where the manager's socket is not told, or no manager runs, that comes first."""
    private = systemd(v2_tree)
    user = os.geteuid()
    assert scope_command(v2_tree, user, {"XDG_RUNTIME_DIR": f"/run/user/{user}"}) == SCOPE
    told = f"XDG_RUNTIME_DIR=/run/user/{user} {SCOPE.prefix}"
    assert scope_command(v2_tree, user, {}) == Rerun(told)
    private.unlink()
    assert scope_command(v2_tree, user, {}) == Rerun(f"sudo systemctl start user@{user} && {told}")


def test_a_user_uses_the_v1_groups_that_root_delegated(
    v1_tree: Tree, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of the controllers that were delegated; the delegated base stays when the run is over."""
    bases = [v1_tree.path(f"/sys/fs/cgroup/{controller}/sizer") for controller in ("cpu", "cpuacct")]
    for base in bases:
        v1_tree.make(base)
    monkeypatch.setattr(type(v1_tree), "writable", lambda _, path: any(path.is_relative_to(base) for base in bases))
    backend = backend_for(v1_tree, machine)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with backend.open("mine", Limits(vcpus=0.5)) as group:
        assert limits_in_words(group.limited_by).startswith("cgroup v1: affinity to CPUs ")
        assert "core_seconds" in group.accounted
        assert not {"memory_bytes", "cpu_stall"} & group.accounted
    assert all(base.is_dir() for base in bases)
    assert [each.control for each in backend.missing(Limits(0.5, 1 << 28, "slow"))] == [Control.MEMORY, Control.DISK]


def test_a_host_without_cgroups_still_detects(tmp_path: Path) -> None:
    """An empty root is a host where only affinity is left."""
    assert detect(tmp_path).name == "affinity"


def how(backend: LimitsBackend) -> str:
    return str(next(capability.how for capability in backend.capabilities() if capability.control is Control.VCPUS))


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


def stolen(text: str) -> float | None:
    return STEAL.fields["steal_core_seconds"](STEAL.parse(text))


def test_steal_is_that_of_all_cpus_in_seconds() -> None:
    """The first line sums the CPUs, in ticks."""
    ticks = os.sysconf("SC_CLK_TCK")
    assert stolen(f"cpu  9 9 9 9 9 9 9 {ticks // 2} 0 0\ncpu0 9 9 9 9 9 9 9 7\n") == 0.5


@pytest.mark.parametrize("text", ["", "cpu  1 2 3 4 5 6 7\n", "intr 1 2 3 4 5 6 7 8 9\n"])
def test_a_kernel_that_does_not_tell_has_none(text: str) -> None:
    """What is not known is not nothing stolen."""
    assert stolen(text) is None
