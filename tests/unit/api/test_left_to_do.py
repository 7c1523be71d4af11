"""What is advised of a study folder that is not finished, or that a bound ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sizer import api
from sizer.api.importing import _take_away
from sizer.api.preparing import Preparation, PreparedData
from sizer.api.study_plan import chosen_next
from sizer.catalog.catalog import Catalog
from sizer.cli import main
from sizer.exchange.imported import read_measurements
from sizer.limits.users import run_user
from sizer.model.fitting import fit
from sizer.model.model import Model, WhatIf
from sizer.plan.chooser import PlanEnd
from sizer.plan.run_order import plan
from sizer.records.device import Device, DiskRates
from sizer.records.messages import HostError, InputError, Interrupted, NoAnswer
from sizer.records.prediction import Refused
from sizer.records.run import Cause, CauseKind, Failure, Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Adaptive, DiskTier, Limits, Measure, RunSpec, Study, Workload, WorkloadPlan
from sizer.storage.announcements import Announcement, AnnouncementKind
from sizer.store.study_folder import StudyFolder
from sizer.words.failures import failure_line
from sizer.words.language import in_words
from tests.unit.plan.machine import HOST, chosen, knee, made, study_of

FACTS = {"cpus": HOST.vcpus, "memory_bytes": HOST.memory_bytes}


def asked(**axes: Any) -> Study:
    """As a file has it, with a command that could be started."""
    study = study_of(**axes)
    workloads = (
        replace(workload, workload=replace(workload.workload, command=("train",))) for workload in study.workloads
    )
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
    opened = stored(folder, asked(vcpus=(4.0, 8.0, 16.0)), 4.0, 16.0)
    (answer,) = api.recommend(opened).workloads
    assert (answer.next_run.vcpus, answer.next_run.needs_larger_host) == ((8.0,), False)
    (model,) = api.fit(opened).workloads
    assert model.refused.suggestion == answer.next_run
    with pytest.raises(Refused, match="Measure `job` at 8 vCPUs"):
        api.predict(api.fit(opened), vcpus=3.0, memory_bytes=2**30)
    assert "What would help:</strong> Measure job at 8 vCPUs." in api.write_report(opened).read_text()


@pytest.mark.parametrize("count", [1, 2])
def test_where_a_bound_ended_the_plan_its_next_run_is_advised(folder: Path, count: int) -> None:
    """Whatever the answer would ask for by itself."""
    study = replace(asked(), adaptive=Adaptive(runs=count))
    runs, _ = chosen(study, knee(6.0), Adaptive(runs=count))
    with StudyFolder.create(folder, study, FACTS) as opened:
        for run in runs:
            opened.add(run)
    opened = StudyFolder.open(folder)
    end = chosen_next(opened, opened.runs(), api.fit(opened))
    assert isinstance(end, PlanEnd)
    (answer,) = api.recommend(opened).workloads
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


MakeRun = Callable[..., Run]


@pytest.fixture
def model(make_run: MakeRun) -> Model:
    return fit([make_run(100.0 * vcpus, vcpus) for vcpus in (1.0, 2.0, 4.0)])


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"disk": "nvme"}, "disk `nvme` was not measured for `train`; give host."),
        ({"gpu": "V100"}, "GPU `V100` was not measured for `train`; give none, as its runs had."),
        (
            {"gpu_count": 2},
            "`train` was measured without a GPU, so 2 cannot be predicted; leave the GPU out.",
        ),
        ({"workload": "infer"}, "workload `infer` has no runs in this study; give train."),
    ],
)
def test_what_a_study_does_not_have_is_named(asked: dict[str, Any], sentence: str, model: Model) -> None:
    """With what it has instead."""
    with pytest.raises(InputError) as refused:
        api.predict(model, **asked)
    assert in_words(refused.value) == sentence


def test_one_of_several_workloads_has_to_be_named(make_run: MakeRun) -> None:
    """A study of one needs no name."""
    both = fit([make_run(100.0 * vcpus, vcpus, name=name) for name in "ab" for vcpus in (1.0, 2.0, 4.0)])
    with pytest.raises(InputError, match="no workload is named; add --workload with a or b"):
        api.predict(both)
    assert api.predict(both, "b").workload == "b"


def test_no_answer_is_said_in_words(model: Model, make_run: MakeRun) -> None:
    """Why, and where something would help, what."""
    with pytest.raises(NoAnswer) as refused:
        api.predict(model, what_if=WhatIf(gpu_speedup=2.0))
    assert in_words(refused.value) == (
        "`train` was measured without a GPU, so there is none to speed up. Measure `train` with 1 accelerator."
    )
    crashed = fit([make_run(None, vcpus, outcome=Outcome.CRASHED) for vcpus in (1.0, 2.0)])
    with pytest.raises(NoAnswer, match="no run of `train` completed"):
        api.predict(crashed)


TIER = DiskTier("ssd", emulated=DiskRates(1000, 1e8))
TRAIN = Workload("train", "image_training", network="resnet50", format="recordio")
STUDY = Study("s", (WorkloadPlan(TRAIN, (32,), (1.0,), disk=("ssd",)),), (TIER,))
SPEC = RunSpec(TRAIN, 32, Limits(1.0, disk="ssd"), Measure())


class Places:
    """Where runs would read and write, on a disk that is full."""

    def volume(self, _tier: DiskTier) -> object:
        raise HostError("no space for a volume")

    def data(self, data: object, _tier: DiskTier | None) -> object:
        return data

    @contextmanager
    def folders(self, _tier: DiskTier | None) -> Iterator[tuple[Path, Path]]:
        raise OSError("no space for a folder")
        yield


def preparation(**lacking: Any) -> Preparation:
    host = SimpleNamespace(backend=None, fio=None, host=SimpleNamespace(cpus=4, memory_bytes=2**34))
    data = PreparedData(run_user(), {TRAIN: None}, **lacking)
    return Preparation(STUDY, host, data, Places())  # type: ignore[arg-type]


def refused_run(prepared: Preparation, spec: RunSpec, log: Path) -> tuple[Outcome, CauseKind, str]:
    run = prepared.launch(spec, log, None)  # type: ignore[arg-type]
    assert failure_line(run)
    return run.outcome, run.error.cause.kind, run.error.cause.text or ""


def test_a_disk_that_cannot_be_used_refuses_its_runs(tmp_path: Path) -> None:
    """The others go on: it is an event now, and the outcome of each run on it later."""
    prepared, heard = preparation(), list[object]()
    prepared.prepare([SPEC], heard.append, lambda: False)
    checking, unusable = heard
    assert checking == Announcement(AnnouncementKind.DISK_CHECKING, name="ssd")
    assert isinstance(unusable, Announcement)
    assert (unusable.kind, unusable.name) == (AnnouncementKind.DISK_UNUSABLE, "ssd")
    assert str(unusable.why) == "no space for a volume"
    assert refused_run(prepared, SPEC, tmp_path / "log") == (
        Outcome.REFUSED,
        CauseKind.REFUSED,
        "no space for a volume",
    )


def test_a_run_on_a_gpu_without_its_driver_is_unsupported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At once: no data and no disk is asked for, and nothing is started."""
    monkeypatch.setattr("sizer.api.preconditions.has_driver", lambda: False)
    spec = replace(SPEC, workload=replace(TRAIN, device=Device("cuda", 0)))
    refusal = refused_run(preparation(), spec, tmp_path / "log")
    assert refusal == (Outcome.UNSUPPORTED, CauseKind.UNSUPPORTED, "")


