"""The picture of the host over time."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import numpy as np

from sizer.bundled.reports.doubts.drift import MOST_WORKLOADS, Drift, drift
from sizer.bundled.reports.material import Material
from sizer.bundled.reports.subject import subjects
from sizer.records.run import Outcome, Run

BEGUN = datetime(2026, 11, 21, 9, tzinfo=timezone.utc)


def one_after_the_other(runs: tuple[Run, ...], *rests: tuple[int, float]) -> tuple[Run, ...]:
    """The runs as a study makes them, two seconds apart; before that many of them, it stood still for some seconds."""
    found, moment = list[Run](), BEGUN
    for number, run in enumerate(runs):
        moment += timedelta(seconds=sum(seconds for place, seconds in rests if place == number))
        found.append(replace(run, started_at=moment.isoformat()))
        moment += timedelta(seconds=run.wall_seconds + 2)
    return tuple(found)


def shown(material: Material, runs: tuple[Run, ...]) -> Drift:
    found = replace(material, runs=runs)
    picture = drift(subjects(found), found.study)
    assert picture is not None
    return picture


def points(found: Drift) -> list[tuple[float, float]]:
    """Where the points lie, in pixels."""
    marks = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="4" class="point">', found.figure.svg)
    return [(float(x), float(y)) for x, y in marks]


def test_the_reference_shows_the_drift_of_the_host(material: Material, reference: tuple[Run, ...]) -> None:
    """Each of its measurements is a point with its time, rate and share of the median; it falls, and that is said."""
    found = shown(material, one_after_the_other((*material.runs, *reference)))
    assert found.found
    assert found.sentence.startswith("The host drifted: one configuration, measured 14 times, gave ")
    places = points(found)
    assert len(places) == 14
    assert [x for x, _y in places] == sorted(x for x, _y in places)
    assert places[-1][1] > places[-12][1], "further down"
    told = r"09:\d\d UTC, train-resnet50-p100, 2 vCPUs [^<]* images/s [^<]*, run [0-9a-f]+; \d+ % of the median"
    assert len(re.findall(rf"<title>{told}</title>", found.figure.svg)) == 14


def test_a_host_that_holds_still_is_said_to(material: Material, reference: tuple[Run, ...]) -> None:
    """Within the share that marks a run as drifting."""
    still = tuple(replace(run, throughput=reference[0].throughput) for run in reference)
    found = shown(material, one_after_the_other(still))
    assert not found.found
    assert found.sentence.startswith("The host did not drift: one configuration, measured 12 times, gave ")


def test_every_other_run_lies_in_the_strip(material: Material, reference: tuple[Run, ...]) -> None:
    """A bar of its workload's colour for what completed, a cross for what did not, each with its words."""
    runs = one_after_the_other((*material.runs, *reference))
    picture = shown(material, runs).figure.svg
    completed = sum(run.outcome is Outcome.COMPLETED for run in runs)
    assert picture.count('class="stretch"') == completed
    assert picture.count('class="failure"') == len(runs) - completed
    assert len(re.findall(r'class="stretch"><title>|class="failure"><title>', picture)) == len(runs) - 14
    assert {f"series-{index}" for index in range(4)} <= set(re.findall(r"series-\d", picture))
    assert re.search(r'class="failure"><title>[^<]*: crashed, run [0-9a-f]+</title>', picture)


def test_a_time_at_which_the_study_stood_still_is_left_out(material: Material, reference: tuple[Run, ...]) -> None:
    """A line says how much later it went on; without it three days would press ten minutes into a corner."""
    runs = one_after_the_other((*reference, *material.runs), (20, 3 * 86400.0))
    picture = shown(material, runs).figure.svg
    assert ">3 d 00 h later</text>" in picture
    assert picture.count('class="limit"') == 1
    assert "minutes of measuring" in picture
    assert "2026-11-21 09:00 UTC, train" in picture, "on several days the date is named"
    straight = shown(material, one_after_the_other((*reference, *material.runs)))
    assert "later</text>" not in straight.figure.svg
    assert np.allclose(points(shown(material, runs)), points(straight), atol=0.5)


def test_repeats_are_better_than_no_picture(material: Material) -> None:
    """Each against the median of its own configuration, of all workloads."""
    found = shown(material, one_after_the_other(material.runs))
    assert not found.found
    assert found.sentence.startswith("Repeats of 26 configurations lie ")
    assert "repeats, each against the median" in " ".join(key.text for key in found.figure.keys)


def test_many_workloads_have_no_colour_each(material: Material) -> None:
    """There are four, and a fifth would look like the first."""
    run = material.runs[0]
    runs = tuple(
        replace(run, spec=replace(run.spec, repeat=repeat, workload=replace(run.spec.workload, name=f"w{number}")))
        for number in range(MOST_WORKLOADS + 1)
        for repeat in range(2)
    )
    found = shown(material, one_after_the_other(runs))
    assert [key.text for key in found.figure.keys if "runs" in key.text] == ["runs"]


def test_what_nobody_timed_has_no_picture(material: Material) -> None:
    """Of a table without times, or with times of no calendar, or of one run; a time without a zone is one."""
    for started_at, is_there in ((None, False), ("2026-99-99T10:00:00", False), ("2026-11-21T10:00:00", True)):
        found = replace(material, runs=tuple(replace(run, started_at=started_at) for run in material.runs))
        assert (drift(subjects(found), found.study) is not None) is is_there
    alone = replace(material, runs=material.runs[:1])
    assert drift(subjects(alone), alone.study) is None


def test_a_thousand_runs_are_a_few_marks(material: Material, reference: tuple[Run, ...]) -> None:
    """Of a bar narrower than two pixels nobody reads the words."""
    many = tuple(
        replace(run, spec=replace(run.spec, repeat=2 * turn + run.spec.repeat))
        for turn in range(20)
        for run in material.runs
        if run.outcome is Outcome.COMPLETED
    )
    picture = shown(material, one_after_the_other((*many, *reference))).figure.svg
    assert len(many) > 900
    assert picture.count('class="stretch"') == 4
    assert len(picture) < 60_000
