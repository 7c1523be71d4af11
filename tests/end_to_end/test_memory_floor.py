"""A memory floor is searched for when the study asks for it, by the real thing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sizer.model.model import WITHIN
from tests.end_to_end.conftest import Typed

pytestmark = [pytest.mark.root, pytest.mark.slow]

MIB = 2**20
ALLOCATED = 150 * MIB
"""What the child holds in anonymous memory, every page of it touched, beside its interpreter."""
INTERPRETER = 15 * MIB
"""The most that a bare Python needs beside it, with the kernel's own for the process."""


@pytest.fixture
def folder(folder: Path) -> Path:
    """The child holds a known amount of memory, and its study asks for the floor."""
    child = folder / "child.py"
    child.write_text(f"held = bytearray(b'x') * {ALLOCATED}\n{child.read_text()}")
    study = folder / "study.yaml"
    study.write_text(
        study.read_text().replace("axes: {vcpus: [0.5, 1, 2]}", "axes: {vcpus: 1}\n    memory_floor: true")
    )
    return folder


def test_the_floor_is_found_within_a_tenth(sizer: Typed, folder: Path) -> None:
    """The bounds are within 10 % of each other and the truth lies between; a second time nothing is run."""
    planned = sizer("run", "study.yaml", "--dry-run").stdout
    assert "runs of about" in planned
    assert "to find the memory floor of `job`" in planned

    more = _cut_short(sizer, folder / "study")
    done = sizer(*more)
    assert done.returncode == 0, done.stderr
    runs = json.loads(sizer("export", "study", "--format", "json").stdout)
    capped = {run["spec"]["limits"]["memory_bytes"]: run["outcome"] for run in runs}
    held = min(cap for cap, outcome in capped.items() if outcome == "completed" and cap is not None)
    killed = max(cap for cap, outcome in capped.items() if outcome == "out_of_memory")
    assert killed < held <= WITHIN * killed
    assert held > ALLOCATED
    assert killed < ALLOCATED + INTERPRETER
    assert f"is between {killed // MIB} MiB and {held // MIB} MiB" in done.stderr

    assert "finished already" in sizer("run", "study.yaml").stderr
    lost = next(path for path in (folder / "study/runs").iterdir() if '"out_of_memory"' in path.read_text())
    lost.unlink()
    again = sizer("resume", "study")
    assert again.returncode == 0
    assert "finished already" not in again.stderr
    assert f"is between {killed // MIB} MiB and {held // MIB} MiB" in again.stderr


def _cut_short(sizer: Typed, study: Path) -> list[str]:
    """The search begins within the runs that are allowed and ends with them: that is said everywhere, with the command
    that goes on, which is what is returned of it."""
    planned = sizer("run", "study.yaml", "--until", "settled", "--runs", "2", "--dry-run").stdout
    assert "and what is searched for after that: 2 runs in all at the most" in planned
    done = sizer("run", "study.yaml", "--until", "settled", "--runs", "2")
    assert done.returncode == 0, done.stderr
    assert len(list((study / "runs").iterdir())) == 2
    sentence = "the search is not finished; as many runs are made as were allowed"
    more = "sizer run study/study.yaml --out study --runs "
    line = next(line for line in done.stderr.splitlines() if sentence in line)
    assert f"; to go on, type: {more}" in line
    assert "not found" not in done.stderr
    status = sizer("status", "study").stdout
    assert sentence in status
    assert more in status
    (left,) = json.loads(sizer("status", "study", "--json").stdout)["searches_left"]
    assert left == {"workload": "job", "search": "floor_search", "bound": "runs"}
    page = (study / "report.html").read_text()
    assert sentence in page
    assert more in page
    assert len(list((study / "runs").iterdir())) == 2
    again = sizer("resume", "study")
    assert sentence in again.stderr
    return [*line.partition("type: sizer ")[2].split()[:-1], "20"]
