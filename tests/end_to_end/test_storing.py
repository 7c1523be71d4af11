"""A study whose folder stops taking runs in the middle, on a real file system of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from sizer.storage.manifest import write_manifest
from sizer.store.study_folder import StudyFolder
from sizer.store.unsaved import RESERVED_BYTES
from tests.end_to_end.conftest import Begun, Typed

pytestmark = [pytest.mark.root, pytest.mark.slow]

WITH_TWO_VCPUS = "import os, subprocess\nif len(os.sched_getaffinity(0)) == 2: {}\n"
"""What the child does in the one run that has two vCPUs, in the middle of its study."""


class Volume:
    """A small ext4 on a loop device, for a study folder that its disk can fail."""

    def __init__(self, folder: Path) -> None:
        self.mount = folder / "volume"
        self.mount.mkdir()
        image = folder / "volume.img"
        with image.open("wb") as file:
            file.truncate(RESERVED_BYTES + 16 * 2**20)
        self.loop = command("losetup", "--find", "--show", str(image))
        command("mkfs.ext4", "-q", "-O", "^has_journal", self.loop)
        command("mount", "-o", "errors=remount-ro", self.loop, str(self.mount))

    @property
    def failing(self) -> str:
        """The statement that makes ext4 believe that its disk has failed."""
        return f"open('/sys/fs/ext4/{Path(self.loop).name}/trigger_fs_error', 'w').write('1')"

    def repair(self) -> None:
        """What a person does about it."""
        command("umount", str(self.mount))
        # A run of another test, in mounts of its own, may hold it for as long as that lasts.
        deadline = time.monotonic() + 120
        while Path("/sys/fs/ext4", Path(self.loop).name).exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        subprocess.run(["e2fsck", "-fy", self.loop], capture_output=True, check=False)
        command("mount", "-o", "errors=remount-ro", self.loop, str(self.mount))

    def remove(self) -> None:
        command("umount", "--lazy", str(self.mount))
        command("losetup", "--detach", self.loop)


@pytest.fixture
def volume(folder: Path) -> Iterator[Volume]:
    """A file system of its own for the study folder."""
    made = Volume(folder)
    yield made
    made.remove()


def command(*argv: str) -> str:
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def meanwhile(folder: Path) -> Callable[[str], None]:
    """Let the child of the run with two vCPUs do something to its host."""
    child = (folder / "child.py").read_text()

    def does(statement: str) -> None:
        (folder / "child.py").write_text(WITH_TWO_VCPUS.format(statement) + child)

    return does


def test_a_full_disk_costs_no_run(sizer: Typed, volume: Volume, begun: Begun, meanwhile: Callable[[str], None]) -> None:
    """The run that was measured while the disk filled is stored, no other is begun, and resume goes on."""
    begun(1, 2, at=volume.mount / "study")
    filler = volume.mount / "filler"
    meanwhile(f"subprocess.run(['dd', 'if=/dev/zero', 'of={filler}', 'bs=4k'])")
    done = sizer("run", "study.yaml", "--out", str(volume.mount / "study"))
    assert "No space left on device" in done.stderr
    before = StudyFolder.open(volume.mount / "study").runs()
    assert any(run.configuration.vcpus == 2 and run.throughput is not None for run in before), done.stderr
    if len(before) < 3:
        assert done.returncode == 3
        assert f"sizer resume {volume.mount / 'study'}" in done.stderr
    filler.unlink()
    meanwhile("pass")
    assert sizer("resume", str(volume.mount / "study")).returncode == 0
    after = StudyFolder.open(volume.mount / "study").runs()
    assert len(after) == 3
    assert {run.id: run.throughput for run in before}.items() <= {run.id: run.throughput for run in after}.items()
    assert not list((volume.mount / "study").rglob("*.tmp"))


MAKE = {"exfat": ["mkfs.exfat"]}
MOUNT = {"exfat": ["mount.exfat-fuse", "-o", "umask=022"], "ramfs": ["mount", "-t", "ramfs"]}
"""File systems without fallocate(2): one of FUSE, which has no links or permissions either, and one of the kernel."""


@pytest.fixture
def without_allocation(folder: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """Where a file system of the kind that is asked for is mounted."""
    kind, mount, image, device = request.param, folder / "volume", folder / "volume.img", "none"
    mount.mkdir()
    with ExitStack() as stack:
        if kind in MAKE:
            with image.open("wb") as file:
                file.truncate(100 * 2**20)
            device = command("losetup", "--find", "--show", str(image))
            stack.callback(command, "losetup", "--detach", device)
            command(*MAKE[kind], device)
        mounted = subprocess.run([*MOUNT[kind], device, str(mount)], capture_output=True, text=True)
        if not mount.is_mount():
            pytest.skip(f"this host mounts no {kind}: {mounted.stderr.strip()}")
        stack.callback(command, "umount", str(mount))
        yield mount


@pytest.mark.parametrize("without_allocation", ["exfat", "ramfs"], indirect=True)
def test_a_study_is_measured_on_any_file_system(sizer: Typed, folder: Path, without_allocation: Path) -> None:
    """Also on one that allocates no room, or has neither links nor permissions: all of it, and gone on with."""
    (folder / "study.yaml").write_text((folder / "study.yaml").read_text().replace("[0.5, 1, 2]", "[1]"))
    study = without_allocation / "study"
    done = sizer("run", "study.yaml", "--out", str(study))
    assert done.returncode == 0, done.stderr
    first, *_ = (study / "runs").iterdir()
    first.unlink()
    again = sizer("resume", str(study))
    assert again.returncode == 0, again.stderr
    assert len(StudyFolder.open(study).runs()) == 1
    assert (study / "report.html").exists()
    assert not list(study.glob(".reserve*"))


def test_a_disk_that_has_no_room_is_said_before_anything_runs(sizer: Typed, volume: Volume) -> None:
    """Exit code 3 and one sentence: no run is measured that could not be stored."""
    with (volume.mount / "filler").open("wb") as filler:
        os.posix_fallocate(filler.fileno(), 0, 16 * 2**20)
    done = sizer("run", "study.yaml", "--out", str(volume.mount / "study"))
    assert done.returncode == 3
    assert "No space left on device" in done.stderr
    assert not list((volume.mount / "study/runs").iterdir())


def test_a_damaged_cache_that_may_only_be_read_ends_the_study_before_it_begins(sizer: Typed, folder: Path) -> None:
    """Exit code 3 and one sentence: nothing is measured on a part of the data."""
    images = folder / "cache" / "images-v1-seed1-20"
    images.mkdir(parents=True)
    (images / "image.JPEG").write_bytes(b"image")
    write_manifest(images, images, lambda: False)
    (images / "image.JPEG").write_bytes(b"")
    (folder / "study.yaml").write_text("embedded_images: 20\nworkloads: [{kind: imagenet_preprocessing}]\n")
    command("mount", "--bind", str(folder / "cache"), str(folder / "cache"))
    try:
        command("mount", "-o", "remount,bind,ro", str(folder / "cache"))
        done = sizer("run", "study.yaml")
    finally:
        command("umount", str(folder / "cache"))
    assert done.returncode == 3
    assert done.stderr.startswith(f"sizer: The data set in {images} is not as it was made (it holds 0 B (files: 1)")
    assert done.stderr.count("\n") == 1
    assert not (folder / "study").exists()


def test_a_study_folder_that_becomes_read_only_costs_no_run(
    sizer: Typed, folder: Path, volume: Volume, begun: Begun, meanwhile: Callable[[str], None]
) -> None:
    """The run is kept in the cache, the sentence says so, and the next start takes it from there."""
    begun(2, at=volume.mount / "study")
    meanwhile(volume.failing)
    done = sizer("run", "study.yaml", "--out", str(volume.mount / "study"))
    assert done.returncode == 3
    assert "Read-only file system" in done.stderr
    assert "Traceback" not in done.stderr
    (kept,) = (folder / "cache/unsaved").glob("*/*.json")
    volume.repair()
    assert kept.stem not in {run.id for run in StudyFolder.open(volume.mount / "study").runs()}
    record = kept.read_bytes()
    meanwhile("pass")
    again = sizer("resume", str(volume.mount / "study"))
    assert again.returncode == 0, again.stderr
    assert not kept.exists()
    runs = {run.id: run for run in StudyFolder.open(volume.mount / "study").runs()}
    assert len(runs) == 3
    assert runs[kept.stem].started_at.encode() in record


def test_a_study_folder_that_is_removed_costs_only_what_lay_in_it(
    sizer: Typed, folder: Path, begun: Begun, meanwhile: Callable[[str], None]
) -> None:
    """The current run is kept in the cache; one sentence says where, and the command that takes it from there."""
    study = begun(2)
    meanwhile(f"import shutil; shutil.rmtree('{study}', ignore_errors=True)")
    done = sizer("run", "study.yaml")
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    (kept,) = (folder / "cache/unsaved").glob("*/*.json")
    assert f"The last run is in {kept}; to store it and continue, type: sizer run STUDY.yaml --out study" in done.stderr
    meanwhile("pass")
    shutil.rmtree(study, ignore_errors=True)
    record = kept.read_bytes()
    again = sizer("run", "study.yaml", "--out", "study")
    assert again.returncode == 0, again.stderr
    taken = "1 run of this study, measured before, could not be stored then; moved from"
    assert f"{taken} {kept.parent} into study\n" in again.stderr
    assert len(StudyFolder.open(study).runs()) == 3
    assert (study / "runs" / kept.name).read_bytes() == record


def test_what_is_put_in_the_place_of_a_study_folder_gets_nothing(
    sizer: Typed, folder: Path, begun: Begun, meanwhile: Callable[[str], None]
) -> None:
    """The current run is kept in the cache, and once the folder is back the next start takes it from there."""
    begun(2)
    study, stranger, moved = folder / "study", folder / "stranger", folder / "moved"
    for name in ("runs", "logs"):
        (stranger / name).mkdir(parents=True)
    meanwhile(f"os.rename('{study}', '{moved}'); os.symlink('{stranger}', '{study}')")
    done = sizer("run", "study.yaml")
    assert done.returncode == 3, done.stderr
    assert "is no longer the folder that sizer began to write to" in done.stderr
    assert "Traceback" not in done.stderr
    (kept,) = (folder / "cache/unsaved").glob("*/*.json")
    assert [path for path in study.rglob("*") if path.is_file()] == []
    study.unlink()
    moved.rename(study)
    meanwhile("pass")
    again = sizer("resume", "study")
    assert again.returncode == 0, again.stderr
    assert not kept.exists()
    assert len(StudyFolder.open(study).runs()) == 3


def test_the_second_sizer_on_a_host_is_told_that_the_first_measures(
    sizer: Typed, folder: Path, environment: dict[str, str], begun: Begun
) -> None:
    """Another study, another folder: exit code 3, who measures, and nothing written."""
    begun(0.5)
    gate, child = folder / "gate", folder / "child.py"
    waiting = f"import os, time\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.05)\n"
    child.write_text(waiting + child.read_text())
    argv = [sys.executable, "-m", "sizer", "run", "study.yaml"]
    with subprocess.Popen(argv, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True) as first:
        assert any("[3/3]" in line for line in first.stderr)
        for words in (["run", "study.yaml", "--out", "other"], ["demo", "--out", "other"], ["disks", "check", "."]):
            second = sizer(*words)
            assert second.returncode == 3, second.stderr
            assert f"Another sizer is measuring on this host (process {first.pid}: " in second.stderr
            assert not (folder / "other").exists()
        assert sizer("status", "study", "--json").returncode == 0
        assert sizer("run", "study.yaml", "--out", "other", "--dry-run").returncode == 0
        gate.touch()
        first.stderr.read()
    assert first.returncode == 0


def test_a_reader_that_is_gone_ends_no_study(folder: Path, environment: dict[str, str], begun: Begun) -> None:
    """A terminal that was closed, a `tee` that died: the study ends as if somebody had listened."""
    begun(0.5, 1)
    argv = [sys.executable, "-m", "sizer", "run", "study.yaml"]
    with subprocess.Popen(argv, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert any("[2/3]" in line for line in process.stderr)
        process.stderr.close()
        assert process.wait(300) == 0
    assert len(StudyFolder.open(folder / "study").runs()) == 3
    assert (folder / "study/report.html").exists()


def test_a_reader_that_does_not_read_holds_no_study_up(folder: Path, environment: dict[str, str], begun: Begun) -> None:
    """A terminal that was halted, a pager that waits: the runs go on, and what was not read is left out."""
    begun(0.5, 1)
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with suppress(BlockingIOError):
        while os.write(writing, bytes(4096)):
            pass
    os.set_blocking(writing, True)
    argv = [sys.executable, "-m", "sizer", "run", "study.yaml"]
    try:
        with subprocess.Popen(argv, cwd=folder, env=environment, stderr=writing) as process:
            assert process.wait(300) == 0
    finally:
        os.close(reading)
        os.close(writing)
    assert len(StudyFolder.open(folder / "study").runs()) == 3


def test_failed_runs_are_measured_again_on_demand(
    sizer: Typed, folder: Path, begun: Begun, meanwhile: Callable[[str], None]
) -> None:
    """What crashed is kept as it is by `resume`, which says how to have it again: with --retry."""
    begun(2)
    meanwhile("raise SystemExit('the data is not there yet')")
    assert sizer("run", "study.yaml").returncode == 4
    kept = sizer("resume", "study")
    assert kept.returncode == 4
    assert "sizer resume study --retry" in kept.stderr
    meanwhile("pass")
    assert "0 runs, about" in sizer("resume", "study", "--dry-run").stdout
    assert "1 run, about" in sizer("resume", "study", "--retry", "--dry-run").stdout
    assert sizer("resume", "study", "--retry").returncode == 0
    assert all(run.throughput is not None for run in StudyFolder.open(folder / "study").runs())
