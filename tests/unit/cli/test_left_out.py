"""A run that cannot be read costs no other, and is not hushed up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.cli import main
from sizer.records.run import Run
from sizer.records.study import Study, WorkloadPlan
from sizer.store.study_folder import StudyFolder


@pytest.fixture
def study_folder(tmp_path: Path, make_run: Callable[..., Run]) -> Path:
    """Three runs, of which the second cannot be read."""
    runs = [make_run(100.0 * vcpus, vcpus) for vcpus in (1.0, 2.0, 4.0)]
    runs = [replace(run, spec=replace(run.spec, limits=replace(run.spec.limits, disk=None))) for run in runs]
    plan = WorkloadPlan(runs[0].spec.workload, (32,), (1.0, 2.0, 4.0))
    with StudyFolder.create(tmp_path / "study", Study("study", (plan,)), {"cpus": 4}) as folder:
        for run in runs:
            folder.add(run)
    bad = folder.run_path(runs[1].id)
    bad.write_text(bad.read_text().replace('"value": 200.0', '"value": 1e308'))
    return tmp_path / "study"


@pytest.mark.parametrize("command", ["fit", "recommend", "report", "export", "predict"])
def test_every_reading_command_names_a_bad_run_on_stderr(
    study_folder: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    """`left out`, the file, the field and what is wrong with it; stdout stays data."""
    assert main([command, str(study_folder)]) in (0, 5)
    said = capsys.readouterr()
    (line,) = [line for line in said.err.splitlines() if line.startswith("left out: ")]
    assert line.startswith(f"left out: {study_folder}/runs/")
    assert line.endswith("throughput.value: expected a number from -1e+60 to 1e+60, found 1e+308.")
    assert "left out" not in said.out


def test_a_folder_of_bad_runs_alone_says_so(study_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is not said that nothing is stored."""
    for path in (study_folder / "runs").iterdir():
        path.write_text("{")
    assert main(["fit", str(study_folder)]) == 5
    said = capsys.readouterr().err
    assert said.count("left out: ") == 3
    assert "has no run that can be read; type: sizer run" in said
