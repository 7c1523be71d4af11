from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sizer.limits.detection import detect
from sizer.records.device import DiskRates
from sizer.records.messages import HostError, InputError
from sizer.records.study import DiskTier
from sizer.storage.disk_check import Fio, check_disk, judge
from sizer.storage.disks import emulated_volume, mount_answers, real_volume, remove_left_folders, remove_leftovers
from sizer.words.terminal import deviations_in_words

TIER = DiskTier("ssd", emulated=DiskRates(2000, 60e6, 1500, 40e6), disk_class="ssd")


@pytest.mark.alone
@pytest.mark.root
@pytest.mark.slow
def test_an_emulated_tier_gives_what_it_declares(tmp_path: Path) -> None:
    """Bandwidth and IOPS of reads and writes are within 10 % of what the tier declares, by fio.

    Never more; and as much in the best of three checks, or as the host's own disk gives just then, if that is less.
    """
    declared = vars(TIER.emulated)
    best = dict.fromkeys(declared, 0.0)
    with emulated_volume(tmp_path, 0) as volume:
        for _ in range(3):
            measured = vars(check_disk(TIER, volume, detect(), Fio(seconds=1.0)).measured)
            assert all(measured[name] < 1.1 * declared[name] for name in declared), measured
            best = {name: max(best[name], measured[name]) for name in declared}
            lacking = [name for name in declared if best[name] < 0.9 * declared[name]]
            if not lacking:
                break
        else:
            own = DiskTier("own", path=str(volume.folder))
            raw = vars(check_disk(own, volume, detect(), Fio(1.0, tuple(lacking))).measured)
            assert all(raw[name] < 2 * declared[name] for name in lacking), (best, raw)


@pytest.mark.alone
@pytest.mark.root
@pytest.mark.slow
def test_an_emulated_volume_leaves_nothing_behind(tmp_path: Path) -> None:
    """Image, mount and loop device are gone after the context, even if a process still holds a file open."""
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    with emulated_volume(link, 0) as volume:
        held = subprocess.Popen(["sleep", "60"], cwd=volume.folder)
        (volume.folder / "data").write_bytes(b"x")
    held.kill()
    held.wait()
    assert list(real.iterdir()) == []
    assert str(tmp_path) not in subprocess.run(["losetup", "--all"], capture_output=True, text=True).stdout
    assert str(tmp_path) not in Path("/proc/mounts").read_text()


@pytest.mark.alone
@pytest.mark.root
@pytest.mark.slow
def test_the_volume_of_a_killed_sizer_is_removed_and_that_of_a_living_one_is_not(tmp_path: Path) -> None:
    """The name of its folder tells whose it is; the next sizer may have another cache: the kernel's own lists say what
    is mounted, also of a folder that somebody has deleted."""
    here, deleted = tmp_path / "here", tmp_path / "deleted"
    for cache in (here, deleted):
        killed_with_a_volume(cache)
    for image in deleted.glob("volume-*/disk.img"):
        image.unlink()
    with emulated_volume(tmp_path, 0) as volume:
        assert len(remove_leftovers(tmp_path / "other")) == 2
        assert volume.folder.is_mount()
        assert Path("/proc/mounts").read_text().count(str(tmp_path)) == 1
    assert str(tmp_path) not in subprocess.run(["losetup", "--all"], capture_output=True, text=True).stdout
    assert [*here.iterdir(), *deleted.iterdir()] == []


def killed_with_a_volume(scratch: Path) -> None:
    program = (
        "import os, sys\nfrom pathlib import Path\nfrom sizer.storage.disks import emulated_volume\n"
        f"with emulated_volume(Path({str(scratch)!r}), 0):\n    os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=False)
    assert str(scratch) in Path("/proc/mounts").read_text()


@pytest.mark.alone
@pytest.mark.root
@pytest.mark.slow
def test_a_real_mount_is_measured_as_it_is(tmp_path: Path) -> None:
    """fio's figures are shown alone where nothing is declared."""
    tier = DiskTier("here", path=str(tmp_path))
    with real_volume(tier) as volume:
        check = check_disk(tier, volume, detect(), Fio(0.5, ("read_bytes_per_second",)))
        assert volume.throttle(tier) is None
    assert (check.measured.read_bytes_per_second or 0) > 1e6
    assert not check.deviates
    assert list(tmp_path.iterdir()) == []


@pytest.mark.alone
def test_our_folder_on_a_real_mount_outlives_a_killed_sizer_only_until_the_next(tmp_path: Path) -> None:
    """A copy of the data can be hundreds of gigabytes."""
    program = (
        "import os\nfrom pathlib import Path\nfrom sizer.storage.disks import real_volume\n"
        "from sizer.records.study import DiskTier\n"
        f"with real_volume(DiskTier('here', path={str(tmp_path)!r})) as volume:\n"
        "    (volume.folder / 'copy').mkdir()\n    (volume.folder / 'copy/data').write_bytes(b'x')\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=False)
    (tmp_path / "sizer-notes").mkdir()
    assert len(list(tmp_path.iterdir())) == 2
    with real_volume(DiskTier("here", path=str(tmp_path))) as volume:
        assert len(remove_left_folders(tmp_path)) == 1
        assert {path.name for path in tmp_path.iterdir()} == {"sizer-notes", volume.folder.name}


def test_a_mount_that_hangs_does_not_hang_sizer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process asks it, and is given up after a while."""
    assert mount_answers(tmp_path)
    assert not mount_answers(tmp_path / "nothing")
    program = tmp_path / "test"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr("sizer.storage.disks.ANSWER_SECONDS", 0.3)
    assert not mount_answers(tmp_path)


def test_what_cannot_be_is_said_before_anything_is_made(tmp_path: Path) -> None:
    """A data set larger than the disk, with both figures; a mount that is not there, with the disk's name and path."""
    with pytest.raises(HostError, match=r"GB free, and the emulated disk needs"), emulated_volume(tmp_path, 10**15):
        pass
    assert list(tmp_path.iterdir()) == []
    nowhere = real_volume(DiskTier("nvme", path="/nowhere"))
    with pytest.raises(InputError, match="disk `nvme`: /nowhere is not a folder"), nowhere:
        pass


def test_a_tier_that_misses_its_figure_is_marked() -> None:
    """More than 10 % off, to either side, is said with both figures; what was not measured is not judged."""
    assert not judge(TIER, DiskRates(read_bytes_per_second=56e6)).deviates
    slow = judge(TIER, DiskRates(read_bytes_per_second=50e6, read_iops=2000))
    assert slow.deviates
    sentence = "it reads 50 MB/s where 60 MB/s is declared; the measured figures are used"
    assert deviations_in_words(slow) == sentence
    assert slow.rates.read_bytes_per_second == 50e6
    assert slow.rates.write_bytes_per_second == 40e6
