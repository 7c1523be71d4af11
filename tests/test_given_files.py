"""A file that a person names on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from sizer.errors import InputError
from sizer.given_files import read_given


def test_text_is_read_with_or_without_a_byte_order_mark(tmp_path: Path) -> None:
    """As editors on other systems write it; line ends stay as they are."""
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfa: \xc3\xa9\r\n")
    assert read_given(tmp_path / "a", "a table") == "a: é\r\n"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"a\nb\xff\n", "file line 2: is not UTF-8; save the file as UTF-8"),
        ("a: 1".encode("utf-16"), "file line 1: is not UTF-8"),
    ],
)
def test_what_is_not_utf8_is_named_with_its_line(tmp_path: Path, content: bytes, sentence: str) -> None:
    """One sentence."""
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(InputError, match=sentence):
        read_given(tmp_path / "file", "a table")


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    """Nothing there, a folder, a path that no system has, a device that never ends."""
    for path, sentence in (
        (tmp_path / "nothing", "nothing: there is no such file; make one"),
        (tmp_path, "cannot be read (Is a directory)"),
        (Path("a\0b"), "cannot be read (embedded null byte)"),
        (Path("x" * 5_000), "cannot be read (File name too long)"),
        (Path("/dev/zero"), "/dev/zero: is larger than 64 MiB, which a table never is"),
    ):
        with pytest.raises(InputError) as caught:
            read_given(path, "a table", "; make one")
        assert sentence in str(caught.value)
