"""A YAML text as plain values that know their lines, and values that only the study refuses."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sizer.records.messages import InputError
from sizer.records.study import Study
from sizer.study import document
from sizer.study.document import read_document
from sizer.study.parse import parse_study
from sizer.study.presets import HostSize
from sizer.words.language import in_words

BOMB = "a: &a [1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def test_values_know_their_lines() -> None:
    """A key's line is where its name is; a list's item has its own."""
    document = read_document("a:\n  b: 1\n  c:\n    - x\n    - {d: 0.10}\n", "f")
    assert document.data == {"a": {"b": 1, "c": ["x", {"d": 0.1}]}}
    assert [document.lines[key] for key in [("a",), ("a", "b"), ("a", "c", 0), ("a", "c", 1, "d")]] == [1, 2, 4, 5]
    assert document.texts[("a", "c", 1, "d")] == "0.10"


def test_an_error_stands_at_the_nearest_value() -> None:
    """A key that the file does not hold is reported at what is around it."""
    document = read_document("a: 1\nb:\n  c: 2\n", "f.yaml")
    assert str(document.input_error(("b", "missing", 0), "wrong")) == "f.yaml line 2: wrong"
    assert str(document.input_error((), "wrong")) == "f.yaml line 1: wrong"


def test_anchors_are_harmless() -> None:
    """An alias is the value it names."""
    assert read_document("a: &x [1, 2]\nb: *x\n", "f").data == {"a": [1, 2], "b": [1, 2]}


def test_keys_are_text_and_times_are_not_numbers() -> None:
    """YAML 1.1 would read `on` as true, 1:30 as ninety and 2024-01-01 as a date."""
    assert read_document("on: 1:30\n1: 2024-01-01\n", "f").data == {"on": "1:30", "1": "2024-01-01"}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "f is empty"),
        ("# only a comment\n", "f is empty"),
        ("a:\n\tb: 1\n", "f line 2 is not YAML: a tab"),
        ("a: [1\n", "f line 2 is not YAML"),
        ("a: 1\nb: 2\na: 3\n", "f line 3: `a` is already on line 1"),
        ("a: 1\n---\nb: 2\n", "f line 2 is not YAML: a second document"),
        ("a: !!python/object/apply:os.system [ls]\n", "f line 1: the tag"),
        ("a: !mine {b: 1}\n", "f line 1: the tag '!mine'"),
        ("a: !!binary aGk=\n", "f line 1: the tag"),
        ("a: .nan\n", "f line 1: '.nan' is not a finite number"),
        ("a: 1\nb: -.inf\n", "f line 2: '-.inf' is not a finite number"),
        (
            "a: {seed: 0x" + "f" * 3600 + "}\n",
            "...' is too large for `seed`",
        ),
        (
            "a:\n  b: [1, 0b" + "1" * 13_000 + "]\n",
            "...' is too large for `b`",
        ),
        ("a: 0" + "7" * 4800 + "\n", "...' is too large for `a`"),
        ("a: -" + "9" * 4000 + "\n", "...' is too large for `a`"),
        (
            "a: " + "9" * 5000 + "\n",
            "...' cannot be read as a YAML int",
        ),
        ("a: 1.5e+300\n", "f line 1: '1.5e+300' is too large for `a`"),
        ("? [a]\n: 1\n", "f line 1: a key must be a single word"),
        ("a: &a [*a]\n", "f line 1: the aliases here expand to more values"),
        (BOMB, "the aliases here expand to more values"),
        ("a: " + "[" * 5000, "nested too deeply"),
        ('a: "\\ud800"\n', "f line 1: a character that cannot be printed"),
        ('a: "\\0"\n', "f line 1: a character that cannot be printed"),
        ('a: 1\nb: "\\u202e"\n', "f line 2: a character that cannot be printed"),
        ('a: "\\u200b"\n', "f line 1: a character that cannot be printed"),
        ("a: 1\nb: x\u200by\n", "f line 2: a character that cannot be printed"),
        ("a: 1\nb: x\u202ey\n", "f line 2: a character that cannot be printed"),
        ("a: 1 # \u2066 b\n", "f line 1: a character that cannot be printed"),
        ("a: x\u2028b: y\n", "f line 1: a character that cannot be printed"),
        ("a: 1\r\nb: x\u2029\r\n", "f line 2: a character that cannot be printed"),
        ("a: x\u00a0y\n", "f line 1: a character that cannot be printed"),
        ("\u2060a: 1\n", "f line 1: a character that cannot be printed"),
        ("a: 1\nb: \x07\n", "f line 2: a character that cannot be printed"),
        ('a: "\\UFFFFFFFF"\n', "f is not YAML"),
        ("a: !!int x\n", "f line 1: 'x' cannot be read as a YAML int"),
        ("a: " + "9" * 5000 + "\n", "f line 1: '999"),
        ("a: *nothing\n", "f line 1 is not YAML"),
        ("x" * 1_000_001, "longer than"),
    ],
)
def test_what_is_not_plain_yaml_is_one_sentence(text: str, sentence: str) -> None:
    """Broken, hostile and merely odd files are refused with their line."""
    with pytest.raises(InputError) as caught:
        read_document(text, "f")
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.text(alphabet="ab:-[]{}&*!|>'\"#%@`, \n\t\\0x1.~?<=", max_size=40) | st.text(max_size=40))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    """No text raises anything but InputError."""
    with contextlib.suppress(InputError):
        read_document(text, "f")


Parse = Callable[..., Study]
ONE = "workloads:\n  - {kind: image_training, network: resnet50}\n"


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(InputError) as error:
        call()
    return in_words(error.value)


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        (
            "workloads:\n  - {kind: image_training, network: resnet50, device: {emulate: {gpu: P100}}}\n",
            "the catalogue has no rate for P100; write its samples_per_second.",
        ),
        (
            f"{ONE}axes: {{disk: [cloud]}}\ndisks: {{cloud: {{emulate: alibaba/cloud_ssd, size: 500GiB}}}}\n",
            "the catalogue has no figures for alibaba/cloud_ssd; write its read_mbps.",
        ),
    ],
)
def test_without_a_catalogue_figures_have_to_be_written(text: str, ending: str) -> None:
    """A study that is read where no catalogue is at hand says which figure it needs."""
    said = refused(lambda: parse_study(text, "study.yaml", None, HostSize(4, 2**34), None))
    assert "line 2" in said or "line 4" in said
    assert said.endswith(ending)


def test_a_character_that_yaml_refuses_is_named_by_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader of YAML finds some that are not looked for before it."""

    def compose(text: str, **_options: object) -> None:
        raise yaml.reader.ReaderError("study.yaml", text.index("!"), ord("!"), "unicode", "not allowed")

    monkeypatch.setattr("sizer.study.document.yaml.compose", compose)
    said = refused(lambda: document._compose("a: 1\nb: !\n", "study.yaml"))
    assert "study.yaml" in said
    assert "line 2" in said


def test_a_folder_whose_name_cannot_be_printed_gives_no_paths(tmp_path: Path) -> None:
    """A relative path would put that name into every line of the report."""
    said = refused(lambda: document.Document(f"{tmp_path}/a\x07b/study.yaml").locate("images"))
    assert said.endswith("move it, or write absolute paths.")
    assert document.Document(f"{tmp_path}/a/study.yaml").locate("images") == f"{tmp_path}/a/images"
