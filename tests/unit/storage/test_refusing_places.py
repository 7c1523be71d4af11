"""Folders that cannot be written, locked or kept: one sentence that names the folder, and nothing left behind."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from sizer.limits.interface import LimitsBackend
from sizer.limits.process_tree import owned_name
from sizer.records.messages import HostError, InputError, Interrupted
from sizer.records.study import DiskTier
from sizer.storage import (
    data_cache,
    data_sets,
    disk_check,
    disks,
    held_folders,
    manifest,
    page_cache,
    placement,
    removal,
)
from sizer.storage.announcements import Announcement, AnnouncementKind
from sizer.words.language import in_words

MAKING = Announcement(AnnouncementKind.DATA_MADE, folder="images")


def failing(error: int) -> Callable[..., object]:
    def call(*_arguments: object, **_options: object) -> object:
        raise OSError(error, os.strerror(error))

    return call


def never() -> bool:
    return False


def test_a_data_set_that_another_sizer_just_made_is_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who waited for the lock finds it there, and announces nothing."""
    folder, announcements = tmp_path / "cache" / "images", list[Announcement]()
    taken = data_cache._taken

    def made_meanwhile(descriptor: int, cache: Path) -> bool:
        folder.mkdir()
        manifest.write_manifest(folder, folder, never)
        return taken(descriptor, cache)

    monkeypatch.setattr(data_cache, "_taken", made_meanwhile)
    with data_cache.made_once(folder, MAKING, announcements.append, never) as place:
        assert place is None
    assert announcements == []


def test_a_cache_that_cannot_be_made_says_where_to_put_it(tmp_path: Path) -> None:
    """A file lies where the cache should be."""
    (tmp_path / "cache").write_text("")
    with (
        pytest.raises(HostError) as refused,
        data_cache.made_once(tmp_path / "cache" / "images", MAKING, lambda _: None, never),
    ):
        pytest.fail("it was made")
    sentence = in_words(refused.value)
    assert sentence.startswith(f"Data sets are made in {tmp_path}/cache, which cannot be written (")
    assert sentence.endswith("set SIZER_CACHE to a folder that you may write to.")


def test_a_cache_without_locks_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two sizers would make one data set at once."""
    monkeypatch.setattr("sizer.storage.data_cache.fcntl.flock", failing(errno.ENOLCK))
    with (
        pytest.raises(HostError) as refused,
        data_cache.made_once(tmp_path / "images", MAKING, lambda _: None, never),
    ):
        pytest.fail("it was made")
    assert in_words(refused.value) == (
        f"{tmp_path} does not support locks ({os.strerror(errno.ENOLCK)}); set SIZER_CACHE to a folder that does."
    )


def test_a_folder_without_locks_is_held_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the file system has no locks nobody else can take one either, so the folder is kept and removed."""
    monkeypatch.setattr("sizer.storage.held_folders.fcntl.lockf", failing(errno.ENOLCK))
    with held_folders.held_folder(tmp_path, "x-") as folder:
        assert folder.is_dir()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_always_swept_away_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another world's sizer that takes each new folder for a leftover is no reason to try for ever."""
    made: list[Path] = []
    opened = os.open

    def swept(path: str | Path, flags: int, mode: int = 0o777) -> int:
        if Path(path).name == held_folders.LOCK:
            made.append(Path(path).parent)
            Path(path).parent.rmdir()
        return opened(path, flags, mode)

    monkeypatch.setattr("sizer.storage.held_folders.os.open", swept)
    with pytest.raises(FileExistsError, match="no folder can be kept in"), held_folders.held_folder(tmp_path, "x-"):
        pytest.fail("it was held")
    assert len(set(made)) == held_folders.TRIES


def test_a_lock_that_was_replaced_is_not_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder was removed between making its lock and holding it: the next one is used, and the first forgotten."""
    locked, lost = fcntl.lockf, list[Path]()

    def swept_once(descriptor: int, command: int) -> None:
        locked(descriptor, command)
        if not lost:
            (first,) = tmp_path.iterdir()
            lost.append(first)
            shutil.rmtree(first)

    monkeypatch.setattr("sizer.storage.held_folders.fcntl.lockf", swept_once)
    with held_folders.held_folder(tmp_path, "x-") as folder:
        assert [folder] == list(tmp_path.iterdir())
        assert folder not in lost


def test_the_owner_of_nothing_is_nobody(tmp_path: Path) -> None:
    """A link may point at another user's folder, so it counts as none."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    assert removal.owner_of(tmp_path / "folder") == os.geteuid()
    assert removal.owner_of(tmp_path / "link") is None
    assert removal.owner_of(tmp_path / "gone") is None


@pytest.fixture
def tier(tmp_path: Path) -> DiskTier:
    return DiskTier("nvme", path=str(tmp_path))


