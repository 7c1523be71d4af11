"""What did not complete, and why."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sizer.bundled.reports import Material, failures
from sizer.bundled.reports.subject import subjects
from sizer.records import Outcome


def test_a_kill_for_memory_is_told_as_the_memory_floor(material: Material) -> None:
    """The floor lies between the cap that was killed and the next one that completed."""
    (sentence,) = failures.memory_floors(subjects(material))
    assert "killed with 384 MiB, completed with 1 GiB" in sentence


def test_a_floor_above_every_cap_says_so(material: Material) -> None:
    """Where no cap completed, the floor is above the largest."""
    killed = tuple(replace(run, outcome=Outcome.OUT_OF_MEMORY, throughput=None) for run in material.runs[:14])
    (sentence,) = failures.memory_floors(subjects(replace(material, runs=killed)))
    assert "killed with 4 GiB, and no larger cap completed" in sentence


@pytest.mark.parametrize("outcome", [each for each in Outcome if each is not Outcome.COMPLETED])
def test_every_outcome_that_is_not_completed_is_listed(material: Material, outcome: Outcome) -> None:
    """Whatever way a run fails, it stands in the table, with a reason even where none was recorded."""
    run = replace(material.runs[0], outcome=outcome, error=None)
    found = replace(material, runs=(run,))
    (row,) = failures.failures(subjects(found), found.study)
    assert row["outcome"] == outcome.value.replace("_", " ")
    assert row["error"]


def test_an_error_is_split_into_reason_and_last_words(material: Material) -> None:
    """The first line is the reason, the rest are the program's last words."""
    crashed = [row for row in failures.failures(subjects(material), material.study) if row["outcome"] == "crashed"]
    assert crashed[0]["error"] == "exit status 1; its last words:"
    assert crashed[0]["last_words"].endswith("MXNetError: could not decode")