def test_a_run_whose_needs_cannot_be_had_is_refused(tmp_path: Path) -> None:
    """Data that could not be made, or folders that cannot, are causes and no end of the study."""
    lacking = preparation(refused={TRAIN: Failure(Cause(CauseKind.NO_DATA, text="no such data"))})
    assert refused_run(lacking, SPEC, tmp_path / "log") == (Outcome.REFUSED, CauseKind.NO_DATA, "no such data")
    without_disk = RunSpec(TRAIN, 32, Limits(1.0), Measure())
    assert refused_run(preparation(), without_disk, tmp_path / "log") == (
        Outcome.REFUSED,
        CauseKind.REFUSED,
        "no space for a folder",
    )


def test_an_interrupt_before_the_first_run_ends_the_preparation() -> None:
    """No disk is checked any more."""
    heard: list[object] = []
    with pytest.raises(Interrupted, match="Interrupted before the first run"):
        preparation().prepare([SPEC], heard.append, lambda: True)
    assert heard == []


@pytest.mark.parametrize("was_there", [True, False])
def test_an_import_that_fails_leaves_the_place_as_it_was(was_there: bool, tmp_path: Path) -> None:
    """Files, folders and links are taken away, what a link points to is not, and nor is a folder that was there."""
    place, elsewhere = tmp_path / "s", tmp_path / "elsewhere"
    (place / "runs" / "deep").mkdir(parents=True)
    elsewhere.mkdir()
    (place / "study.yaml").write_text("")
    (place / "link").symlink_to(elsewhere)
    _take_away(place, was_there)
    assert place.exists() is was_there
    assert not was_there or list(place.iterdir()) == []
    assert elsewhere.is_dir()


def test_a_gpu_may_be_asked_for_by_any_of_its_names(tmp_path: Path) -> None:
    """As a driver or a shop calls it; where two of that name were measured, they are named."""
    table = tmp_path / "table.csv"
    table.write_text(
        "gpu,gpu_count,throughput\nV100 16GB,1,370\nV100 16GB,2,730\nV100 32GB,1,390\nTesla T4,1,110\nTesla T4,2,210\n"
    )
    model = fit(read_measurements(table, Catalog.load()).runs)
    for name in ("Tesla V100-SXM2-32GB", "v100 32 GB", "V100-32GB"):
        assert api.predicting.predict(model, gpu=name, gpu_count=1).configuration.gpu == "V100-32GB"
    assert api.predicting.predict(model, gpu="NVIDIA T4 16GB", gpu_count=2).configuration.gpu == "T4"
    with pytest.raises(InputError, match="GPU `V100` was not measured for `table`; give T4, V100-16GB or V100-32GB"):
        api.predicting.predict(model, gpu="V100", gpu_count=1)
