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
from tests.end_to_end.conftest import BEAT, Begin, Begun, Gate, Typed, wait_for_words

pytestmark = [pytest.mark.root, pytest.mark.slow]


def stored(folder: Path) -> set[str]:
    return {path.name for path in (folder / "study/runs").glob("*.json")}


def probes(folder: Path) -> list[object]:
    """What was probed of the host's speed."""
    return list(json.loads((folder / "study/host.json").read_text())["speed"]["probes"])


def test_a_study_ends_with_its_whole_answer_and_finished_runs_are_kept(
    sizer: Typed, folder: Path, finished: Path
) -> None:
    """Every file is in the folder and each reading command reads it; a second time only a run that was lost is made."""
    copytree(finished / "study", folder / "study")
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
    (answer,) = json.loads(sizer("recommend", "study", "--json").stdout)["workloads"]
    assert (answer["status"], answer["spec"]["vcpus"]) == ("recommended", 1)
    assert sizer("report", "study", "--out", "again.html").returncode == 0
    assert (folder / "again.html").stat().st_size > 1000

    before = {path: path.stat().st_mtime_ns for path in (folder / "study/runs").iterdir()}
    lost = min(before)
    lost.unlink()
    assert sizer("resume", "study").returncode == 0
    after = {path: path.stat().st_mtime_ns for path in (folder / "study/runs").iterdir()}
    assert set(after) == set(before)
    assert probes(folder) == probes(finished)
    assert [path for path in after if after[path] != before[path]] == [lost]


@pytest.mark.parametrize(
    ("signals", "nohup", "code", "kept"),
    [
        ([signal.SIGINT], False, 130, 2),
        ([signal.SIGINT, signal.SIGINT], False, 130, 1),
        ([signal.SIGTERM], False, 130, 1),
        ([signal.SIGHUP], False, 130, 1),
        ([signal.SIGHUP], True, 0, 3),
    ],
    ids=str,
)
def test_a_request_to_end(
    folder: Path, begin: Begin, begun: Begun, signals: list[signal.Signals], nohup: bool, code: int, kept: int
) -> None:
    """Ctrl-C finishes the run in hand, a second one stops it, as does what a spot machine or a closed terminal sends,
    which is ignored under nohup; the answer to the others is written."""
    begun(0.5, 1)
    gate = Gate(folder / "child.py")
    process = begin(nohup=nohup)
    gate.wait()
    process.send_signal(signals[0])
    if signals[0] == signal.SIGINT:
        wait_for_words(process, "Ctrl-C again stops it now")
    for number in signals[1:]:
        process.send_signal(number)
    if kept > 1:
        gate.open()
    assert process.wait(300) == code
    assert len(stored(folder)) == kept
    assert (folder / "study/report.html").exists()


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
    assert (probes(folder)[: len(first)], len(probes(folder))) == (first, 2)
    assert groups_of(process.pid) == []


def test_a_crash_is_data_and_exit_4(sizer: Typed, folder: Path, begun: Begun) -> None:
    """The other runs go on, the report is made; `resume` keeps it and says how to have it again: with --retry."""
    begun(1, 2)
    child = (folder / "child.py").read_text()
    broken = "import os\nif len(os.sched_getaffinity(0)) == 2: raise SystemExit('no luck with two')\n"
    (folder / "child.py").write_text(broken + child)
    done = sizer("run", "study.yaml")
    assert done.returncode == 4, done.stderr
    assert "[3/3]" in done.stderr
    assert len(stored(folder)) == 3
    assert "no luck with two" in (folder / "study/report.html").read_text()
    kept = sizer("resume", "study")
    assert (kept.returncode, "sizer resume study --retry" in kept.stderr) == (4, True)
    (folder / "child.py").write_text(child)
    assert "0 runs, about" in sizer("resume", "study", "--dry-run").stdout
    assert "1 run, about" in sizer("resume", "study", "--retry", "--dry-run").stdout
    assert sizer("resume", "study", "--retry").returncode == 0


def test_a_check_of_a_disk_can_be_ended(folder: Path, begin: Begin) -> None:
    """Nothing of it is left: neither the emulated disk nor fio."""
    process = begin("disks", "check", "alibaba/cloud_ssd:500GiB", "--seconds", "30")
    wait_for_words(process, "checking")
    while "fio" not in [child.name() for child in psutil.Process(process.pid).children(recursive=True)]:
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
    assert process.stderr.read().count("sizer itself stood still for ") == 1
    runs = [json.loads(path.read_text()) for path in (folder / "study/runs").glob("*.json")]
    assert [round(run["throughput"]["value"], -1) for run in runs] == [400, 400, 400]


COUNTED = """
import pathlib
launches = pathlib.Path({place!r})
launches.write_text(launches.read_text() + "x" if launches.exists() else "x")
pause = 0.02 if len(launches.read_text()) < 5 else 0.03
"""
"""The fifth launch and those after it are slower, as on a host whose neighbour has begun to work."""


def test_a_host_that_gets_slower_is_seen_by_its_reference(sizer: Typed, folder: Path) -> None:
    """Of four configurations the reference is measured a second time, which the dry run says; the runs between are
    marked in their records."""
    steps = (folder / "child.py").read_text().replace(BEAT, "due + pause")
    (folder / "child.py").write_text(COUNTED.format(place=str(folder / "launches")) + steps)
    study = folder / "study.yaml"
    study.write_text(study.read_text().replace("vcpus: [0.5, 1, 2]", "vcpus: [0.5, 1, 1.5, 2]"))
    assert "repeat 2, the reference again" in sizer("run", "study.yaml", "--dry-run").stdout
    done = sizer("run", "study.yaml")
    assert done.returncode == 0, done.stderr
    assert "2 vCPUs, the reference again" in done.stderr
    assert "The host drifted: the reference configuration was measured 2 times" in done.stderr
    marks = {
        run["configuration"]["vcpus"]: set(warning["figures"])
        for run in (json.loads(path.read_text()) for path in (folder / "study/runs").glob("*.json"))
        for warning in run["warnings"]
        if warning["kind"] == "drifting"
    }
    assert set(marks) == {0.5, 1.0, 1.5}
    assert marks[1.0] == {"before", "after"}
