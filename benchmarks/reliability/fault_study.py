"""A study on the real command line in which faulty runs are made between good ones, and what they left on the host."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from soak_checks import lying_about

from sizer.records.run import Run
from sizer.records.run_kinds import Outcome
from sizer.store.stored_runs import read_run
from sizer.words.failures import failure_in_words
from sizer.words.warnings import warning_names

PROGRAM = Path(__file__).with_name("fault_program.py")
GOOD = "good"
NO_OVERRIDE = ("setpriv", "--inh-caps=-dac_override,-dac_read_search", "--bounding-set=-dac_override,-dac_read_search")
"""What makes root ask for permissions as anybody has to."""

SECONDS, LONG_SECONDS, DEADLINE_SECONDS = 0.5, 3.0, 4
"""Each run's steady state, that of one which something happens to meanwhile, and how long one that hangs may take."""

POLL_SECONDS = 0.02

EMBEDDED_IMAGES = 20
"""The fewest that there may be."""


@dataclass(frozen=True)
class FaultFolder:
    """Where one study of the benchmark lives: `folder` is what everything of it is below."""

    folder: Path

    @property
    def study(self) -> Path:
        return self.folder / "study"

    @property
    def temporary(self) -> Path:
        return self.folder / "tmp"

    @property
    def disk(self) -> Path:
        return self.folder / "disk"

    @property
    def cache(self) -> Path:
        return self.folder / "cache"

    def program(self, function: str, *words: object) -> list[str]:
        """The command line of the faulty program."""
        return [sys.executable, str(self.folder / PROGRAM.name), function, *map(str, words)]


Entry = Callable[[FaultFolder, Path], dict[str, object]]
Spoil = Callable[[FaultFolder, Path], None]
"""Both are given the folder of the study, and the place of the data of the case."""


@dataclass(frozen=True)
class FaultCase:
    """A workload of a study that goes wrong, and what is to be said of it.

    `workload` gives its entry in the study file and makes its data. `spoil` is done when the run before it begins, or,
    with a `trigger`, as soon as a log of the study holds that text. `words`, apart by ` | `, are in the run's error,
    `warning` in one of its warnings. `needs` is a study of its own kind: with a small disk somewhere, a deadline, or
    permissions.
    """

    name: str
    outcome: Outcome
    words: str
    workload: Entry
    needs: str = ""
    spoil: Spoil | None = None
    trigger: str = ""
    warning: str = ""
    ours: bool = False

    @property
    def key(self) -> str:
        """Its workload in the study, and the folder of its data."""
        return re.sub(r"\W+", "-", self.name)


@dataclass
class FaultResult:
    """What came of one fault."""

    run: Run | None
    log: str
    went_on: bool
    left: list[str]
    stderr: str
    exit_code: int
    misses: list[str] = field(default_factory=list)


