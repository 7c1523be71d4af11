"""What explains that a run failed, on files and disks as they may be found."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from sizer.records.device import Device
from sizer.records.messages import InputError
from sizer.records.run import Cause, CauseKind, DataSet
from sizer.records.study import Limits, Measure, RunSpec, Workload
from sizer.runner import circumstances
from sizer.runner.child import _read_now
from sizer.runner.circumstances import (
    Room,
    asked_for_input,
    left_in_memory,
    missing_data,
    not_in_folder,
    shared_memory,
)
from sizer.runner.commands import RunPaths, argv
from sizer.words.failures import cause_in_words
from sizer.words.language import in_words
from sizer.words.warnings import warning_in_words

MakeSpec = Callable[..., RunSpec]


@pytest.fixture
def spec() -> RunSpec:
    return RunSpec(Workload("train", "image_training"), 8, Limits(1.0), Measure())


def said(causes: Iterable[Cause | None], spec: RunSpec) -> str:
    """What a person reads of them."""
    return "; ".join(cause_in_words(cause, spec) for cause in causes if cause is not None)


def folder(path: Path, files: int) -> DataSet:
    path.mkdir()
    for number in range(files):
        (path / str(number)).write_bytes(bytes(1000))
    return DataSet(str(path), "folder", 1000 * files, files, False)


def test_data_that_is_there_explains_nothing(spec: RunSpec, tmp_path: Path) -> None:
    """Nor does a run that reads none, or a data set that has grown."""
    data_set = folder(tmp_path / "data", 4)
    assert missing_data(None, spec) is None
    assert missing_data(data_set, spec) is None
    (tmp_path / "data" / "more").write_text("more")
    assert missing_data(data_set, spec) is None


def test_data_that_is_gone_is_named(spec: RunSpec, make_spec: MakeSpec, tmp_path: Path) -> None:
    """All of it, or a part; a command may remove files of its own."""
    data_set = folder(tmp_path / "data", 4)
    (tmp_path / "data" / "0").unlink()
    assert "only 2.93 KiB of 3.91 KiB are still there" in said([missing_data(data_set, spec)], spec)
    assert missing_data(data_set, make_spec("program")) is None
    for path in (tmp_path / "data").iterdir():
        path.unlink()
    assert missing_data(data_set, make_spec("program")) is not None
    (tmp_path / "data").rmdir()
    assert f"{tmp_path}/data is no longer there: put it back" in said([missing_data(data_set, spec)], spec)


def full(*folders: Path) -> Callable[[Path], SimpleNamespace]:
    """A host on which the disks of these folders are full, and the others are not."""

    def statvfs(path: Path) -> SimpleNamespace:
        free = 0 if path in folders else 10**6
        return SimpleNamespace(f_bfree=free, f_bavail=free, f_frsize=4096, f_blocks=10**7, f_files=100, f_ffree=50)

    return statvfs


def test_a_full_disk_is_named(spec: RunSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once it was seen to be full, whatever was removed again since."""
    room = Room(tmp_path, tmp_path)
    monkeypatch.setattr(circumstances.os, "statvfs", full())
    room.poll()
    assert room.want("") == ()
    monkeypatch.setattr(circumstances.os, "statvfs", full(tmp_path))
    room.poll()
    monkeypatch.setattr(circumstances.os, "statvfs", full())
    room.poll()
    assert "the disk under its scratch folder (TMPDIR) and its output" in said(room.want(""), spec)
    assert "was full: make room there" in said(room.want(""), spec)


def test_a_program_that_complains_is_believed(spec: RunSpec, tmp_path: Path) -> None:
    """A disk that was full only between two looks is known by the program's own words, and by a path in them."""
    room = Room(tmp_path, tmp_path)
    complaint = f"OSError: [Errno 28] {os.strerror(28)}"
    assert "a disk that it wrote to was full" in said(room.want(complaint), spec)
    assert "under its scratch folder" in said(room.want(f"{complaint}: '{tmp_path}/file'"), spec)
    assert room.want("something else") == ()


