"""What `predict` fills in is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from sizer.cli import main

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
        (["--vcpus", "24"], "assumed: 170 GiB, batch 256, 2 x A100\n"),
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
