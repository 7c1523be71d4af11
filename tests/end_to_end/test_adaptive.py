"""A study whose runs are chosen, on real limits: it ends by itself, and goes on after it was killed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.end_to_end.conftest import Begin, Gate, Typed

pytestmark = [pytest.mark.root, pytest.mark.slow]

STUDY = """
name: chosen
measure: {repeats: 3, seconds: 1, precision: 0.2}
workloads:
  - name: job
    kind: command
    command: [child]
    axes: {vcpus: [0.5, 1, 1.5, 2]}
"""
ALL = 12
"""Runs that the study asks for where none is chosen, the reference's further ones left out."""


@pytest.fixture
def study(folder: Path) -> Path:
    (folder / "study.yaml").write_text(STUDY)
    return folder / "study"


def runs_in(study: Path) -> list[dict[str, object]]:
    runs: list[dict[str, object]] = [json.loads(path.read_text()) for path in (study / "runs").glob("*.json")]
    return sorted(runs, key=lambda run: str(run["started_at"]))


@pytest.mark.alone
def test_killed_it_goes_on_until_the_answer_is_settled(sizer: Typed, study: Path, folder: Path, begin: Begin) -> None:
    """kill -9 in the second run: the first is kept, the others follow, each with its reason, and none is made twice; a
    child that makes as much at any vCPUs is answered in a few runs, and going on makes none.

    Alone, as it is no answer where others have the CPUs for a sixth of the time.
    """
    gate = Gate(folder / "child.py", free=1)
    process = begin("run", "study.yaml", "--until", "settled")
    gate.wait()
    process.kill()
    process.wait()
    gate.open()
    first = runs_in(study)
    assert len(first) == 1
    status = sizer("status", "study").stdout
    assert "Not finished: runs are chosen one after another, and the next is job" in status
    assert "To go on: sizer resume study" in status
    assert json.loads(sizer("status", "study", "--json").stdout)["next_run"] is not None
    assert sizer("report", "study").returncode == 0
    assert "Not finished: runs are chosen one after another" in (study / "report.html").read_text()
    done = sizer("resume", "study")
    assert done.returncode == 0, done.stderr
    runs = runs_in(study)
    assert runs[: len(first)] == first
    limits = [run["spec"]["limits"]["vcpus"] for run in runs[:3]]  # type: ignore[index]
    assert limits == [2.0, 0.5, 1.0]
    assert 3 <= len(runs) < ALL
    assert all(run["reason"] for run in runs)
    assert "every answer is settled" in done.stderr
    page = (study / "report.html").read_text()
    assert "Why this run: the first runs show" in page
    assert "Its runs were chosen one after another: every answer is settled after" in page
    answer = json.loads(sizer("recommend", "study", "--json").stdout)
    assert answer["workloads"][0]["spec"]["vcpus"] == 1
    again = sizer("resume", "study")
    assert again.returncode == 0, again.stderr
    assert runs_in(study) == runs


def test_a_dry_run_shows_the_start_and_the_bound(sizer: Typed, study: Path, folder: Path) -> None:
    """The first three runs, and how many there may be; nothing is written. A budget in the file holds beside `--runs`,
    and where no run has room in it none is announced."""
    started = sizer("run", "study.yaml", "--until", "settled", "--runs", "5", "--dry-run")
    assert started.returncode == 0, started.stderr
    assert started.stdout.count("repeat 1") == 3
    assert "5 runs in all at the most" in started.stdout
    text = (folder / "study.yaml").read_text()
    (folder / "study.yaml").write_text(text.replace("measure: {", "measure: {plan: adaptive, budget: 1s, "))
    done = sizer("run", "study.yaml", "--runs", "5", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "repeat 1" not in done.stdout
    assert "the budget has no room for a first run; still open: `job`; the next would be job 2 vCPUs" in done.stdout
    assert not study.exists()


def test_a_bound_that_ends_it_says_how_to_go_on(sizer: Typed, study: Path) -> None:
    """What comes next, with its reason, and the command for it, which a larger bound is in; typed, it goes on."""
    done = sizer("run", "study.yaml", "--until", "settled", "--runs", "2")
    assert done.returncode == 0, done.stderr
    next_run = "the next would be job 1 vCPU: the first runs show the most, the least and the middle"
    command = "sizer run study/study.yaml --out study --runs 6"
    assert f"as many runs are made as were allowed: 2; still open: `job`; {next_run}; to go on, type: {command}" in (
        done.stderr
    )
    assert "Measure `job` at 1 vCPU." in done.stderr
    assert f"{next_run}. To go on: {command}" in sizer("status", "study").stdout
    status = json.loads(sizer("status", "study", "--json").stdout)
    assert (status["plan_ended"], status["to_go_on"]) == ("runs", command)
    assert f"{next_run}. To go on:" in (study / "report.html").read_text()
    dry = sizer("run", "study/study.yaml", "--out", "study", "--runs", "3", "--dry-run").stdout
    assert dry.startswith(status["next_run"])
    assert ": 1 run more at the most, about " in dry
    assert "; 2 finished" in dry
    again = sizer(*command.removeprefix("sizer ").replace("--runs 6", "--runs 3").split())
    assert again.returncode == 0, again.stderr
    assert (study / "runs" / f"{status['next_run']}.json").exists()
