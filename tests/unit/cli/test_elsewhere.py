"""predict --on: a table and JSON of rates on instance types."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sizer.cli import main


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "t.csv").write_text("vcpus,throughput\n1,50\n2,98\n4,190\n8,360\n")
    assert main(["import", str(folder / "t.csv"), "--out", str(folder / "s"), "--measured-on", "aws/c6i.4xlarge"]) == 0
    return folder


def asked(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    capsys.readouterr()
    assert main([*arguments, "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    return list(form["predictions"])


def test_each_type_has_a_rate_a_price_and_a_cost(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was transferred says so, and what nobody measured keeps its place."""
    types = ["predict", str(study / "s"), "--on", "aws/c7i.2xlarge,aws/c6i.4xlarge,aws/a1.xlarge"]
    moved, own, unknown = asked(types, capsys)
    assert (moved["on"], moved["transferred"], own["speed_ratio"]) == ("aws c7i.2xlarge", True, None)
    assert moved["speed_ratio"] == pytest.approx(1.114, abs=0.001)
    assert moved["usd_per_million_samples"] == pytest.approx(
        moved["usd_per_hour"] / 3600 / moved["throughput"] * 1e6  # type: ignore[operator]
    )
    assert "was not published" in str(unknown["error"])
    assert main(types) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("aws c7i.2xlarge")
    assert any(line.startswith("aws c7i.2xlarge: Transferred from aws c6i.4xlarge to ") for line in lines)


def test_one_run_there_is_nearer_than_the_index(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It tells of all sizes with that CPU, and a little of the others."""
    (study / "c.csv").write_text("instance_type,throughput\naws/c7i.2xlarge,250\n")
    types = ["predict", str(study / "s"), "--on", "aws/c7i.2xlarge,aws/c7i.xlarge,aws/m7i.2xlarge"]
    before, after = asked(types, capsys), asked([*types, "--calibrate", str(study / "c.csv")], capsys)
    assert after[0]["throughput"] == pytest.approx(250, rel=0.02)
    assert after[1]["throughput"] < before[1]["throughput"]  # type: ignore[operator]
    for calibrated, moved in zip(after, before, strict=True):
        assert calibrated["high"] / calibrated["low"] < 0.8 * moved["high"] / moved["low"]  # type: ignore[operator]


@pytest.mark.parametrize(
    ("code", "arguments", "sentence"),
    [
        (2, ["--on", "aws/c77i.2xlarge"], "did you mean `aws c7i.2xlarge`?"),
        (2, ["--on", "aws/p2.xlarge"], "cannot be rented any more"),
        (2, ["--calibrate", "c.csv"], "--calibrate needs --on"),
        (2, ["--on", "aws/c7i.large", "--at", "x.csv"], "--on takes neither --at"),
        (2, ["--on", "aws/c7i.large", "--data-factor", "2"], "nor another disk or size of the data"),
        (5, ["--on", "aws/t3.large"], "The vCPUs of aws t3.large are a share of a core"),
        (
            5,
            ["--on", "aws/c7i.2xlarge", "--vcpus", "64"],
            "aws c7i.2xlarge has 8 vCPUs and 16 GiB, less than asked for.",
        ),
    ],
)
def test_what_cannot_be_asked_or_told_is_said(
    study: Path, capsys: pytest.CaptureFixture[str], code: int, arguments: list[str], sentence: str
) -> None:
    assert main(["predict", str(study / "s"), *arguments]) == code
    assert sentence in capsys.readouterr().err


def test_what_to_know_of_a_type_stands_below(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    types = ["predict", str(study / "s"), "--on", "aws/c6g.xlarge,aws/g4dn.xlarge,aws/c7i.16xlarge"]
    assert [form["notes"] for form in asked(types, capsys)] == [
        ["ARM cores."],
        ["Has a GPU that the job does not use."],
        [],
    ]
    assert main(types) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "aws c6g.xlarge: ARM cores." in lines
    assert [", extrapolated " in line for line in lines[:3]] == [False, False, True]


def test_a_run_on_a_machine_that_nobody_knows_calibrates_nothing(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (study / "mine.csv").write_text("instance_type,vcpus,throughput\nmine,8,250\n")
    types = ["--on", "aws/c7i.2xlarge", "--calibrate", str(study / "mine.csv")]
    assert main(["predict", str(study / "s"), *types]) == 2
    assert "`mine`, of which --calibrate has a run, is neither" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ("vcpus,throughput\n8,100\n16,190\n", "has a row with 16 vCPUs, and aws c6i.2xlarge has 8"),
        ("instance_type,throughput\naws/c7i.large,9\n", "a row was measured on aws c7i.large"),
    ],
)
def test_a_table_is_of_the_type_that_it_is_said_to_be_measured_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], table: str, sentence: str
) -> None:
    (tmp_path / "t.csv").write_text(table)
    out = ["--out", str(tmp_path / "s"), "--measured-on", "aws/c6i.2xlarge"]
    assert main(["import", str(tmp_path / "t.csv"), *out]) == 2
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "s").exists()


def test_without_a_known_cpu_nothing_is_transferred(
    tmp_path: Path, study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", str(study / "t.csv"), "--out", str(tmp_path / "s")]) == 0
    assert main(["predict", str(tmp_path / "s"), "--on", "aws/c7i.2xlarge"]) == 5
    assert "sizer import DIR/measurements.csv --out NEW --measured-on PROVIDER/TYPE" in capsys.readouterr().err
