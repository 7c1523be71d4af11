"""A study from its file to its answer, and through what interrupts it."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from shutil import copytree

import psutil
import pytest

from tests.control_groups import groups_of
from tests.end_to_end.conftest import Begin, Begun, Typed, wait_for_words
from tests.end_to_end.gates import Gate

pytestmark = [pytest.mark.root, pytest.mark.slow]


def stored(folder: Path) -> set[str]:
    return {path.name for path in (folder / "study/runs").glob("*.json")}


def probes(folder: Path) -> list[object]:
    """What was probed of the host's speed."""
    return list(json.loads((folder / "study/host.json").read_text())["speed"]["probes"])


def test_a_study_ends_with_its_whole_answer(sizer: Typed, folder: Path, finished: Path) -> None:
    """Model, recommendation, table and report lie in the study folder, and each reading command reads them."""
    copytree(finished / "study", folder / "study")
    assert len(stored(folder)) == 3
    written = {path.name for path in (folder / "study").iterdir()}
    assert {"study.yaml", "host.json", "runs", "logs", "model.json", "recommendation.json"} <= written
    assert {"measurements.csv", "report.html"} <= written

    status = json.loads(sizer("status", "study", "--json").stdout)
    assert (status["planned"], status["finished"]) == (3, 3)
    assert len(sizer("export", "study").stdout.splitlines()) == 4
    assert len(json.loads(sizer("export", "study", "--format", "json").stdout)) == 3
    assert json.loads(sizer("fit", "study", "--json").stdout)["schema_version"] == 2
    prediction = json.loads(sizer("predict", "study", "--workload", "job", "--vcpus", "1", "--json").stdout)
    assert prediction["predictions"][0]["throughput"] == pytest.approx(400, rel=0.2)
    answer = json.loads(sizer("recommend", "study", "--json").stdout)
    assert answer["workloads"][0]["status"] == "recommended"
    assert answer["workloads"][0]["spec"]["vcpus"] == 1
    assert sizer("report", "study", "--out", "again.html").returncode == 0
    assert (folder / "again.html").stat().st_size > 1000


def test_finished_runs_are_kept(sizer: Typed, folder: Path, finished: Path) -> None:
    """The same study again runs nothing; one whose run was lost runs that one."""
    copytree(finished / "study", folder / "study")
    before = {path: path.stat().st_mtime_ns for path in (folder / "study/runs").iterdir()}
    assert sizer("run", "study.yaml").returncode == 0
    assert {path: path.stat().st_mtime_ns for path in (folder / "study/runs").iterdir()} == before
    lost = min(before)
    lost.unlink()
    assert sizer("resume", "study").returncode == 0
    after = {path: path.stat().st_mtime_ns for path in (folder / "study/runs").iterdir()}
    assert set(after) == set(before)
    assert probes(folder) == probes(finished)
    assert [path for path in after if after[path] != before[path]] == [lost]


def test_ctrl_c_finishes_the_run_in_hand(folder: Path, begin: Begin) -> None:
    """One interrupt: the current run is stored, the report is written, the exit code is 130."""
    gate = Gate(folder / "child.py")
    process = begin()
    gate.wait()
    process.send_signal(signal.SIGINT)
    wait_for_words(process, "Ctrl-C again stops it now")
    gate.open()
    assert process.wait(300) == 130
    assert len(stored(folder)) == 1
    assert (folder / "study/report.html").exists()


def test_a_second_ctrl_c_stops_now(folder: Path, begin: Begin) -> None:
    """Two interrupts: the current run is given up, and what was finished stays."""
    gate = Gate(folder / "child.py")
    process = begin()
    gate.wait()
    process.send_signal(signal.SIGINT)
    wait_for_words(process, "Ctrl-C again stops it now")
    process.send_signal(signal.SIGINT)
    assert process.wait(300) == 130
    assert stored(folder) == set()


