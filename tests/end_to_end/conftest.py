"""The command line as a person types it, in an empty folder."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import pytest

from sizer.cli import main
from tests import ROOT
from tests.end_to_end import ready_sizer
from tests.shared import held

Typed = Callable[..., subprocess.CompletedProcess[str]]
Begun = Callable[..., Path]
Begin = Callable[..., subprocess.Popen[str]]

MEASURING = ("run", "resume", "demo", "profile", "disks", "doctor")
"""Commands that start programs, set limits or heed signals."""

HIDDEN = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
"""Warnings that Python shows to nobody who did not ask for them."""

BEAT = "due + 0.02"
"""Where the child says when its next step is due; tests of other paces write theirs there.

It tells that time, so that its rate is the same on a host that holds it up."""

CHILD = f"""
import json, os, sys, time
descriptor = int(os.environ["SIZER_EVENTS_FD"])
def write(**fields):
    os.write(descriptor, (json.dumps(fields) + "\\n").encode())
write(event="start", sample_unit="image", batch_size=8, dataset_bytes=0, dataset_samples=0, bytes_per_sample=0)
due = time.monotonic()
while True:
    due = {BEAT}
    time.sleep(max(0, due - time.monotonic()))
    write(event="step", time=due, samples=8, input_wait=0.0, epoch=0)
"""

STUDY = """
name: quick
measure: {repeats: 1, seconds: 1, precision: 0.2}
workloads:
  - name: job
    kind: command
    command: [child]
    axes: {vcpus: [0.5, 1, 2]}
"""
"""Its program is found by PATH, so that a copy of the study goes on with the program that lies beside the copy."""

TABLE = """workload,vcpus,disk,throughput,kind,cache,device,core_seconds_per_sample,read_bytes_per_sample,\
disk_read_iops,disk_read_mbps,dataset_gib,dataset_samples,memory_gib,note
train,1,slow,98,image_training,cold,cuda:0,0.01,100000,500,20,1,10737,8,=a
train,2,slow,160,image_training,cold,cuda:0,0.01,100000,500,20,1,10737,8,
train,4,slow,185,image_training,cold,cuda:0,0.01,100000,500,20,1,10737,8,
train,8,slow,190,image_training,cold,cuda:0,0.01,100000,500,20,1,10737,8,
train,1,fast,100,image_training,cold,cuda:0,0.01,100000,90000,900,1,10737,8,
train,2,fast,198,image_training,cold,cuda:0,0.01,100000,90000,900,1,10737,8,
train,4,fast,390,image_training,cold,cuda:0,0.01,100000,90000,900,1,10737,8,
train,8,fast,760,image_training,cold,cuda:0,0.01,100000,90000,900,1,10737,8,
"""
"""What the disks give and a sample reads is in it."""

CONCLUDED = ("model.json", "recommendation.json", "measurements.csv", "report.html")


def write_quick_study(folder: Path) -> None:
    (folder / "child.py").write_text(CHILD)
    (folder / "child").write_text(f'#!/bin/sh\nexec {sys.executable} "${{0%/*}}/child.py" "$@"\n')
    (folder / "child").chmod(0o755)
    (folder / "study.yaml").write_text(STUDY)


def environment_of(folder: Path) -> dict[str, str]:
    return {**os.environ, "SIZER_CACHE": str(folder / "cache"), "PATH": f"{folder}:{os.environ['PATH']}"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a study of three short runs of a child that does nothing but step."""
    write_quick_study(tmp_path)
    return tmp_path


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return environment_of(tmp_path)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That folder with its study, measured once for all tests and workers; to be copied."""
    with held(tmp_path_factory, "finished") as folder:
        if not (folder / "study/report.html").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            write_quick_study(folder)
            argv = [sys.executable, "-m", "sizer", "run", "study.yaml"]
            environment = environment_of(folder)
            done = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
            assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="session")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that was imported from that table of one job on two disks; to be read or copied."""
    folder = tmp_path_factory.mktemp("imported")
    (folder / "table.csv").write_text(TABLE)
    assert main(["import", str(folder / "table.csv"), "--out", str(folder / "s")]) == 0
    return folder / "s"


