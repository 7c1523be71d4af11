"""What `sizer status` says of runs that are stored."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.api import StudyPlan
from sizer.cli import dry_run, main
from sizer.plan.run_order import plan
from sizer.records.run import Cause, CauseKind, Failure, Outcome, Run
from sizer.records.study import Measure, RunSpec, Study, WorkloadPlan
from sizer.store.study_folder import StudyFolder
from sizer.study.presets import HostSize
from sizer.words.terminal import study_summary


def test_status_tells_which_runs_carry_a_warning(first_version: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The kind is shown with the run, and their number at the end and in the JSON."""
    assert main(["status", str(first_version)]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert any(line.endswith("(throttled)") for line in lines)
    assert "; 1 with a warning" in last
    assert main(["status", str(first_version), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["warned"] == 1


def test_runs_of_searches_are_told_apart() -> None:
    """They are not among those that are planned."""
    outcomes = {Outcome.COMPLETED: 1, Outcome.OUT_OF_MEMORY: 1}
    assert study_summary(1, 1, 1, 0, outcomes, 0, 0, 0.0, False).startswith(
        "1 of 1 runs finished, and 1 of searches (1 completed, 1 out of memory); "
    )


@pytest.fixture
def failing(tmp_path: Path, make_run: Callable[..., Run]) -> Path:
    """A study of which one run completed, three crashed alike, one was unsupported, and others are not made."""
    workload = make_run(100.0).spec.workload
    planned = WorkloadPlan(workload, (32,), (1.0, 2.0, 4.0, 8.0, 16.0, 32.0))
    study = Study("study", (planned,), measure=Measure(repeats=1))
    with StudyFolder.create(tmp_path / "study", study, {"cpus": 64}) as folder:
        specs = plan(StudyFolder.open(folder.path).study, HostSize(64, 1))
        done, *crashed, lacking = (replace(make_run(100.0), spec=spec) for spec in specs[:5])
        folder.add(done)
        for run in crashed:
            folder.add(
                replace(
                    run, outcome=Outcome.CRASHED, throughput=None, error=Failure(Cause(CauseKind.REFUSED, text="Boom"))
                )
            )
        folder.add(
            replace(
                lacking,
                outcome=Outcome.UNSUPPORTED,
                throughput=None,
                error=Failure(Cause(CauseKind.REFUSED, text="no torch")),
            )
        )
    return tmp_path / "study"


def test_status_names_each_run_once(failing: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Those that failed in the same words are one line; the last line counts what became of all."""
    assert main(["status", str(failing)]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    found, todo = lines[:3], lines[3:]
    assert any("100 images/s" in line for line in found)
    assert any(line.endswith("train ×3: crashed (Boom)") for line in found)
    assert any(line.endswith("unsupported (no torch); will be run again") for line in found)
    assert todo
    assert all(line.endswith(": not run yet") for line in todo)
    planned = 4 + 1 + len(todo)
    assert last.startswith(f"4 of {planned} runs finished (1 completed, 3 crashed, 1 unsupported); none with a warning")
    assert f"{1 + len(todo)} to go, about " in last


def test_status_tells_the_run_in_hand(failing: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The run whose log began since the folder is held; nothing is said of it once the folder is let go."""
    main(["status", str(failing)])
    last = capsys.readouterr().out.splitlines()[-2].split()[0]
    folder = StudyFolder.open(failing)
    with folder.locked():
        later = (failing / ".lock").stat().st_mtime_ns + 10**9
        folder.log_path(last).touch()
        os.utime(folder.log_path(last), ns=(later, later))
        main(["status", str(failing)])
        found = capsys.readouterr().out.splitlines()
        assert found[-2].endswith(": being measured now")
        assert found[-1].endswith("; being measured now")
    main(["status", str(failing)])
    assert "being measured" not in capsys.readouterr().out


def test_a_dry_run_of_a_resume_lists_what_is_left_alone(
    make_spec: Callable[..., RunSpec], make_run: Callable[..., Run], tmp_path: Path
) -> None:
    """No program of a workload of which every run is there."""
    done, left = (
        replace(spec, workload=replace(spec.workload, name=name))
        for name, spec in (("done", make_spec("finished")), ("left", make_spec("waiting")))
    )
    study = Study("s", tuple(WorkloadPlan(spec.workload, (8,)) for spec in (done, left)))
    stored = replace(make_run(1.0), spec=done)
    found = list(dry_run.lines(StudyPlan(study, (done, left), (), tmp_path, (stored,)), {}))
    assert not any("`done`" in line for line in found)
    assert any(line.startswith("runs: `left`, the command above") for line in found)
    assert any(line.endswith(", the study folder (with 1 run)") for line in found)
