"""`recommend --format` and `report --each`, as they are typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from sizer.cli import main
from tests.unit.cli.test_compare import study

SIZES = (
    "workload,vcpus,throughput,throughput_low,throughput_high,core_seconds_per_sample\n"
    "pre,1,80,79,81,0.0125\npre,2,157,155,159,0.0126\npre,4,296,293,299,0.0129\n"
    "pre,8,341,338,344,0.0133\npre,16,347,344,350,0.0140\n"
)
OTHER = "bad b,1,80,79,81,0.0125\n"


def test_formats_and_their_exit_codes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without any answer the sentence of recommend and exit code 5; a gate comes first."""
    folder = study(tmp_path, "good", SIZES + OTHER)
    for form, begins in (("markdown", "# good"), ("terraform", "# From the study good"), ("json", "{")):
        assert main(["recommend", folder, "--format", form]) == 0
        assert capsys.readouterr().out.startswith(begins)
    assert main(["recommend", folder, "--format", "kubernetes"]) == 0
    assert [document["kind"] for document in yaml.safe_load_all(capsys.readouterr().out)] == ["Job"]
    for form in ("terraform", "kubernetes"):
        unknown = ["recommend", folder, "--latency-p99", "5", "--format", form]
        assert main(unknown) == 5
        assert "pre: no recommendation" in capsys.readouterr().err
        assert main([*unknown, "--fail-if", "vcpus>8"]) == 6


def test_a_file_for_each_workload(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, out = study(tmp_path, "both", SIZES + OTHER), tmp_path / "out"
    assert main(["report", folder, "--each", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"reports": [str(out / "pre.html"), str(out / "bad-b.html")]}
    assert "both: pre" in (out / "pre.html").read_text()
    assert main(["report", folder, "--each", str(out), "--format", "terraform"]) == 0
    assert "1 of 2 workloads have no file" in capsys.readouterr().err
    assert main(["report", folder, "--each"]) == 0
    assert (Path(folder) / "workloads" / "pre.html").is_file()
    assert main(["report", folder, "--each", str(out), "--open"]) == 2
    assert main(["report", folder, "--format", "markdown"]) == 2


def test_the_disk_of_all_runs_is_part_of_the_machine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With what its name says is bought, where its provider is that of the machine; else it is said to be another's."""
    table = SIZES.replace("vcpus,", "vcpus,disk,", 1).replace(",80,", ",aws/gp3:500GiB:6000iops:500mbps,80,")
    for vcpus in (2, 4, 8, 16):
        table = table.replace(f"pre,{vcpus},", f"pre,{vcpus},aws/gp3:500GiB:6000iops:500mbps,")
    folder, prices = study(tmp_path, "disk", table), tmp_path / "aws.csv"
    prices.write_text("type,vcpus,price\naws/c6i.2xlarge,8,0.34\naws/c6i.4xlarge,16,0.68\n")
    assert main(["recommend", folder, "--catalog", str(prices), "--format", "terraform"]) == 0
    text = capsys.readouterr().out
    for line in ('volume_type = "gp3"', "volume_size = 500", "iops = 6000", "throughput = 477"):
        assert f"    {line}\n" in text
    prices.write_text("type,vcpus,price\ngcp/n2-standard-8,8,0.34\ngcp/n2-standard-16,16,0.68\n")
    assert main(["recommend", folder, "--catalog", str(prices), "--format", "terraform"]) == 0
    assert "aws/gp3, which gcp does not sell\n" in capsys.readouterr().out
