"""What a study can be judged by."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest

from sizer.bundled.reports import doubts
from sizer.bundled.reports.figures.drift import MOST_WORKLOADS, Drift, drift
from sizer.bundled.reports.markup import coded
from sizer.bundled.reports.page import contents, render
from sizer.bundled.reports.runs import all_runs
from sizer.bundled.reports.subject import Material, subjects
from sizer.bundled.reports.workloads import workload
from sizer.records.prediction import Estimate
from sizer.records.run import Cause, CauseKind, Demand, Failure, Run, RunWarning, WarningKind
from sizer.records.run_kinds import Outcome, Purpose
from sizer.records.study import Limits
from sizer.words.warnings import meaning_of_warning


def test_what_a_study_can_be_judged_by(material: Material) -> None:
    """Of two repeats and another configuration: intervals, repeats, other load and sizer's own use, with the worst."""
    rates, others, own = (100.0, 104.0, 200.0), (0.02, 0.5, 0.03), (0.002, 0.012, 0.003)
    halves = (1.0, 3.0, 2.0)
    runs = tuple(
        replace(
            run,
            throughput=Estimate(rates[at], rates[at] - halves[at], rates[at] + halves[at]),
            conditions=replace(run.conditions, other_cores=others[at], overhead=own[at]),
        )
        for at, run in enumerate(material.runs[:3])
    )
    assert doubts.facts(runs, material.study) == [
        ("Half-width of the 95 % intervals", "±1.0 %", "median; widest ±2.9 %; 2 of 3 within the ±2.0 % asked for"),
        ("Repeats lie apart by", "4.0 %", "median of 1 configuration, most 4.0 %: highest against lowest rate"),
        ("Other load on the host", "0.03 cores", "median; most 0.50 cores"),
        ("sizer's own use", "0.3 %", "of the workload's core-seconds, median; most 1.2 %"),
    ]


def test_how_to_measure_again_is_said_where_that_helps(material: Material) -> None:
    """On a quieter host, and not of a table that somebody else measured."""
    contended = RunWarning(WarningKind.CONTENDED, {"cores": 0.5})
    for warnings, imported, helps in (((contended,), False, True), ((contended,), True, False), ((), False, False)):
        runs = tuple(replace(run, warnings=warnings) for run in material.runs)
        study = replace(material.study, workloads=()) if imported else material.study
        changed = replace(material, runs=runs, study=study)
        assert bool(doubts.contents(changed, subjects(changed))["again"]) is helps


def test_a_study_without_runs_has_nothing_to_doubt(material: Material) -> None:
    """And says that no run was made, not that every run completed."""
    empty = replace(material, runs=())
    shown = doubts.contents(empty, subjects(empty))
    assert not any(shown.values())
    page = render(empty)
    section = page[page.index('id="doubts"') : page.index('id="measurement"')]
    assert "No run has been made." in section
    assert "Every run completed." not in section


def test_what_is_to_be_typed_looks_like_it() -> None:
    """And nothing else of a sentence becomes markup."""
    assert coded("type `sizer resume DIR`; <b>") == "type <code>sizer resume DIR</code>; &lt;b&gt;"
    assert coded("`<script>`") == "<code>&lt;script&gt;</code>"
    assert coded("one ` alone") == "one ` alone"


MIB = 2**20
TRAIN = "train-resnet50-p100"


def test_a_floor_above_every_cap_says_so(material: Material) -> None:
    """Where no cap completed, the floor is above the largest."""
    killed = tuple(replace(run, outcome=Outcome.OUT_OF_MEMORY, throughput=None) for run in material.runs[:14])
    (sentence,) = doubts.memory_floors(subjects(replace(material, runs=killed)))
    assert "the memory floor is above 4 GiB" in sentence


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
    assert "is between 400 MiB and 900 MiB; that is for the input pipeline alone" in sentence
    assert "the search is not finished" in sentence
    crashed = searched(material, (900 * MIB, Outcome.COMPLETED), (400 * MIB, Outcome.CRASHED))
    (sentence,) = doubts.memory_floors(subjects(crashed))
    assert "given up: the run with 400 MiB crashed" in sentence


def test_runs_of_a_search_show_no_rate(material: Material) -> None:
    """Neither a section's charts and rows nor the trust in its figures count them; the list of all runs has them."""
    whole = searched(material, (900 * MIB, Outcome.COMPLETED), (400 * MIB, Outcome.OUT_OF_MEMORY))
    alone = replace(whole, runs=whole.runs[:-2])
    more, less = (workload(next(subject for subject in subjects(m) if subject.name == TRAIN)) for m in (whole, alone))
    assert str(more) == str(less)
    assert doubts.facts(whole.runs, whole.study) == doubts.facts(alone.runs, whole.study)
    with_search, without = (drift(subjects(shown_material), shown_material.study) for shown_material in (whole, alone))
    assert with_search.sentence == without.sentence
    assert doubts.by_kind(whole.runs) == doubts.by_kind(alone.runs)
    listed = next(group for group in all_runs.contents(whole, subjects(whole))["runs"] if group["name"] == TRAIN)[
        "runs"
    ]
    assert sum(run["state"] == "search for the memory floor" for run in listed) == 2


