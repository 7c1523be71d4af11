"""Small studies, each with what others take of the host beside its busy twin; measures both with `sizer run`."""

from __future__ import annotations

import math
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from grid_data import portable, save_runs

from sizer.records.messages import HostError
from sizer.records.run import Run, Sample, WarningKind
from sizer.store.study_folder import StudyFolder

FOLDER = Path(__file__).parent / "busy"
"""By study its `study.yaml`, and the runs of both twins; `programs` are those of the commands."""
LOAD = Path(__file__).parent / "busy_load.py"
QUIET_LOAD, LONGEST_WAIT = 0.7, 240.0
"""The 1-minute load below which a host is quiet, and the seconds to wait for it."""
TWINS = ("quiet", "busy")
OF_OTHERS = frozenset({WarningKind.CONTENDED, WarningKind.STOLEN, WarningKind.DRIFTING})
"""Of a quiet twin no run should have one of these: measure it again with `--only`."""


@dataclass(frozen=True)
class Load:
    """So many processes that want a CPU each or copy memory. With `spell` they work for so many seconds and rest for as
    many, in turn. Each is in a session of its own, as programs of several users are."""

    processes: int
    takes: str = "cpu"
    spell: float = math.inf

    def __str__(self) -> str:
        return f"{self.processes} x {self.takes}{'' if math.isinf(self.spell) else f', {self.spell:g} s on and off'}"


STUDIES: dict[str, tuple[Load, ...]] = {
    "preprocess-disks": (Load(4),),
    "preprocess-lmdb": (Load(2), Load(2, "memory")),
    "train-v100": (Load(4),),
    "train-slow-gpu": (Load(4),),
    "infer-mxnet": (Load(4),),
    "lstm-pytorch": (Load(4, spell=10.0),),
    "one-thread": (Load(4),),
    "two-processes": (Load(4),),
    "mlp": (Load(6),),
}
"""By study the processes beside its busy twin. On two CPUs, twice as many and more take all of them."""


def record(out: Path, names: Sequence[str], twins: Sequence[str]) -> None:
    """Measure these twins of these studies in `out`, and write their runs into FOLDER.

    Raises HostError where the host does not get quiet, or a study does not end well.
    """
    shutil.copytree(FOLDER, out, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.jsonl", "__pycache__"))
    _make_data(out / "data")
    # All quiet ones first: the load that a busy one leaves behind lasts for minutes.
    for twin in twins:
        if twin == "quiet":
            _wait_until_quiet()
        for name in names:
            with others(STUDIES[name] if twin == "busy" else ()):
                _measure(out / name, twin)
            with StudyFolder.open(out / name / twin).locked() as folder:
                runs = folder.runs()
            save_runs(map(_portable, runs), FOLDER / name / f"{twin}.jsonl")
            marked = sum(any(warning.kind in OF_OTHERS for warning in run.warnings) for run in runs)
            print(f"{name} {twin}: {marked} of {len(runs)} runs tell of others", flush=True)


@contextmanager
def others(loads: Sequence[Load]) -> Iterator[None]:
    """These programs run until the context ends, outside of every group of sizer's."""
    with ExitStack() as stack:
        for load in loads:
            for _ in range(load.processes):
                command = [sys.executable, str(LOAD), load.takes, str(load.spell)]
                process = subprocess.Popen(command, start_new_session=True)
                stack.callback(process.wait)
                stack.callback(os.killpg, process.pid, signal.SIGKILL)
        yield


def _measure(folder: Path, twin: str) -> None:
    # Commands of the studies are of this environment.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = [sys.executable, "-m", "sizer", "run", "study.yaml", "--out", twin]
    with (folder / f"{twin}.log").open("w") as log:
        ended = subprocess.run(command, cwd=folder, env={**os.environ, "PATH": path}, stdout=log, stderr=log)
    if ended.returncode not in (0, 4):
        raise HostError(f"{folder.name}: sizer ended with {ended.returncode}; see {folder / twin}.log")


def _wait_until_quiet() -> None:
    until = time.monotonic() + LONGEST_WAIT
    while os.getloadavg()[0] >= QUIET_LOAD:
        if time.monotonic() > until:
            raise HostError(
                f"This host has a load of {os.getloadavg()[0]:.2f}; type the command again when it is idle."
            )
        time.sleep(2)


def _make_data(folder: Path) -> None:
    """What the commands read: a file of records of 128 KiB."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "records.bin").write_bytes(random.Random(0).randbytes(96 << 20))


def _portable(run: Run) -> Run:
    """As of the measured grid, with names for folders of this host, and of the readings those that tell of others."""
    found, workload = portable(run), run.spec.workload
    if workload.cwd is not None:
        kept = found.spec.workload
        found = replace(found, spec=replace(found.spec, workload=replace(kept, cwd=Path(workload.cwd).name)))
    return replace(found, samples=tuple(_of_cpu(sample, run.samples[0].time) for sample in run.samples))


def _of_cpu(sample: Sample, origin: float) -> Sample:
    """Seconds, and core-seconds, to a tenth of a millisecond."""
    return Sample(
        round(sample.time - origin, 4),
        round(sample.core_seconds, 4),
        host_core_seconds=round(sample.host_core_seconds, 4),
        sizer_core_seconds=round(sample.sizer_core_seconds, 4),
        cpu_stall=round(sample.cpu_stall, 4),
        steal_core_seconds=round(sample.steal_core_seconds, 4),
    )
