"""Content that is in form and still refused, or read in the second way that its type allows."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sizer.files import tables
from sizer.files.codec import FormatError, from_json, load_json
from sizer.files.own_folder import check_content, read_file
from sizer.files.tables import read_table
from sizer.records.errors import HostError, InputError
from sizer.records.messages import Message
from sizer.words.language import in_words


@dataclass(frozen=True)
class Mixed:
    """What a field of two types, or of any, may be."""

    either: int | str = 0
    whatever: Any = None


def test_a_field_of_two_types_is_read_as_the_first_that_fits() -> None:
    """Neither is an error, which says what was found."""
    assert from_json(Mixed, {"either": 3}, "a.json") == Mixed(3)
    assert from_json(Mixed, {"either": "x"}, "a.json") == Mixed("x")
    with pytest.raises(FormatError) as refused:
        from_json(Mixed, {"either": {"a": 1}}, "a.json")
    assert in_words(refused.value).endswith("found an object.")


def test_a_field_of_any_type_is_taken_as_it_is() -> None:
    """Nothing is known of its form."""
    assert from_json(Mixed, {"whatever": [1, {"a": None}]}, "a.json").whatever == [1, {"a": None}]


def test_a_file_in_a_folders_place_is_named(tmp_path: Path) -> None:
    """A folder in a file's place passes: who reads it says so."""
    (tmp_path / "runs").write_text("")
    with pytest.raises(InputError, match=f"{tmp_path}/runs is a file where a folder should be"):
        check_content(tmp_path, ["runs"], [])
    (tmp_path / "study.yaml").mkdir()
    check_content(tmp_path, [], ["study.yaml"])
    with pytest.raises(HostError, match=f"{tmp_path}/study.yaml"):
        load_json(tmp_path / "study.yaml")


def test_a_file_that_cannot_be_opened_says_why(tmp_path: Path) -> None:
    """A socket, say; one that is not there is the caller's to answer."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "run.json"))
    with pytest.raises(HostError, match=r"cannot be read \(No such device or address\)"):
        read_file(tmp_path / "run.json")
    with pytest.raises(FileNotFoundError):
        read_file(tmp_path / "gone")
    (tmp_path / "folder").mkdir()
    with pytest.raises(HostError, match="is a folder where a file should be; move it away"):
        read_file(tmp_path / "folder")


def test_a_table_has_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many rows or columns are refused with what to do, before they fill the memory."""
    path, kind = tmp_path / "t.csv", Message("a table")
    path.write_text("a,b,c\n1,2,3\n4,5,6\n")
    monkeypatch.setattr(tables, "MOST_ROWS", 1)
    with pytest.raises(InputError, match="line 3: the table has more than 1 rows; split it into several tables"):
        read_table(path, kind, ["a", "b", "c"], ["a"])
    monkeypatch.setattr(tables, "MOST_COLUMNS", 2)
    with pytest.raises(InputError, match="the header has 3 columns, and at most 2 are read"):
        read_table(path, kind, ["a", "b", "c"], ["a"])
