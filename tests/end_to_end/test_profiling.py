"""`sizer profile` with real programs under real limits: from the command to the answer, and whatever comes between."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import pytest

from tests import ROOT
from tests.end_to_end.conftest import Begin, Gate, Typed, wait_for_words

pytestmark = [pytest.mark.root, pytest.mark.slow]

BURNS = """
import sys, time
from sizer.meter import Meter

with Meter(unit="image", batch_size=8) as meter:
    while True:
        until = time.process_time() + 0.004
        while time.process_time() < until:
            pass
        meter.step()
"""


@pytest.fixture
def environment(tmp_path: Path, environment: dict[str, str]) -> dict[str, str]:
    (tmp_path / "burns.py").write_text(BURNS)
    return {**environment, "PYTHONPATH": str(ROOT)}


SHORT = ("--seconds", "0.5", "--repeats", "1")
BURNING = ("profile", *SHORT, "--", sys.executable, "burns.py")


def stored(folder: Path) -> dict[str, dict[str, object]]:
    """The runs of a study folder by their ids."""
    return {path.stem: json.loads(path.read_text()) for path in (folder / "runs").glob("*.json")}


def test_a_program_is_profiled_without_a_study_file(begin: Begin, typed: Typed, tmp_path: Path) -> None:
    """What it needs is told, the axes follow, the answer is shown, and the file goes on with the same runs.

    After Ctrl-C the run in hand is finished, and typing the same goes on after it."""
    planned = typed(*BURNING[:1], "--dry-run", *BURNING[1:])
    assert planned.returncode == 0, planned.stderr
    assert "burns no limits, repeat 1: " in planned.stdout
    assert f"writes: {tmp_path}/burns-profile.yaml, the study file of these runs" in planned.stdout
    assert "this is what is known before the first run" in planned.stdout
    assert not (tmp_path / "burns-profile").exists()

    gate = Gate(tmp_path / "burns.py", free=1)
    process = begin(*BURNING)
    gate.wait()
    process.send_signal(signal.SIGINT)
    wait_for_words(process, "Ctrl-C again stops it now")
    gate.open()
    assert "continue with: sizer resume burns-profile" in process.communicate(timeout=300)[1]
    assert process.returncode == 130
    before = stored(tmp_path / "burns-profile")
    assert len(before) == 2

    done = typed(*BURNING)
    assert done.returncode == 0, done.stderr
    needs = done.stderr.partition("what `burns` used without limits:")[2]
    for part in ("vCPUs: ", "memory: ", "disk: ", "start: ", "rate: ", "8 images a step", "told by the program itself"):
        assert part in needs
    assert "the smallest memory in which it runs" in needs
    assert "runs to come, about" in needs
    assert "burns: " in needs.rpartition("report: ")[0].rpartition("\n")[0]
    assert (tmp_path / "burns-profile" / "report.html").exists()
    runs = stored(tmp_path / "burns-profile")
    assert [runs[run]["started_at"] for run in before] == [run["started_at"] for run in before.values()]
    limits = [run["spec"]["limits"] for run in runs.values()]  # type: ignore[index]
    assert {"vcpus": None, "memory_bytes": None, "disk": None} in limits
    assert len([limit for limit in limits if limit["memory_bytes"] is not None]) >= 1

    again = typed("run", "burns-profile.yaml")
    assert (again.returncode, "runs finished already" in again.stderr) == (0, True), again.stderr
    assert stored(tmp_path / "burns-profile").keys() == runs.keys()
    other = typed(*BURNING, "--fast")
    assert (other.returncode, "is the profile of another command" in other.stderr) == (2, True)


def test_an_interrupt_of_the_first_run_says_how_to_go_on(begin: Begin, tmp_path: Path) -> None:
    """Nothing was measured, so that nothing is concluded."""
    gate = Gate(tmp_path / "burns.py")
    process = begin("profile", "--seconds", "30", "--repeats", "1", "--", sys.executable, "burns.py")
    gate.wait()
    process.send_signal(signal.SIGTERM)
    err = process.communicate(timeout=300)[1]
    assert process.returncode == 130
    assert "interrupted before the run without limits was done; to go on, type the same again" in err
    assert stored(tmp_path / "burns-profile") == {}
    assert not (tmp_path / "burns-profile.yaml").exists()


QUIET = "import time\nfor each in range(20):\n    time.sleep(0.1)\n"
TALKS = "import time\nfor each in range(20):\n    time.sleep(0.1)\n    print('lap', each)\n"


@pytest.mark.parametrize(
    ("program", "sentences", "unsaid"),
    [
        (QUIET, ["it printed nothing", "from sizer.meter import Meter"], ["sizer pattern", "--pass-env"]),
        (TALKS, ["sizer pattern prog-profile/logs/", "--pattern", "meter.step()"], ["--pass-env"]),
    ],
)
def test_a_program_without_a_rate(
    program: str, sentences: list[str], unsaid: list[str], typed: Typed, tmp_path: Path
) -> None:
    """Nothing else is run, the exit code is that of `sizer run`, and what to type next is said."""
    (tmp_path / "prog.py").write_text(program)
    done = typed("profile", *SHORT, "--", sys.executable, "prog.py")
    assert done.returncode == 4, done.stderr
    for sentence in (*sentences, "nothing else is measured", "run the same command"):
        assert sentence in done.stderr
    for sentence in unsaid:
        assert sentence not in done.stderr
    assert len(stored(tmp_path / "prog-profile")) == 1
    assert not (tmp_path / "prog-profile.yaml").exists()


def test_what_was_mended_is_measured_in_the_same_folder_on_each_disk_and_batch_size(
    typed: Typed, tmp_path: Path
) -> None:
    """With the variable that it lacked, whose value stands nowhere, the data on each disk, and the batch size."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "words.txt").write_text("some words\n" * 1000)
    (tmp_path / "prog.py").write_text(
        "import os, sys\nassert os.environ['HF_TOKEN']\n"
        "print(sys.argv[1:], len(open(sys.argv[1]).read()), flush=True)\n"
        + BURNS.replace("batch_size=8", "batch_size=int(sys.argv[2])")
    )
    options = ("--disk", "disk", "--data", "words.txt", "--batch-size", "4,8", "--no-memory-floor")
    command = ("--", sys.executable, "prog.py", "{data}", "{batch_size}")
    lacking = typed("profile", *SHORT, *options, *command, HF_TOKEN="hf_aBcDeFgH")
    assert lacking.returncode == 4
    assert "KeyError: 'HF_TOKEN'" in lacking.stderr
    assert "add: --pass-env HF_TOKEN" in lacking.stderr
    done = typed("profile", *SHORT, *options, "--pass-env", "HF_*", *command, HF_TOKEN="hf_aBcDeFgH")
    assert done.returncode == 0, done.stderr
    assert "the command reads nothing from" not in done.stderr
    assert [path for path in tmp_path.rglob("*") if path.is_file() and b"hf_aBcDeFgH" in path.read_bytes()] == []
    assert "pass_env: [HF_*]" in (tmp_path / "prog-profile.yaml").read_text()
    assert "hf_aBcDeFgH" not in done.stderr
    folder = tmp_path / "prog-profile"
    runs = {name: run for name, run in stored(folder).items() if run["outcome"] == "completed"}
    logs = [(folder / "logs" / f"{run}.log").read_text() for run in runs]
    assert all("11000" in log for log in logs)
    assert len([log for log in logs if str(tmp_path / "disk") in log]) == 1
    assert {run["spec"]["batch_size"] for run in runs.values()} == {4, 8}  # type: ignore[index]
