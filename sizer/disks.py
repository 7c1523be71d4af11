"""Volumes that stand for disk tiers: a real mount, or a loop device with its own file system to be throttled.

All emulated tiers of a study share one volume, because a tier is only the throttle of the run's group on its device.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sizer.errors import HostError, InputError
from sizer.limits import Throttle, owned_name, owner_is_dead
from sizer.records import DiskTier
from sizer.subprograms import complete

READAHEAD_KIB = 128
"""What cloud images set. A host's own can be 8 MiB, which reads 1.27 times the bytes a shuffled loader asks for."""

ROOM_BYTES = 768 * 10**6
"""Room on an emulated volume beside data and output: fio's file, and the file system itself."""

IMAGE_PREFIX = "volume-"

SEARCH = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
"""Where system programs lie, also for a shell whose path has no /sbin."""


@dataclass(frozen=True)
class Volume:
    """A folder on a disk. `device` is the block device to throttle; None for a disk that is used as it is."""

    folder: Path
    device: str | None = None

    def throttle(self, tier: DiskTier) -> Throttle | None:
        """What limits a run to the tier on this volume; None for a real mount."""
        if tier.emulated is None or self.device is None:
            return None
        return Throttle(self.device, tier.emulated)


def missing_for_emulation() -> str | None:
    """What this process lacks to make an emulated volume, with what to type; None if nothing."""
    if os.geteuid() != 0:
        return "loop devices and mounts are for root; type: sudo $(command -v sizer) and the rest of the command"
    lacking = [program for program in ("losetup", "mkfs.ext4", "mount") if shutil.which(program, path=SEARCH) is None]
    if lacking:
        return f"{', '.join(lacking)} not installed; type: apt-get install util-linux e2fsprogs mount"
    if not Path("/dev/loop-control").exists():
        return "there are no loop devices; type: sudo modprobe loop"
    return None


@contextmanager
def emulated_volume(scratch: Path, content_bytes: int) -> Iterator[Volume]:
    """A mounted ext4 file system with room for `content_bytes` on a loop device with direct I/O, removed at the end.

    Raises HostError when the host has no room, no right or no loop device for it.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    stem = scratch / f"{IMAGE_PREFIX}{owned_name('disk')}"
    image, folder = stem.with_suffix(".img"), stem.with_suffix(".mount")
    try:
        _allocate(image, int(content_bytes * 1.1) + ROOM_BYTES)
        _command("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", str(image))
        loop = _command("losetup", "--find", "--show", "--direct-io=on", str(image))
        _prepare_loop(Path(loop))
        folder.mkdir()
        _command("mount", "-o", "noatime", loop, str(folder))
        yield Volume(folder, _device_number(Path(loop)))
    finally:
        _remove_volume(image, folder)


@contextmanager
def real_volume(tier: DiskTier) -> Iterator[Volume]:
    """A folder of our own on the tier's mount, removed at the end. Raises InputError when it cannot be made."""
    assert tier.path is not None
    mount = Path(tier.path)
    if not mount.is_dir():
        raise InputError(f"disk `{tier.name}`: {mount} is not a folder; give the folder where the disk is mounted")
    folder = mount / f"sizer-{os.getpid()}"
    try:
        folder.mkdir()
    except OSError as error:
        raise InputError(
            f"disk `{tier.name}`: cannot write to {mount} ({error.strerror}); give a folder that you may write to"
        ) from error
    try:
        yield Volume(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_leftovers(scratch: Path) -> tuple[str, ...]:
    """Volumes of sizers that were killed: unmounted, detached, deleted. Those of a live sizer stay."""
    removed = []
    for image in sorted(scratch.glob(f"{IMAGE_PREFIX}*.img")):
        if owner_is_dead(image.stem.removeprefix(IMAGE_PREFIX)):
            _remove_volume(image, image.with_suffix(".mount"))
            removed.append(str(image))
    return tuple(removed)


def _allocate(image: Path, size: int) -> None:
    free = shutil.disk_usage(image.parent).free
    if free < size * 1.05:
        raise HostError(
            f"{image.parent} has {free / 1e9:.1f} GB free and the emulated disk needs {size / 1e9:.1f} GB; "
            "free some space, or set SIZER_CACHE to a folder on a larger disk"
        )
    descriptor = os.open(image, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.posix_fallocate(descriptor, 0, size)
    except OSError as error:
        raise HostError(f"cannot allocate {size / 1e9:.1f} GB in {image.parent}: {error.strerror}") from error
    finally:
        os.close(descriptor)


def _prepare_loop(loop: Path) -> None:
    """Without direct I/O the backing file fills memory outside of every limit and "reads" run at memory speed."""
    queue = Path("/sys/block") / loop.name
    if (queue / "loop/dio").read_text().strip() != "1":
        raise HostError(f"{loop} does not do direct I/O; put SIZER_CACHE on a file system with O_DIRECT, such as ext4")
    (queue / "queue/read_ahead_kb").write_text(str(READAHEAD_KIB))


def _remove_volume(image: Path, folder: Path) -> None:
    if folder.is_mount():
        try:
            _command("umount", str(folder))
        except HostError:
            # A process that still holds a file open must not keep the host's disk: detach now, free on its end.
            _command("umount", "--lazy", str(folder))
    for loop in _loops_of(image):
        _command("losetup", "--detach", loop)
    if folder.is_dir():
        folder.rmdir()
    image.unlink(missing_ok=True)


def _loops_of(image: Path) -> list[str]:
    if not image.exists():
        return []
    listed = _command("losetup", "--associated", str(image), "--output", "NAME", "--noheadings")
    return listed.split()


def _device_number(device: Path) -> str:
    number = device.stat().st_rdev
    return f"{os.major(number)}:{os.minor(number)}"


def _command(*argv: str) -> str:
    """Standard output of a system command. Raises HostError with what it said."""
    try:
        done = complete(argv, {**os.environ, "PATH": SEARCH, "LC_ALL": "C"})
    except FileNotFoundError as error:
        raise HostError(f"{argv[0]} is not installed; type: apt-get install util-linux e2fsprogs mount") from error
    if done.returncode != 0:
        raise HostError(f"`{' '.join(argv)}` failed: {done.stderr.strip() or f'exit status {done.returncode}'}")
    return done.stdout.strip()
