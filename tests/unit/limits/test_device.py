"""The disk under a path."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from sizer.limits.detection import _own_quota, backend_for
from sizer.limits.device import device_of, whole_disk
from sizer.limits.interface import Throttle
from sizer.limits.process_tree import _is_dead
from sizer.limits.topology import Machine
from sizer.limits.tree import Tree
from sizer.records.device import DiskRates
from sizer.records.messages import HostError
from sizer.records.study import Limits
from tests.described_hosts import V2_FILES


def test_a_partition_counts_as_its_disk(tmp_path: Path) -> None:
    """The kernel throttles whole disks alone."""
    tree = Tree(tmp_path)
    partition = tree.path("/sys/block/vda/vda1")
    partition.mkdir(parents=True)
    (partition / "partition").write_text("1")
    (partition.parent / "dev").write_text("254:0\n")
    links = tree.path("/sys/dev/block")
    links.mkdir(parents=True)
    (links / "254:1").symlink_to(partition)
    (links / "254:0").symlink_to(partition.parent)
    assert [whole_disk(device, tree) for device in ("254:1", "254:0", "0:44")] == ["254:0", "254:0", None]


def test_a_path_that_is_not_there_yet_counts_as_its_parent(tmp_path: Path) -> None:
    """A study's scratch folder is made later."""
    try:
        expected = device_of(tmp_path)
    except HostError:
        pytest.skip("the temporary folder lies on no disk")
    assert device_of(tmp_path / "a" / "b") == expected


def described(root: Path, mount: str) -> Tree:
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/mountinfo").write_text(mount)
    return Tree(root)


@pytest.mark.parametrize(
    "mount",
    [
        "",
        "31 23 0:28 / / rw - tmpfs tmpfs rw",
        "31 23 0:28 / / rw - btrfs /dev/null rw",
        "31 23 0:28 / / rw - overlay overlay rw,upperdir=/nowhere/at/all",
    ],
)
def test_a_folder_in_memory_is_on_no_disk(mount: str, tmp_path: Path) -> None:
    """Nothing can limit it, and the sentence says how to list what can be."""
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(HostError, match="is not on a disk that can be limited"):
        device_of(folder, described(tmp_path / "host", mount))


def test_a_limit_without_a_remedy_is_to_be_left_out(
    v2_tree: Tree, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing can be typed, only another study or another host helps; nothing is silently unlimited."""
    monkeypatch.delitem(V2_FILES["io"], "io.max")
    backend = backend_for(v2_tree, machine)
    with pytest.raises(HostError, match=r"io\.max.*larger host"):
        backend.open("a", Limits(disk="slow"), Throttle("7:0", DiskRates(read_iops=100)))
    with backend.open("b", Limits(vcpus=1)) as group:
        assert group.limited_by.rates is None


def test_a_limit_with_a_remedy_says_what_to_type(v2_tree: Tree, machine: Machine) -> None:
    """A kernel that keeps memory off can be started with it."""
    v2_tree.path("/sys/fs/cgroup/cgroup.controllers").write_text("cpuset cpu pids")
    with pytest.raises(HostError, match=r"type: .*cgroup_enable=memory"):
        backend_for(v2_tree, machine).open("a", Limits(memory_bytes=1 << 30))


def test_a_host_without_groups_has_no_quota(tmp_path: Path) -> None:
    """There is no folder to look in."""
    assert _own_quota(Tree(tmp_path), "cpu", None) is None


def test_a_process_that_is_gone_is_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may end between being listed and being asked; this one lives."""
    ours = psutil.Process()
    assert not _is_dead(ours)

    def gone(self: psutil.Process) -> str:
        raise psutil.NoSuchProcess(self.pid)

    monkeypatch.setattr(psutil.Process, "status", gone)
    assert _is_dead(ours)
