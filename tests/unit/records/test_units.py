"""Sizes, rates and times as people write and read them; text that a stranger may have written."""

from __future__ import annotations

import contextlib
import math
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizer.records.messages import InputError, printable, typed_line, typed_path
from sizer.records.units import format_bytes, format_rate, format_seconds, parse_bytes, spell_bytes


@pytest.mark.parametrize(
    ("size", "count"),
    [
        ("2GiB", 2 * 2**30),
        ("500MB", 500 * 10**6),
        ("1.5 GiB", 3 * 2**29),
        (" 7 b ", 7),
        ("0.1GiB", 107374182),
        ("1tb", 10**12),
        (4096, 4096),
        ("0.5B", 1),
    ],
)
def test_a_size_says_its_unit(size: str | int, count: int) -> None:
    """Decimal and binary units are told apart, and fractions are rounded to whole bytes."""
    assert parse_bytes(size) == count


@pytest.mark.parametrize("size", ["2G", "2Gi", "8", "", "GiB", "-1GiB", "1e3MB", "nan GiB", "1,5GiB", "٣GiB", -1, True])
def test_a_size_that_could_mean_two_things_is_refused(size: str | int) -> None:
    """What does not say its unit is never guessed."""
    with pytest.raises(InputError):
        parse_bytes(size)


@given(st.text())
def test_garbage_is_refused_in_words(text: str) -> None:
    """Any text is a size or an InputError, nothing else."""
    with contextlib.suppress(InputError):
        assert parse_bytes(text) >= 0


@given(st.integers(0, 2**62))
def test_a_spelled_size_is_exact(count: int) -> None:
    """`spell_bytes` loses nothing."""
    assert parse_bytes(spell_bytes(count)) == count


@pytest.mark.parametrize(
    ("count", "text"),
    [(2**30, "1GiB"), (5 * 10**8, "500MB"), (1023, "1023B"), (0, "0B"), (1536 * 2**20, "1536MiB")],
)
def test_a_spelled_size_is_short(count: int, text: str) -> None:
    """The unit that leaves the smallest number is taken."""
    assert spell_bytes(count) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (512, "512 B"),
        (1536, "1.5 KiB"),
        (3 * 2**29, "1.5 GiB"),
        (1234567, "1.18 MiB"),
        (-(2**20), "-1 MiB"),
    ],
)
def test_bytes_are_shown_with_three_digits(count: int, text: str) -> None:
    """Bytes are shown in binary units."""
    assert format_bytes(count) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (183.4, "183 images/s"),
        (12345.0, "12,300 images/s"),
        (0.01234, "0.0123 images/s"),
        (2.5, "2.5 images/s"),
        (999.9, "1,000 images/s"),
        (0.0, "0 images/s"),
        (math.nan, "unknown images/s"),
        (math.inf, "unknown images/s"),
    ],
)
def test_a_rate_names_its_samples(value: float, text: str) -> None:
    """Three significant digits, and what is counted."""
    assert format_rate(value, "image") == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 s"),
        (0.0123, "12.3 ms"),
        (4.5, "4.5 s"),
        (59.96, "1 min 00 s"),
        (65.0, "1 min 05 s"),
        (3599.7, "1 h 00 min"),
        (7380.0, "2 h 03 min"),
        (86399.0, "1 d 00 h"),
        (273600.0, "3 d 04 h"),
        (math.nan, "unknown"),
    ],
)
def test_a_duration_reads_as_people_say_it(seconds: float, text: str) -> None:
    """Two units at most, and rounding carries into the larger one."""
    assert format_seconds(seconds) == text


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
