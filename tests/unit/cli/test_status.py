"""What `sizer status` says of runs that are stored."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.api import StudyPlan
from sizer.cli import dry_run, main
from sizer.cli.dry_run import lines
from sizer.files.codec import to_json
from sizer.plan.following import following_runs
from sizer.plan.run_order import plan
from sizer.records.run import Cause, CauseKind, Failure, Run
from sizer.records.run_kinds import Outcome, Purpose
from sizer.records.study import Measure, RunSpec, Study, WorkloadPlan
from sizer.records.units import GIB
from sizer.store.study_folder import StudyFolder
from sizer.study.parse import parse_study
from sizer.study.presets import HostSize
from sizer.words.names import outcomes_counted
from sizer.words.terminal import study_summary


def test_status_tells_which_runs_carry_a_warning(first_version: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The kind is shown with the run, and their number at the end and in the JSON."""
    assert main(["status", str(first_version)]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert any(line.endswith("(throttled)") for line in lines)
    assert "; 1 with a warning" in last
    assert main(["status", str(first_version), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["warned"] == 1


def test_runs_of_searches_are_told_apart() -> None:
    """They are not among those that are planned."""
    outcomes = {Outcome.COMPLETED: 1, Outcome.OUT_OF_MEMORY: 1}
    assert study_summary(1, 1, 1, outcomes_counted(outcomes, outcomes.values()), 0).startswith(
        "1 of 1 runs finished, and 1 of searches (1 completed, 1 out of memory); "
    )


@pytest.fixture
def failing(tmp_path: Path, make_run: Callable[..., Run]) -> Path:
    """A study of which one run completed, three crashed alike, one was unsupported, and others are not made."""
    workload = make_run(100.0).spec.workload
    planned = WorkloadPlan(workload, (32,), (1.0, 2.0, 4.0, 8.0, 16.0, 32.0))
    study = Study("study", (planned,), measure=Measure(repeats=1))
    with StudyFolder.create(tmp_path / "study", study, {"cpus": 64}) as folder:
        specs = plan(StudyFolder.open(folder.path).study, HostSize(64, 1))
        done, *crashed, lacking = (replace(make_run(100.0), spec=spec) for spec in specs[:5])
        folder.add(done)
        for run in crashed:
            folder.add(
                replace(
                    run, outcome=Outcome.CRASHED, throughput=None, error=Failure(Cause(CauseKind.REFUSED, text="Boom"))
                )
            )
        folder.add(
            replace(
                lacking,
                outcome=Outcome.UNSUPPORTED,
                throughput=None,
                error=Failure(Cause(CauseKind.REFUSED, text="no torch")),
            )
        )
    return tmp_path / "study"


def test_status_names_each_run_once(failing: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Those that failed in the same words are one line; the last line counts what became of all."""
    assert main(["status", str(failing)]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    made, todo = lines[:3], lines[3:]
    assert any("100 images/s" in line for line in made)
    assert any(line.endswith("train ×3: crashed (Boom)") for line in made)
    assert any(line.endswith("unsupported (no torch); will be run again") for line in made)
    assert todo
    assert all(line.endswith(": not run yet") for line in todo)
    planned = 4 + 1 + len(todo)
    assert last.startswith(f"4 of {planned} runs finished (1 completed, 3 crashed, 1 unsupported); none with a warning")
    assert f"{1 + len(todo)} to go, about " in last


def test_status_tells_the_run_in_hand(failing: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The run whose log began since the folder is held; nothing is said of it once the folder is let go."""
    main(["status", str(failing)])
    last = capsys.readouterr().out.splitlines()[-2].split()[0]
    folder = StudyFolder.open(failing)
    with folder.locked():
        later = (failing / ".lock").stat().st_mtime_ns + 10**9
        folder.log_path(last).touch()
        os.utime(folder.log_path(last), ns=(later, later))
        main(["status", str(failing)])
        out_lines = capsys.readouterr().out.splitlines()
        assert out_lines[-2].endswith(": being measured now")
        assert out_lines[-1].endswith("; being measured now")
    main(["status", str(failing)])
    assert "being measured" not in capsys.readouterr().out


def test_a_dry_run_of_a_resume_lists_what_is_left_alone(
    make_spec: Callable[..., RunSpec], make_run: Callable[..., Run], tmp_path: Path
) -> None:
    """No program of a workload of which every run is there."""
    done, left = (
        replace(spec, workload=replace(spec.workload, name=name))
        for name, spec in (("done", make_spec("finished")), ("left", make_spec("waiting")))
    )
    study = Study("s", tuple(WorkloadPlan(spec.workload, (8,)) for spec in (done, left)))
    stored = replace(make_run(1.0), spec=done)
    listed = list(dry_run.lines(StudyPlan(study, (done, left), (), tmp_path, (stored,)), {}))
    assert not any("`done`" in line for line in listed)
    assert any(line.startswith("runs: `left`, the command above") for line in listed)
    assert any(line.endswith(", the study folder (with 1 run)") for line in listed)


HOST = HostSize(2, 8 * 2**30)
STUDY = """
isolate: true
workloads: [{name: train, kind: image_training, device: {emulate: {samples_per_second: 100}}}]
axes: {vcpus: [0.5, 1, 2]}
measure: {repeats: 1, seconds: 10}
"""


def planned(study_text: str) -> StudyPlan:
    study = parse_study(study_text, "study.yaml", None, HOST, None)
    return StudyPlan(study, plan(study, HOST), following_runs(study, HOST), Path("s"))


def listed_lines(study_text: str) -> list[str]:
    return list(lines(planned(study_text), {"HOME": "/root"}))


def test_the_data_of_the_pass_is_prepared_with_that_of_the_plan() -> None:
    """Its workload is measured `natural`, and its cap is not known before other runs have shown what it needs."""
    states = {(spec.purpose, spec.workload.cache) for spec in planned(STUDY).left}
    assert (Purpose.TWO_EPOCHS, "natural") in states


def test_a_dry_run_lists_them_with_what_they_are_for() -> None:
    """Each by itself, each kind explained once, the pass that follows, and a program once for all of them."""
    listed = listed_lines(STUDY)
    text = "\n".join(listed)
    assert sum("isolating the input pipeline, repeat 1" in line for line in listed) == 3
    assert sum("isolating the disk, repeat 1" in line for line in listed) == 1
    assert text.count("runs isolating the disk show the disk alone") == 1
    assert "then 1 run of two epochs of `train` under a memory cap that holds half of its data" in text
    assert sum(line.startswith("runs: `train`") for line in listed) == 1
    assert "memory caps" in listed[-1]


pytestmark = pytest.mark.slow

WARM, FEW, MANY = 250, 750, 3_000
MOST = 1.6
"""How many times its share of the CPU time of a few runs a command may take for many; the square of the runs is 4."""
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
