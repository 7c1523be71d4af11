"""What a prediction supposes, worked out for each workload."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.cli import main
from sizer.cli.commands.predict import tier_rates, what_if, what_if_form
from sizer.model.fitting import fit
from sizer.model.model import WhatIf, WorkloadModel
from sizer.records.device import DiskRates
from sizer.records.messages import InputError
from sizer.records.prediction import ReasonCode
from sizer.records.run import Run
from sizer.records.study import Study, WorkloadPlan
from sizer.records.units import GIB
from sizer.store.study_folder import StudyFolder


@pytest.fixture
def fitted(make_run: Callable[..., Run]) -> WorkloadModel:
    """A job whose page cache keeps what it can, and whose data set's size is not known."""
    model = fit([make_run(100.0 * vcpus, vcpus, cache="natural") for vcpus in (1.0, 2.0, 4.0)]).workload("train")
    assert model.facts.natural
    assert model.facts.data_bytes is None
    return model


def with_data(model: WorkloadModel, size: int) -> WorkloadModel:
    return replace(model, facts=replace(model.facts, data_bytes=size))


def supposed(model: WorkloadModel, disk: DiskRates | None = None, **given: float) -> WhatIf | ReasonCode:
    """What is supposed of a workload by these options, or the code of why it cannot be."""
    factors = dict.fromkeys(("gpu_speedup", "data_factor", "decode_factor"), 1.0)
    found = what_if(Namespace(**{"data_size": None, **factors, **given}), model, disk)
    return found if isinstance(found, WhatIf) else found.reason.code


def test_a_size_is_a_factor_of_each_workloads_own_data(fitted: WorkloadModel) -> None:
    """40 GiB are four times 10 GiB; neither is known of data of an unknown size, where the page cache counts."""
    assert supposed(with_data(fitted, 10 * GIB), data_size=40 * GIB) == WhatIf(data_bytes_factor=4.0)
    assert supposed(fitted, data_size=40 * GIB) is ReasonCode.NOT_RECORDED
    assert supposed(fitted, data_factor=2.0) is ReasonCode.NOT_RECORDED
    cold = replace(fitted, facts=replace(fitted.facts, feed=replace(fitted.facts.feed, cache="cold")))
    assert supposed(cold, data_factor=2.0) == WhatIf(data_bytes_factor=2.0)


def test_a_tier_needs_a_size() -> None:
    """A cloud disk of 500 GiB is faster than one of 20 GiB, so without a size there is no rate."""
    with pytest.raises(InputError, match="disk `nvmee` is not in this study; give nvme, or a tier"):
        tier_rates("nvmee", ["nvme"])
    with pytest.raises(InputError, match="depend on its size; write --disk gcp/pd-ssd:500GiB"):
        tier_rates("gcp/pd-ssd", [])
    small, large = tier_rates("gcp/pd-ssd:20GiB", []), tier_rates("gcp/pd-ssd:500GiB", [])
    assert (small.read_iops or 0) < (large.read_iops or 0)


def test_only_what_differs_is_written_for_other_programs() -> None:
    """A JSON reader sees the supposition, in MB/s, and nothing that is as it was measured."""
    assert what_if_form(WhatIf()) == {}
    assert what_if_form(WhatIf(gpu_speedup=2.0, disk_rates=DiskRates(read_bytes_per_second=2e8))) == {
        "gpu_speedup": 2.0,
        "disk_mbps": 200.0,
    }


TABLE = """workload,gpu,gpu_count,vcpus,memory_gib,batch_size,throughput,outcome
job,A100,1,12,85,64,900,
job,A100,1,12,85,128,1100,
job,A100,1,12,85,256,,out_of_memory
job,A100,2,24,170,256,2100,
job,A100,4,48,340,512,3950,
"""


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / "table.csv").write_text(TABLE)
    assert main(["import", str(tmp_path / "table.csv"), "--out", str(tmp_path / "study")]) == 0
    return str(tmp_path / "study")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--gpu-count", "1"], "assumed: 12 vCPUs, 85 GiB, batch 128\n"),
        (["--gpu-count", "1", "--batch-size", "256"], "out of memory; assumed: 12 vCPUs, 85 GiB\n"),
        (["--vcpus", "24"], "assumed: 2 x A100, 170 GiB, batch 256\n"),
    ],
)
def test_what_was_not_given_is_said(
    folder: str, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    """And nothing else of the configuration."""
    capsys.readouterr()
    assert main(["predict", folder, *options]) == 0
    assert capsys.readouterr().out.endswith(said)


def test_a_configuration_that_is_given_whole_assumes_nothing(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Four options name the machine and the batch."""
    capsys.readouterr()
    given = ["--gpu-count", "2", "--vcpus", "24", "--memory", "170GiB", "--batch-size", "256"]
    assert main(["predict", folder, *given]) == 0
    assert "assumed" not in capsys.readouterr().out


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
