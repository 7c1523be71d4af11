"""`sizer compare A B`: what surely differs comes first, noise is said to be noise, and a gate asks for what is sure."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sizer.api.importing import write_study
from sizer.cli import main
from sizer.exchange.imported import read_measurements
from sizer.records.prediction import Estimate
from sizer.store.study_folder import StudyFolder
from tests.tables import stored_catalog

HEADER = "workload,vcpus,batch_size,throughput,core_seconds_per_sample,outcome\n"
NOISE = np.random.default_rng(7)


def rows(factor: Callable[[int], float], noise: float = 0.008) -> str:
    """Three repeats of five sizes; `factor` is on the rate of so many vCPUs."""
    lines = []
    for vcpus in (1, 2, 4, 8, 16):
        for _ in range(3):
            rate = 80 * vcpus / (1 + 0.05 * vcpus) * factor(vcpus) * np.exp(noise * NOISE.standard_normal())
            lines.append(f"train,{vcpus},32,{rate:.3f},{0.0125 / factor(vcpus):.6f},\n")
    return HEADER + "".join(lines)


def study(folder: Path, name: str, table: str) -> str:
    source = folder / f"{name}.csv"
    source.write_text(table)
    write_study(folder / name, read_measurements(source, stored_catalog()), source)
    return str(folder / name)


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """`before` has a workload and a batch more, `slower` loses 10 % on few vCPUs and runs out of memory."""
    folder = tmp_path_factory.mktemp("studies")
    more = "train,1,64,81,,\ntrain,1,128,82,,\nother,1,8,10,,\n"
    tables = {
        "before": rows(lambda _: 1.0) + more,
        "slower": rows(lambda vcpus: 0.9 if vcpus < 8 else 1.0) + "train,1,64,,,out_of_memory\n",
        "alike": rows(lambda _: 1.0),
        "noisy": rows(lambda _: 0.95, noise=0.12),
    }
    return {name: study(folder, name, table) for name, table in tables.items()}


def compared(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["compare", *words])
    return code, *capsys.readouterr()


def test_the_worst_comes_first(studies: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """What fails, what is slower, what may be noise; with the demand that moved, and what is in one alone."""
    code, out, _ = compared(capsys, studies["before"], studies["slower"])
    assert code == 0
    lines = out.splitlines()
    kinds = [line.partition(":")[0] for line in lines if " in A" in line and not line.startswith(("  ", "A ", "Only"))]
    assert kinds == ["Failed", *["Slower"] * 3, *["No clear difference"] * 2]
    assert any("train at 1 vCPU, batch 64: 81 samples/s in A, out of memory in B" in line for line in lines)
    assert sum("CPU time a sample 12.5 ms in A, 13.9 ms in B: +11 %" in line for line in lines) == 3
    assert lines[-1] == "Only in A: `other` and `train at 1 vCPU, batch 128`"


def test_json_has_each_interval(studies: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = compared(capsys, studies["before"], studies["slower"], "--json")
    form = json.loads(out)
    assert code == 0
    intervals = {its["configuration"]["vcpus"]: its["change"] for its in form["differences"] if its["change"]}
    assert len(intervals) == 5
    for vcpus, change in intervals.items():
        assert change["low"] < (-0.1 if vcpus < 8 else 0.0) < change["high"]
    assert [its["verdict"] for its in form["means"]] == ["slower"]


@pytest.mark.parametrize(
    ("other", "gate", "code"),
    [
        ("slower", "throughput<-5%", 6),
        ("slower", "throughput < -5 %", 6),
        ("slower", "train:throughput<-50%", 6),  # what fails has no rate
        ("alike", "throughput<-5%", 0),
        ("alike", "throughput<0", 0),
        ("noisy", "throughput<-1%", 0),
        ("noisy", "throughput_low<-5%", 6),
        ("alike", "other:throughput<-5%", 6),  # nothing of it is there to ask
        ("alike", "speed<1", 2),
        ("alike", "nobody:throughput<1", 2),
        ("slower", "throughput<-5", 2),  # it is meant to be -5%
    ],
)
def test_a_gate_fails_beyond_noise(
    other: str, gate: str, code: int, studies: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    code_seen, _, complaint = compared(capsys, studies["before"], studies[other], "--fail-if", gate)
    assert code_seen == code
    assert code != 2 or gate in complaint


def test_a_study_beside_itself_is_no_change(studies: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is said of how studies differ that have nothing in common."""
    _, out, _ = compared(capsys, studies["alike"], studies["alike"])
    assert out.count(": 0 % (-") == 6
    table = "workload,vcpus,throughput\nelse,1,5\n"
    _, out, _ = compared(capsys, studies["alike"], study(Path(studies["alike"]).parent, "else", table))
    assert [line.partition(":")[0] for line in out.splitlines()] == [
        "A",
        "B",
        "A and B have no configuration in common, so no rates can be compared.",
        "Only in A",
        "Only in B",
    ]


@pytest.mark.parametrize(
    ("column", "before", "after", "said"),
    [
        ("disk", ["gp3"], ["io2"], "disk: gp3 in A, io2 in B"),
        ("gpu", ["V100"], ["A100"], "gpu: V100 in A, A100 in B"),
        ("instance_type", ["c6i.large", "c6i.xlarge"], ["m7i.large", "m7i.xlarge"], "machine: aws c6i.large, "),
        ("disk", ["gp3", "io2"], ["st1", "sc1"], ""),  # which of both is compared with which is not known
    ],
)
def test_another_host_disk_or_gpu_is_compared(
    column: str, before: list[str], after: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the studies have none in common, each configuration is compared with that of the other."""
    folders = [
        study(
            tmp_path,
            name,
            f"workload,batch_size,{column},throughput\n" + "\n".join(f"job,8,{one},{rate}" for one in ones),
        )
        for name, ones, rate in (("before", before, 100), ("after", after, 70))
    ]
    _, out, _ = compared(capsys, *folders)
    assert out.count("\nSlower: job at ") == (len(before) if said else 0)
    assert f"  Workload job: {said}" in out or not said


def test_hosts_that_differ_are_said_before_figures(
    second_version: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What neither study limited is the host's own: two hosts are compared as they are."""
    (run,) = StudyFolder.open(second_version).runs()
    free = replace(run.spec, limits=replace(run.spec.limits, vcpus=None))
    for name, cpus, rate in (("old", 4, 100.0), ("new", 8, 130.0)):
        host = {"cpu_model": f"{name} CPU", "cpus": cpus, "sizer": "0.3.0", "packages": {"mxnet": "1.9.1"}}
        with StudyFolder.create(tmp_path / name, StudyFolder.open(second_version).study, host) as folder:
            place = replace(run.configuration, vcpus=float(cpus))
            folder.add(
                replace(run, spec=free, configuration=place, throughput=Estimate(rate, rate - 1, rate + 1), warnings=())
            )
    code, out, _ = compared(capsys, str(tmp_path / "old"), str(tmp_path / "new"))
    first, second, *lines = out.splitlines()
    assert code == 0
    assert "on old CPU, sizer 0.3.0" in first
    assert "on new CPU" in second
    assert lines[:2] == ["  CPU: old CPU in A, new CPU in B", "  CPUs usable: 4 in A, 8 in B"]
    assert lines[3].startswith("Faster: train at 2 GiB, disk slow (emulated), batch 32: 100 images/s in A, 130")


def test_a_page(studies: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "page.html"
    assert compared(capsys, studies["before"], studies["slower"], "--html", str(path))[0] == 0
    page = path.read_text()
    assert "No clear difference" in page
    assert page.count('class="no-change"') == 6  # five sizes and their mean
