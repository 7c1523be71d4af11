"""Runs measured one by one as `sizer run` measures them, in the order that a benchmark chooses."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sizer import bundled
from sizer.host.interpreters import interpreter
from sizer.host.machine import facts
from sizer.limits.detection import detect
from sizer.limits.interface import LimitsBackend
from sizer.records.errors import HostError, SizerError
from sizer.records.kinds import OPENCV
from sizer.records.run import DataSet, Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Limits, Measure, RunSpec, Workload
from sizer.runner.commands import RunPaths
from sizer.runner.launcher import RunContext, launch
from sizer.storage.data_cache import cache_folder
from sizer.storage.data_sets import DataSets
from sizer.words.failures import failure_line

IMAGES = 400
"""Photographs in the embedded data set: as many as `halving.py` uses, so that they are made once."""

RAM = "/dev/shm"
"""Where runs write: a sync costs nothing there, so that the disk has no part in the rates."""

START_UP_SECONDS = 120.0


@dataclass(frozen=True)
class BenchmarkHost:
    """This machine, and a folder in RAM for what runs write."""

    backend: LimitsBackend
    host_vcpus: int
    host_memory_bytes: int
    folder: Path

    def run(self, workload: Workload, batch_size: int, vcpus: float, seconds: float, repeat: int = 0) -> Run:
        """`seconds` of steady state, or less if the workload ends before. Raises HostError if it did not complete."""
        measure = Measure(1, seconds, 1e-6, timeout=START_UP_SECONDS + 4 * seconds)
        spec = RunSpec(workload, batch_size, Limits(vcpus=vcpus), measure, repeat)
        run = launch(spec, self.context(workload), self.backend)
        if run.outcome is not Outcome.COMPLETED:
            raise HostError(f"{workload.name} ended as {run.outcome.value}: {failure_line(run)}")
        return run

    def context(self, workload: Workload) -> RunContext:
        """Fresh folders, and the data that the workload reads."""
        data = data_of(workload)
        fresh = Path(tempfile.mkdtemp(dir=self.folder))
        for name in ("scratch", "output"):
            (fresh / name).mkdir()
        place = RunPaths(
            interpreter=interpreter(workload.framework),
            packages=bundled.WORKLOADS_PATH,
            data=Path(data.path) if data else None,
            data_format=data.format if data else None,
            scratch=fresh / "scratch",
            output=fresh / "output",
        )
        log = fresh / "log"
        return RunContext(place, data, None, None, self.host_vcpus, self.host_memory_bytes, os.environ, log)


@contextmanager
def opened() -> Iterator[BenchmarkHost]:
    """A bench whose folder is removed at the end."""
    backend = detect()
    backend.remove_leftovers()
    host = facts(backend)
    with tempfile.TemporaryDirectory(dir=RAM) as folder:
        yield BenchmarkHost(backend, host.cpus, host.memory_bytes, Path(folder))


def on_this_machine(measure: Callable[[BenchmarkHost], int]) -> int:
    """Its exit code on this machine; what sizer refuses is a line, and the code is that of its error."""
    try:
        with opened() as bench:
            return measure(bench)
    except SizerError as error:
        print(error, file=sys.stderr)
        return error.exit_code


def data_of(workload: Workload) -> DataSet | None:
    """The embedded data set in the form that the workload reads, made once; None if it reads nothing."""
    sets = DataSets(cache_folder(os.environ), interpreter(OPENCV), bundled.WORKLOADS_PATH, IMAGES, lambda _: None)
    return sets.prepare(workload)