def small_disk(where: Path, megabytes: int) -> None:
    """Put a tmpfs of so many MB on that folder."""
    options = ["-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(where)]
    subprocess.run(["mount", *options], check=True)


def file_system(where: Path, megabytes: int) -> None:
    """Put an ext4 of so many MB on that folder: fio needs one, and some room."""
    image = where.with_suffix(".img")
    with image.open("wb") as file:
        file.truncate(megabytes << 20)
    subprocess.run(["mkfs.ext4", "-q", "-m", "0", str(image)], check=True)
    subprocess.run(["mount", "-o", "loop", str(image), str(where)], check=True)


NEEDED: dict[str, Callable[[FaultFolder], None]] = {
    "small scratch": lambda where: small_disk(where.temporary, 8),
    "small output": lambda where: file_system(where.disk, 320),
}


def measured(faults: Sequence[FaultCase], where: FaultFolder, needs: str = "") -> dict[str, FaultResult]:
    """Run one study with all of these faults between good runs; what came of each."""
    for folder in (where.folder, where.temporary, where.disk):
        folder.mkdir()
    (where.folder / PROGRAM.name).write_bytes(PROGRAM.read_bytes())
    try:
        if needs in NEEDED:
            NEEDED[needs](where)
        (where.folder / "study.json").write_text(json.dumps(_study(faults, where, needs)))
        process, words = _sized(faults, where)
        left = leftovers(process.pid, where)
        runs = [read_run(path) for path in (where.study / "runs").glob("*.json")]
        runs.sort(key=lambda run: run.started_at or "")
        return {fault.name: _found(fault, runs, where, left, words, process.returncode) for fault in faults}
    finally:
        for mounted in _mounts(where.folder):
            subprocess.run(["umount", "-l", mounted], check=True)


def _mounts(below: Path) -> list[str]:
    """Where something is mounted below that folder, the innermost first."""
    points = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    return [point for point in reversed(points) if point.startswith(f"{below}/")]


def _study(faults: Sequence[FaultCase], where: FaultFolder, needs: str) -> dict[str, object]:
    """Good ones first: a study of four configurations and more measures the first of them again at its end."""
    good = [
        {"name": f"{GOOD}-{number}", "kind": "command", "command": where.program("good")}
        for number in range(max(1, 4 - len(faults)))
    ]
    entries = [{"name": fault.key, **fault.workload(where, where.folder / "data" / fault.key)} for fault in faults]
    limit = {"timeout": DEADLINE_SECONDS} if needs == "deadline" else {}
    disks = {"disks": {"small": str(where.disk)}} if needs == "small output" else {}
    seconds = LONG_SECONDS if needs == "long" else SECONDS
    measure = {"repeats": 1, "seconds": seconds, "precision": 0.5, **limit}
    workloads = {"workloads": [*good, *entries], "embedded_images": EMBEDDED_IMAGES}
    return {"name": "faults", "measure": measure, "axes": {"vcpus": [1]}, **workloads, **disks}


def _sized(faults: Sequence[FaultCase], where: FaultFolder) -> tuple[subprocess.Popen[str], str]:
    """`sizer run`, with what spoils the data at the right moments; the ended process and what it said."""
    argv = [sys.executable, "-m", "sizer", "run", "study.json", "--out", "study"]
    if any(fault.needs == "permission" for fault in faults):
        argv = [*NO_OVERRIDE, *argv]
    environment = {**os.environ, "TMPDIR": str(where.temporary), "SIZER_CACHE": str(where.cache)}
    process = subprocess.Popen(argv, cwd=where.folder, env=environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    watching = [threading.Thread(target=_spoil_in_time, args=(fault, where, process)) for fault in faults]
    for thread in watching:
        thread.start()
    lines = []
    for line in process.stderr:
        lines.append(line)
        if line.startswith("["):
            for fault in faults:
                if fault.spoil and not fault.trigger:
                    fault.spoil(where, where.folder / "data" / fault.key)
            faults = [fault for fault in faults if fault.trigger]
    process.wait()
    for thread in watching:
        thread.join()
    return process, "".join(lines)


def _spoil_in_time(fault: FaultCase, where: FaultFolder, process: subprocess.Popen[str]) -> None:
    """Wait for the trigger in any log, then spoil."""
    if fault.spoil is None or not fault.trigger:
        return
    while process.poll() is None:
        if any(fault.trigger in path.read_text(errors="replace") for path in where.study.glob("logs/*.log")):
            fault.spoil(where, where.folder / "data" / fault.key)
            return
        time.sleep(POLL_SECONDS)


def _found(
    fault: FaultCase, runs: list[Run], where: FaultFolder, left: list[str], words: str, code: int
) -> FaultResult:
    run = next((run for run in runs if run.spec.workload.name == fault.key), None)
    after = [later for later in runs if run and (later.started_at or "") > (run.started_at or "")]
    went_on = any(run.outcome is Outcome.COMPLETED and run.spec.workload.name.startswith(GOOD) for run in after)
    log = where.study / "logs" / f"{run.id}.log" if run else None
    text = log.read_text(errors="replace") if log and log.exists() else ""
    result = FaultResult(run, text, went_on, left, words, code)
    result.misses = list(_misses(fault, result))
    return result


ENDS_WITH = {Outcome.COMPLETED: (0, 4), Outcome.OUT_OF_MEMORY: (0, 4)}


def error_of(run: Run) -> str:
    """Why a run did not complete, with its last words; '' of one that did."""
    return f"{failure_in_words(run)}\n{run.error.last_lines}" if run.error is not None else ""


def _misses(fault: FaultCase, result: FaultResult) -> Iterator[str]:
    run = result.run
    if run is None:
        yield f"no run; sizer said: {result.stderr[-300:]}"
        return
    error = error_of(run)
    if run.outcome is not fault.outcome:
        yield f"outcome {run.outcome.value}, not {fault.outcome.value}: {error[-300:]}"
    yield from (
        f"the error does not say {words!r}: {error}" for words in fault.words.split(" | ") if words not in error
    )
    last = result.log.strip().splitlines()[-1:]
    if run.outcome in (Outcome.CRASHED, Outcome.TIMEOUT) and last and last[0][:100] not in error:
        yield f"the error does not hold the log's last line {last[0][:100]!r}"
    if fault.warning and fault.warning not in warning_names(run):
        yield f"no warning of {fault.warning!r}: {run.warnings}"
    if not result.went_on:
        yield "no good run after it"
    yield from (f"left behind: {path}" for path in result.left)
    if result.exit_code not in ENDS_WITH.get(fault.outcome, (4,)):
        yield f"exit code {result.exit_code}: {result.stderr[-300:]}"
    if "Traceback" in result.stderr or (fault.ours and "Traceback" in result.log):
        yield "a traceback"


def leftovers(pid: int, where: FaultFolder) -> list[str]:
    """What is still there of the sizer with this pid: processes, groups, mounts, loop devices and files."""
    unfinished = [path for path in where.folder.rglob("*") if path.suffix in (".making", ".part", ".tmp")]
    files = {*unfinished, *where.temporary.iterdir(), *Path("/dev/shm").glob(f"*{pid}*")}
    return [*lying_about({pid}, where.folder), *(f"file {path}" for path in sorted(files))]