ENDED = Cause(CauseKind.EXIT_STATUS, {"status": 1})


def crashed(material: Material, *errors: Failure) -> Material:
    """The first runs of the study, each ended by one of these errors."""
    ended = zip(material.runs, errors, strict=False)
    return replace(material, runs=tuple(replace(run, outcome=Outcome.CRASHED, error=error) for run, error in ended))


def test_runs_that_ended_alike_are_one_entry(material: Material) -> None:
    """With all their ids and the configuration of each; another word, another entry."""
    with_crashes = crashed(material, *[Failure(ENDED, last_lines="KeyError: 'x'")] * 3, Failure(ENDED))
    first, second = doubts.failures(subjects(with_crashes), with_crashes.study)
    assert first["ids"] == [run.id for run in with_crashes.runs[:3]]
    assert [(where.partition(" · ")[0], count) for where, count in first["where"]] == [("0.5 vCPU", 2), ("1 vCPU", 1)]
    assert first["log"] == f"logs/{with_crashes.runs[0].id}.log"
    assert second["ids"] == [with_crashes.runs[3].id]


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


def warned(kind: WarningKind, *figures: float, text: str | None = None) -> tuple[RunWarning, ...]:
    """A warning with each of these figures, or one without."""
    name = {WarningKind.CONTENDED: "cores", WarningKind.SHORT: "seconds", WarningKind.SWAPPED: "bytes"}.get(kind, "")
    return tuple(RunWarning(kind, {name: figure}) for figure in figures) or (RunWarning(kind, text=text),)


@pytest.mark.parametrize(
    ("of_runs", "lines"),
    [
        pytest.param(
            [*(warned(WarningKind.CONTENDED, cores) for cores in (0.06, 1.21, 0.31)), warned(WarningKind.SHORT, 4.0)],
            [
                ("contended", "3 runs", "Something else on this host used 0.06–1.21 cores meanwhile."),
                ("short", "1 run", "Stopped at the deadline after 4 s of steady state."),
            ],
            id="of a kind one line, with the range of its figures",
        ),
        pytest.param(
            [warned(WarningKind.SWAPPED, 12 * MIB, 980 * MIB), warned(WarningKind.SWAPPED, 12 * MIB)],
            [("swapped", "2 runs", "Up to 12–980 MiB of its memory was in swap.")],
            id="a run counts once however often it is warned",
        ),
        pytest.param(
            [warned(WarningKind.OTHER, text=word) for word in ("one", "two", "three", "four")],
            [("other", "4 runs", "One; two; three …")],
            id="only so many wordings",
        ),
        pytest.param(
            [warned(WarningKind.THROTTLED)], [("throttled", "1 run", "")], id="of an imported table the kind alone"
        ),
    ],
)
def test_warnings_of_a_kind_are_one_line(
    material: Material, of_runs: list[tuple[RunWarning, ...]], lines: list[tuple[str, str, str]]
) -> None:
    """In how many runs, what they say, and what that means for the answer."""
    shown = doubts.by_kind([replace(material.runs[0], warnings=warnings) for warnings in of_runs])
    assert [(line["kind"], line["where"], line["what"]) for line in shown] == lines
    first = of_runs[0][0].kind
    assert shown[0]["meaning"] == meaning_of_warning(first)


BEGUN = datetime(2026, 11, 21, 9, tzinfo=timezone.utc)


def one_after_the_other(runs: tuple[Run, ...], *rests: tuple[int, float]) -> tuple[Run, ...]:
    """The runs as a study makes them, two seconds apart; before that many of them, it stood still for some seconds."""
    ordered, moment = list[Run](), BEGUN
    for number, run in enumerate(runs):
        moment += timedelta(seconds=sum(seconds for place, seconds in rests if place == number))
        ordered.append(replace(run, started_at=moment.isoformat()))
        moment += timedelta(seconds=run.wall_seconds + 2)
    return tuple(ordered)


def shown(material: Material, runs: tuple[Run, ...]) -> Drift:
    changed = replace(material, runs=runs)
    picture = drift(subjects(changed), changed.study)
    assert picture is not None
    return picture


def points(drift_shown: Drift) -> list[tuple[float, float]]:
    """Where the points lie, in pixels."""
    marks = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="4" class="point">', drift_shown.figure.svg)
    return [(float(x), float(y)) for x, y in marks]


