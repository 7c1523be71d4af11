"""A file is written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from sizer.files.writing import write_text
from sizer.records.messages import HostError


def test_the_old_text_is_replaced(tmp_path: Path) -> None:
    """The new text is there, with the rights that any new file has, and nothing beside it."""
    path = tmp_path / "a.json"
    path.write_text("old")
    write_text(path, "néw\n")
    plain = tmp_path / "plain"
    plain.touch()
    assert path.read_text("utf-8") == "néw\n"
    assert path.stat().st_mode == plain.stat().st_mode
    assert sorted(os.listdir(tmp_path)) == ["a.json", "plain"]


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    """A full disk costs the new text only, and gives a sentence."""
    path = tmp_path / "a.json"
    path.write_text("old")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, full)
    with pytest.raises(HostError, match=r"a\.json cannot be written \(No space left on device\)"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.json"]


def test_an_interrupt_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while writing passes on and takes the half file with it."""

    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_text(tmp_path / "a.json", "new")
    assert os.listdir(tmp_path) == []


def test_a_folder_that_cannot_be_synced_holds_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some network file systems sync files alone, and say so with EINVAL."""
    synced = os.fsync

    def only_files(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        synced(descriptor)

    monkeypatch.setattr(os, "fsync", only_files)
    write_text(tmp_path / "a.json", "new")
    assert (tmp_path / "a.json").read_text() == "new"


def test_a_missing_folder_is_told_in_words(tmp_path: Path) -> None:
    """No traceback for a folder that is gone."""
    with pytest.raises(HostError, match="No such file"):
        write_text(tmp_path / "gone" / "a.json", "new")


def test_text_that_utf8_cannot_hold_is_written_as_escapes(tmp_path: Path) -> None:
    """A file name that is not UTF-8 may be in an error message, and must not lose the run."""
    write_text(tmp_path / "a", "\udcff")
    assert (tmp_path / "a").read_text() == "\\udcff"
