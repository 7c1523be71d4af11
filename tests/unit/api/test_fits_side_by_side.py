"""Several workloads are fitted in processes of their own: the same models, and nothing is left of an ended sizer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path

import pytest

from sizer import api
from sizer.model import fitting
from sizer.model.model import Model

JOBS = ("read", "train", "infer")
TABLE = "workload,vcpus,throughput\n" + "".join(
    f"{job},{vcpus},{vcpus * (10 + number)}\n" for number, job in enumerate(JOBS) for vcpus in (1, 2, 3, 4, 6)
)

SLOW = """
import os, sys, time
from sizer import api
from sizer.model import fitting

def slow(*_):
    os.write(1, b"%d\\n" % os.getpid())
    time.sleep(600)

os.sched_getaffinity = lambda _: {0, 1}
fitting.fit = slow
api.import_table(sys.argv[1], sys.argv[2])
"""


@pytest.fixture
def model(tmp_path: Path) -> Callable[[str], Model]:
    (tmp_path / "table.csv").write_text(TABLE)

    def fitted(name: str) -> Model:
        api.import_table(tmp_path / "table.csv", tmp_path / name)
        return api.fit(api.open_study(tmp_path / name))

    return fitted


def test_models_do_not_depend_on_where_they_are_fitted(
    model: Callable[[str], Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here on one CPU, in two processes on two, and again here where a process is killed, as for want of memory."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    here = model("here")
    assert [workload.name for workload in here.workloads] == list(JOBS)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    assert model("side-by-side") == here
    this, fit = os.getpid(), fitting.fit
    monkeypatch.setattr(
        fitting, "fit", lambda *given: fit(*given) if os.getpid() == this else os.kill(os.getpid(), signal.SIGKILL)
    )
    assert model("killed") == here


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_sizer(tmp_path: Path, ending: signal.Signals) -> None:
    """Ctrl-C waits for no more than the fits that have begun: each has 600 s here, and is told to end."""
    (tmp_path / "table.csv").write_text(TABLE)
    words = [sys.executable, "-c", SLOW, str(tmp_path / "table.csv"), str(tmp_path / "study")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as program:
        assert program.stdout is not None
        workers = [int(program.stdout.readline()) for _ in range(2)]
        program.send_signal(ending)
        assert program.wait(60) != 0
    until = time.monotonic() + 60
    while any(map(lives, workers)) and time.monotonic() < until:
        time.sleep(0.01)
    assert not any(map(lives, workers))


def test_processes_of_the_calling_program_are_its_own(
    model: Callable[[str], Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever ends the fits: only their processes are ended."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    this, context = os.getpid(), get_context("fork")
    monkeypatch.setattr(
        fitting, "fit", lambda *_: 1 // 0 if os.getpid() == this else os.kill(os.getpid(), signal.SIGKILL)
    )
    own = context.Process(target=time.sleep, args=(600,))
    own.start()
    try:
        with pytest.raises(ZeroDivisionError):
            model("interrupted")
        own.join(0.5)  # a signal is on its way
        assert own.is_alive()
    finally:
        own.kill()
        own.join()


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
