"""What cgroup v1 limits write and count, on a described host."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import fields, replace
from pathlib import Path

import pytest

from sizer.limits.backends.control_group import CgroupBackend
from sizer.limits.detection import backend_for
from sizer.limits.identity import world
from sizer.limits.interface import Capability, Control, Group, LimitsBackend, Throttle
from sizer.limits.topology import Machine, uncounted
from sizer.limits.tree import Tree
from sizer.records.device import DiskRates
from sizer.records.messages import HostError
from sizer.records.run import Sample
from sizer.records.study import Limits
from sizer.words.runs import limits_in_words
from tests.described_hosts import ELSEWHERE

STALLS = {"cpu_stall", "memory_stall", "io_stall"}


def group_file(tree: Tree, controller: str, file: str) -> Path:
    (found,) = tree.path(f"/sys/fs/cgroup/{controller}/sizer").glob(f"*/{file}")
    return found


def test_every_limit_lands_in_its_file(v1: LimitsBackend, v1_tree: Tree) -> None:
    """Half a vCPU, a cap and four rates, in the files and the units of the kernel's documentation."""
    rates = DiskRates(read_iops=1000, read_bytes_per_second=60e6, write_iops=500, write_bytes_per_second=30e6)
    with v1.open("a", Limits(0.5, (256 << 20) + 5, "slow"), Throttle("7:0", rates)) as group:
        found = {
            file: group_file(v1_tree, controller, file).read_text()
            for controller, file in [
                ("cpuset", "cpuset.cpus"),
                ("cpuset", "cpuset.mems"),
                ("cpu", "cpu.cfs_quota_us"),
                ("memory", "memory.limit_in_bytes"),
                ("memory", "memory.memsw.limit_in_bytes"),
                ("memory", "memory.swappiness"),
                ("blkio", "blkio.throttle.read_bps_device"),
                ("blkio", "blkio.throttle.read_iops_device"),
                ("blkio", "blkio.throttle.write_bps_device"),
                ("blkio", "blkio.throttle.write_iops_device"),
            ]
        }
        known = group.limited_by
    assert list(found.values()) == [
        *("0", "0", "50000", str(256 << 20), str(256 << 20), "0"),
        *("7:0 60000000", "7:0 1000", "7:0 30000000", "7:0 500"),
    ]
    assert limits_in_words(known) == (
        "cgroup v1: cpuset 0, quota of 0.5 vCPU, memory 256 MiB without swap, "
        "disk 7:0 read 60 MB/s, 1,000 IOPS; write 30 MB/s, 500 IOPS"
    )


def counters(tree: Tree, group: Group) -> None:
    for controller, file, text in [
        ("cpuacct", "cpuacct.usage", "2500000000"),
        ("cpuacct", "tasks", "11\n12\n13\n"),
        ("cpu", "cpu.stat", "nr_periods 20\nnr_throttled 18\nthrottled_time 5\n"),
        ("memory", "memory.usage_in_bytes", "9000"),
        ("memory", "memory.kmem.usage_in_bytes", "700"),
        (
            "memory",
            "memory.stat",
            "cache 9\nrss 1\ntotal_cache 3000\ntotal_rss 4096\ntotal_shmem 100\ntotal_swap 60\ntotal_swapcached 50\n"
            "total_dirty 500\ntotal_writeback 40\n",
        ),
        ("memory", "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"),
        (
            "blkio",
            "blkio.throttle.io_service_bytes",
            "254:0 Read 10\n254:0 Write 20\n7:0 Read 5\n7:0 Total 5\nTotal 35\n",
        ),
        ("blkio", "blkio.throttle.io_serviced", "254:0 Read 1\n254:0 Write 2\n7:0 Read 4\nTotal 7\n"),
    ]:
        group_file(tree, controller, file).write_text(text)
    group_file(tree, "memory", "memory.max_usage_in_bytes").write_text("12000")
    tree.path("/sys/fs/cgroup/cpuacct/cpuacct.usage").write_text("4000000000")
    tree.path("/proc/stat").write_text(f"cpu  1 2 3 4 5 6 7 {3 * os.sysconf('SC_CLK_TCK')} 0 0\ncpu0 1 2 3\n")
    for resource, microseconds in (("cpu", 1_500_000), ("memory", 20), ("io", 250_000)):
        lines = f"some avg10=1.00 avg60=0.50 avg300=0.10 total={microseconds}\nfull avg10=0.00 total=7\n"
        group_file(tree, "unified", f"{resource}.pressure").write_text(lines)
    assert group.accounted == {field.name for field in fields(Sample)} - ELSEWHERE


