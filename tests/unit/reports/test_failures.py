"""What did not complete, and why."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sizer.bundled.reports import Material, all_runs, failures, trust, warned
from sizer.bundled.reports.subject import subjects
from sizer.bundled.reports.workloads import workload
from sizer.records.run import Cause, CauseKind, Failure, Outcome
from sizer.records.study import Purpose
from sizer.words import outcome_in_words

MIB = 2**20
TRAIN = "train-resnet50-p100"


def test_a_kill_for_memory_is_told_as_the_memory_floor(material: Material) -> None:
    """The floor lies between the cap that was killed and the next one that completed."""
    (sentence,) = failures.memory_floors(subjects(material))
    assert "killed with 384 MiB, completed with 1 GiB" in sentence


def test_a_floor_above_every_cap_says_so(material: Material) -> None:
    """Where no cap completed, the floor is above the largest."""
    killed = tuple(replace(run, outcome=Outcome.OUT_OF_MEMORY, throughput=None) for run in material.runs[:14])
    (sentence,) = failures.memory_floors(subjects(replace(material, runs=killed)))
    assert "killed with 4 GiB, and no larger cap completed" in sentence


def searched(material: Material, *caps: tuple[int, Outcome]) -> Material:
    """The ordinary runs without their kills, and a search at their centre that tried these caps."""
    kept = tuple(run for run in material.runs if run.outcome is Outcome.COMPLETED)
    centre = max(kept, key=lambda run: (run.spec.workload.name == TRAIN, run.configuration.vcpus, run.id))
    tried = []
    for cap, outcome in caps:
        spec = replace(centre.spec, limits=replace(centre.spec.limits, memory_bytes=cap), purpose=Purpose.FLOOR_SEARCH)
        configuration = replace(centre.configuration, memory_bytes=cap)
        tried.append(replace(centre, spec=spec, configuration=configuration, outcome=outcome))
    return replace(material, runs=(*kept, *tried))


def test_what_a_search_found_is_told_with_what_it_left_open(material: Material) -> None:
    """Also where nothing was killed; bounds that are far apart are not called the floor."""
    (sentence,) = failures.memory_floors(subjects(searched(material, (900 * MIB, Outcome.COMPLETED))))
    assert "the memory floor is no higher than 900 MiB" in sentence
    assert "the search is not finished" in sentence
    far = searched(material, (900 * MIB, Outcome.COMPLETED), (400 * MIB, Outcome.OUT_OF_MEMORY))
    (sentence,) = failures.memory_floors(subjects(far))
    assert "is between 400 MiB and 900 MiB, for the input pipeline alone" in sentence
    assert "the search is not finished" in sentence
    crashed = searched(material, (900 * MIB, Outcome.COMPLETED), (400 * MIB, Outcome.CRASHED))
    (sentence,) = failures.memory_floors(subjects(crashed))
    assert "given up: the run with 400 MiB crashed" in sentence


def test_runs_of_a_search_show_no_rate(material: Material) -> None:
    """Neither a section's charts and rows nor the trust in its figures count them; the list of all runs has them."""
    found = searched(material, (900 * MIB, Outcome.COMPLETED), (400 * MIB, Outcome.OUT_OF_MEMORY))
    alone = replace(found, runs=found.runs[:-2])
    more, less = (workload(next(each for each in subjects(m) if each.name == TRAIN)) for m in (found, alone))
    assert str(more) == str(less)
    assert trust.facts(found.runs, found.study) == trust.facts(alone.runs, found.study)
    assert trust.references(subjects(found), found.study) == trust.references(subjects(alone), found.study)
    assert warned.by_kind(found.runs) == warned.by_kind(alone.runs)
    listed = next(each for each in all_runs.all_runs(subjects(found), found.study) if each["name"] == TRAIN)["runs"]
    assert sum(run["state"] == "search for the memory floor" for run in listed) == 2


@pytest.mark.parametrize("outcome", [each for each in Outcome if each is not Outcome.COMPLETED])
def test_every_outcome_that_is_not_completed_is_listed(material: Material, outcome: Outcome) -> None:
    """Whatever way a run fails, it is in the table, with a reason even where none was recorded."""
    run = replace(material.runs[0], outcome=outcome, error=None)
    found = replace(material, runs=(run,))
    (row,) = failures.failures(subjects(found), found.study)
    assert row["outcome"] == outcome_in_words(outcome)
    assert row["error"]


def test_an_error_is_split_into_reason_and_last_words(material: Material) -> None:
    """The first line is the reason, the rest are the program's last words."""
    crashed = [row for row in failures.failures(subjects(material), material.study) if row["outcome"] == "crashed"]
    assert crashed[0]["error"] == "the workload ended with exit status 1"
    assert crashed[0]["last_words"].endswith("MXNetError: could not decode")


ENDED = Cause(CauseKind.EXIT_STATUS, {"status": 1})


def crashed(material: Material, *errors: Failure) -> Material:
    """The first runs of the study, each ended by one of these errors."""
    ended = zip(material.runs, errors, strict=False)
    return replace(material, runs=tuple(replace(run, outcome=Outcome.CRASHED, error=error) for run, error in ended))


def test_runs_that_ended_alike_are_one_row(material: Material) -> None:
    """With all their ids and the configuration of each; another word, another row."""
    found = crashed(material, *[Failure(ENDED, last_lines="KeyError: 'x'")] * 3, Failure(ENDED))
    first, second = failures.failures(subjects(found), found.study)
    assert first["ids"] == [run.id for run in found.runs[:3]]
    assert [(where.partition(" · ")[0], count) for where, count in first["where"]] == [("0.5 vCPU", 2), ("1 vCPU", 1)]
    assert first["log"] == f"logs/{found.runs[0].id}.log"
    assert second["ids"] == [found.runs[3].id]


def test_a_line_about_a_failed_run_ends_in_its_last_words(material: Material) -> None:
    """Not in a colon; what is too long for a line is cut, and that is shown."""
    spoken, silent, long = crashed(
        material,
        Failure(ENDED, last_lines="Traceback\nKeyError: 'x'"),
        Failure(ENDED),
        Failure(ENDED, last_lines="x" * 900),
    ).runs
    assert failures.line(spoken) == "the workload ended with exit status 1; its last words: KeyError: 'x'"
    assert failures.line(silent) == "the workload ended with exit status 1"
    half = "x" * (failures.LINE // 2)
    assert failures.line(long) == f"the workload ended with exit status 1; its last words: {half} … {half}"
