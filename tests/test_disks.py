from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sizer.disk_check import Fio, check_disk, expected, judge
from sizer.disks import Volume, emulated_volume, real_volume, remove_leftovers
from sizer.errors import HostError, InputError
from sizer.limits import detect
from sizer.records import DiskRates, DiskTier

TIER = DiskTier("ssd", emulated=DiskRates(2000, 60e6, 1500, 40e6), disk_class="ssd")


@pytest.mark.root
@pytest.mark.slow
def test_an_emulated_tier_gives_what_it_declares(tmp_path: Path) -> None:
    """Bandwidth and IOPS of reads and writes are within 10 % of what the tier declares, by fio."""
    with emulated_volume(tmp_path, 0) as volume:
        check = check_disk(TIER, volume, detect(), Fio(seconds=1.0))
    assert not check.deviates, check.note
    assert check.measured.read_bytes_per_second == pytest.approx(60e6, rel=0.1)
    assert check.measured.write_iops == pytest.approx(1500, rel=0.1)


@pytest.mark.root
@pytest.mark.slow
def test_an_emulated_volume_leaves_nothing_behind(tmp_path: Path) -> None:
    """Image, mount and loop device are gone after the context, even if a process still holds a file open."""
    with emulated_volume(tmp_path, 0) as volume:
        held = subprocess.Popen(["sleep", "60"], cwd=volume.folder)
        (volume.folder / "data").write_bytes(b"x")
    held.kill()
    held.wait()
    assert list(tmp_path.iterdir()) == []
    assert str(tmp_path) not in subprocess.run(["losetup", "--all"], capture_output=True, text=True).stdout
    assert str(tmp_path) not in Path("/proc/mounts").read_text()


@pytest.mark.root
@pytest.mark.slow
def test_the_volume_of_a_killed_sizer_is_removed_and_that_of_a_living_one_is_not(tmp_path: Path) -> None:
    """The name of an image tells whose it is."""
    program = (
        "import os, sys\nfrom pathlib import Path\nfrom sizer.disks import emulated_volume\n"
        f"with emulated_volume(Path({str(tmp_path)!r}), 0):\n    os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=False)
    assert str(tmp_path) in Path("/proc/mounts").read_text()
    with emulated_volume(tmp_path, 0) as volume:
        assert len(remove_leftovers(tmp_path)) == 1
        assert volume.folder.is_mount()
        assert Path("/proc/mounts").read_text().count(str(tmp_path)) == 1


@pytest.mark.root
@pytest.mark.slow
def test_a_real_mount_is_measured_as_it_is(tmp_path: Path) -> None:
    """fio's figures stand alone where nothing is declared."""
    tier = DiskTier("here", path=str(tmp_path))
    with real_volume(tier) as volume:
        check = check_disk(tier, volume, detect(), Fio(0.5, ("read_bytes_per_second",)))
        assert volume.throttle(tier) is None
    assert (check.measured.read_bytes_per_second or 0) > 1e6
    assert not check.deviates
    assert list(tmp_path.iterdir()) == []


def test_a_mount_that_is_not_there_is_named() -> None:
    """One sentence with the disk's name and its path."""
    with (
        pytest.raises(InputError, match="disk `nvme`: /nowhere is not a folder"),
        real_volume(DiskTier("nvme", path="/nowhere")),
    ):
        pass


def test_no_room_is_said_before_anything_is_made(tmp_path: Path) -> None:
    """A data set larger than the disk is refused with both figures."""
    with pytest.raises(HostError, match=r"GB free and the emulated disk needs"), emulated_volume(tmp_path, 10**15):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_tier_that_misses_its_figure_is_marked() -> None:
    """More than 10 % off, to either side, is said with both figures; what was not measured is not judged."""
    assert not judge(TIER, DiskRates(read_bytes_per_second=56e6)).deviates
    slow = judge(TIER, DiskRates(read_bytes_per_second=50e6, read_iops=2000))
    assert slow.deviates
    assert "read bytes per second 5e+07 where 6e+07 is declared" in (slow.note or "")
    assert slow.rates.read_bytes_per_second == 50e6
    assert slow.rates.write_bytes_per_second == 40e6


def test_small_blocks_can_meet_the_bandwidth_limit_first() -> None:
    """50,000 IOPS of 4 KiB are 205 MB/s: at 41 MB/s only 10,000 of them can be had."""
    assert expected(DiskRates(read_iops=50_000, read_bytes_per_second=40.96e6), "read_iops") == pytest.approx(10_000)
    assert expected(DiskRates(read_iops=10, read_bytes_per_second=400e6), "read_bytes_per_second") == 10 * 2**20
    assert expected(DiskRates(), "read_iops") is None


def test_a_volume_throttles_only_emulated_tiers(tmp_path: Path) -> None:
    """A real mount is used as it is."""
    assert Volume(tmp_path, "7:0").throttle(DiskTier("real", path="/mnt")) is None
    throttle = Volume(tmp_path, "7:0").throttle(TIER)
    assert throttle is not None
    assert throttle.rates == TIER.emulated
