"""The disk under a path."""

from __future__ import annotations

from pathlib import Path

import pytest

from sizer.limits.device import device_of, whole_disk
from sizer.limits.tree import Tree
from sizer.records.errors import HostError


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