def test_the_reference_shows_the_drift_of_the_host(material: Material, reference: tuple[Run, ...]) -> None:
    """Each of its measurements is a point with its time, rate and share of the median; it falls, and that is said."""
    drift_shown = shown(material, one_after_the_other((*material.runs, *reference)))
    assert drift_shown.has_drifted
    assert drift_shown.sentence.startswith("The host drifted: one configuration, measured 14 times, gave ")
    places = points(drift_shown)
    assert len(places) == 14
    assert [x for x, _y in places] == sorted(x for x, _y in places)
    assert places[-1][1] > places[-12][1], "further down"
    tip = r"09:\d\d UTC, train-resnet50-p100, 2 vCPUs [^<]* images/s [^<]*, run [0-9a-f]+; \d+ % of the median"
    assert len(re.findall(rf"<title>{tip}</title>", drift_shown.figure.svg)) == 14


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


def test_many_workloads_have_no_colour_each(material: Material) -> None:
    """There are four, and a fifth would look like the first."""
    run = material.runs[0]
    runs = tuple(
        replace(run, spec=replace(run.spec, repeat=repeat, workload=replace(run.spec.workload, name=f"w{number}")))
        for number in range(MOST_WORKLOADS + 1)
        for repeat in range(2)
    )
    drift_shown = shown(material, one_after_the_other(runs))
    assert [key.text for key in drift_shown.figure.keys if "runs" in key.text] == ["runs"]


def test_what_nobody_timed_has_no_picture(material: Material) -> None:
    """Of a table without times, or with times of no calendar, or of one run; a time without a zone is one."""
    for started_at, is_there in ((None, False), ("2026-99-99T10:00:00", False), ("2026-11-21T10:00:00", True)):
        untimed = replace(material, runs=tuple(replace(run, started_at=started_at) for run in material.runs))
        assert (drift(subjects(untimed), untimed.study) is not None) is is_there
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


NAME = "train-resnet50-p100"


@pytest.fixture
def stage(material: Material) -> Run:
    """A replay that is ten times as fast as any run of its workload."""
    run = next(run for run in material.runs if run.outcome is Outcome.COMPLETED and run.spec.workload.name == NAME)
    workload = replace(run.spec.workload, input="replay", cache="cold")
    spec = replace(run.spec, workload=workload, limits=Limits(2.0, None, "slow"), purpose=Purpose.ISOLATES_DISK)
    return replace(
        run,
        spec=spec,
        configuration=replace(run.configuration, disk="slow"),
        throughput=Estimate(9000.0, 8900.0, 9100.0),
        demand=Demand(read_bytes=100_000.0, read_ios=2.0),
        warnings=(RunWarning(WarningKind.CONTENDED, {"cores": 0.5}),),
    )


def test_they_have_a_table_of_their_own(material: Material, stage: Run) -> None:
    """Stage, configuration, rate, and what the model learns from it with the figures of the disk."""
    shown = contents(replace(material, runs=(*material.runs, stage)))
    (row,) = next(section for section in shown["workloads"]["sections"] if section["name"] == NAME)["isolated"]
    assert row["stage"] == "Disk"
    assert row["rate"][0].startswith("9,000 images/s")
    assert "900 MB/s and 18,000 IOPS" in row["tells"][0]
    assert row["rate"][1] == "contended"
    assert "What was isolated" in render(replace(material, runs=(*material.runs, stage)))
    assert "What was isolated" not in render(material)


def test_nothing_else_counts_them(material: Material, stage: Run) -> None:
    """Charts, the table of configurations, and what tells of trust stay as they were without."""
    before, after = contents(material), contents(replace(material, runs=(*material.runs, stage)))
    for name in ("facts", "warnings"):
        assert after["doubts"][name] == before["doubts"][name], name
    for section, name in (("verdict", "warned_count"), ("verdict", "rows")):
        assert after[section][name] == before[section][name], name
    assert after["measurement"]["steady_state"] == before["measurement"]["steady_state"]
    for old, new in zip(before["workloads"]["sections"], after["workloads"]["sections"], strict=True):
        assert {**new, "isolated": []} == {**old, "isolated": []}


def test_one_that_failed_says_why(material: Material, stage: Run) -> None:
    """In its table, and among the failures."""
    failed = replace(
        stage,
        outcome=Outcome.CRASHED,
        throughput=None,
        demand=None,
        error=Failure(Cause(CauseKind.EXIT_STATUS, {"status": 71})),
    )
    shown = contents(replace(material, runs=(*material.runs, failed)))
    (row,) = next(section for section in shown["workloads"]["sections"] if section["name"] == NAME)["isolated"]
    assert (row["rate"][0], row["tells"][0]) == ("crashed", "the workload ended with exit status 71")
    assert any(stage.id in failure["ids"] for failure in shown["doubts"]["failures"])
