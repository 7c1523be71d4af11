"""Volumes for disk tiers: a real mount, or a loop device with its own file system to be throttled.

All emulated tiers of a study share one volume, because a tier is only the throttle of the run's group on its device.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sizer.files.own_folder import make_folder
from sizer.limits.device import Mount, parse_mounts
from sizer.limits.interface import Throttle
from sizer.limits.process_tree import owner_is_dead
from sizer.records.messages import AllOf, HostError, InputError, Lines, Message
from sizer.records.study import DiskTier
from sizer.storage.held_folders import LOCK, claimed, held_folder, remove_left
from sizer.storage.removal import SEARCH, remove_tree, system_environment, unmount
from sizer.storage.subprograms import complete, never

READAHEAD_KIB = 128
"""What cloud images set. A host's own can be 8 MiB, which reads 1.27 times the bytes a shuffled loader asks for."""

ROOM_BYTES = 768 * 10**6
"""Room on an emulated volume beside data and output: fio's file, and the file system itself."""

VOLUME_PREFIX = "volume-"
"""Of the folder that holds an emulated volume: its image and the place where it is mounted."""

IMAGE, MOUNT = "disk.img", "mount"

FOLDER_PREFIX = "sizer-"
"""Of our folder on a real mount."""

COMMAND_SECONDS = 120.0
"""For one of the system's commands. mkfs takes 1 s for 10 GB, and on a disk that others keep busy a minute."""

ANSWER_SECONDS = 20.0
"""For a mount to say that it is there."""


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


def missing_for_emulation() -> Message | None:
    """What this process lacks to make an emulated volume, with what to type; None if nothing."""
    if os.geteuid() != 0:
        return Message("loop devices and mounts need root; type: sudo $(command -v sizer) and the rest of the command")
    lacking = [program for program in ("losetup", "mkfs.ext4", "mount") if shutil.which(program, path=SEARCH) is None]
    if lacking:
        return Message(
            "these programs are missing: {programs}; type: apt-get install util-linux e2fsprogs mount",
            programs=AllOf(*lacking),
        )
    if not Path("/dev/loop-control").exists():
        return Message("there are no loop devices; type: sudo modprobe loop")
    return None


@contextmanager
def emulated_volume(scratch: Path, content_bytes: int, stop: Callable[[], bool] = never) -> Iterator[Volume]:
    """A mounted ext4 file system with room for `content_bytes` on a loop device with direct I/O, removed at the end.

    Raises HostError when the host has no room, no right or no loop device for it, Interrupted when `stop` says so.
    """
    make_folder(scratch)
    # The kernel's lists, by which it is found again, know paths without links.
    with held_folder(scratch.resolve(), VOLUME_PREFIX) as home:
        image, folder = home / IMAGE, home / MOUNT
        try:
            _allocate(image, int(content_bytes * 1.1) + ROOM_BYTES)
            options = ["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"]
            _command("mkfs.ext4", *options, str(image), stop=stop)
            loop = _command("losetup", "--find", "--show", "--direct-io=on", str(image), stop=stop)
            _prepare_loop(Path(loop))
            folder.mkdir()
            _command("mount", "-o", "noatime", loop, str(folder), stop=stop)
            number = os.stat(loop).st_rdev
            yield Volume(folder, f"{os.major(number)}:{os.minor(number)}")
        finally:
            _detach(home)


@contextmanager
def real_volume(tier: DiskTier) -> Iterator[Volume]:
    """A folder of our own on the tier's mount, removed at the end. Raises InputError when it cannot be made."""
    assert tier.path is not None
    mount = Path(tier.path)
    if not mount.is_dir():
        raise InputError(
            "disk `{tier}`: {mount} is not a folder; give the folder where the disk is mounted.",
            tier=tier.name,
            mount=mount,
        )
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(held_folder(mount, FOLDER_PREFIX))
        except OSError as error:
            raise InputError(
                "disk `{tier}`: cannot write to {mount} ({reason}); give a folder that you may write to.",
                tier=tier.name,
                mount=mount,
                reason=error.strerror or error,
            ) from error
        yield Volume(folder)


def mount_answers(folder: Path) -> bool:
    """Whether a folder is there. Another process asks: one that asks a mount which hangs is never heard of again."""
    try:
        return complete(["test", "-d", str(folder)], patience=ANSWER_SECONDS).returncode == 0
    except HostError:
        return False


