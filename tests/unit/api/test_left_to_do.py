"""What is advised of a study folder that is not finished, or that a bound ended."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sizer import api
from sizer.adaptive.chosen import PlanEnd
from sizer.api.study_plan import chosen_next
from sizer.cli import main
from sizer.plan.run_order import plan
from sizer.records.adaptive import Adaptive
from sizer.records.prediction import Refused
from sizer.records.study import Study
from sizer.store.study_folder import StudyFolder
from tests.unit.adaptive.machine import HOST, chosen, knee, made, study_of

FACTS = {"cpus": HOST.vcpus, "memory_bytes": HOST.memory_bytes}


def asked(**axes: Any) -> Study:
    """As a file has it, with a command that could be started."""
    study = study_of(**axes)
    workloads = (replace(each, workload=replace(each.workload, command=("train",))) for each in study.workloads)
    return replace(study, workloads=tuple(workloads))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "s"


def stored(path: Path, study: Study, *vcpus: float) -> StudyFolder:
    """The folder of a study that has runs at these."""
    with StudyFolder.create(path, study, FACTS) as folder:
        for spec in plan(study, HOST):
            if spec.limits.vcpus in vcpus and spec.repeat == 0:
                folder.add(made(spec, knee(4.0)))
    return StudyFolder.open(path)


def test_an_interrupted_study_is_gone_on_with_before_another_host_is_sought(folder: Path) -> None:
    """Of 4, 8 and 16 vCPUs two were measured: the third makes three, in every place where advice is given."""
    found = stored(folder, asked(vcpus=(4.0, 8.0, 16.0)), 4.0, 16.0)
    (answer,) = api.recommend(found).workloads
    assert answer.next_run is not None
    assert (answer.next_run.vcpus, answer.next_run.needs_larger_host) == ((8.0,), False)
    (model,) = api.fit(found).workloads
    assert model.refused is not None
    assert model.refused.suggestion == answer.next_run
    with pytest.raises(Refused, match="Measure `job` at 8 vCPUs"):
        api.predict(api.fit(found), vcpus=3.0, memory_bytes=2**30)
    assert "What would help:</strong> Measure job at 8 vCPUs." in api.write_report(found).read_text()


def test_a_study_of_which_all_is_measured_is_advised_beyond_it(folder: Path) -> None:
    found = stored(folder, asked(vcpus=(4.0, 16.0)), 4.0, 16.0)
    (answer,) = api.recommend(found).workloads
    assert answer.next_run is not None
    assert (answer.next_run.vcpus, answer.next_run.needs_larger_host) == ((32.0,), True)


@pytest.mark.parametrize("count", [1, 2])
def test_where_a_bound_ended_the_plan_its_next_run_is_advised(folder: Path, count: int) -> None:
    """Whatever the answer would ask for by itself."""
    study = replace(asked(), adaptive=Adaptive(runs=count))
    runs, _ = chosen(study, knee(6.0), Adaptive(runs=count))
    with StudyFolder.create(folder, study, FACTS) as found:
        for run in runs:
            found.add(run)
    found = StudyFolder.open(folder)
    end = chosen_next(found, found.runs(), api.fit(found))
    assert isinstance(end, PlanEnd)
    assert end.then is not None
    (answer,) = api.recommend(found).workloads
    assert answer.next_run is not None
    assert answer.next_run.vcpus == (end.then.spec.limits.vcpus,)


def test_the_folder_of_a_study_is_no_study_file(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sentence, with the file that is meant where there is one."""
    stored(folder, asked(), 4.0)
    (folder.parent / "empty").mkdir()
    monkeypatch.chdir(folder.parent)
    assert main(["run", "s", "--until", "settled"]) == 2
    assert main(["run", "empty", "--out", "other"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "sizer: s is a folder, and a study file is needed; to go on with the study in it, type: sizer run s/study.yaml "
        "--out s",
        "sizer: empty is a folder, and a study file is needed.",
    ]
    (folder.parent / "table.csv").write_text("workload,vcpus,throughput\nw,1,10\nw,2,19\n")
    assert main(["import", "table.csv", "--out", "imported"]) == 0
    capsys.readouterr()
    assert main(["run", "imported", "--until", "settled"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("sizer: imported: `w` has imported measurements, which cannot be run;")


def test_a_negative_bound_is_no_option(capsys: pytest.CaptureFixture[str]) -> None:
    """With a space before it as with an equals sign."""
    for typed in (["--budget", "-5m"], ["--budget=-5m"]):
        with pytest.raises(SystemExit):
            main(["run", "study.yaml", "--until", "settled", *typed])
        assert (
            capsys.readouterr()
            .err.splitlines()[-1]
            .endswith("'-5m' is not a time; write a number and its unit, such as 90s, 30m, 6h or 2d.")
        )
