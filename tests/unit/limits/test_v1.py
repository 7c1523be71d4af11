"""What cgroup v1 limits write and count, on a described host."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import fields, replace
from pathlib import Path

import pytest

from sizer.limits.backends.control_group import CgroupBackend
from sizer.limits.detection import backend_for
from sizer.limits.interface import Capability, Control, LimitsBackend, Throttle
from sizer.limits.topology import Machine, uncounted
from sizer.limits.tree import Tree
from sizer.records.device import DiskRates
from sizer.records.run import Sample
from sizer.records.study import Limits
from tests.described_hosts import ELSEWHERE

STALLS = {"cpu_stall", "memory_stall", "io_stall"}


@pytest.mark.parametrize("lacking", ["mount", "psi", "right"])
def test_without_pressure_nothing_is_refused(
    v1_tree: Tree, machine: Machine, lacking: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No cgroup2 mount, a kernel started with psi=0, a user who may not join there: only the stalls are missing."""
    unified = v1_tree.path("/sys/fs/cgroup/unified")
    if lacking == "mount":
        mounts = v1_tree.path("/proc/self/mountinfo")
        mounts.write_text("\n".join(line for line in mounts.read_text().splitlines() if "cgroup2" not in line))
    elif lacking == "psi":
        shutil.rmtree(v1_tree.path("/proc/pressure"))
    else:
        monkeypatch.setattr(type(v1_tree), "writable", lambda _, path: path != unified / "cgroup.procs")
    backend = backend_for(v1_tree, machine)
    assert not backend.tells_pressure
    limits = Limits(0.5, 1 << 28, "slow")
    assert backend.missing(limits) == ()
    with backend.open("a", limits, Throttle("7:0", DiskRates(read_iops=50))) as group:
        assert not (unified / "sizer").exists()
        assert group.accounted == {field.name for field in fields(Sample)} - ELSEWHERE - STALLS
        assert subprocess.run(group.command(["true"]), timeout=200).returncode == 0


def test_a_kernel_that_does_not_count_its_own_memory_is_not_believed(v1_tree: Tree, machine: Machine) -> None:
    """cgroup.memory=nokmem leaves the counter at 0."""
    backend = backend_for(v1_tree, replace(machine, uncounted=uncounted("quiet cgroup.memory=nosocket,nokmem psi=1")))
    with backend.open("a", Limits()) as group:
        assert "kernel_bytes" not in group.accounted
    assert uncounted("quiet cgroup.memory=nosocket") == frozenset()


def test_a_controller_that_is_not_mounted_is_told_with_its_mount_command(v1_tree: Tree, machine: Machine) -> None:
    """The other controls still work."""
    file = v1_tree.path("/proc/self/mountinfo")
    file.write_text("\n".join(line for line in file.read_text().splitlines() if "memory" not in line))
    backend = backend_for(v1_tree, machine)
    by_control = {capability.control: capability for capability in backend.capabilities()}
    assert not by_control[Control.MEMORY].available
    assert "mount -t cgroup -o memory" in (by_control[Control.MEMORY].fix or "")
    assert by_control[Control.FRACTIONAL_VCPUS].available


def test_what_another_sizer_removes_meanwhile_is_looked_for_again(
    v1: LimitsBackend, v1_tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parent of all groups goes with the last of them: a `doctor` beside must not hide a control."""
    look, base = CgroupBackend._capabilities, v1_tree.path("/sys/fs/cgroup/cpu/sizer")
    removed: list[Path] = []

    def disturbed(backend: CgroupBackend) -> tuple[Capability, ...]:
        if not removed:
            removed.append(base)
            v1_tree.remove(base)
        return look(backend)

    monkeypatch.setattr(CgroupBackend, "_capabilities", disturbed)
    assert all(capability.available for capability in v1.capabilities())
    assert removed
