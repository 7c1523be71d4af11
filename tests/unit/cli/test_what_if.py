"""What `predict` supposes, and how answers about machines and programs are printed."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.cli import main
from sizer.cli.commands.predict import tier_rates, what_if
from sizer.model.fitting import fit
from sizer.model.model import WhatIf, WorkloadModel
from sizer.records.device import DiskRates
from sizer.records.messages import InputError
from sizer.records.prediction import ReasonCode
from sizer.records.run import Run
from sizer.records.study import Study, WorkloadPlan
from sizer.records.units import GIB
from sizer.store.study_folder import StudyFolder

# What a prediction supposes, worked out for each workload.
from tests.tables import NAMED


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
    change = what_if(Namespace(**{"data_size": None, **factors, **given}), model, disk)
    return change if isinstance(change, WhatIf) else change.reason.code


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
    bought = tier_rates("aws/gp3:500GiB:6000iops:500mbps", [])
    assert (bought.read_iops, bought.read_bytes_per_second) == (6000, 500e6)
    small, large = tier_rates("gcp/pd-ssd:20GiB", []), tier_rates("gcp/pd-ssd:500GiB", [])
    assert (small.read_iops or 0) < (large.read_iops or 0)


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
    ("options", "ending"),
    [
        (["--gpu-count", "1"], "assumed: 12 vCPUs, 85 GiB, batch 128\n"),
        (["--gpu-count", "1", "--batch-size", "256"], "out of memory; assumed: 12 vCPUs, 85 GiB\n"),
        (["--vcpus", "24"], "assumed: 2 x A100, 170 GiB, batch 256\n"),
    ],
)
def test_what_was_not_given_is_said(
    folder: str, capsys: pytest.CaptureFixture[str], options: list[str], ending: str
) -> None:
    """And nothing else of the configuration."""
    capsys.readouterr()
    assert main(["predict", folder, *options]) == 0
    assert capsys.readouterr().out.endswith(ending)


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
    output = capsys.readouterr()
    (line,) = [line for line in output.err.splitlines() if line.startswith("left out: ")]
    assert line.startswith(f"left out: {study_folder}/runs/")
    assert line.endswith("throughput.value: expected a number from -1e+60 to 1e+60, found 1e+308.")
    assert "left out" not in output.out


def test_a_folder_of_bad_runs_alone_says_so(study_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is not said that nothing is stored."""
    for path in (study_folder / "runs").iterdir():
        path.write_text("{")
    assert main(["fit", str(study_folder)]) == 5
    err = capsys.readouterr().err
    assert err.count("left out: ") == 3
    assert "has no run that can be read; type: sizer run" in err


# recommend on a table of machines: a line for each that is worth choosing, and offers only where they say more.


KINDS = """workload,gpu,gpu_count,throughput
job,T4,1,200
job,V100,1,1800
job,V100,4,7105
"""


def _said(folder: Path, capsys: pytest.CaptureFixture[str], table: str, *asked: str) -> list[str]:
    (folder / "table.csv").write_text(table)
    assert main(["import", str(folder / "table.csv"), "--out", str(folder / "s")]) == 0
    capsys.readouterr()
    assert main(["recommend", str(folder / "s"), *asked]) == 0
    return [line.strip() for line in capsys.readouterr().out.splitlines()]


def test_alternatives_follow_the_reasons_and_offers_come_last(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The instance type is only the cheapest that holds the machine, so others that do are listed, too."""
    lines = _said(tmp_path, capsys, KINDS)
    line = "1 x V100 (gcp n1-standard-8+1xV100): 1,800 samples/s, $2.86 an hour, $0.441 a million samples"
    assert lines.index(line) > next(i for i, other in enumerate(lines) if other.startswith("The work costs the least"))
    assert any(other.startswith("gcp n1-highmem-8+1xV100: $2.95 an hour (") for other in lines[lines.index(line) :])


def test_a_machine_by_its_own_name_has_no_offers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is rented as what it is; one that is dominated is left out."""
    lines = _said(tmp_path, capsys, NAMED)
    assert [line.partition(":")[0] for line in lines if line.endswith(" a million samples")] == [
        "1 x A10G (small.b)",
        "1 x H100 (small.c)",
    ]
    assert not any("the table)" in line for line in lines)


def test_the_answer_is_among_the_few(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of many machines five are shown, the fastest among them where that was asked for."""
    rows = "".join(f"job,type{i},{(1 + i) ** 1.2:.3f},V100,{i + 1},{100 * (i + 1)}\n" for i in range(8))
    header = "workload,instance_type,usd_per_hour,gpu,gpu_count,throughput\n"
    lines = _said(tmp_path, capsys, header + rows, "--objective", "fastest")
    shown = [line.partition(":")[0] for line in lines if line.endswith(" a million samples")]
    assert len(shown) == 5
    assert shown[-1] == "8 x V100 (type7)"


# recommend on a table of many frameworks and networks: what it compares first, then the answers in short.


HEADER = "framework,network,device,batch_size,mode,throughput\n"


def _cross_said(folder: Path, capsys: pytest.CaptureFixture[str], networks: int, *asked: str) -> list[str]:
    rows = "".join(
        f"{framework},net{number},{device},{batch},train,{rate * batch**0.5 + number}\n"
        for number in range(networks)
        for framework, rate in (("mxnet", 20), ("pytorch", 24))
        for device in ("K80", "CPU c4.8xlarge")
        for batch in (8, 16)
    )
    (folder / "table.csv").write_text(HEADER + rows)
    assert main(["import", str(folder / "table.csv"), "--out", str(folder / "s")]) == 0
    capsys.readouterr()
    assert main(["recommend", str(folder / "s"), *asked]) == 0
    return capsys.readouterr().out.splitlines()


def test_of_many_programs_the_table_is_first_and_each_answer_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One of them is asked for by its name."""
    lines = _cross_said(tmp_path, capsys, 7)
    assert lines[0] == "Seconds a mini-batch:"
    answers = [line for line in lines if line.startswith("net")]
    assert len(answers) == 14
    assert lines[-15:-1] == answers
    assert lines[-1].startswith("Why an answer is so: `sizer recommend ")
    assert main(["recommend", str(tmp_path / "s"), "--workload", "net0 (mxnet)"]) == 0
    whole = capsys.readouterr().out.splitlines()
    assert whole[0] == answers[0]
    assert len(whole) > 3
    assert "Seconds a mini-batch:" not in whole


def test_two_workloads_are_answered_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = _cross_said(tmp_path, capsys, 1)
    assert lines[0].startswith("net0 (mxnet): ")
    assert "Seconds a mini-batch:" in lines
