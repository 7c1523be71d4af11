"""Block devices: the whole disk under a path, and the disks whose counters add up without counting anything twice."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from sizer.limits.tree import Tree
from sizer.records.messages import HostError


@dataclass(frozen=True)
class Mount:
    """A line of /proc/self/mountinfo (proc(5))."""

    device: str
    root: str
    point: str
    kind: str
    source: str
    options: tuple[str, ...]


def parse_mounts(text: str) -> tuple[Mount, ...]:
    """The mounts of a mountinfo file; the super block's options, where overlay and cgroup say what they are."""
    mounts = []
    for line in text.splitlines():
        before, separator, after = line.partition(" - ")
        fields, rest = before.split(" "), after.split(" ")
        if separator and len(fields) >= 6 and len(rest) >= 3:
            point, source = _unescape(fields[4]), _unescape(rest[1])
            options = tuple(_unescape(" ".join(rest[2:])).split(","))
            mounts.append(Mount(fields[2], _unescape(fields[3]), point, rest[0], source, options))
    return tuple(mounts)


def _unescape(text: str) -> str:
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, character)
    return text


def mount_of(path: Path, mounts: tuple[Mount, ...]) -> Mount | None:
    """The mount that a resolved path lies on; of several on one point the last, which covers the others."""
    holding = [mount for mount in mounts if path.is_relative_to(mount.point)]
    return max(reversed(holding), key=lambda mount: len(Path(mount.point).parts), default=None)


def mounts_below(folder: Path) -> list[Mount]:
    """What this process sees mounted on a folder and below it, the first that was mounted first."""
    place = folder.resolve()
    mounts = parse_mounts(Path("/proc/self/mountinfo").read_text())
    return [mount for mount in mounts if Path(mount.point).is_relative_to(place)]


def device_of(path: Path, tree: Tree | None = None) -> str:
    """The `major:minor` of the whole block device that a path, or its nearest existing parent, lies on.

    Limits on a partition are refused by the kernel (ENODEV), so a partition counts as its disk. Overlay and btrfs show
    a device that does not exist; what lies under them is found through mountinfo. HostError where no disk is under it.
    """
    tree = tree or Tree()
    existing = path.absolute()
    while not existing.exists():
        existing = existing.parent
    existing = existing.resolve()
    number = os.stat(existing).st_dev
    disk = whole_disk(f"{os.major(number)}:{os.minor(number)}", tree)
    if disk is None:
        disk = _under_anonymous(existing, parse_mounts(tree.text(tree.path("/proc/self/mountinfo"))), tree)
    if disk is None:
        raise HostError(
            "{path} is not on a disk that can be limited; choose a path on a disk, listed by: df {existing}",
            path=path,
            existing=existing,
        )
    return disk


def _under_anonymous(path: Path, mounts: tuple[Mount, ...], tree: Tree) -> str | None:
    mount = mount_of(path, mounts)
    if mount is None:
        return None
    upper = next((option[len("upperdir=") :] for option in mount.options if option.startswith("upperdir=")), None)
    if mount.kind == "overlay" and upper is not None and Path(upper).exists():
        return device_of(Path(upper), tree)
    if mount.source.startswith("/dev/") and Path(mount.source).is_block_device():
        number = os.stat(mount.source).st_rdev
        return whole_disk(f"{os.major(number)}:{os.minor(number)}", tree)
    return None


def whole_disk(device: str, tree: Tree) -> str | None:
    """The disk of a partition, a disk itself, or None for a device that is no block device."""
    entry = tree.path(f"/sys/dev/block/{device}")
    if not entry.exists():
        return None
    if (entry / "partition").exists():
        return tree.read(entry.resolve().parent / "dev").strip()
    return device


def physical_disks(tree: Tree) -> frozenset[str]:
    """Every disk that is not built on another: I/O on a loop, LVM or RAID device is counted again below it."""
    disks = set()
    for entry in tree.path("/sys/block").glob("*"):
        carried = (entry / "slaves").is_dir() and any((entry / "slaves").iterdir())
        number = tree.text(entry / "dev").strip()
        if number and not carried and not entry.name.startswith(("loop", "ram", "zram")):
            disks.add(number)
    return frozenset(disks)