@pytest.fixture
def begun(finished: Path, folder: Path) -> Begun:
    """Put the study into the folder as one that was begun: without the runs at these vCPUs, and without an answer."""

    def begin(*lacking: float, at: Path | None = None) -> Path:
        study = at or folder / "study"
        shutil.copytree(finished / "study", study)
        for name in CONCLUDED:
            (study / name).unlink()
        for path in (study / "runs").glob("*.json"):
            if json.loads(path.read_text())["configuration"]["vcpus"] in lacking:
                path.unlink()
        return study

    return begin


@pytest.fixture
def begin(folder: Path, environment: dict[str, str]) -> Iterator[Begin]:
    """Start `sizer run study.yaml`, or other words, as from a terminal; ended with the test whatever becomes of it."""
    begun: list[subprocess.Popen[str]] = []

    def start(*words: str, nohup: bool = False) -> subprocess.Popen[str]:
        # Whoever runs the tests may have been set to ignore hang-ups.
        first = "nohup" if nohup else "env --default-signal=HUP"
        argv = [*first.split(), sys.executable, "-m", "sizer", *(words or ("run", "study.yaml"))]
        unbuffered, pipe = {**environment, "PYTHONUNBUFFERED": "1", "PYTHONPATH": str(ROOT)}, subprocess.PIPE
        begun.append(subprocess.Popen(argv, cwd=folder, env=unbuffered, stdout=pipe, stderr=pipe, text=True))
        return begun[-1]

    yield start
    for process in begun:
        process.kill()
        process.communicate()


LONGEST = 300.0
"""Seconds after which something that does not come never will."""


class Gate:
    """Stands before the first step of a program: the first `free` runs of it pass, any other waits until it is open."""

    def __init__(self, program: Path, free: int = 0) -> None:
        self._begun, self._opened, self._free = program.with_name("begun"), program.with_name("opened"), free
        self._begun.mkdir()
        waiting = f"""
import os as _os, time as _time
_before = len(_os.listdir({str(self._begun)!r}))
open(_os.path.join({str(self._begun)!r}, str(_os.getpid())), "w").close()
while _before >= {free} and not _os.path.exists({str(self._opened)!r}):
    _time.sleep(0.02)
"""
        program.write_text(waiting + program.read_text())

    def wait(self) -> None:
        """Until a run stands before it."""
        until = time.monotonic() + LONGEST
        while len(list(self._begun.iterdir())) <= self._free:
            assert time.monotonic() < until, "no run began"
            time.sleep(0.02)

    def open(self) -> None:
        """Let it and all others pass."""
        self._opened.touch()


def wait_for_words(process: subprocess.Popen[str], words: str) -> None:
    """Wait until it has these words on stderr."""
    lines = []
    for line in process.stderr:
        lines.append(line)
        if words in line:
            # What comes after must not fill the pipe.
            os.set_blocking(process.stderr.fileno(), False)
            return
    raise AssertionError(f"{words} was never said: {''.join(lines)}")


@pytest.fixture
def sizer(folder: Path, environment: dict[str, str]) -> Typed:
    """Type `sizer ...` and wait for its end.

    What measures is a process of its own. What only reads is called in this one, which spares it Python's start and
    the import of numpy and scipy.
    """

    def typed(*words: str) -> subprocess.CompletedProcess[str]:
        if words[0] in MEASURING and "--dry-run" not in words:
            return ready_sizer.typed(words, folder, environment)
        return called(words, folder, environment)

    return typed


@pytest.fixture
def typed(tmp_path: Path, environment: dict[str, str]) -> Typed:
    """The same, always in a process of its own, with variables, and where checks of disks take less time."""

    def call(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return ready_sizer.typed(words, tmp_path, {**environment, **variables}, quick_disks=True)

    return call


def called(words: Sequence[str], folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """`sizer ...` in this process, with the streams, the folder and the environment that one of its own would have."""
    out, err = io.StringIO(), io.StringIO()
    here = os.getcwd()
    with (
        patch.dict(os.environ, {"COLUMNS": "80", **environment}, clear=True),
        redirect_stdout(out),
        redirect_stderr(err),
        warnings.catch_warnings(record=True) as warned,
    ):
        warnings.simplefilter("default")
        os.chdir(folder)
        try:
            code = main(words)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        finally:
            os.chdir(here)
    shown = [str(warning.message) for warning in warned if not issubclass(warning.category, HIDDEN)]
    return subprocess.CompletedProcess(words, code, out.getvalue(), "\n".join([*shown, err.getvalue()]))