@pytest.mark.parametrize("request_to_end", [signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_end_does_not_wait(
    folder: Path, begin: Begin, begun: Begun, request_to_end: signal.Signals
) -> None:
    """What a spot machine or a closed terminal sends: the current run is given up, the answer to the others written."""
    begun(0.5)
    gate = Gate(folder / "child.py")
    process = begin()
    gate.wait()
    process.send_signal(request_to_end)
    assert process.wait(300) == 130
    assert len(stored(folder)) == 2
    assert (folder / "study/report.html").exists()


def test_a_hang_up_is_ignored_under_nohup(folder: Path, begin: Begin, begun: Begun) -> None:
    """A study started with nohup outlives the terminal that it was started from."""
    begun(0.5, 1)
    gate = Gate(folder / "child.py")
    process = begin(nohup=True)
    gate.wait()
    process.send_signal(signal.SIGHUP)
    gate.open()
    assert process.wait(300) == 0
    assert len(stored(folder)) == 3


def test_kill_9_loses_only_the_run_in_hand(sizer: Typed, folder: Path, begin: Begin, begun: Begun) -> None:
    """After kill -9 in one run the one before it is kept, nothing of ours stays on the host, and the study goes on."""
    begun(0.5, 1)
    gate = Gate(folder / "child.py", free=1)
    process = begin()
    gate.wait()
    process.kill()
    process.wait()
    assert len(stored(folder)) == 2
    first = probes(folder)
    gate.open()
    assert sizer("resume", "study").returncode == 0
    assert len(stored(folder)) == 3
    assert probes(folder)[: len(first)] == first
    assert len(probes(folder)) == 2
    groups = groups_of(process.pid)
    assert groups == []


def test_a_crash_is_data_and_exit_4(sizer: Typed, folder: Path, begun: Begun) -> None:
    """The other runs go on, the report is made, and the exit code says that some runs failed."""
    begun(1, 2)
    child = (folder / "child.py").read_text()
    broken = "import os\nif len(os.sched_getaffinity(0)) == 2: raise SystemExit('no luck with two')\n"
    (folder / "child.py").write_text(broken + child)
    done = sizer("run", "study.yaml")
    assert done.returncode == 4, done.stderr
    assert "[3/3]" in done.stderr
    assert len(stored(folder)) == 3
    assert "no luck with two" in (folder / "study/report.html").read_text()


def test_what_cannot_be_limited_is_refused_before_anything_runs(sizer: Typed, folder: Path) -> None:
    """More vCPUs than the host has: exit 3, one sentence, no study folder."""
    study = (folder / "study.yaml").read_text().replace("0.5, 1, 2", "1, 4096")
    (folder / "study.yaml").write_text(study)
    done = sizer("run", "study.yaml")
    assert done.returncode == 3
    assert "4096" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "study").exists()


def test_a_check_of_a_disk_can_be_ended(folder: Path, begin: Begin) -> None:
    """Nothing of it is left: neither the emulated disk nor fio."""
    process = begin("disks", "check", "alibaba/cloud_ssd:500GiB", "--seconds", "30")
    wait_for_words(process, "checking")
    while "fio" not in [each.name() for each in psutil.Process(process.pid).children(recursive=True)]:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(300) == 130
    assert not list((folder / "cache/disks").iterdir())
    assert str(folder) not in Path("/proc/mounts").read_text()


def test_a_sizer_that_is_suspended_measures_that_run_again(folder: Path, begin: Begin, begun: Begun) -> None:
    """As by Ctrl-Z: it says so, and the rate is that of the program, 400 a second."""
    begun(1)
    process = begin()
    wait_for_words(process, "[3/3]")
    time.sleep(0.3)
    process.send_signal(signal.SIGSTOP)
    time.sleep(2.5)
    process.send_signal(signal.SIGCONT)
    assert process.wait(300) == 0
    assert process.stderr.read().count("sizer itself stood still for 2.") == 1
    runs = [json.loads(path.read_text()) for path in (folder / "study/runs").glob("*.json")]
    assert [round(run["throughput"]["value"], -1) for run in runs] == [400, 400, 400]
