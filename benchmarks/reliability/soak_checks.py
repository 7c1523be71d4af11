"""What a soak looks at after each kill: the study folder as the next reader finds it, and what lies about on the host.

What lies about is found here by other means than sizer's own: by the pids of the killed in all names and environments.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from sizer.records.run import Run
from sizer.store.stored_runs import run_from_json
from sizer.store.study_folder import StudyFolder

OWNED = re.compile(r"[0-9a-f]{10}-(\d+)-\d+-")
STATUS_SECONDS = 120.0


def finished(study: Path) -> dict[str, bytes]:
    """The stored runs by the name of their file."""
    return {path.name: path.read_bytes() for path in sorted((study / "runs").glob("*.json"))}


def lost(before: dict[str, bytes], study: Path) -> list[str]:
    """The runs that were there and are not, or are another measurement. Marks of drift may have changed."""
    losses = []
    for name, content in before.items():
        path = study / "runs" / name
        if not path.exists():
            losses.append(f"{path} is gone")
        elif path.read_bytes() != content and _measured(path.read_bytes()) != _measured(content):
            losses.append(f"{path} holds another measurement")
    return losses


def _measured(content: bytes) -> Run:
    return replace(run_from_json(json.loads(content), "a stored run"), warnings=())


LEAST_RATE = 150.0
"""Images a second: the job makes 400, and over a suspension of 2.3 s in half a second of measuring it would be 60."""


def slow(runs: dict[str, bytes]) -> list[str]:
    """The runs of the job whose rate is what it would be over a time in which sizer stood still."""
    slow_runs = []
    for name, content in runs.items():
        run = run_from_json(json.loads(content), "a stored run")
        if run.spec.workload.kind == "command" and run.throughput and run.throughput.value < LEAST_RATE:
            slow_runs.append(f"run {name} has {run.throughput.value:.0f} images/s")
    return slow_runs


def unreadable(study: Path, environment: dict[str, str]) -> list[str]:
    """A sentence for each file that is neither whole nor absent, and for a `sizer status` that does not work."""
    unread: list[str] = []
    whole = (study / "study.yaml").exists()
    if whole:
        unread += map(str, StudyFolder.open(study).problems())
    elif (study / "runs").is_dir() and any((study / "runs").glob("*.json")):
        unread.append(f"{study} has runs and no study.yaml")
    for path in study.glob("*.json"):
        try:
            json.loads(path.read_text())
        except ValueError as error:
            unread.append(f"{path}: {error}")
    report, table = study / "report.html", study / "measurements.csv"
    if report.exists() and not report.read_text().rstrip().endswith("</html>"):
        unread.append(f"{report} is cut short")
    if table.exists() and not table.read_bytes().endswith(b"\n"):
        unread.append(f"{table} is cut short")
    return unread + (_status(study, environment) if whole else [])


def _status(study: Path, environment: dict[str, str]) -> list[str]:
    argv = [sys.executable, "-m", "sizer", "status", str(study), "--json"]
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=STATUS_SECONDS)
    try:
        problems = json.loads(done.stdout)["problems"]
    except (ValueError, KeyError):
        return [f"sizer status {study} --json: exit status {done.returncode}, {done.stderr.strip()[-300:]}"]
    return [f"sizer status {study}: {problem}" for problem in problems]


def lying_about(pids: Collection[int], place: Path) -> list[str]:
    """Whatever on this host bears the name of one of these processes, and what is unfinished under `place`."""
    names = [*_marked_processes(), *_groups(), *_loops(), *_mounts(place), *_files(place)]
    return [name for name in names if {int(pid) for pid in OWNED.findall(name)} & set(pids)]


def _marked_processes() -> Iterator[str]:
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            for word in (folder / "environ").read_bytes().split(b"\0"):
                if word.startswith(b"SIZER_GROUP="):
                    command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                    yield f"process {folder.name} {word.decode()}: {command[:80]}"


def _groups() -> Iterator[str]:
    for base in [Path("/sys/fs/cgroup/sizer"), *Path("/sys/fs/cgroup").glob("*/sizer")]:
        with suppress(OSError):
            yield from (f"group {path}" for path in base.iterdir() if path.is_dir())


def _loops() -> Iterator[str]:
    for file in Path("/sys/block").glob("loop*/loop/backing_file"):
        with suppress(OSError):
            yield f"loop device {file.parts[3]} of {file.read_text().strip()}"


def _mounts(place: Path) -> Iterator[str]:
    for line in Path("/proc/self/mounts").read_text().splitlines():
        if str(place) in line:
            yield f"mount {line}"


def _files(place: Path) -> Iterator[str]:
    for folder, folders, files in os.walk(place):
        for name in [*folders, *files]:
            if OWNED.search(name):
                yield f"file {folder}/{name}"
