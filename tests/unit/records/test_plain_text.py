"""Text that a stranger may have written."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizer.records.messages import printable, typed_line, typed_path


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("häuser 2 × µs", "häuser 2 × µs"),
        ("\x1b[31mred\x1b]0;title\x07", r"\x1b[31mred\x1b]0;title\x07"),
        ("one\ntwo\r\t", r"one\ntwo\r\t"),
        ("\x9b31m\u202egpj.exe", r"\u009b31m\u202egpj.exe"),
        ("\udcff\u2028", r"\xff\u2028"),
    ],
)
def test_what_cannot_be_seen_is_an_escape(text: str, shown: str) -> None:
    """A terminal gets no control sequence, a list no line that is not its own, and all else stays."""
    assert printable(text) == shown


def test_what_is_kept_stays() -> None:
    """A text of several lines keeps them where they are meant."""
    assert printable("a\nb\x1b\n", keep="\n") == "a\nb\\x1b\n"


def test_a_path_is_no_option() -> None:
    """`-rf` as a folder's name."""
    assert typed_path("-rf") == "./-rf"
    assert typed_path("/a/-b c") == "'/a/-b c'"


WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)


@settings(max_examples=20)
@given(st.lists(WORDS, max_size=100))
def test_bash_takes_a_line_for_just_these_words(words: list[str]) -> None:
    """Whatever the words are; and no word begins a line of its own or shows anything else on a terminal."""
    line = typed_line(["true", *words])
    assert printable(line) == line
    script = f"set -- {line}; shift; for word; do printf '%s\\0' \"$word\"; done"
    done = subprocess.run(["bash", "-c", script], capture_output=True, env={"LC_ALL": "C.UTF-8"}, check=True)
    assert done.stdout.decode().split("\0")[:-1] == words
