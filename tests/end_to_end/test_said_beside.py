"""What is said beside an answer goes no further than what is known: by the two commands, the JSON and the page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sizer.cli import main

READS_NOTHING = """\
workload,vcpus,disk,disk_class,disk_read_mbps,disk_read_iops,core_seconds_per_sample,read_bytes_per_sample,\
read_ios_per_sample,input,cache,throughput,throughput_low,throughput_high,memory_gib,dataset_gib,dataset_samples
job,1,slow,standard,30,500,0.10,100,0.01,disk,cold,9,2,40,8,10,100000
job,2,slow,standard,30,500,0.10,100,0.01,disk,cold,9.5,1.5,60,8,10,100000
job,4,slow,standard,30,500,0.10,100,0.01,disk,cold,16,2,70,8,10,100000
job,1,fast,nvme,1000,100000,0.10,100,0.01,disk,cold,9.8,4,45,8,10,100000
job,2,fast,nvme,1000,100000,0.10,100,0.01,disk,cold,19,3,90,8,10,100000
job,4,fast,nvme,1000,100000,0.10,100,0.01,disk,cold,38,5,220,8,10,100000
"""
"""A host that others use: the runs are far apart, on disks of which the job asks next to nothing."""


def concluded(folder: Path, table: str, capsys: pytest.CaptureFixture[str]) -> tuple[dict[str, Any], str, str]:
    """The answer as JSON, as the terminal says it, and the page."""
    (folder / "job.csv").write_text(table, encoding="utf-8")
    study = folder / "study"
    assert main(["import", str(folder / "job.csv"), "--out", str(study)]) == 0
    capsys.readouterr()
    assert main(["recommend", str(study)]) == 0
    said = capsys.readouterr().out
    (answer,) = json.loads((study / "recommendation.json").read_text(encoding="utf-8"))["workloads"]
    return answer, said, (study / "report.html").read_text(encoding="utf-8")


def test_a_job_that_reads_next_to_nothing_gains_nothing_by_another_disk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """However far apart the runs are: what takes 2 % of the time at the most gives back no more than that."""
    answer, said, page = concluded(tmp_path, READS_NOTHING, capsys)
    assert "it would gain nothing" in page
    gains = re.findall(r"(?:faster disk|disk \w+) gains ([\d.]+) %", " ".join([*answer["reasons"], said]))
    assert all(float(gain) < 3 for gain in gains)


def test_a_slower_machine_on_which_the_work_costs_less_is_no_cheaper_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where one is named, what is almost certain is said of those that are fast enough; else of all."""
    curve = "vcpus,tokens/s\n1,4.05\n2,7.80\n4,12.22\n8,16.71\n16,15.32\n32,16.41\n"
    answer, said, _ = concluded(tmp_path, curve, capsys)
    assert answer["spec"]["vcpus"] == 8
    assert "The same work costs 68 % as much on 4 vCPUs (aws c6i.xlarge), 73 % as fast" in said
    assert "How sure: almost certain (above 0.99) that none that is fast enough is 5 % cheaper." in said
    (tmp_path / "all").mkdir()
    _, said, _ = concluded(tmp_path / "all", "gpu,img/s\nT4,100\nL4,300\nH100,400\n", capsys)
    assert "How sure: almost certain (above 0.99) that none is 5 % cheaper." in said
