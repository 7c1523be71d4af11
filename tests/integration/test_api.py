"""docs/api.md can be typed into a notebook, block after block."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

from sizer import api
from sizer.records.messages import InputError, NoAnswer
from sizer.records.run import Run
from sizer.records.study import Study
from sizer.store.study_folder import StudyFolder
from tests import ROOT

TEXT = (ROOT / "docs" / "api.md").read_text("utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)


@pytest.mark.slow
def test_the_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a real study of two short runs: they are made, fitted, predicted, answered and written."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIZER_CACHE", str(tmp_path / "cache"))
    names: dict[str, Any] = {}
    for block in BLOCKS:
        exec(compile(block, "docs/api.md", "exec"), names)
    assert len(names["plan"].todo) == 2
    assert set(names["rates"]) == {1.0, 2.0}
    assert len(names["runs"]) == 2
    assert names["prediction"].throughput.value > 0
    assert names["recommendation"].workloads[0].workload == "words"
    assert "<html" in (tmp_path / "notebook.html").read_text("utf-8")
    assert (tmp_path / "notebook/report.html").exists()


def test_it_names_what_there_is_and_nothing_else() -> None:
    """Every `api.name` and `events.Name` in the page is exported, and the page shows or names all of the face; an event
    that is added is documented, or belongs to the import of a table."""
    used = set(re.findall(r"\bapi\.(\w+)", TEXT)) - {"md"}
    assert used <= set(api.__all__)
    assert set(re.findall(r"\bevents\.(\w+)", TEXT)) <= set(dir(api.events))
    events = {arg.__name__ for arg in api.events.Event.__args__}  # type: ignore[attr-defined]
    unnamed = {name for name in {*events, *api.__all__} if not re.search(rf"\b{name}\b", TEXT)}
    assert unnamed == {"StepBegun", "TableImported"}


def test_reading_an_old_study_prints_nothing(first_version: Path, tmp_path: Path) -> None:
    """Fit, predict, recommend and report of a stored study, with all output of the process caught."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        folder = api.open_study(first_version)
        model = api.fit(folder)
        recommendation = api.recommend(folder, model=model)
        page = api.write_report(folder, tmp_path / "page.html")
    assert output.getvalue() == ""
    assert len(recommendation.workloads) == len(model.workloads)
    assert page.exists()
    with pytest.raises(InputError, match="has no runs in this study"):
        api.predict(model, "nobody")


def test_a_folder_without_runs_has_no_model(make_run: Any, tmp_path: Path) -> None:
    """NoAnswer, whose sentence says what to type."""
    run: Run = make_run(1.0)
    study = Study("empty", (api.parse_study("workloads: [{kind: lstm_training}]").workloads[0],))
    with StudyFolder.create(tmp_path / "empty", study, {"cpus": int(run.configuration.vcpus)}) as folder:
        pass
    with pytest.raises(NoAnswer, match="has no runs yet"):
        api.fit(folder)
