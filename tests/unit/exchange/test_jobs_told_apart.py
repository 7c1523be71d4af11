"""Rows that look like repeats and are different jobs, by a column that sizer does not read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sizer.cli import main
from tests.tables import Read

LLAMA = """\
model,backend,vcpus,test,tokens/s
llama,CPU,4,pp 64,23.18
llama,CPU,4,tg 16,12.22
llama,CPU,8,pp 64,32.29
llama,CPU,8,tg 16,16.71
llama,CPU,16,pp 64,33.52
llama,CPU,16,tg 16,15.32
llama,CPU,32,pp 64,59.00
llama,CPU,32,tg 16,16.41
"""
"""llama-bench by threads, of llama.cpp's own page on it (08d0baac), figures only: a prompt and its answer."""
FLAGPERF = """\
model,gpu,precision,fix_hp,e2e_time,images/s,p_train
resnet50,8x A100,fp32,/,28661,4475,4586
resnet50,8x A100,fp32,"bs=256,lr=0.8",22653,5663,5866
resnet50,1x A100,fp32,"bs=256,lr=0.8",/,782,795
resnet50,16x A100,fp32,"bs=256,lr=0.8",/,10576,11085
resnet50,8x A100,amp,"bs=512,lr=0.2",15312,7544,7901
"""
"""FlagPerf's ResNet-50 in PyTorch (0078403c), figures only: of whole numbers some are settings, and some measured."""
SERVED = "gpu,concurrency,tokens/s\nT4,1,10\nT4,8,60\nL4,1,21\nL4,8,130\n"
SERVERS = "gpu,server,img/s\nT4,alpha,110\nT4,beta,150\nL4,gamma,210\n"
TWO_WAYS = "gpu,host,rack,img/s\nT4,a,x,100\nT4,b,y,150\nL4,a,y,200\nL4,b,x,300\n"
NOISY = "gpu,slot,lab,img/s\nT4,1,x,100\nT4,2,x,140\nT4,1,y,135\nT4,2,y,104\nL4,1,x,200\nL4,2,y,260\n"


def answers(folder: Path, table: str, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    """The answer for each job of a table, by the two commands that people type."""
    (folder / "job.csv").write_text(table, encoding="utf-8")
    assert main(["import", str(folder / "job.csv"), "--out", str(folder / "study"), *options]) == 0
    capsys.readouterr()
    assert main(["recommend", str(folder / "study"), "--json"]) == 0
    return {each["workload"]: each for each in json.loads(capsys.readouterr().out)["workloads"]}


@pytest.mark.parametrize(
    ("table", "options", "right"),
    [
        # The rate of a prompt still rises at 32; an answer is at its best with 8 (16.71), and 4 give 73 % of that.
        (LLAMA, (), {"llama (pp 64)": ("at_least", 32, 59.0), "llama (tg 16)": ("recommended", 8, 16.71)}),
        (
            FLAGPERF,
            (),
            {
                "resnet50 (fp32)": ("provisional", 8, 4475),
                "resnet50 (fp32, bs=256,lr=0.8)": ("recommended", 1, 782),
                "resnet50 (amp)": ("provisional", 8, 7544),
            },
        ),
        # An empty cell is a setting, too: that of the usual one.
        (
            "gpu,compiled,img/s\nT4,,100\nT4,yes,150\nL4,,200\nL4,yes,290\n",
            (),
            {"job": ("recommended", 1, 200), "job (yes)": ("recommended", 1, 290)},
        ),
        (SERVED, (), {"job (concurrency 1)": ("recommended", 1, 21), "job (concurrency 8)": ("recommended", 1, 130)}),
        (
            SERVERS,
            ("--job-by", "Server"),
            {
                "job (alpha)": ("provisional", 1, 110),
                "job (beta)": ("provisional", 1, 150),
                "job (gamma)": ("provisional", 1, 210),
            },
        ),
        (
            TWO_WAYS,
            ("--job-by", "host"),
            {"job (a)": ("recommended", 1, 200), "job (b)": ("recommended", 1, 300)},
        ),
    ],
)
def test_a_setting_by_which_repeats_differ_tells_jobs_apart(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    table: str,
    options: tuple[str, ...],
    right: dict[str, tuple[str, float, float]],
) -> None:
    """By itself where its values come again and part the rates, else where it is asked for."""
    found = {
        name: (
            "provisional" if answer["provisional"] else answer["status"],
            answer["spec"]["gpu_count"] or answer["spec"]["vcpus"] or 1,
            answer["throughput"]["value"],
        )
        for name, answer in answers(tmp_path, table, capsys, *options).items()
    }
    assert found == {
        name: (status, size, pytest.approx(rate, rel=0.02)) for name, (status, size, rate) in right.items()
    }


@pytest.mark.parametrize(
    ("table", "column", "factor"),
    [
        (SERVERS, "server", "1.36"),  # Names that come once may be those of machines.
        (TWO_WAYS, "host", "1.50"),
        (NOISY, "slot", "1.40"),  # No column parts them.
        ("gpu,images,img/s\nM60,1623,40.70\nM60,32460,46.76\nV100,162300,186\n", "dataset_samples", "1.15"),
    ],
)
def test_until_it_is_known_which_rows_are_one_job_the_answer_is_provisional(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], table: str, column: str, factor: str
) -> None:
    """With the column named, and what to type; the warning is exported and found anew when it is imported again."""
    (answer,) = answers(tmp_path, table, capsys).values()
    assert answer["provisional"]
    assert answer["reason_codes"][0] == "jobs_mixed"
    assert f"differ by a factor of up to {factor}" in answer["reasons"][0]
    assert f"`{column}`" in answer["reasons"][0]
    assert f"Import the table again with `--job-by {column}`." in answer["next_run"]
    exported = (tmp_path / "study" / "measurements.csv").read_text(encoding="utf-8")
    assert exported.count("may_be_another_job") >= 2
    (tmp_path / "again").mkdir()
    (again,) = answers(tmp_path / "again", exported, capsys).values()
    assert again["reasons"][0] == answer["reasons"][0]


@pytest.mark.parametrize(
    "table",
    [
        "gpu,vendor,img/s\nT4,A,110\nT4,B,113\nL4,A,210\n",
        "gpu,run,img/s\nT4,1,110\nT4,2,150\nL4,1,210\n",
        "gpu,epoch,lab,img/s\nT4,0,x,60\nT4,1,y,110\nL4,1,x,210\n",
    ],
)
def test_repeats_stay_repeats(read: Read, table: str) -> None:
    """Where they agree, where the column is that of runs, and where rows are epochs of one run."""
    found = read(table)
    assert not any(run.warnings for run in found.runs)
    assert len({run.spec.workload.name for run in found.runs}) == 1


def test_a_column_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With those that are."""
    (tmp_path / "job.csv").write_text(SERVERS, encoding="utf-8")
    assert main(["import", str(tmp_path / "job.csv"), "--out", str(tmp_path / "study"), "--job-by", "racks"]) == 2
    assert "has no column `racks` to tell jobs apart by, only" in capsys.readouterr().err
