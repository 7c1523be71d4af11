"""A study that the first version imported, with stand-ins for what its table does not say, gives the same figures."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from sizer.cli import main
from sizer.exchange.measurements import write_csv
from sizer.store.study_folder import StudyFolder

FORMS = ("shares", "bottleneck", "headroom")
"""What follows from the equation of the model, which is another now."""


def figures(value: Any) -> Any:
    """With numbers that need not agree in their last bit on another machine."""
    if isinstance(value, dict):
        return {name: figures(item) for name, item in value.items()}
    if isinstance(value, list):
        return [figures(item) for item in value]
    return pytest.approx(value, rel=1e-6) if isinstance(value, float) else value


def test_what_the_table_does_not_say_is_none(first_version_imported: Path) -> None:
    """And nothing else is; each run keeps its id, which is the name of its file."""
    folder = StudyFolder.open(first_version_imported)
    assert folder.problems() == ()
    runs = folder.runs()
    assert {run.id for run in runs} == {path.stem for path in (first_version_imported / "runs").iterdir()}
    train = next(run for run in runs if run.spec.workload.name == "train")
    read = next(run for run in runs if run.spec.workload.name == "read")
    assert (train.configuration.vcpus, train.configuration.gpu, train.configuration.gpu_count) == (1.0, "V100", 1)
    assert (train.configuration.memory_bytes, train.configuration.disk, train.started_at) == (None, None, None)
    assert train.spec.workload.device is not None
    assert (train.spec.workload.device.kind, train.spec.workload.device.index) == ("cuda", None)
    assert (read.configuration.vcpus, read.configuration.gpu_count, read.configuration.memory_bytes) == (
        None,
        None,
        4 * 2**30,
    )
    assert (read.spec.workload.device, read.spec.workload.framework, read.spec.workload.input) == (None, None, None)


def test_its_table_is_written_as_before(first_version_imported: Path) -> None:
    """Cell by cell; columns that came later are empty."""
    before = list(csv.DictReader(io.StringIO((first_version_imported / "measurements.csv").read_text("utf-8"))))
    now = list(csv.DictReader(io.StringIO(write_csv(StudyFolder.open(first_version_imported).runs()))))
    assert [{name: cell for name, cell in row.items() if name in before[0]} for row in now] == before
    assert {cell for row in now for name, cell in row.items() if name not in before[0]} == {""}


def test_its_model_and_answers_are_as_before(first_version_imported: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Fitted again, since the stored model holds the stand-ins; what is not known is null in every form."""
    answers = json.loads((first_version_imported / "recommendation.json").read_text())
    predictions = json.loads((first_version_imported / "predictions.json").read_text())["predictions"]
    for before in predictions:
        assert main(["predict", str(first_version_imported), "--workload", before["workload"], "--json"]) == 0
        (now,) = json.loads(capsys.readouterr().out)["predictions"]
        # Without vCPUs nothing shows what of them binds, and more memory may relieve a disk; a measured row is taken at
        # its word.
        rate = {"train": 400.0, "read": 120.0}[before["workload"]]
        asked = {name: now[name] for name in ("throughput", "low", "high")}
        assert before["low"] < now["low"] < rate < now["high"]
        assert now["high"] / now["low"] < 1.3
        assert now["throughput"] == pytest.approx(rate, rel=0.02)
        assert before["vcpus"] is not None or now["bottleneck"] in ("ambiguous", "disk_bandwidth")
        assert now == figures(before | {name: now[name] for name in FORMS} | asked)
    refitted = json.loads((first_version_imported / "model.json").read_text())
    assert refitted["schema_version"] == 2
    assert main(["recommend", str(first_version_imported)]) == 0
    concluded = json.loads((first_version_imported / "recommendation.json").read_text())
    before, now = answers["workloads"][0], concluded["workloads"][0]
    # A job that was measured on one kind of accelerator runs on that kind, and at the rate that was measured there.
    gpu = {"gpu": "V100", "gpu_count": 1}
    assert now["status"] == before["status"]
    assert now["spec"] == before["spec"] | gpu
    assert now["throughput"]["value"] == pytest.approx(400.0)
    # Its last doubling gained 18 %, onto the second half of each core or as the accelerator binds: that the rate still
    # rises is not said any more, nor what binds.
    assert (now["edge"], now["beyond"], now["bottleneck"]) == ("unsettled", None, None)
    # A table that only says memory is compared as it is: 32 GiB are half as fast again as 16, which no curve showed.
    assert (concluded["workloads"][1]["status"], concluded["workloads"][1]["spec"]["memory_gib"]) == ("at_least", 32.0)
