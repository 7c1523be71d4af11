"""The log of a run, on disks that take it and on disks that do not."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from sizer.records.run import WarningKind
from sizer.runner import run_log
from sizer.runner.run_log import HEAD_BYTES, TAIL_BYTES, Log
from sizer.words.warnings import warning_line


def test_the_beginning_and_the_end_are_kept(tmp_path: Path) -> None:
    """Whatever was printed, the file holds its first and its last MiB, and says how much is missing."""
    log = Log(tmp_path / "run.log")
    for number in range(400):
        log.feed(f"{number:9d}\n".encode() * 1000)
    log.close()
    text = (tmp_path / "run.log").read_text()
    assert text.startswith(f"{0:9d}\n")
    assert text.endswith(f"{399:9d}\n")
    assert f"[sizer: {4_000_000 - HEAD_BYTES - TAIL_BYTES} bytes left out]" in text
    assert log.trouble is None


def test_a_disk_that_is_full_costs_the_log_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What fits is written, the end stays in memory, and the error names the path."""
    room, real = [10], os.write

    def write(descriptor: int, data: bytes) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = real(descriptor, data[: room[0]])
        room[0] -= written
        return written

    monkeypatch.setattr(run_log.os, "write", write)
    log = Log(tmp_path / "run.log")
    log.feed(b"0123456789abc\n")
    log.feed(b"the last words\n")
    assert log.last_lines(1) == "the last words"
    assert log.trouble.kind is WarningKind.LOG_INCOMPLETE
    assert log.trouble.text == f"{tmp_path / 'run.log'} (No space left on device)"
    assert "run.log (No space left on device) could not be written" in warning_line(log.trouble, "sample")
    room[0] = 1000
    log.close()
    assert (tmp_path / "run.log").read_text() == "0123456789abc\nthe last words\n"


def test_a_folder_that_is_gone_costs_the_log_and_nothing_else(tmp_path: Path) -> None:
    """A log that cannot even be opened is kept in memory."""
    log = Log(tmp_path / "gone" / "run.log")
    log.feed(b"hello\n")
    log.close()
    assert log.last_lines() == "hello"
    assert log.trouble is not None


@pytest.mark.parametrize("dangling", [True, False])
def test_a_link_is_replaced_and_never_written_through(tmp_path: Path, dangling: bool) -> None:
    """Whoever puts a link where a log will be does not choose what sizer overwrites."""
    other = tmp_path / "other"
    if not dangling:
        other.write_text("precious")
    (tmp_path / "run.log").symlink_to(other)
    log = Log(tmp_path / "run.log")
    log.feed(b"hello\n")
    log.close()
    assert not (tmp_path / "run.log").is_symlink()
    assert (tmp_path / "run.log").read_text() == "hello\n"
    assert other.exists() is not dangling
    assert dangling or other.read_text() == "precious"


def test_last_words_can_be_read_on_any_terminal(tmp_path: Path) -> None:
    """Control characters are shown and not obeyed, and an endless line shows where it began and where it ended."""
    log = Log(tmp_path / "run.log")
    log.feed(b"\x1b[2Jcleared\x00\n" + b"a" * 1000 + b"end")
    log.close()
    first, last = log.last_lines().splitlines()
    assert first == "\\x1b[2Jcleared\\x00"
    assert last.startswith("aaa")
    assert last.endswith("aend")
    assert len(last) < 600
