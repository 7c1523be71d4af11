"""Figures with units, and the figures that reasons have."""

from __future__ import annotations

import contextlib
import math
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizer.records.messages import InputError, printable, typed_line, typed_path
from sizer.records.prediction import ReasonCode, reason
from sizer.records.study import Study
from sizer.records.units import (
    GIB,
    format_bytes,
    format_rate,
    format_seconds,
    parse_bytes,
    parse_data_size,
    spell_bytes,
)
from sizer.words.language import in_words

# Sizes, rates and times as people write and read them; text that a stranger may have written.


@pytest.mark.parametrize(
    ("size", "count"),
    [
        ("500MB", 500 * 10**6),
        (" 7 b ", 7),
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
        (1536, "1.5 KiB"),
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
        (12345.0, "12,300 images/s"),
        (2.5, "2.5 images/s"),
        (999.9, "1,000 images/s"),
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
        (0.0123, "12.3 ms"),
        (4.5, "4.5 s"),
        (59.96, "1 min 00 s"),
        (3599.7, "1 h 00 min"),
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


# Records refuse to be read as what they are not: a figure of the wrong type is a mistake, not a sentence.


MIXED = reason(ReasonCode.TOO_FEW_VALUES, axis="vcpus", values=(1.0, 2.0), count=2, worth=False, best=None)


def test_a_figure_is_read_by_its_type() -> None:
    """A number, a list of numbers or of names, or text, which may be missing."""
    assert MIXED.number("count") == 2
    assert MIXED.numbers("values") == (1.0, 2.0)
    assert MIXED.texts("values") == ("1.0", "2.0")
    assert (MIXED.text("axis"), MIXED.text("missing")) == ("vcpus", "")


def test_a_figure_of_another_type_is_named() -> None:
    """The reason's code and the figure's name find the place."""
    with pytest.raises(TypeError, match="too_few_values: axis is 'vcpus', not a number"):
        MIXED.number("axis")
    with pytest.raises(TypeError, match="too_few_values: count is 2, not a list"):
        MIXED.numbers("count")
    with pytest.raises(TypeError, match="too_few_values: axis is 'vcpus', not a list"):
        MIXED.texts("axis")


@pytest.mark.parametrize(("name", "there"), [("axis", True), ("worth", False), ("best", False), ("missing", False)])
def test_what_is_none_or_false_is_not_there(name: str, there: bool) -> None:
    """A sentence asks for a figure before it says it."""
    assert MIXED.has(name) is there


def test_a_study_has_only_its_own_disks() -> None:
    """Asking for another is a mistake of the program."""
    with pytest.raises(KeyError, match="nvme"):
        Study("s", ()).disk("nvme")


@pytest.mark.parametrize("text", ["0GiB", "99999999TiB"])
def test_the_size_of_a_data_set_is_above_nothing(text: str) -> None:
    """And below what any disk holds."""
    with pytest.raises(InputError) as refused:
        parse_data_size(text)
    assert in_words(refused.value).startswith(f"`{text}` is not the size of a data set; give one of up to ")
    assert parse_data_size("600GiB") == 600 * GIB
