"""The commands that conclude, on a study folder of stored runs; nothing is measured."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sizer.records.device import Device, DiskRates
from sizer.records.run import DiskCheck, Run
from sizer.records.study import DiskTier, Limits, RunSpec, Study, Workload, WorkloadPlan
from sizer.store.study_folder import StudyFolder
from tests.end_to_end.conftest import Typed

DEVICE = Device("emulated", 0, "P100", 219.0, "a table")
RATES = DiskRates(read_iops=3000.0, read_bytes_per_second=2e8)
TIERS = (DiskTier("ssd", emulated=RATES), DiskTier("unused", path="/mnt"))
POINTS = ((1.0, 150.0), (2.0, 217.0), (4.0, 219.0))
PLANS = (
    WorkloadPlan(
        Workload("train", "image_training", network="resnet50", device=DEVICE), (32,), (1.0, 2.0, 4.0), (), ("ssd",)
    ),
    WorkloadPlan(Workload("few", "image_inference", network="resnet50"), (32,), (1.0, 2.0)),
)


@pytest.fixture
def study(folder: Path, make_run: Callable[..., Run]) -> Path:
    """A study of a job on an emulated accelerator and disk, and of one measured at too few points to predict."""
    with StudyFolder.create(folder / "s", Study("s", PLANS, TIERS), {"cpus": 4, "memory_bytes": 2**34}) as stored:
        for vcpus, rate in POINTS:
            run = make_run(rate, vcpus, disk="ssd")
            spec = RunSpec(PLANS[0].workload, 32, Limits(vcpus, None, "ssd"), run.spec.measure)
            stored.add(replace(run, spec=spec, disk=DiskCheck(TIERS[0], RATES)))
        few = make_run(50.0, 1.0)
        stored.add(replace(few, spec=RunSpec(PLANS[1].workload, 32, Limits(1.0), few.spec.measure)))
    return folder / "s"


@pytest.fixture
def predicted(sizer: Typed, study: Path) -> Callable[..., list[dict[str, Any]]]:
    """What `predict --json` says."""

    def predict(*words: str) -> list[dict[str, Any]]:
        shown: list[dict[str, Any]] = json.loads(sizer("predict", study.name, "--json", *words).stdout)["predictions"]
        return shown

    return predict


def no_traceback(done: subprocess.CompletedProcess[str], code: int, sentence: str) -> None:
    assert (done.returncode, sentence in done.stderr) == (code, True), done.stderr
    assert "Traceback" not in done.stderr


def test_what_is_printed_is_what_is_stored_and_another_question_leaves_it(sizer: Typed, study: Path) -> None:
    """recommend --json and recommendation.json are one form; the answer to another question is printed alone."""
    printed = json.loads(sizer("recommend", "s", "--json").stdout)
    before = (study / "recommendation.json").read_text()
    assert printed == json.loads(before)
    assert (printed["objective"], printed["target"]) == ("cheapest", 0.95)
    (study.parent / "mine.csv").write_text("name,vcpus,price\nmine.large,4,0.25\n")
    for question in (["--objective", "fastest"], ["--target", "0.5"], ["--catalog", "mine.csv"]):
        done = sizer("recommend", "s", "--json", *question)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) != printed
        assert (study / "recommendation.json").read_text() == before


def test_an_edited_model_is_fitted_again(sizer: Typed, study: Path) -> None:
    """The file is only what the runs say; numbers that do not fit each other are not computed with."""
    before = sizer("predict", "s", "--workload", "train").stdout
    model = json.loads((study / "model.json").read_text())
    posterior = model["workloads"][0]["posterior"]
    posterior["names"], posterior["vectors"] = posterior["names"][:1], [[]]
    (study / "model.json").write_text(json.dumps(model))
    done = sizer("predict", "s", "--workload", "train")
    assert (done.returncode, done.stdout) == (0, before), done.stderr


def test_a_study_without_runs_says_what_to_type(sizer: Typed, study: Path) -> None:
    """Nothing can be concluded from nothing; of one of which nothing completed the report is made."""
    for path in (study / "runs").iterdir():
        run = json.loads(path.read_text()) | {"outcome": "crashed", "throughput": None}
        path.write_text(json.dumps(run))
    no_traceback(sizer("predict", "s", "--workload", "train", "--vcpus", "2"), 5, "no run of `train` completed")
    for words in ("recommend", "fit"):
        no_traceback(sizer(words, "s"), 5, "")
    assert sizer("report", "s").returncode == 0
    for path in (study / "runs").iterdir():
        path.unlink()
    for words in (["fit"], ["predict", "--vcpus", "2"], ["recommend"]):
        no_traceback(sizer(words[0], "s", *words[1:]), 5, "s has no runs yet; type: sizer run s/study.yaml --out s")
    for value in ('"many"', "-3", "null", "1e400"):
        (study / "host.json").write_text(f'{{"cpus": 4, "memory_bytes": {value}}}')
        no_traceback(sizer("status", "s"), 2, "memory_bytes is")


@pytest.mark.usefixtures("study")
def test_emulation_is_said_in_every_line(sizer: Typed) -> None:
    """Prediction, verdict and status name no emulated thing without saying so."""
    bound, disk = "bound by the emulated P100", "disk ssd (emulated)"
    line = sizer("predict", "s", "--workload", "train").stdout
    assert bound in line
    assert disk in line
    verdict = sizer("recommend", "s").stdout.splitlines()[0]
    assert bound in verdict
    assert disk in sizer("status", "s").stdout


def test_a_row_without_an_answer_keeps_its_place(
    sizer: Typed, study: Path, predicted: Callable[..., list[dict[str, Any]]]
) -> None:
    """The others are answered; no column `workload` is needed beside --workload."""
    (study.parent / "at.csv").write_text("vcpus,batch_size\n1,32\n2,64\n,32.0\n")
    words = ["--workload", "train", "--at", "at.csv"]
    first, second, third = predicted(*words)
    assert (first["vcpus"], third["vcpus"]) == (1.0, 4.0)
    assert first["throughput"] == pytest.approx(150, rel=0.1)
    assert second["throughput"] is None
    assert "`batch_size` 32 alone" in second["error"]
    assert "error" not in third
    done = sizer("predict", "s", *words)
    assert done.returncode == 0
    assert ["no prediction" in line for line in done.stdout.splitlines()] == [False, True, False]
    assert sizer("predict", "s", "--workload", "train", "--batch-size", "64", "--json").returncode == 5
    no_traceback(sizer("predict", "s", "--workload", "train", "--batch-size", "64"), 5, "`batch_size` 32 alone")


def test_a_gate_that_is_not_met_is_exit_code_6(sizer: Typed, folder: Path, store_knee: Callable[[Path], Path]) -> None:
    """Its verdict is one sentence on stderr; stdout stays what it was."""
    store_knee(folder / "s")
    plain = sizer("recommend", "s", "--json")
    gated = sizer("recommend", "s", "--json", "--fail-if", "throughput<500", "--fail-if", "train:vcpus>8")
    assert (plain.returncode, gated.returncode) == (0, 6)
    assert gated.stdout == plain.stdout
    first, second = gated.stderr.splitlines()
    assert re.fullmatch(
        r"sizer: gate not met \(fail if throughput<500\): train: throughput is (29\d|30\d) images/s", first
    )
    assert second == "sizer: gate met (fail if train:vcpus>8): train: vcpus is 4"
    assert sizer("recommend", "s", "--fail-if", "vcpus>8").returncode == 0


def test_a_deadline_is_asked_for_and_published(sizer: Typed, folder: Path, store_knee: Callable[[Path], Path]) -> None:
    """The JSON says what was asked for; the study keeps its own answer."""
    study = store_knee(folder / "s")
    sizer("recommend", "s")
    before = (study / "recommendation.json").read_text()
    done = sizer("recommend", "s", "--samples", "4.2M", "--within", "7h", "--json")
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert (printed["objective"], printed["deadline"]) == ("deadline", {"samples": 4.2e6, "seconds": 7 * 3600.0})
    (answer,) = printed["workloads"]
    assert answer["spec"]["vcpus"] == 2
    assert set(answer["job"]) == {"samples", "within", "seconds", "probability", "usd", "instance_type"}
    assert (study / "recommendation.json").read_text() == before
