from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sizer.limits.identity import world
from sizer.records.errors import HostError
from sizer.records.run import DataSet
from sizer.records.study import DiskRates, DiskTier, Limits, Measure, RunSpec, Study, Workload, WorkloadPlan
from sizer.storage.announcements import Announcement, AnnouncementKind
from sizer.storage.page_cache import files_of, resident_bytes
from sizer.storage.placement import Placement, remove_leftovers, room_on_emulated

SLOW = DiskTier("slow", emulated=DiskRates(1000, 20e6, 1000, 20e6))
PREPARE = Workload("prepare", "imagenet_preprocessing", format="lmdb")
TRAIN = Workload("train", "image_training", format="recordio")
IMAGES = DataSet("/images", "folder", 400_000_000, 4000, True)
RECORDS = DataSet("/train.rec", "recordio", 150_000_000, 0, True)


def spec(workload: Workload, disk: str | None) -> RunSpec:
    return RunSpec(workload, 32, Limits(disk=disk), Measure(seconds=30.0))


def study(tier: DiskTier = SLOW) -> Study:
    return Study("s", (WorkloadPlan(PREPARE, (32,)), WorkloadPlan(TRAIN, (32,))), (tier,))


def test_a_pass_of_raw_images_has_room() -> None:
    """4,000 images of 196 kB in LMDB are 0.8 GB beside 0.55 GB of data."""
    specs = [spec(PREPARE, "slow"), spec(TRAIN, "slow"), spec(PREPARE, "slow")]
    room = room_on_emulated(study(), specs, {PREPARE: IMAGES, TRAIN: RECORDS})
    assert room >= 550_000_000 + 4000 * 197_000


def test_a_slow_disk_never_needs_room_for_all_of_imagenet() -> None:
    """At 20 MB/s a run of 30 s writes a few GB at most, whatever the data set could give."""
    imagenet = replace(IMAGES, bytes=0, samples=1_281_167)
    assert room_on_emulated(study(), [spec(PREPARE, "slow")], {PREPARE: imagenet}) <= 20e6 * 120


def test_data_that_no_emulated_run_reads_takes_no_room() -> None:
    """Runs on the host's own disk or on a real mount copy nothing to the emulated volume."""
    assert room_on_emulated(study(), [spec(TRAIN, None)], {TRAIN: RECORDS}) == 0
    real = study(DiskTier("slow", path="/mnt"))
    assert room_on_emulated(real, [spec(TRAIN, "slow")], {TRAIN: RECORDS}) == 0


def test_a_real_mount_gets_a_copy_and_loses_it(tmp_path: Path) -> None:
    """The records and their index are copied once, for their user alone, are out of the page cache, and are gone
    afterwards."""
    mount, data = tmp_path / "mount", tmp_path / "train.rec"
    mount.mkdir()
    data.write_bytes(b"x" * 2**20)
    data.with_suffix(".idx").write_text("0\t0\n")
    tier = DiskTier("real", path=str(mount))
    said: list[Announcement] = []
    with Placement(tmp_path / "cache", 0, said.append) as placement:
        copy = placement.data(DataSet(str(data), "recordio", 2**20, 0, False), tier)
        again = placement.data(DataSet(str(data), "recordio", 2**20, 0, False), tier)
        assert copy == again
        assert copy is not None
        assert Path(copy.path).is_relative_to(mount)
        assert {path.suffix for path in files_of(Path(copy.path))} == {".rec", ".idx"}
        assert resident_bytes(files_of(Path(copy.path))) == 0
        assert Path(copy.path).parent.stat().st_mode & 0o077 == 0
        with placement.folders(tier) as (scratch, output):
            assert output.is_relative_to(mount)
            assert not scratch.is_relative_to(mount)
        assert not scratch.exists()
        assert not output.exists()
    assert sum(each.kind is AnnouncementKind.COPY for each in said) == 1
    assert list(mount.iterdir()) == []


def test_without_a_tier_data_stays_where_it_lies(tmp_path: Path) -> None:
    """Nothing is copied for a run whose disk is not limited."""
    with Placement(tmp_path, 0, print) as placement:
        assert placement.data(RECORDS, None) == RECORDS
        assert placement.data(None, SLOW) is None


def test_a_mount_without_room_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the first byte is copied."""
    data = tmp_path / "train.rec"
    data.write_bytes(b"x" * 1000)
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 10})())
    with (
        Placement(tmp_path, 0, print) as placement,
        pytest.raises(HostError, match="no room"),
    ):
        placement.data(DataSet(str(data), "recordio", 1000, 0, False), DiskTier("real", path=str(tmp_path)))


def test_scratch_of_a_killed_sizer_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name of the folder tells whose it is; that of a living sizer, and what is not ours, stay."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left = f"sizer-{world()}-999999999-1-abc"
    for name in (left, "sizer-999999999-1-abc"):
        (tmp_path / name).mkdir()
    (tmp_path / "sizer-notes").mkdir()
    with Placement(tmp_path, 0, print):
        assert [path.name for path in remove_leftovers()] == [left]
        found = {path.name for path in tmp_path.iterdir()}
    assert {"sizer-notes", "sizer-999999999-1-abc"} < found
    assert len(found) == 3
