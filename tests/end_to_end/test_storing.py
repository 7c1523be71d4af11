"""A study whose folder stops taking runs in the middle, on a real file system of its own."""

from __future__ import annotations

import json
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
from tests.end_to_end.conftest import Begin, Begun, Gate, Typed

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
    """Also on one that allocates no room, or has neither links nor permissions."""
    (folder / "study.yaml").write_text((folder / "study.yaml").read_text().replace("[0.5, 1, 2]", "[1]"))
    study = without_allocation / "study"
    done = sizer("run", "study.yaml", "--out", str(study))
    assert done.returncode == 0, done.stderr
    assert json.loads(sizer("status", str(study), "--json").stdout)["finished"] == 1
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


@pytest.mark.parametrize("way", ["read-only", "removed", "replaced"])
def test_a_study_folder_that_stops_taking_runs_costs_none(
    sizer: Typed, folder: Path, volume: Volume, begun: Begun, meanwhile: Callable[[str], None], way: str
) -> None:
    """The current run is kept in the cache, the sentence says so, and the next start takes it from there; what was put
    in the folder's place gets nothing."""
    study, moved, stranger = volume.mount / "study", volume.mount / "moved", folder / "stranger"
    begun(2, at=study)
    for name in ("runs", "logs"):
        (stranger / name).mkdir(parents=True)
    statement, sentence = {
        "read-only": (volume.failing, "Read-only file system"),
        "removed": (
            f"import shutil; shutil.rmtree('{study}', ignore_errors=True)",
            "; to store it and continue, type: ",
        ),
        "replaced": (
            f"os.rename('{study}', '{moved}'); os.symlink('{stranger}', '{study}')",
            "is no longer the folder that sizer began to write to",
        ),
    }[way]
    meanwhile(statement)
    done = sizer("run", "study.yaml", "--out", str(study))
    assert done.returncode == 3, done.stderr
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    (kept,) = (folder / "cache/unsaved").glob("*/*.json")
    record = kept.read_bytes()
    assert [path for path in stranger.rglob("*") if path.is_file()] == []
    if way == "read-only":
        volume.repair()
        assert kept.stem not in {run.id for run in StudyFolder.open(study).runs()}
    elif way == "removed":
        assert f"The last run is in {kept}; " in done.stderr
        shutil.rmtree(study, ignore_errors=True)
    else:
        study.unlink()
        moved.rename(study)
    meanwhile("pass")
    again = sizer("run", "study.yaml", "--out", str(study))
    assert again.returncode == 0, again.stderr
    assert "1 run of this study, measured before, could not be stored then; moved from" in again.stderr
    assert not kept.exists()
    runs = {run.id: run for run in StudyFolder.open(study).runs()}
    assert len(runs) == 3
    assert runs[kept.stem].started_at.encode() in record


def test_the_second_sizer_on_a_host_is_told_that_the_first_measures(
    sizer: Typed, folder: Path, begin: Begin, begun: Begun
) -> None:
    """Another study, another folder: exit code 3, who measures, and nothing written."""
    begun(0.5)
    gate = Gate(folder / "child.py")
    first = begin()
    gate.wait()
    for words in (["run", "study.yaml", "--out", "other"], ["disks", "check", "."]):
        second = sizer(*words)
        assert second.returncode == 3, second.stderr
        assert f"Another sizer is measuring on this host (process {first.pid}: " in second.stderr
        assert not (folder / "other").exists()
    assert sizer("status", "study", "--json").returncode == 0
    assert sizer("run", "study.yaml", "--out", "other", "--dry-run").returncode == 0
    gate.open()
    first.communicate(timeout=300)
    assert first.returncode == 0


@pytest.mark.parametrize("gone", [True, False])
def test_a_reader_that_is_gone_or_does_not_read_ends_no_study(
    folder: Path, environment: dict[str, str], begun: Begun, gone: bool
) -> None:
    """A terminal that was closed, a `tee` that died; one that was halted, a pager that waits: the runs go on, and what
    was not read is left out."""
    begun(0.5)
    reading, writing = os.pipe()
    if not gone:
        os.set_blocking(writing, False)
        with suppress(BlockingIOError):
            while os.write(writing, bytes(4096)):
                pass
        os.set_blocking(writing, True)
    argv = [sys.executable, "-m", "sizer", "run", "study.yaml"]
    with subprocess.Popen(argv, cwd=folder, env=environment, stderr=writing) as process:
        os.close(writing)
        if gone:
            os.read(reading, 1)
            os.close(reading)
        assert process.wait(300) == 0
    if not gone:
        os.close(reading)
    assert len(StudyFolder.open(folder / "study").runs()) == 3
    assert (folder / "study/report.html").exists()
