"""What did not complete, and why."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sizer.bundled.reports import doubts
from sizer.bundled.reports.figures import drift
from sizer.bundled.reports.page import render
from sizer.bundled.reports.runs import all_runs
from sizer.bundled.reports.subject import Material, subjects
from sizer.bundled.reports.workloads import workload
from sizer.records.run import Cause, CauseKind, Failure, Outcome
from sizer.records.study import Purpose
from sizer.words.names import outcome_in_words

MIB = 2**20
TRAIN = "train-resnet50-p100"


def test_a_kill_for_memory_is_told_as_the_memory_floor(material: Material) -> None:
    """The floor lies between the cap that was killed and the next one that completed."""
    (sentence,) = doubts.memory_floors(subjects(material))
    assert "killed with 384 MiB, completed with 1 GiB" in sentence


def test_a_floor_above_every_cap_says_so(material: Material) -> None:
    """Where no cap completed, the floor is above the largest."""
    killed = tuple(replace(run, outcome=Outcome.OUT_OF_MEMORY, throughput=None) for run in material.runs[:14])
    (sentence,) = doubts.memory_floors(subjects(replace(material, runs=killed)))
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
    (sentence,) = doubts.memory_floors(subjects(searched(material, (900 * MIB, Outcome.COMPLETED))))
    assert "the memory floor is no higher than 900 MiB" in sentence
    assert "the search is not finished" in sentence
    far = searched(material, (900 * MIB, Outcome.COMPLETED), (400 * MIB, Outcome.OUT_OF_MEMORY))
    (sentence,) = doubts.memory_floors(subjects(far))
    assert "is between 400 MiB and 900 MiB, for the input pipeline alone" in sentence
    assert "the search is not finished" in sentence
    crashed = searched(material, (900 * MIB, Outcome.COMPLETED), (400 * MIB, Outcome.CRASHED))
    (sentence,) = doubts.memory_floors(subjects(crashed))
    assert "given up: the run with 400 MiB crashed" in sentence


def test_runs_of_a_search_show_no_rate(material: Material) -> None:
    """Neither a section's charts and rows nor the trust in its figures count them; the list of all runs has them."""
    found = searched(material, (900 * MIB, Outcome.COMPLETED), (400 * MIB, Outcome.OUT_OF_MEMORY))
    alone = replace(found, runs=found.runs[:-2])
    more, less = (workload(next(each for each in subjects(m) if each.name == TRAIN)) for m in (found, alone))
    assert str(more) == str(less)
    assert doubts.facts(found.runs, found.study) == doubts.facts(alone.runs, found.study)
    with_search, without = (drift.drift(subjects(each), each.study) for each in (found, alone))
    assert with_search is not None
    assert without is not None
    assert with_search.sentence == without.sentence
    assert doubts.by_kind(found.runs) == doubts.by_kind(alone.runs)
    listed = next(each for each in all_runs.contents(found, subjects(found))["runs"] if each["name"] == TRAIN)["runs"]
    assert sum(run["state"] == "search for the memory floor" for run in listed) == 2


@pytest.mark.parametrize("outcome", [each for each in Outcome if each is not Outcome.COMPLETED])
def test_every_outcome_that_is_not_completed_is_listed(material: Material, outcome: Outcome) -> None:
    """Whatever way a run fails, it is told, with a reason even where none was recorded, and what to do."""
    run = replace(material.runs[0], outcome=outcome, error=None)
    found = replace(material, runs=(run,))
    (row,) = doubts.failures(subjects(found), found.study)
    assert row["outcome"] == outcome_in_words(outcome)
    assert row["why"].endswith(".")
    assert row["remedy"].endswith(".")


def test_an_error_is_split_into_reason_and_last_words(material: Material) -> None:
    """The first line is the reason, the rest are the program's last words."""
    crashed = [row for row in doubts.failures(subjects(material), material.study) if row["outcome"] == "crashed"]
    assert crashed[0]["why"] == "The workload ended with exit status 1."
    assert crashed[0]["last_words"].endswith("MXNetError: could not decode")


ENDED = Cause(CauseKind.EXIT_STATUS, {"status": 1})


def crashed(material: Material, *errors: Failure) -> Material:
    """The first runs of the study, each ended by one of these errors."""
    ended = zip(material.runs, errors, strict=False)
    return replace(material, runs=tuple(replace(run, outcome=Outcome.CRASHED, error=error) for run, error in ended))


def test_runs_that_ended_alike_are_one_entry(material: Material) -> None:
    """With all their ids and the configuration of each; another word, another entry."""
    found = crashed(material, *[Failure(ENDED, last_lines="KeyError: 'x'")] * 3, Failure(ENDED))
    first, second = doubts.failures(subjects(found), found.study)
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
    assert doubts.line(spoken) == "the workload ended with exit status 1; its last words: KeyError: 'x'"
    assert doubts.line(silent) == "the workload ended with exit status 1"
    half = "x" * (doubts.LINE // 2)
    assert doubts.line(long) == f"the workload ended with exit status 1; its last words: {half} … {half}"


def test_last_words_that_differ_in_numbers_alone_are_alike(material: Material) -> None:
    """Times, addresses and process ids differ with each run."""
    said = (
        "12:04:31 worker 411 at 0x7f3a: KeyError",
        "12:09:02 worker 97 at 0x55d0c2: KeyError",
        "12:09:02 MemoryError",
    )
    found = crashed(material, *(Failure(ENDED, last_lines=each) for each in said))
    first, second = doubts.failures(subjects(replace(found, runs=found.runs[:3])), found.study)
    assert len(first["ids"]) == 2
    assert first["last_words"] == said[0]
    assert second["last_words"] == said[2]


def test_a_long_log_is_folded_and_cut(material: Material) -> None:
    """Its last lines are shown, those before are folded, and those before these are left to the log itself."""
    lines = [f"line {chr(97 + number % 26) * (number + 1)}" for number in range(60)] + ["x" * 10_000]
    (entry,) = doubts.failures(
        subjects(replace(material, runs=crashed(material, Failure(ENDED, last_lines="\n".join(lines))).runs)),
        material.study,
    )
    shown, earlier = entry["last_words"].splitlines(), entry["earlier"].splitlines()
    assert len(shown) == doubts.SHOWN_LINES
    assert len(shown) + len(earlier) == doubts.MOST_LINES
    assert shown[:-1] == lines[-doubts.SHOWN_LINES : -1]
    assert len(shown[-1]) <= doubts.LONGEST_LINE + 1


def test_hostile_log_lines_are_shown_as_what_they_are(material: Material) -> None:
    """No tag, no mark of direction and no control character of a log does anything to the page."""
    said = "\u202egnp.exe \x1b[2J\x07<script>alert(1)</script>\t</pre>"
    found = crashed(material, Failure(ENDED, last_lines=said))
    (entry,) = doubts.failures(subjects(found), found.study)
    assert entry["last_words"] == "�gnp.exe �[2J�<script>alert(1)</script> </pre>"
    page = render(found)
    assert "<script>alert(1)" not in page
    assert not set("\u202e\x1b\x07") & set(page)


def test_only_so_many_ways_of_failing_show_their_log(material: Material) -> None:
    """Each names it, so that a study of which every run fails in its own way has a page, too."""
    runs = crashed(material, *(Failure(ENDED, last_lines="x" * (number + 1)) for number in range(40))).runs
    entries = doubts.failures(subjects(replace(material, runs=runs)), material.study)
    assert len(entries) == 40
    assert sum(bool(each["last_words"]) for each in entries) == doubts.MOST_LOGS
    assert all(each["log"].startswith("logs/") for each in entries)
