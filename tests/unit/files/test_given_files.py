"""A file that a person names on the command line."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sizer.files import given_files
from sizer.files.given_files import read_given
from sizer.records.errors import InputError
from sizer.records.messages import Message


def test_text_is_read_with_or_without_a_byte_order_mark(tmp_path: Path) -> None:
    """As editors on other systems write it; line ends stay as they are."""
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfa: \xc3\xa9\r\n")
    assert read_given(tmp_path / "a", Message("a table")) == "a: é\r\n"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"a\nb\xff\n", "file line 2 is not UTF-8; save the file as UTF-8"),
        ("a: 1".encode("utf-16"), "file line 1 is not UTF-8"),
    ],
)
def test_what_is_not_utf8_is_named_with_its_line(tmp_path: Path, content: bytes, sentence: str) -> None:
    """One sentence."""
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(InputError, match=sentence):
        read_given(tmp_path / "file", Message("a table"))


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    """Nothing there, a folder, a path that no system has, a device that never ends."""
    for path, sentence in (
        (tmp_path / "nothing", "nothing: there is no such file; make one"),
        (tmp_path, "cannot be read (Is a directory)"),
        (Path("a\0b"), "cannot be read (embedded null byte)"),
        (Path("x" * 5_000), "cannot be read (File name too long)"),
        (Path("/dev/zero"), "/dev/zero is larger than 64 MiB, too large for a table"),
    ):
        with pytest.raises(InputError) as caught:
            read_given(path, Message("a table"), Message("make one"))
        assert sentence in str(caught.value)


def test_a_pipe_that_nobody_writes_ends_in_a_sentence(tmp_path: Path) -> None:
    """`mkfifo` alone makes something that a program could wait for as long as the machine runs."""
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(InputError, match="fifo is a pipe that nobody writes to"):
        read_given(tmp_path / "fifo", Message("a table"), patience=0.02)


def test_a_pipe_whose_writer_says_nothing_ends_too(tmp_path: Path) -> None:
    """Later than one that nobody has opened: what writes it may take its time to begin."""
    os.mkfifo(tmp_path / "fifo")
    silent = os.open(tmp_path / "fifo", os.O_RDWR)
    with pytest.raises(InputError, match="nobody writes"):
        read_given(tmp_path / "fifo", Message("a table"), patience=0.01)
    os.close(silent)


def test_a_pipe_with_a_name_is_read_to_its_end(tmp_path: Path) -> None:
    """More than the kernel holds of it at once, from a writer that opens it after us."""
    os.mkfifo(tmp_path / "fifo")
    text = "ab\n" * 100_000
    with ThreadPoolExecutor() as beside:
        writing = beside.submit((tmp_path / "fifo").write_text, text)
        assert read_given(tmp_path / "fifo", Message("a table")) == text
        assert writing.result() == len(text)


@pytest.mark.parametrize("words", [["printf", "vcpus\\n2\\n"], ["sh", "-c", "printf vcpus; sleep 0.1; echo; echo 2"]])
def test_what_a_shell_puts_in_a_files_place_is_read(words: list[str]) -> None:
    """`<(command)` is /dev/fd/N of a pipe whose writer may be through already, or pause for longer than patience."""
    with subprocess.Popen(words, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        path = Path(f"/dev/fd/{writer.stdout.fileno()}")
        assert read_given(path, Message("a table"), patience=0.04) == "vcpus\n2\n"


def test_a_pipe_larger_than_any_of_its_kind_is_not_read_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """`<(cat /dev/zero)` never ends."""
    monkeypatch.setattr(given_files, "LARGEST_FILE", 2**20)
    with subprocess.Popen(["cat", "/dev/zero"], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        with pytest.raises(InputError, match="is larger than 1 MiB"):
            read_given(Path(f"/dev/fd/{writer.stdout.fileno()}"), Message("a table"))
