"""Nothing is measured over a time in which sizer itself stood still: the run is made again, once."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from sizer import api
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome

pytestmark = [pytest.mark.root, pytest.mark.slow]

CHILD = """
import json, os, time
def write(**fields):
    os.write(int(os.environ["SIZER_EVENTS_FD"]), (json.dumps(fields) + "\\n").encode())
write(event="start", sample_unit="image", batch_size=8, dataset_bytes=0, dataset_samples=0)
while True:
    time.sleep(0.02)
    write(event="step", time=time.monotonic(), samples=8, input_wait=0.0, epoch=0)
"""


class Machine:
    """One that is suspended again and again until sizer has said so that many times."""

    CLOCK_BOOTTIME = time.CLOCK_BOOTTIME

    def __init__(self, times: int) -> None:
        self.times = times
        self.said: list[float] = []
        self._suspended = 0.0

    def hear(self, event: api.events.Event) -> None:
        if isinstance(event, api.events.Announcement) and event.kind.value == "stood_still":
            self.said.append(event.seconds)

    def clock_gettime(self, clock: int) -> float:
        if len(self.said) < self.times:
            self._suspended += 60.0
        return time.clock_gettime(clock) + self._suspended


def measured(machine: Machine, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The one run of a study on that machine."""
    command = [sys.executable, str(folder / "child.py")]
    (folder / "child.py").write_text(CHILD)
    study = api.parse_study(
        f"measure: {{repeats: 1, seconds: 0.5, precision: 0.5}}\n"
        f"workloads: [{{name: job, kind: command, command: {command}, axes: {{vcpus: [1]}}}}]"
    )
    monkeypatch.setattr("sizer.storage.standstill.time", machine)
    (run,) = api.measure(study, folder / "study", machine.hear).runs()
    return run


def test_a_run_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rate is that of the second time; the seconds of the first count for a budget, those of the standstill not."""
    machine = Machine(times=1)
    run = measured(machine, tmp_path, monkeypatch)
    assert [round(seconds) for seconds in machine.said] == [60]
    assert run.outcome is Outcome.COMPLETED
    assert run.throughput is not None
    assert 200 < run.throughput.value < 402
    assert run.wall_seconds < 30
