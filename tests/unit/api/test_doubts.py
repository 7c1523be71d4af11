"""What is known before the runs of a user's own command to let them fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.api.preconditions import doubts
from sizer.records import RunSpec
from sizer.words import doubt_in_words

MakeSpec = Callable[..., RunSpec]


def said(spec: RunSpec, beside: Path | None = None, **changes: object) -> list[str]:
    """Each doubt, as it is said."""
    changed = replace(spec, workload=replace(spec.workload, **changes))  # type: ignore[arg-type]
    return [doubt_in_words(each) for each in doubts([changed], beside)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One with a program, which nobody is in."""
    (tmp_path / "there" / "train.py").parent.mkdir()
    (tmp_path / "there" / "train.py").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "there"


def test_a_file_beside_the_study_file_needs_a_folder(make_spec: MakeSpec, folder: Path) -> None:
    """The command starts in an empty one, unless it is told otherwise."""
    spec = make_spec("sh", "train.py")
    assert said(spec, folder) == [
        "workload `job`: its command starts in an empty temporary folder, where train.py is not; give `cwd: .`"
    ]
    assert said(spec, folder, cwd=str(folder)) == []
    assert said(spec, folder.parent) == []
    assert said(make_spec("sh", str(folder / "train.py")), folder) == []
    assert said(make_spec("sh", "-c", "x" * 300), folder) == []
    assert said(make_spec("sh", "-c", "x\n" * 100_000), folder) == []


def test_a_file_in_the_present_folder_needs_it_by_its_path(
    make_spec: MakeSpec, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From where the study file lies, another folder has another name."""
    monkeypatch.chdir(folder)
    assert said(make_spec("sh", "train.py"), folder.parent)[0].endswith(f"give `cwd: {folder}`")
    assert said(make_spec("sh", "train.py"))[0].endswith(f"give `cwd: {folder}`")


def test_programs_that_are_not_there_are_named(make_spec: MakeSpec) -> None:
    """Those of `setup` and `before`, too; one that a run fills in is not known yet."""
    spec = make_spec("no-such-one")
    assert said(spec, setup=("no-such-two", "-x"), before=("no-such-three",)) == [
        "workload `job`: no-such-two, the program of its `setup`, was not found; give its path",
        "workload `job`: no-such-three, the program of its `before`, was not found; give its path",
        "workload `job`: the program no-such-one was not found; give its path",
    ]
    assert said(make_spec("sh"), before=("{scratch}/prog",), setup=("sh", "-c", "true")) == []


def test_a_variable_to_pass_on_that_is_not_set_is_named(make_spec: MakeSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name with a star may stand for none."""
    monkeypatch.setenv("SET_HERE", "1")
    assert said(make_spec("sh"), pass_env=("SET_HERE", "NOT_SET_HERE", "NOT_SET_*")) == [
        "workload `job`: NOT_SET_HERE of its `pass_env` is not set here; set it, or leave it out"
    ]
