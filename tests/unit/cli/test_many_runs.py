"""A study of ten thousand runs: each command that reads them takes no more than in proportion to their number."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sizer.cli import main
from sizer.files.codec import to_json
from sizer.plan.run_order import plan
from sizer.records.run import Run
from sizer.records.study import Measure, Study, WorkloadPlan
from sizer.records.units import GIB
from sizer.store.study_folder import StudyFolder
from sizer.study.presets import HostSize

pytestmark = pytest.mark.slow

WARM, FEW, MANY = 250, 1_250, 10_000
MOST = 1.6
"""How many times its share of the CPU time of a few runs a command may take for many; the square of the runs is 8."""
VCPUS = tuple(float(count) for count in range(1, 26))
READING = (
    ("status",),
    ("fit",),
    ("predict", "--vcpus", "3", "--memory", "3GiB"),
    ("recommend",),
    ("export",),
    ("report",),
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory, make_run: Callable[..., Run]) -> dict[int, Path]:
    """Studies of so many runs, all of them measured: sizes of memory, 25 numbers of vCPUs, ten repeats."""
    return {count: store(tmp_path_factory.mktemp("many") / "s", count, make_run(100.0)) for count in (WARM, FEW, MANY)}


def store(folder: Path, count: int, one: Run) -> Path:
    sizes = tuple(GIB * size for size in range(1, count // 250 + 1))
    asked = WorkloadPlan(one.spec.workload, (32,), VCPUS, sizes)
    study = Study("s", (asked,), measure=Measure(repeats=10))
    with StudyFolder.create(folder, study, {"cpus": 32, "memory_bytes": 2**40}):
        form = to_json(one)
        specs = plan(StudyFolder.open(folder).study, HostSize(32, 2**40))
        for number, spec in enumerate(specs):
            vcpus = spec.limits.vcpus or 1.0
            rate = 100 * vcpus / (1 + 0.1 * vcpus) * (1 + 0.01 * (number % 7 - 3))
            form["spec"] = to_json(spec)
            form["configuration"] |= {"vcpus": vcpus, "memory_bytes": spec.limits.memory_bytes}
            form["throughput"] = {"value": rate, "low": 0.98 * rate, "high": 1.02 * rate}
            form["started_at"] = f"2026-11-{1 + number // 3600:02}T12:{number // 60 % 60:02}:{number % 60:02}+00:00"
            (folder / "runs" / f"{spec.id}.json").write_text(json.dumps(form))
    assert count <= len(specs) < 1.2 * count
    return folder


def core_seconds(words: tuple[str, ...], folder: Path) -> float:
    began = time.process_time()
    assert main([words[0], str(folder), *words[1:]]) == 0
    return time.process_time() - began


@pytest.mark.parametrize("words", READING, ids=lambda words: words[0])
def test_a_command_takes_time_in_proportion_to_the_runs(
    words: tuple[str, ...], folders: dict[int, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever it tells of each of them."""
    core_seconds(words, folders[WARM])  # What is imported, and compiled, is not of the runs.
    few, many = (core_seconds(words, folders[count]) for count in (FEW, MANY))
    assert "Traceback" not in capsys.readouterr().err
    assert many < MOST * few * MANY / FEW + 1
