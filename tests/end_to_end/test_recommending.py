"""recommend with a deadline, gates and a baseline, as a person or a CI job types it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.end_to_end.conftest import Typed


@pytest.fixture
def study(folder: Path, store_knee: Callable[[Path], Path]) -> Path:
    return store_knee(folder / "s")


@pytest.mark.usefixtures("study")
def test_a_gate_that_is_not_met_is_exit_code_6(sizer: Typed) -> None:
    """Its verdict is one sentence on stderr; stdout stays what it was."""
    plain = sizer("recommend", "s", "--json")
    gated = sizer("recommend", "s", "--json", "--fail-if", "throughput<500", "--fail-if", "train:vcpus>8")
    assert (plain.returncode, gated.returncode) == (0, 6)
    assert gated.stdout == plain.stdout
    first, second = gated.stderr.splitlines()
    assert re.fullmatch(
        r"sizer: gate not met \(fail if throughput<500\): train: throughput is (29\d|30\d) images/s", first
    )
    assert second == "sizer: gate met (fail if train:vcpus>8): train: vcpus is 4"
    assert sizer("recommend", "s", "--fail-if", "vcpus>8").returncode == 0


def test_a_deadline_is_asked_for_and_published(sizer: Typed, study: Path) -> None:
    """The JSON says what was asked for; the study keeps its own answer."""
    sizer("recommend", "s")
    before = (study / "recommendation.json").read_text()
    done = sizer("recommend", "s", "--samples", "4.2M", "--within", "7h", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["objective"], found["deadline"]) == ("deadline", {"samples": 4.2e6, "seconds": 7 * 3600.0})
    (answer,) = found["workloads"]
    assert answer["spec"]["vcpus"] == 2
    assert set(answer["job"]) == {"samples", "within", "seconds", "probability", "usd", "instance_type"}
    assert (study / "recommendation.json").read_text() == before
