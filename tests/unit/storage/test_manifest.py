"""Data sets in the cache, and the programs that make them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sizer.limits.process_tree import world
from sizer.records.device import DiskRates
from sizer.records.messages import HostError, Interrupted
from sizer.records.run import DataSet
from sizer.records.study import DiskTier, Limits, Measure, RunSpec, Study, Workload, WorkloadPlan
from sizer.storage import manifest
from sizer.storage.announcements import Announcement, AnnouncementKind
from sizer.storage.data_cache import made_once
from sizer.storage.page_cache import files_of, resident_bytes
from sizer.storage.placement import Placement, remove_leftovers, room_on_emulated
from sizer.storage.subprograms import complete
from sizer.words.language import in_words
from sizer.words.terminal import announcement_in_words

# A data set of the cache that is not as it was made is made anew, whatever happened to it.


MAKING = Announcement(AnnouncementKind.EMBEDDED_DATA)


def never() -> bool:
    return False


def taken(cache: Path, stop: Callable[[], bool] = never) -> list[Announcement]:
    """Take the data set from the cache as a study does: a folder with two files and a link; what was announced."""
    announcements: list[Announcement] = []
    with made_once(cache / "images", MAKING, announcements.append, stop) as aside:
        if aside is not None:
            (aside / "n1").mkdir(parents=True)
            (aside / "n1" / "a.JPEG").write_bytes(b"a" * 5000)
            (aside / "b.JPEG").write_bytes(b"b" * 5000)
            (aside / "theirs.rec").symlink_to("/data/theirs.rec")
    return announcements


def with_changed_byte(folder: Path) -> None:
    """As a fault of a disk leaves it: with the size and the time that it had."""
    path = folder / "b.JPEG"
    facts = path.stat()
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def with_other_link(folder: Path) -> None:
    (folder / "theirs.rec").unlink()
    (folder / "theirs.rec").symlink_to("/data/others.rec")


def with_endless_list(folder: Path) -> None:
    """No number that a machine can mean."""
    folder.with_name("images.manifest.json").write_text(f'{{"files": 3, "bytes": 1{"0" * 400}, "sha256": ""}}')


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda folder: (folder / "b.JPEG").unlink(), "it holds 4.9 KiB (files: 2), and held 9.78 KiB (files: 3)"),
        (lambda folder: (folder / "b.JPEG").write_bytes(b""), "it holds 4.9 KiB (files: 3)"),
        (lambda folder: (folder / "c.JPEG").write_bytes(b"c"), "it holds 9.78 KiB (files: 4)"),
        (with_changed_byte, "the content of its files has changed"),
        (lambda folder: (folder / "b.JPEG").rename(folder / "c.JPEG"), "the content of its files has changed"),
        (lambda folder: (folder.parent / "images.manifest.json").write_text("[]"), "the list of what it held"),
        (with_endless_list, "the list of what it held"),
        (lambda folder: (shutil.rmtree(folder), folder.write_text("")), "Not a directory"),
    ],
)
def test_a_damaged_data_set_is_made_anew(spoil: Callable[[Path], object], why: str, tmp_path: Path) -> None:
    """It is said why; then it is whole, and nothing else lies in the cache."""
    assert taken(tmp_path) == [MAKING]
    assert taken(tmp_path) == []
    spoil(tmp_path / "images")
    damaged, making = taken(tmp_path)
    assert making == MAKING
    sentence = announcement_in_words(damaged)
    assert sentence.startswith(f"the data set in {tmp_path / 'images'} is not as it was made (")
    assert why in sentence
    assert taken(tmp_path) == []
    assert {path.name for path in tmp_path.iterdir()} == {".lock", "images", "images.manifest.json"}
    assert (tmp_path / "images" / "b.JPEG").read_bytes() == b"b" * 5000


def test_of_large_data_a_part_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every fifth block here: what is lacking is seen always, and a change where it is looked at."""
    monkeypatch.setattr(manifest, "BLOCK_BYTES", 100)
    monkeypatch.setattr(manifest, "MOST_BYTES", 2000)
    taken(tmp_path)
    file = tmp_path / "images" / "b.JPEG"
    content = file.read_bytes()
    file.write_bytes(b"x" + content[1:])
    assert len(taken(tmp_path)) == 2
    file.write_bytes(content[:150] + b"x" + content[151:])
    assert taken(tmp_path) == []
    file.write_bytes(content[:-1])
    assert len(taken(tmp_path)) == 2