def test_a_disk_that_cannot_be_written_is_named(tier: DiskTier, monkeypatch: pytest.MonkeyPatch) -> None:
    """A read-only mount, say: which disk of the study, where it is mounted, and why."""
    monkeypatch.setattr("sizer.storage.held_folders.Path.mkdir", failing(errno.EROFS))
    with pytest.raises(InputError) as refused, disks.real_volume(tier):
        pytest.fail("it was used")
    assert in_words(refused.value) == (
        f"disk `nvme`: cannot write to {tier.path} (Read-only file system); give a folder that you may write to."
    )


def test_a_check_needs_fio_and_a_folder(
    tier: DiskTier, tmp_path: Path, affinity: LimitsBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without fio what to install is said, and on a read-only disk where to look."""
    monkeypatch.setattr("sizer.storage.disk_check.shutil.which", lambda _name: None)
    with pytest.raises(HostError, match="apt-get install fio"):
        disk_check.check_disk(tier, disks.Volume(tmp_path), affinity)
    monkeypatch.setattr("sizer.storage.disk_check.shutil.which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr("sizer.storage.held_folders.Path.mkdir", failing(errno.EROFS))
    with pytest.raises(HostError, match=r"cannot be written \(Read-only file system\)"):
        disk_check.check_disk(tier, disks.Volume(tmp_path), affinity)


@pytest.mark.parametrize(
    ("printed", "status", "reason"),
    [
        ("fio: cannot open file", 1, "cannot open file"),
        ('{"jobs": []}', 0, "fio failed on"),
        ('{"jobs": [{"error": 28}]}', 0, "28"),
    ],
)
def test_a_fio_that_fails_is_quoted(
    printed: str,
    status: int,
    reason: str,
    tier: DiskTier,
    tmp_path: Path,
    affinity: LimitsBackend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What it printed is the reason, and its folder is removed."""
    program = tmp_path / "bin" / "fio"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho '{printed}'\nexit {status}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    volume = tmp_path / "volume"
    volume.mkdir()
    with pytest.raises(HostError) as refused:
        disk_check.check_disk(tier, disks.Volume(volume), affinity)
    assert in_words(refused.value).startswith(f"fio failed on {volume}: ")
    assert reason in in_words(refused.value)
    assert list(volume.iterdir()) == []


@pytest.mark.parametrize(("stood_still", "measured"), [((2,), 3.0), ((2, 3), None)])
def test_a_disk_is_not_measured_while_sizer_stands_still(
    stood_still: tuple[int, ...],
    measured: float | None,
    tier: DiskTier,
    tmp_path: Path,
    affinity: LimitsBackend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The figure is measured again, once: each call of this fio, the first of which makes its file, finds another."""
    program, calls = tmp_path / "bin" / "fio", tmp_path / "calls"
    program.parent.mkdir()
    calls.write_text("")
    answer = '{"jobs": [{"error": 0, "read": {"total_ios": 1, "bw_bytes": %d}}]}'
    program.write_text(f"#!/bin/sh\necho >> {calls}\nprintf '{answer}' $(wc -l < {calls})\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")

    def clock_gettime(_clock: int) -> float:
        made = len(calls.read_text())
        return 60.0 * sum(call <= made for call in stood_still)

    monkeypatch.setattr("sizer.storage.subprograms.time.clock_gettime", clock_gettime)
    check = partial(disk_check.check_disk, tier, disks.Volume(tmp_path), affinity)
    fio = disk_check.Fio(figures=("read_bytes_per_second",))
    if measured is not None:
        assert check(fio).measured.read_bytes_per_second == measured
        return
    with pytest.raises(HostError, match=r"stood still for 60\.0 s while fio measured, twice"):
        check(fio)


def test_what_emulation_lacks_is_installed_or_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs by their package, loop devices by their module; an ordinary user needs sudo first."""
    monkeypatch.setattr("sizer.storage.disks.os.geteuid", lambda: 1000)
    assert "need root" in str(disks.missing_for_emulation())
    monkeypatch.setattr("sizer.storage.disks.os.geteuid", lambda: 0)
    monkeypatch.setattr(
        "sizer.storage.disks.shutil.which", lambda name, **_: None if name == "losetup" else f"/sbin/{name}"
    )
    assert str(disks.missing_for_emulation()) == (
        "these programs are missing: losetup; type: apt-get install util-linux e2fsprogs mount"
    )
    monkeypatch.setattr("sizer.storage.disks.shutil.which", lambda name, **_: f"/sbin/{name}")
    monkeypatch.setattr("sizer.storage.disks.Path.exists", lambda _path: False)
    assert str(disks.missing_for_emulation()) == "there are no loop devices; type: sudo modprobe loop"


def test_an_image_that_cannot_be_allocated_says_how_large_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file system may refuse although it has room."""
    monkeypatch.setattr("sizer.storage.disks.os.posix_fallocate", failing(errno.EOPNOTSUPP))
    with pytest.raises(HostError, match=r"Cannot allocate 0\.0 GB in .*: Operation not supported"):
        disks._allocate(tmp_path / "image", 4096)


def test_a_system_program_that_is_not_there_is_named() -> None:
    """With the packages that have it."""
    with pytest.raises(HostError, match="losetup-of-nobody is not installed; type: apt-get install util-linux"):
        disks._command("losetup-of-nobody", "--all")


def test_a_volume_that_cannot_be_removed_does_not_keep_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each that stays is named, after the others were removed."""
    homes = [tmp_path / f"{disks.VOLUME_PREFIX}{name}" for name in "abc"]
    for home in homes:
        home.mkdir()
    seen: list[Path] = []

    def remove(home: Path) -> bool:
        seen.append(home)
        if home.name.endswith("b"):
            raise HostError("{home} is busy.", home=home)
        return True

    monkeypatch.setattr(disks, "_homes_in_use", set)
    monkeypatch.setattr(disks, "_remove_left_volume", remove)
    with pytest.raises(HostError, match=f"{disks.VOLUME_PREFIX}b is busy"):
        disks.remove_leftovers(tmp_path)
    assert seen == homes


def test_a_volume_whose_folder_is_gone_is_known_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its image was deleted and is still attached: a living sizer's stays, and a dead one's is detached."""
    detached: list[Path] = []
    monkeypatch.setattr(disks, "_detach", detached.append)
    living = tmp_path / f"{disks.VOLUME_PREFIX}{owned_name('volume')}"
    assert not disks._remove_left_volume(living)
    dead = tmp_path / living.name.replace(f"{os.getpid()}", f"{2**22 + 1}", 1)
    assert disks._remove_left_volume(dead)
    assert detached == [dead]


def test_a_copy_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that fills up while data is copied to it: both places are named, and the part of a copy is removed."""
    source = tmp_path / "images"
    source.mkdir()
    (source / "a").write_text("x")
    volume = tmp_path / "volume"
    volume.mkdir()
    with pytest.raises(Interrupted, match="was copied"):
        placement._copied(source, volume / "copy", lambda: True)
    shutil.rmtree(volume / "copy", ignore_errors=True)
    monkeypatch.setattr("sizer.storage.placement.shutil.copy2", failing(errno.ENOSPC))
    with pytest.raises(HostError) as refused:
        placement._copied(source, volume / "copy", never)
    assert in_words(refused.value).startswith(f"Copying {source} to {volume} failed: ")
    assert list(volume.iterdir()) == []


def test_an_empty_file_has_no_pages(tmp_path: Path) -> None:
    """It cannot be mapped, and none of it is in memory."""
    with (tmp_path / "empty").open("w+b") as file:
        assert page_cache._mincore(file.fileno()) == 0
        file.write(b"x" * 10_000)
        file.flush()
        assert page_cache._mincore(file.fileno()) > 0


def test_a_file_that_cannot_be_looked_at_is_an_error(tmp_path: Path) -> None:
    """Only a kernel without cachestat is passed over; a descriptor that is none is not."""
    with (tmp_path / "file").open("w+b") as file:
        descriptor = os.dup(file.fileno())
    os.close(descriptor)
    with pytest.raises(OSError, match=os.strerror(errno.EBADF)):
        page_cache._cachestat(descriptor)


def test_locks_without_a_known_mount_are_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock that only some machines see would let one sizer remove what another holds."""
    monkeypatch.setattr(held_folders, "mount_of", lambda _folder, _mounts: None)
    assert not held_folders._locks_can_be_trusted(tmp_path)


@pytest.mark.parametrize(
    ("script", "error", "sentence"),
    [
        ("echo 'no images there' >&2; exit 2", InputError, "`workloads.embedded_data` cannot use this data: no images"),
        ("echo 'Killed' >&2; exit 137", HostError, "`workloads.embedded_data` failed: Killed"),
        ("echo 'out of luck'; exit 1", HostError, "`workloads.embedded_data` failed: out of luck"),
    ],
)
def test_a_program_that_cannot_make_data_is_quoted(
    script: str, error: type[Exception], sentence: str, tmp_path: Path
) -> None:
    """Its last words, and whether the data or the host is to blame; what it remarks on its way is announced."""
    program, announcements = tmp_path / "python", list[Announcement]()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    sets = data_sets.DataSets(tmp_path, program, tmp_path, 400, announcements.append, never)
    with pytest.raises(error) as refused:
        sets._program("embedded_data")
    assert str(refused.value).startswith(sentence)
    program.write_text("#!/bin/sh\necho '3 images are broken' >&2\n")
    sets._program("embedded_data")
    assert announcements == [Announcement(AnnouncementKind.PROGRAM, name="3 images are broken")]
