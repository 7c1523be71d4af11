"""What was fitted is read again only of the very runs that it was made of, as this sizer wrote it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sizer.store import fitted_file
from sizer.store.fitted_file import read_fitted, sources_of, write_fitted

FORM = {"workloads": [1, 2.5], "disks": ["ssd"]}


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A folder with a study, two runs and what was fitted of them."""
    (tmp_path / "runs").mkdir()
    (tmp_path / "study.yaml").write_text("workloads: []\n")
    for name in ("a", "b"):
        (tmp_path / "runs" / f"{name}.json").write_text("{}")
    write_fitted(tmp_path / "model.json", sources_of(tmp_path), FORM)
    return tmp_path


def read(study: Path) -> object:
    found = read_fitted(study / "model.json", sources_of(study))
    return found and {name: found[name] for name in FORM}


def later(path: Path) -> None:
    """As if it was changed after what was fitted."""
    os.utime(path, (4e9, 4e9))


SPOILED: dict[str, Callable[[Path], object]] = {
    "a run more": lambda study: (study / "runs" / "c.json").write_text("{}"),
    "a run less": lambda study: (study / "runs" / "a.json").unlink(),
    "a longer run": lambda study: (study / "runs" / "a.json").write_text("{ }"),
    "a newer run": lambda study: later(study / "runs" / "a.json"),
    "another study": lambda study: (study / "study.yaml").write_text("workloads: {}\n"),
    "edited": lambda study: _edit(study, lambda text: text.replace("2.5", "2.6")),
    "cut short": lambda study: _edit(study, lambda text: text[:-20]),
    "empty": lambda study: (study / "model.json").write_text(""),
    "not text": lambda study: (study / "model.json").write_bytes(b"\xff\xfe"),
    "gone": lambda study: (study / "model.json").unlink(),
    "a folder": lambda study: ((study / "model.json").unlink(), (study / "model.json").mkdir()),
    "of another sizer": lambda study: _edit(study, lambda text: text.replace('"checksum": "', '"checksum": "0')),
}


def _edit(study: Path, change: Callable[[str], str]) -> None:
    path = study / "model.json"
    path.write_text(change(path.read_text()))


def test_it_is_read_again(study: Path) -> None:
    """Also where what is beside the runs has changed, and in a copy of the folder."""
    assert read(study) == FORM
    (study / "runs" / "note.txt").write_text("beside them")
    os.utime(study / "runs", (1e9, 1e9))
    assert read(study) == FORM


def test_of_several_workloads_one_is_read(study: Path) -> None:
    """By its whole name, whatever it has in it; of a name that none has, all are."""
    names = ["train", "train-2", 'a "b",\n\u2028', "train"[:3]]
    models = [{"name": name, "rates": [1, "}\n{", name]} for name in names]
    write_fitted(study / "model.json", sources_of(study), {**FORM, "workloads": models})
    for name, model in zip(names, models, strict=True):
        found = read_fitted(study / "model.json", sources_of(study), name)
        assert found == {**(read_fitted(study / "model.json", sources_of(study)) or {}), "workloads": [model]}
    for other in (None, "2", "rates"):
        found = read_fitted(study / "model.json", sources_of(study), other)
        assert found is not None
        assert found["workloads"] == models


def test_by_a_model_whose_code_has_changed_it_is_not_believed(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkout of a newer state has the version of the one before, and may not know the forms of its model."""
    (study / "model").mkdir()
    monkeypatch.setattr(fitted_file, "MODEL", study / "model")
    (study / "model/forms.py").write_text("FORMS = ()\n")
    assert read(study) is None
    write_fitted(study / "model.json", sources_of(study), FORM)
    assert read(study) == FORM


@pytest.mark.parametrize("how", SPOILED)
def test_what_does_not_fit_is_not_believed(study: Path, how: str) -> None:
    """Then it is fitted again, and no error."""
    SPOILED[how](study)
    assert read(study) is None
