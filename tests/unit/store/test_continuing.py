"""Whether a study may go on in a folder that holds runs, and what was fitted of these is read again."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.records.device import Device, DiskRates
from sizer.records.messages import InputError
from sizer.records.prediction import Configuration
from sizer.records.run import DiskCheck, Run
from sizer.records.run_kinds import Outcome, Purpose
from sizer.records.study import DiskTier, Limits, Measure, RunSpec, Study, Workload, WorkloadPlan
from sizer.store import fitted_file
from sizer.store.continuing import refuse_other_machine, refuse_other_meaning, refuse_other_study, refuse_other_versions
from sizer.store.fitted_file import read_fitted, sources_of, write_fitted

TRAIN = Workload("train", "image_training", network="resnet50")
SLOW = DiskTier("slow", emulated=DiskRates(read_bytes_per_second=4e7))
STUDY = Study("s", (WorkloadPlan(TRAIN, (32,)),), (SLOW,))
RUN = Run(
    RunSpec(TRAIN, 32, Limits(disk="slow"), Measure()),
    Outcome.COMPLETED,
    Configuration(1.0, 2**30, "slow", 32),
    "2026-11-21T10:00:00+00:00",
    40.0,
    disk=DiskCheck(SLOW, DiskRates()),
)


def test_more_of_the_same_may_go_on() -> None:
    """Other axes, repeats and workloads beside the old ones mix with nothing."""
    more = Study(
        "s", (WorkloadPlan(TRAIN, (8,), (1.0, 2.0)), WorkloadPlan(Workload("b", "lstm_training"), (20,))), (SLOW,)
    )
    refuse_other_study("x", STUDY, more)
    refuse_other_meaning("x", [RUN], more)
    refuse_other_meaning("x", [RUN], Study("s", ()))


def test_another_device_may_be_added() -> None:
    """What was measured on one of a list is measured; what was on none of it is another workload."""
    gpu = Device("emulated", gpu="T4", samples_per_second=9.0)
    plan = WorkloadPlan(TRAIN, (32,), devices=(Device(), gpu))
    refuse_other_meaning("x", [RUN], Study("s", (plan,), (SLOW,)))
    other = replace(TRAIN, device=replace(gpu, gpu="V100"))
    with pytest.raises(InputError, match="another workload named `train`"):
        refuse_other_meaning("x", [replace(RUN, spec=replace(RUN.spec, workload=other))], Study("s", (plan,), (SLOW,)))


def test_a_run_that_isolates_a_stage_is_of_the_same_workload() -> None:
    """It is fed otherwise, and nothing else about it may differ."""
    fed = replace(TRAIN, input="replay", cache="cold")
    stage = replace(RUN, spec=replace(RUN.spec, workload=fed, purpose=Purpose.ISOLATES_DISK))
    refuse_other_meaning("x", [stage], STUDY)
    other = replace(stage, spec=replace(stage.spec, workload=replace(fed, network="vgg16")))
    with pytest.raises(InputError, match="another workload named `train`"):
        refuse_other_meaning("x", [other], STUDY)


def test_a_disk_that_is_something_else_now_is_refused() -> None:
    """A run's identity holds the disk's name alone, so its figures must stay what they were."""
    faster = replace(SLOW, emulated=DiskRates(read_bytes_per_second=8e7))
    with pytest.raises(InputError, match="another disk named `slow`"):
        refuse_other_meaning("x", [RUN], replace(STUDY, disks=(faster,)))


def test_another_machine_is_refused() -> None:
    """Rates of two machines are no study of one; facts that may change are no machine's."""
    host = {"cpu_model": "EPYC", "cpus": 2, "kernel": "6.1"}
    refuse_other_machine("x", host, {**host, "kernel": "6.18"})
    refuse_other_machine("x", {}, host)
    with pytest.raises(InputError, match="its processor: EPYC, here: Xeon"):
        refuse_other_machine("x", host, {**host, "cpu_model": "Xeon"})


def test_another_version_of_a_framework_is_refused() -> None:
    """If runs were measured with the one before; other packages, and folders that do not say it, may differ."""

    def host(mxnet: str, numpy: str = "1.26.4", path: str = "/a/python") -> dict[str, object]:
        packages = {"mxnet": mxnet, "numpy": numpy} if mxnet else {}
        return {"frameworks": [{"framework": "mxnet", "path": path, "python": "3.11", "packages": packages}]}

    refuse_other_versions("x", [RUN], host("1.9.1"), host("1.9.1", "1.24", "/b/python"))
    refuse_other_versions("x", [RUN], {}, host("1.9.1"))
    refuse_other_versions("x", [RUN], host("1.9.1"), {"frameworks": "strange"})
    refuse_other_versions("x", [RUN], host(""), host("1.9.1"))
    refuse_other_versions("x", [], host("1.9.1"), host("1.8.0"))
    with pytest.raises(InputError, match=r"x was measured with mxnet 1.9.1, and /b/python has 1.8.0; name the interp"):
        refuse_other_versions("x", [RUN], host("1.9.1"), host("1.8.0", path="/b/python"))


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
    fitted = read_fitted(study / "model.json", sources_of(study))
    return fitted and {name: fitted[name] for name in FORM}


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


def test_of_several_workloads_one_is_read(study: Path) -> None:
    """By its whole name, whatever it has in it; of a name that none has, all are."""
    names = ["train", "train-2", 'a "b",\n\u2028', "train"[:3]]
    models = [{"name": name, "rates": [1, "}\n{", name]} for name in names]
    write_fitted(study / "model.json", sources_of(study), {**FORM, "workloads": models})
    for name, model in zip(names, models, strict=True):
        fitted = read_fitted(study / "model.json", sources_of(study), name)
        assert fitted == {**(read_fitted(study / "model.json", sources_of(study)) or {}), "workloads": [model]}
    for other in (None, "2", "rates"):
        fitted = read_fitted(study / "model.json", sources_of(study), other)
        assert fitted["workloads"] == models


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
