"""A host that gets slower while a study goes on is seen by its reference configuration."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.end_to_end.conftest import BEAT, Typed

pytestmark = [pytest.mark.root, pytest.mark.slow]

COUNTED = """
import pathlib
launches = pathlib.Path({place!r})
launches.write_text(launches.read_text() + "x" if launches.exists() else "x")
pause = 0.02 if len(launches.read_text()) < 5 else 0.03
"""
"""The fifth launch and those after it are slower, as on a host whose neighbour has begun to work."""


@pytest.fixture
def folder(folder: Path) -> Path:
    """Four configurations, so that the reference is measured a second time, as the fifth run."""
    child = folder / "child.py"
    steps = child.read_text().replace(BEAT, "due + pause")
    child.write_text(COUNTED.format(place=str(folder / "launches")) + steps)
    study = folder / "study.yaml"
    study.write_text(study.read_text().replace("vcpus: [0.5, 1, 2]", "vcpus: [0.5, 1, 1.5, 2]"))
    return folder


def marked(folder: Path) -> dict[float, set[str]]:
    """The vCPUs of the runs that are marked, with the figures of their marks."""
    runs = [json.loads(path.read_text()) for path in (folder / "study/runs").glob("*.json")]
    return {
        run["configuration"]["vcpus"]: set(warning["figures"])
        for run in runs
        for warning in run["warnings"]
        if warning["kind"] == "drifting"
    }


def test_runs_between_are_marked_in_their_records(sizer: Typed, folder: Path) -> None:
    """The dry run says what is measured again; the marks are in the stored runs."""
    assert "repeat 2, the reference again" in sizer("run", "study.yaml", "--dry-run").stdout
    done = sizer("run", "study.yaml")
    assert done.returncode == 0, done.stderr
    assert "2 vCPUs, the reference again" in done.stderr
    assert "The host drifted: the reference configuration was measured 2 times" in done.stderr
    assert set(marked(folder)) == {0.5, 1.0, 1.5}
    assert marked(folder)[1.0] == {"before", "after"}
