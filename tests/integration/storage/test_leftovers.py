"""What a killed sizer left, on a host of the test's own making and on this one."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sizer.limits.backends.affinity import AffinityBackend
from sizer.limits.interface import LimitsBackend
from sizer.limits.process_tree import MARK, end_left, owned_name, world
from sizer.limits.topology import read_machine
from sizer.limits.tree import Tree
from sizer.records.messages import Interrupted, Message
from sizer.records.study import Workload
from sizer.storage import leftovers
from sizer.storage.announcements import Announcement
from sizer.storage.data_sets import DataSets
from sizer.words.terminal import announcement_in_words, leftover_in_words

pytestmark = pytest.mark.alone

DEAD = f"{world()}-999999999-1"


@pytest.fixture
def backend() -> LimitsBackend:
    return AffinityBackend(read_machine(Tree()), Message(""), {})


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files that is this test's alone, on a host where nothing else was left."""
    path = tmp_path / "temporary"
    path.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(path))
    monkeypatch.setattr("sizer.storage.disks._homes_in_use", set)
    monkeypatch.setattr("sizer.storage.leftovers.end_left", lambda **_: ())
    monkeypatch.setattr("sizer.limits.backends.affinity.end_left", lambda: ())
    return path


def sleeping(mark: str) -> subprocess.Popen[bytes]:
    """A program with a mark, which ignores what it can."""
    code = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint(flush=True)\ntime.sleep(60)"
    environment = {**os.environ, MARK: mark}
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment)
    process.stdout.readline()
    return process


def test_programs_of_the_dead_are_ended_and_those_of_the_living_are_not() -> None:
    """On every way of limiting: a maker of data that goes on would write into what is made next."""
    left, ours, other = sleeping(f"{DEAD}-python"), sleeping(owned_name("python")), sleeping("0123456789-9-9-elsewhere")
    try:
        assert f"{DEAD}-python" in end_left()
        assert left.wait(60) == -9
        assert (ours.poll(), other.poll()) == (None, None)
    finally:
        for process in (left, ours, other):
            process.kill()
            process.communicate()


@pytest.mark.root
def test_everything_goes_and_is_named(tmp_path: Path, temporary: Path, backend: LimitsBackend) -> None:
    """A sentence for each kind of thing; what cannot be removed is told by its path and what the system says, and those
    beside it go. A second time there is nothing to say."""
    cache, mount, kept = tmp_path / "cache", tmp_path / "mount", temporary / f"sizer-{DEAD}-kept"
    places = {
        "emulated disks": cache / "disks" / f"volume-{DEAD}-a",
        "folders on disks": mount / f"sizer-{DEAD}-b",
        "temporary folders": temporary / f"sizer-{DEAD}-c",
        "unfinished data sets": cache / f"making-{DEAD}-d",
    }
    for folder in (*places.values(), kept):
        (folder / "inner").mkdir(parents=True)
        (folder / "inner/data").write_bytes(b"x")
    finished = cache / "images-v1-seed1-20"
    finished.mkdir()
    subprocess.run(["chattr", "+i", str(kept / "inner/data")], check=True)
    try:
        removed = leftovers.remove_what_was_left(backend, [mount], cache)
    finally:
        subprocess.run(["chattr", "-i", str(kept / "inner/data")], check=True)
    what = "temporary folders that a killed sizer left cannot be removed"
    sentences = {
        f"removed {folder}: {kind} that a killed sizer left" for kind, folder in places.items() if kind not in what
    }
    sentences.add(f"{what}: {kept}/inner/data (Operation not permitted)")
    assert {leftover_in_words(leftover) for leftover in removed} == sentences
    assert not any(folder.exists() for folder in places.values())
    assert finished.exists()
    assert len(leftovers.remove_what_was_left(backend, [mount], cache)) == 1
    assert leftovers.remove_what_was_left(backend, [mount], cache) == ()


def test_a_data_set_that_another_sizer_makes_is_waited_for_but_not_for_ever(tmp_path: Path) -> None:
    """Ctrl-C ends the wait."""
    code = (
        "import fcntl, sys\nlock = open(sys.argv[1], 'w')\nfcntl.flock(lock, fcntl.LOCK_EX)\n"
        "print(flush=True)\nsys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / ".lock")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    holder.stdout.readline()
    announcements: list[Announcement] = []
    began = time.monotonic()
    sets = DataSets(
        tmp_path, Path(sys.executable), tmp_path, 20, announcements.append, lambda: time.monotonic() - began > 0.3
    )
    try:
        with pytest.raises(Interrupted):
            sets.prepare(Workload("prepare", "imagenet_preprocessing", format="recordio"))
    finally:
        holder.kill()
        holder.communicate()
    assert [announcement_in_words(announcement) for announcement in announcements] == [
        f"waiting for another sizer that makes data in {tmp_path}"
    ]
