"""What a person reads of a fault that nobody foresaw."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from sizer.cli import main
from sizer.records.errors import InputError


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def raising(error: Exception) -> object:
    def call() -> object:
        raise error

    return call


def test_an_unforeseen_fault_is_one_sentence_and_a_file(
    temporary: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The terminal shows no traceback; the file that is named holds it, and the exit code is 1."""
    monkeypatch.setattr("sizer.cli.commands.init.template", raising(KeyError("what\x1b[31m\nnobody")))
    assert main(["init", str(temporary / "a.yaml")]) == 1
    said = capsys.readouterr().err
    (kept,) = temporary.glob("sizer-fault-*.txt")
    assert said.startswith("sizer: internal error in sizer (KeyError: ")
    assert f"everything measured is kept. Please report it with the traceback in {kept}" in said
    assert said.count("\n") == 1
    assert "\x1b" not in said
    assert "Traceback (most recent call last)" in kept.read_text()
    assert "init.py" in kept.read_text()


def test_a_fault_is_told_where_no_file_can_be_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A full or missing temporary folder does not turn the sentence into a traceback."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    monkeypatch.setattr("sizer.cli.commands.init.template", raising(RuntimeError("x")))
    assert main(["init", str(tmp_path / "a.yaml")]) == 1
    assert (
        "(RuntimeError: x); everything measured is kept. The traceback could not be written" in capsys.readouterr().err
    )


def test_a_sentence_that_quotes_a_whole_file_is_cut(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A value of a megabyte does not fill the terminal."""
    monkeypatch.setattr("sizer.cli.commands.init.template", raising(InputError("x" * 10**6)))
    assert main(["init", str(tmp_path / "a.yaml")]) == 2
    said = capsys.readouterr().err
    assert len(said) < 1_100
    assert said.endswith(" ...\n")


def test_a_word_of_a_megabyte_does_not_fill_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """argparse quotes what it does not understand; the exit code stays 2."""
    with pytest.raises(SystemExit) as ended:
        main(["predict", ".", "--vcpus", "x" * 10**6])
    assert ended.value.code == 2
    assert len(capsys.readouterr().err) < 2_500


def test_a_name_of_two_lines_makes_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody can make up a second line of an error by the name of a file or folder."""
    assert main(["status", "a\nsizer: all is well"]) == 2
    assert capsys.readouterr().err.startswith("sizer: a\\nsizer: all is well: there is no such folder")