def test_a_sample_is_in_seconds_and_bytes(v1: LimitsBackend, v1_tree: Tree) -> None:
    """Nano- and microseconds become seconds; shared memory counts as anonymous and not as page cache, and neither does
    the swap cache; only physical disks are summed.
    """
    with v1.open("a", Limits()) as group:
        counters(v1_tree, group)
        sample = group.sample(8.0)
    assert (sample.core_seconds, sample.host_core_seconds, sample.time) == (2.5, 4.0, 8.0)
    assert (sample.memory_bytes, sample.anonymous_bytes, sample.oom_kills) == (9000, 4196, 3)
    assert (sample.peak_memory_bytes, sample.unwritten_bytes, sample.steal_core_seconds) == (12000, 540, 3.0)
    assert (sample.page_cache_bytes, sample.kernel_bytes, sample.swap_bytes) == (2850, 700, 60)
    assert (sample.cpu_stall, sample.memory_stall, sample.io_stall) == (1.5, 20e-6, 0.25)
    assert (sample.periods, sample.throttled_periods, sample.threads) == (20, 18, 3)
    assert (sample.read_bytes, sample.written_bytes, sample.read_ios, sample.write_ios) == (10, 20, 1, 2)


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


def test_a_throttled_run_counts_its_device_alone(v1: LimitsBackend, v1_tree: Tree) -> None:
    """I/O on a loop device shows again on the disk that carries it."""
    with v1.open("a", Limits(disk="slow"), Throttle("7:0", DiskRates(read_iops=50))) as group:
        counters(v1_tree, group)
        sample = group.sample(0.0)
    assert (sample.read_bytes, sample.read_ios, sample.written_bytes) == (5, 4, 0)


@pytest.mark.parametrize(("version", "deaf"), [("v1", "memory.limit_in_bytes"), ("v2", "memory.max")])
def test_a_limit_that_does_not_read_back_is_an_error_and_leaves_nothing(
    version: str, deaf: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel that takes a value and keeps another must not pass for limited."""
    backend, tree = request.getfixturevalue(version), request.getfixturevalue(f"{version}_tree")
    write = type(tree).write
    monkeypatch.setattr(
        type(tree), "write", lambda tree, file, value: None if file.name == deaf else write(tree, file, value)
    )
    with pytest.raises(HostError, match="does not hold"):
        backend.open("a", Limits(memory_bytes=1 << 28))
    assert not list(tree.path("/sys/fs/cgroup").glob("**/sizer"))


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


def test_leftovers_of_a_dead_sizer_are_removed(v1: LimitsBackend, v1_tree: Tree) -> None:
    """Its pid may be in use again: the start time tells. Other folders are not ours."""
    with v1.open("mine", Limits()):
        for controller in ("cpu", "memory", "unified"):
            for name in (f"{world()}-1-1-old", f"{world()}-999999999-5-gone", "notes", "1-1-old"):
                v1_tree.make(v1_tree.path(f"/sys/fs/cgroup/{controller}/sizer/{name}"))
        assert v1.remove_leftovers() == (f"{world()}-1-1-old", f"{world()}-999999999-5-gone")
        for controller in ("cpu", "unified"):
            groups = [path for path in v1_tree.path(f"/sys/fs/cgroup/{controller}/sizer").iterdir() if path.is_dir()]
            assert {path.name.rpartition("-")[2] for path in groups} == {"mine", "notes", "old"}
