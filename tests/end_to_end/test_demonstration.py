"""The demo: whole, by the real thing; and what is left of it on hosts that allow less."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from sizer.api.demonstration import within_reach
from sizer.api.preconditions import notes_on
from sizer.catalog.catalog import Catalog
from sizer.limits.backends.delegation import SCOPE
from sizer.limits.interface import Capability, Control
from sizer.model.observations import completed
from sizer.model.runs import end_to_end, is_starved
from sizer.plan.run_order import plan
from sizer.records.study import Study
from sizer.store.study_folder import StudyFolder
from sizer.study.parse import parse_study
from sizer.study.presets import HostSize
from tests import ROOT
from tests.end_to_end.conftest import Typed

DISKS = ("nvme", "cloud_ssd", "standard")
"""From the fastest to the slowest."""


@pytest.fixture
def study() -> Study:
    text = files("sizer.api").joinpath("demo.yaml").read_text()
    return parse_study(text, "demo.yaml", None, HostSize(2, 2**34), Catalog.load())


def test_the_demo_shows_every_axis(study: Study) -> None:
    """All four kinds at three vCPU limits or more, two memory caps, three disks, and an emulated GPU that is sold. A
    machine sold with 4 GB shows its kernel less; the demo's centre stays below it, and above the floor."""
    assert {workload.workload.kind for workload in study.workloads} == {
        *("image_training", "image_inference", "lstm_training", "imagenet_preprocessing"),
    }
    assert all(len(workload.vcpus) >= 3 for workload in study.workloads)
    assert max(len(workload.memory_bytes) for workload in study.workloads) == 2
    assert sum(len(workload.disk) == 3 for workload in study.workloads) == 2
    assert [workload.workload.device.gpu for workload in study.workloads if workload.workload.device.gpu] == ["V100"]
    assert all((tier.emulated.read_bytes_per_second or 0) <= 500e6 for tier in study.disks if tier.emulated)
    here = HostSize(2, 3719 * 2**20)
    caps = {spec.limits.memory_bytes for spec in plan(within_reach(study, {}, here), here)}
    assert (len(caps), max(cap or 0 for cap in caps) < here.memory_bytes) == (2, True)


def test_an_ordinary_user_gets_whole_vcpus_and_notes(study: Study) -> None:
    """What needs root is left out of the plan and named with what to type: nobody who runs the demo has a study
    file."""
    lacking = {Control.FRACTIONAL_VCPUS: "fix a", Control.MEMORY: "fix b", Control.DISK: "fix c"}
    reduced = within_reach(study, lacking, HostSize(4, 2**34))
    assert {spec.limits.vcpus for spec in plan(reduced, HostSize(4, 2**34))} == {1.0, 2.0, 4.0}
    assert all(spec.limits.memory_bytes is spec.limits.disk is None for spec in plan(reduced, HostSize(4, 2**34)))
    assert [note.fix for note in notes_on(lacking)] == ["fix a", "fix b", "fix c"]
    scope = Capability(Control.MEMORY, False, "no cgroup", SCOPE)
    assert scope.fix == "systemd-run --user --scope -p Delegate=yes sizer run STUDY.yaml"
    assert scope.fix_for("demo") == "systemd-run --user --scope -p Delegate=yes sizer demo"
    assert Capability(Control.MEMORY, False, "swap", "sudo swapoff -a").fix_for("demo") == "sudo swapoff -a"


@pytest.mark.root
@pytest.mark.slow
def test_the_demo_by_the_real_thing(sizer: Typed, folder: Path, environment: dict[str, str]) -> None:
    """On this host, in its real limits: every run ends as it should, and the report is there."""
    argv = [sys.executable, str(ROOT / "tests/end_to_end/short_demo.py"), "demo", "--out", "demo"]
    done = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    runs = json.loads(sizer("export", "demo", "--format", "json").stdout)
    failed = [run for run in runs if run["outcome"] != "completed"]
    assert [run["outcome"] for run in failed] == ["out_of_memory"]
    assert failed[0]["configuration"]["memory_bytes"] == 192 * 2**20
    training, preprocessing = by_disk(runs, "training"), by_disk(runs, "preprocessing")
    # Where something else takes the CPUs, they are too slow for any of the disks; so each is judged by what it carries.
    assert all(rate < 1.1 * carried(runs, "training", disk) for rate, disk in zip(training, DISKS, strict=True))
    slowest = carried(runs, "preprocessing", "standard")
    assert preprocessing[2] < 1.1 * slowest
    assert preprocessing[2] < 0.8 * preprocessing[0] or preprocessing[0] < 1.25 * slowest
    answers = json.loads(sizer("recommend", "demo", "--json").stdout)["workloads"]
    for answer in answers:
        # What its runs show is answered, unless something else had the CPUs in all of them, which is said then.
        busy = any("used the CPUs of this host in every run" in reason for reason in answer["reasons"])
        assert busy == all_starved(folder / "demo", answer["workload"])
        assert answer["status"] in (("refused",) if busy else ("recommended", "at_least"))
    page = (folder / "demo/report.html").read_text()
    assert "embedded data set" in page
    assert "emulated V100" in page


def all_starved(folder: Path, workload: str) -> bool:
    """Whether others had the vCPUs of each run of a workload that shows how it works as a whole."""
    runs = [run for run in StudyFolder.open(folder).runs() if run.spec.workload.name == workload]
    return all(is_starved(run) for run in completed(end_to_end(runs)))


def by_disk(runs: list[dict[str, Any]], workload: str) -> list[float]:
    """Throughput at 2 vCPU on the three disks, from the fastest to the slowest disk."""
    rates = {
        run["configuration"]["disk"]: run["throughput"]["value"]
        for run in runs
        if run["spec"]["workload"]["name"] == workload and run["configuration"]["vcpus"] == 2.0
    }
    return [rates[disk] for disk in DISKS]


def carried(runs: list[dict[str, Any]], workload: str, disk: str) -> float:
    """Images per second that the disk's bandwidth is enough for, by what this workload read of it at 2 vCPUs."""
    run = next(
        run
        for run in runs
        if run["spec"]["workload"]["name"] == workload
        and (run["configuration"]["disk"], run["configuration"]["vcpus"]) == (disk, 2.0)
    )
    return float(run["disk"]["measured"]["read_bytes_per_second"] / run["demand"]["read_bytes"])