def test_what_came_into_shared_memory_is_told() -> None:
    """New files with what they take, a few by name; nothing where all was there before."""
    assert left_in_memory({"a": 5}, {"a": 4096}) is None
    found = left_in_memory({"a": 5}, {"a": 5, "b": 2**20, "c": 2**20, "d": 0, "e": 0})
    assert found is not None
    assert (
        warning_in_words([found], "image")
        == "/dev/shm/b, /dev/shm/c, /dev/shm/d and 1 more, 2 MiB of memory; remove what no other program uses"
    )


def test_our_files_in_shared_memory_are_found() -> None:
    """By name, with the memory that they take."""
    path = circumstances.SHARED_MEMORY / f"sizer-test-{os.getpid()}"
    try:
        path.write_bytes(bytes(10_000))
        assert shared_memory()[path.name] == 12_288
    finally:
        path.unlink()


def test_a_file_that_the_command_names_and_its_folder_lacks(spec: RunSpec, tmp_path: Path) -> None:
    """Only one that the last words complain of; a program given as text is no path, however long."""
    missing = "python: can't open file '/tmp/x/train.py': [Errno 2] No such file or directory"
    found = not_in_folder(("python", "train.py"), tmp_path, missing)
    assert "where train.py is not: give `cwd`" in said([found], spec)
    assert not_in_folder(("python", "train.py"), tmp_path, "KeyError: 'x'") is None
    assert not_in_folder(("python", "/tmp/x/train.py"), tmp_path, missing) is None
    text = "import json\n" * 1000 + "open('a/b.txt')"
    assert not_in_folder(("python", "-c", text), tmp_path, text) is None
    long = "x" * 400 + ".py"
    assert not_in_folder(("python", long), tmp_path, long) is not None
    (tmp_path / "train.py").write_text("")
    assert not_in_folder(("python", "train.py"), tmp_path, missing) is None


@pytest.mark.parametrize(
    ("last_words", "in_a_line", "asked"),
    [
        ("Continue? [y/N] Aborted", False, True),
        ("Please answer yes or no: Please answer yes or no: ", True, True),
        ("Proceed (Y/n)", False, True),
        ("what is it? nobody knows", False, False),
        ("loss 0.5, any or no data", False, False),
        ("x/y [y/x]", False, False),
    ],
)
def test_a_question_is_known_by_its_choice(last_words: str, in_a_line: bool, asked: bool) -> None:
    """Also where the program went on behind it."""
    assert (asked_for_input(last_words, in_a_line) is not None) is asked


PLACE = RunPaths(
    Path("/usr/bin/python3"), Path("/packages"), Path("/data/a.rec"), "recordio", Path("/scratch"), Path("/output")
)


def test_a_folder_that_is_gone_was_not_full(tmp_path: Path) -> None:
    """A mount that went away ends the run, and not by a full disk; its own last words are believed all the same."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    room = Room(scratch, scratch)
    scratch.rmdir()
    room.poll()
    assert room.want("segmentation fault") == ()
    assert room.want("OSError: No space left on device") == (Cause(CauseKind.DISK_FULL),)


def test_an_emulated_accelerator_without_a_rate_cannot_be_run() -> None:
    """Only a table of another's measurements may lack it."""
    workload = Workload("train", "image_training", network="resnet50", format="recordio")
    spec = RunSpec(replace(workload, device=Device("emulated", gpu="P100")), 32, Limits(1.0), Measure())
    with pytest.raises(InputError) as refused:
        argv(spec, PLACE, 8, 2**34)
    assert in_words(refused.value) == (
        "workload `train`: the emulated accelerator has no rate; write its samples_per_second."
    )


def test_an_empty_pipe_is_not_waited_for() -> None:
    """The run is watched further; what is written later is read later."""
    reading, writing = os.pipe2(os.O_NONBLOCK)
    try:
        assert _read_now(reading) == b""
        os.write(writing, b"{}")
        assert _read_now(reading) == b"{}"
    finally:
        os.close(reading)
        os.close(writing)
