"""The disk under a path."""

from __future__ import annotations

from pathlib import Path

import pytest

from sizer.limits.device import device_of, mount_of, parse_mounts, physical_disks, whole_disk
from sizer.limits.tree import Tree
from sizer.records.errors import HostError

MOUNTS = """\
27 1 254:1 / / rw,relatime - ext4 /dev/vda1 rw
31 27 0:44 / /merged rw - overlay overlay rw,lowerdir=/l,upperdir=/data/upper,workdir=/w
32 27 0:45 /@home /home/a\\040b rw shared:5 master:1 - btrfs /dev/sdb2 rw,subvol=/@home
33 27 0:46 / /merged rw - tmpfs tmpfs rw
"""


def test_the_longest_mount_point_and_of_two_the_upper_one_holds_a_path() -> None:
    """Escapes and optional fields are as proc(5) tells."""
    mounts = parse_mounts(MOUNTS)
    found = [mount_of(Path(path), mounts) for path in ("/home/a b/c", "/merged/x", "/mergedx")]
    assert [mount.kind for mount in found if mount] == ["btrfs", "tmpfs", "ext4"]
    assert "upperdir=/data/upper" in mounts[1].options


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


def test_physical_disks_stand_on_no_other(tmp_path: Path) -> None:
    """Loop devices, RAM disks and what has slaves are left out, and so is an entry without a number."""
    tree = Tree(tmp_path)
    for name, number in {"vda": "254:0", "loop0": "7:0", "zram0": "252:0", "dm-0": "253:0", "nvme0c0n1": ""}.items():
        (tree.path(f"/sys/block/{name}") / "slaves").mkdir(parents=True)
        if number:
            (tree.path(f"/sys/block/{name}") / "dev").write_text(f"{number}\n")
    (tree.path("/sys/block/dm-0/slaves") / "vda").touch()
    assert physical_disks(tree) == {"254:0"}


def test_memory_file_systems_have_no_disk() -> None:
    """/proc lies on nothing that could be throttled, and the sentence says what to do."""
    with pytest.raises(HostError, match="choose a path on a disk"):
        device_of(Path("/proc/self"))


def test_a_path_that_is_not_there_yet_counts_as_its_parent(tmp_path: Path) -> None:
    """A study's scratch folder is made later."""
    try:
        expected = device_of(tmp_path)
    except HostError:
        pytest.skip("the temporary folder lies on no disk")
    assert device_of(tmp_path / "a" / "b") == expected