def test_a_check_can_be_interrupted(tmp_path: Path) -> None:
    """On a slow disk it takes as long as reading what there is."""
    taken(tmp_path)
    with pytest.raises(Interrupted, match=r"Interrupted while .*images was checked"):
        taken(tmp_path, lambda: True)


def test_a_damaged_data_set_that_may_only_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its folder, what is wrong, and what to do."""
    taken(tmp_path)
    (tmp_path / "images" / "b.JPEG").unlink()
    monkeypatch.setattr("sizer.storage.data_cache.os.access", lambda *_: False)
    with pytest.raises(HostError) as refused:
        taken(tmp_path)
    assert in_words(refused.value) == (
        f"The data set in {tmp_path / 'images'} is not as it was made (it holds 4.9 KiB (files: 2), and held 9.78 KiB "
        "(files: 3)), and you may not make it anew there; remove it, or set SIZER_CACHE to a folder that you may "
        "write to."
    )


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
    announcements: list[Announcement] = []
    with Placement(tmp_path / "cache", 0, announcements.append) as placement:
        copy = placement.data(DataSet(str(data), "recordio", 2**20, 0, False), tier)
        again = placement.data(DataSet(str(data), "recordio", 2**20, 0, False), tier)
        assert copy == again
        assert Path(copy.path).is_relative_to(mount)
        assert {path.suffix for path in files_of(Path(copy.path))} == {".rec", ".idx"}
        assert resident_bytes(files_of(Path(copy.path))) == 0
        assert Path(copy.path).parent.stat().st_mode & 0o077 == 0
        with placement.folders(tier) as (scratch, output):
            assert output.is_relative_to(mount)
            assert not scratch.is_relative_to(mount)
        assert not scratch.exists()
        assert not output.exists()
    assert sum(announcement.kind is AnnouncementKind.COPY for announcement in announcements) == 1
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
        names = {path.name for path in tmp_path.iterdir()}
    assert {"sizer-notes", "sizer-999999999-1-abc"} < names
    assert len(names) == 3


HANGS_SECONDS = 600
"""As long as nobody waits for a test, however busy the machine is."""


def test_a_stop_ends_the_program() -> None:
    """Whoever presses Ctrl-C does not wait for a long preparation."""
    began = time.monotonic()
    with pytest.raises(Interrupted):
        complete(["sleep", str(HANGS_SECONDS)], stop=lambda: True)
    assert time.monotonic() - began < HANGS_SECONDS / 2


def test_a_program_that_does_not_end_is_given_up() -> None:
    """What hangs must not hang sizer: one sentence says what it was."""
    began = time.monotonic()
    with pytest.raises(HostError, match="sleep has not ended after 0 s"):
        complete(["sleep", str(HANGS_SECONDS)], patience=0.1)
    assert time.monotonic() - began < HANGS_SECONDS / 2


def test_what_a_program_leaves_running_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A daemon of its that holds the pipes open."""
    monkeypatch.setattr("sizer.storage.subprograms.GRACE_SECONDS", 0.2)
    began = time.monotonic()
    done = complete(["sh", "-c", f"sleep {HANGS_SECONDS} & echo $!; exit 4"])
    os.kill(int(done.stdout), signal.SIGKILL)
    assert done.returncode == 4
    assert time.monotonic() - began < HANGS_SECONDS / 2


def test_ctrl_c_at_the_terminal_does_not_reach_the_program() -> None:
    """A signal to our process group leaves the program alone: we decide when it ends."""
    code = (
        "import signal\nfrom sizer.storage.subprograms import complete\nsignal.signal(signal.SIGINT, lambda *_: None)\n"
        "print('ready', flush=True)\nprint(complete(['sh', '-c', 'sleep 1; echo whole']).stdout)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True)
    process.stdout.readline()
    time.sleep(0.3)
    os.killpg(process.pid, signal.SIGINT)
    assert "whole" in process.communicate()[0]