def remove_leftovers(scratch: Path) -> tuple[Path, ...]:
    """Volumes of sizers that were killed: unmounted, detached and deleted; the folders of those that are gone.

    Mounts and loop devices are found wherever they lie, images without either in `scratch`. Those of a living sizer
    stay. Raises HostError when one cannot be removed, after the others.
    """
    here = {path for path in scratch.resolve().glob(f"{VOLUME_PREFIX}*") if path.is_dir()}
    removed, failed = [], []
    for home in sorted(here | (_homes_in_use() if os.geteuid() == 0 else set())):
        try:
            if _remove_left_volume(home):
                removed.append(home)
        except HostError as error:
            failed.append(error)
    if failed:
        raise HostError(Lines(*failed))
    return tuple(removed)


def remove_left_folders(mount: Path) -> tuple[Path, ...]:
    """Our folders on a real mount whose sizers are dead. A mount that does not answer is passed over."""
    return remove_left(mount, FOLDER_PREFIX) if mount_answers(mount) else ()


def _homes_in_use() -> set[Path]:
    """The folders of volumes, anybody's, that the kernel still has mounted or attached, there or deleted."""
    mounts = [Path(mount.point) for mount in _loop_mounts() if Path(mount.point).name == MOUNT]
    paths = [*mounts, *(image for image in _loops().values() if image.name == IMAGE)]
    return {path.parent for path in paths if path.parent.name.startswith(VOLUME_PREFIX)}


def _remove_left_volume(home: Path) -> bool:
    if not home.is_dir():
        # Its folder was deleted, or lies in another container: the name has to do.
        is_left = owner_is_dead(home.name.removeprefix(VOLUME_PREFIX))
        if is_left:
            _detach(home)
        return is_left
    with claimed(home, VOLUME_PREFIX) as is_left:
        if is_left:
            _detach(home)
        return is_left and remove_tree(home, LOCK) is None


def _allocate(image: Path, size: int) -> None:
    free = shutil.disk_usage(image.parent).free
    if free < size * 1.05:
        raise HostError(
            "{folder} has {free} GB free, and the emulated disk needs {size} GB; free some space, or set SIZER_CACHE "
            "to a folder on a larger disk.",
            folder=image.parent,
            free=f"{free / 1e9:.1f}",
            size=f"{size / 1e9:.1f}",
        )
    descriptor = os.open(image, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.posix_fallocate(descriptor, 0, size)
    except OSError as error:
        raise HostError(
            "Cannot allocate {size} GB in {folder}: {reason}",
            size=f"{size / 1e9:.1f}",
            folder=image.parent,
            reason=error.strerror,
        ) from error
    finally:
        os.close(descriptor)


def _prepare_loop(loop: Path) -> None:
    """Without direct I/O the backing file fills memory outside of every limit and "reads" run at memory speed."""
    queue = Path("/sys/block") / loop.name
    if (queue / "loop/dio").read_text().strip() != "1":
        raise HostError(
            "{loop} does not do direct I/O; put SIZER_CACHE on a file system with O_DIRECT, such as ext4.", loop=loop
        )
    (queue / "queue/read_ahead_kb").write_text(str(READAHEAD_KIB))


def _detach(home: Path) -> None:
    """Unmount the volume of this folder and free its loop device, however far its making had come."""
    for mount in reversed(_loop_mounts()):
        if Path(mount.point) == home / MOUNT:
            unmount(mount.point)
    for loop, image in _loops().items():
        if image == home / IMAGE:
            _command("losetup", "--detach", loop)


def _loop_mounts() -> list[Mount]:
    """The mounts of loop devices, the latest last. The list is read from the kernel: it touches none of them."""
    mounts = parse_mounts(Path("/proc/self/mountinfo").read_text())
    return [mount for mount in mounts if mount.kind == "ext4" and mount.source.startswith("/dev/loop")]


def _loops() -> dict[str, Path]:
    """The loop devices of this host with their backing files, which need no longer be there."""
    images = {}
    for file in sorted(Path("/sys/block").glob("loop*/loop/backing_file")):
        with suppress(OSError):
            images[f"/dev/{file.parts[3]}"] = Path(file.read_text().rstrip("\n").removesuffix(" (deleted)"))
    return images


def _command(*argv: str, stop: Callable[[], bool] = never) -> str:
    """Standard output of a system command. Raises HostError with what it said, or that it does not end."""
    try:
        done = complete(argv, system_environment(), stop=stop, patience=COMMAND_SECONDS)
    except FileNotFoundError as error:
        raise HostError(
            "{program} is not installed; type: apt-get install util-linux e2fsprogs mount", program=argv[0]
        ) from error
    if done.returncode != 0:
        raise HostError(
            "`{command}` failed: {output}",
            command=" ".join(argv),
            output=done.stderr.strip() or Message("exit status {number}", number=done.returncode),
        )
    return done.stdout.strip()
