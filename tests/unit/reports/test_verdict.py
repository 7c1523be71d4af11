"""The first screen: a row for each workload, which says what to rent, what that gives and costs, and how sure it is."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from sizer.bundled.reports.page import render
from sizer.bundled.reports.subject import Material, Progress, subjects
from sizer.bundled.reports.verdict import answer_row, contents
from sizer.plan.chosen import NextRun, PlanEnd, unfinished
from sizer.plan.following import following_runs
from sizer.plan.reference_runs import Spread
from sizer.records.answer import Alternative, Answer, Recommendation
from sizer.records.configuration import Bottleneck, Estimate
from sizer.records.prediction import Action, ReasonCode, Spec, Suggestion, reason
from sizer.records.run_kinds import Outcome
from sizer.records.study import Adaptive, PlanEndKind, RunReason, RunReasonKind
from sizer.records.units import GIB, RELATIVE
from sizer.words.names import Terms
from sizer.words.verdict import next_run_sentences
from tests.reported_study import plainly
from tests.unit.plan.machine import HOST, study_of

Changed = Callable[..., Material]


def rows_of(material: Material) -> dict[str, Any]:
    return {subject.name: plainly(answer_row(subject, material)) for subject in subjects(material)}


def shown(material: Material) -> dict[str, Any]:
    return contents(material, subjects(material))


@pytest.fixture
def rows(material: Material) -> dict[str, Any]:
    return rows_of(material)


@pytest.fixture
def changed(material: Material) -> Changed:
    """The material with the answer of its first workload changed."""

    def changed(**changes: Any) -> Material:
        assert material.recommendation is not None
        first, *others = material.recommendation.workloads
        answers = (replace(first, **changes), *others)
        return replace(material, recommendation=replace(material.recommendation, workloads=answers))

    return changed


def first_screen(material: Material) -> str:
    """The section as HTML, without the explanations of its badges."""
    page = render(material)
    section = page[page.index('<section id="verdict"') :].partition("</section>")[0]
    return re.sub(r'<span class="badge-says".*?</span>', "", section)


def test_a_row_says_all_that_decides(rows: dict[str, Any]) -> None:
    """Spec, machine, throughput with interval, what binds, cost an hour and per million, and how sure."""
    found = rows["train-resnet50-p100"]
    assert found.spec == ("2 vCPUs", "1 x emulated P100", "1 GiB", "disk medium", "batch 32")
    assert found.machine is not None
    assert found.machine.name == "AWS c7i.large"
    assert found.machine.shape.replace("\u00a0", " ") == "2 vCPUs · 4 GiB"
    assert found.rate is not None
    assert (found.rate.value, found.rate.interval) == ("214 images/s", "±3.3 %")
    assert found.bound_by is not None
    assert found.bound_by.text == "emulated P100"
    assert found.cost is not None
    assert found.cost.hour == "$0.0893 an hour"
    assert found.cost.million == "$0.113 a million images"
    assert found.cost.day.startswith("on demand, 2026-07-20")
    assert (found.status.word, found.status.symbol, found.how_sure) == (
        "recommended",
        "✓",
        "very likely (0.97) to reach the target",
    )
    assert found.sentence == ""
    assert (found.doubt, found.settle, found.command) == ("", "", "")


def test_what_is_emulated_embedded_or_predicted_has_a_badge(rows: dict[str, Any], material: Material) -> None:
    """In the row that it is true of; what is true of all rows is said once."""
    found = rows["train-resnet50-p100"]
    assert found.spec_badge is not None
    assert found.spec_badge.word == "emulated"
    assert found.rate is not None
    assert found.rate.badge is not None
    assert found.rate.badge.word == "predicted"
    stated = shown(material)
    assert stated["embedded"].word == "embedded data"
    assert not any(row["data_badge"] for row in stated["rows"])
    own = tuple(replace(run, data_set=None) for run in material.runs if run.spec.workload.name == "lstm-small")
    others = tuple(run for run in material.runs if run.spec.workload.name != "lstm-small")
    stated = shown(replace(material, runs=(*others, *own)))
    assert stated["embedded"] is None
    assert sum(row["data_badge"] is not None for row in stated["rows"]) == 3


def test_at_least_says_what_would_settle_it(rows: dict[str, Any]) -> None:
    """A rate that still rises is a lower bound, with the run that would settle it; sure is that less is too little."""
    found = rows["infer-squeezenet"]
    assert (found.status.word, found.status.symbol, found.how_sure) == (
        "at least",
        "≥",
        "very likely (0.91) that fewer vCPUs or less memory is too little",
    )
    assert found.doubt == "The rate still rises at 2 vCPUs, the most measured: twice as much should gain 99 %."
    assert found.settle.endswith(" at 4 vCPUs, on a larger host than the one that measured, which has 2 vCPUs.")


def test_no_answer_says_what_is_missing_and_the_run_that_would_help(rows: dict[str, Any]) -> None:
    """`refused` is an outcome of runs, so the word is another one."""
    found = rows["lstm-small"]
    assert (found.kind, found.status.word, found.status.symbol) == ("refused", "no answer", "?")
    assert (found.spec, found.machine, found.rate, found.cost) == ((), None, None, None)
    assert found.no_machine == "no machine yet"
    assert found.settle.endswith(" at 0.5, 1 and 2 vCPUs.")


def test_what_one_command_settles_is_given_as_that_command(changed: Changed) -> None:
    """As one types it in the folder that the study is in."""
    outcomes = reason(ReasonCode.NO_RUN_COMPLETED, outcomes=("crashed",), counts=(2.0,))
    failed = changed(
        status="refused", spec=None, throughput=None, reasons=(outcomes,), next_run=Suggestion(Action.RETRY)
    )
    (row, *_) = rows_of(replace(failed, folder="my-study")).values()
    assert row.doubt == "Not enough data: no run of train-resnet50-p100 completed (2 crashed)."
    assert row.command == "sizer resume my-study --retry"
    assert "<code>sizer resume my-study --retry</code>" in first_screen(replace(failed, folder="my-study"))
    (row, *_) = rows_of(failed).values()
    assert row.command == "", "no folder is known"


def test_the_bar_has_a_tick_for_each_candidate(material: Material, rows: dict[str, Any]) -> None:
    """Measured configurations; a spec that no run had has no filled bar."""
    found = rows["train-resnet50-p100"]
    assert found.rate is not None
    assert found.rate.bar is not None
    assert found.rate.bar.count("candidate") == 6
    assert "small-frame" in found.rate.bar
    assert "small-bar" not in found.rate.bar
    assert "2 vCPUs · 4 GiB · disk fast (emulated) · batch 32: " in found.rate.bar
    assert material.recommendation is not None
    fast = replace(material.recommendation.workloads[0], spec=Spec(2.0, 4 * GIB, "fast", 32))
    (row, *_) = rows_of(replace(material, recommendation=Recommendation(material.study.objective, (fast,)))).values()
    assert row.rate is not None
    assert row.rate.badge is None
    assert "small-bar" in (row.rate.bar or "")


def test_machines_that_were_compared_keep_the_tables_prices(changed: Changed) -> None:
    """The price that decided, and not that of a cheaper offer of the catalogue; they are measured, not modelled."""
    spec, rate = Spec(4.0, gpu="T4", gpu_count=1), Estimate(100.0, 95.0, 105.0)
    own = Alternative(spec, rate, None, 4.1, 11.4)
    other = Alternative(Spec(8.0, gpu="V100", gpu_count=1), Estimate(150.0, 145.0, 155.0), None, 9.0, 16.7)
    (row, *_) = rows_of(changed(spec=spec, throughput=rate, alternatives=(own, other))).values()
    assert row.cost is not None
    assert (row.cost.hour, row.cost.million) == ("$4.10 an hour", "$11.40 a million images")
    assert row.cost.day == "price of the imported table"
    assert row.machine is None
    assert row.rate is not None
    assert row.rate.badge is None
    assert "interval" in (row.rate.bar or "")
    named = replace(own, instance_type="aws c7i.large", usd_per_hour=0.0893)
    (row, *_) = rows_of(changed(spec=spec, throughput=rate, alternatives=(named, other))).values()
    assert row.machine is not None
    assert row.machine.name == "AWS c7i.large"
    assert row.cost is not None
    assert row.cost.day.startswith("on demand, 2026-07-20")
    unknown = replace(own, usd_per_hour=None, usd_per_million_samples=None)
    (row, *_) = rows_of(changed(spec=spec, throughput=rate, alternatives=(unknown, other))).values()
    assert row.cost is not None
    assert row.cost.hour == "price unknown"


def test_relative_rates_have_no_cost_of_samples(changed: Changed, material: Material) -> None:
    """Nothing is known of samples a second."""
    assert material.recommendation is not None
    (first, *_) = material.recommendation.workloads[0].instances
    offers = (replace(first, usd_per_million_samples=None),)
    found = changed(sample_unit=RELATIVE, throughput=Estimate(1.9, 1.8, 2.0), instances=offers)
    runs = tuple(replace(run, sample_unit=RELATIVE) for run in found.runs)
    (row, *_) = rows_of(replace(found, runs=runs)).values()
    assert row.rate is not None
    assert row.rate.value == "1.90 times the reference"
    assert row.cost is not None
    assert row.cost.million == ""


def test_a_machine_larger_than_the_spec_says_why(changed: Changed) -> None:
    """The smallest that is sold, or the cheapest of them."""
    (row, *_) = rows_of(changed(spec=Spec(1.0, GIB, "medium", 32))).values()
    assert row.machine is not None
    assert row.machine.badge is not None
    assert row.machine.badge.word == "smallest sold"


def test_a_price_that_is_not_known_is_never_zero(changed: Changed, material: Material) -> None:
    """It says so, and an answer that nothing sold holds says that."""
    assert material.recommendation is not None
    unknown = material.recommendation.workloads[0].instances[-1]
    (row, *_) = rows_of(changed(instances=(unknown,))).values()
    assert row.cost is not None
    assert (row.cost.hour, row.cost.million, row.cost.day) == ("price unknown", "", "")
    assert "No instance type of the catalogue holds this." in first_screen(changed(instances=()))


def test_an_unfinished_study_says_what_is_missing(material: Material) -> None:
    """How many runs are there, in all and of each workload, and the command that goes on; no answer looks sure."""
    names = [subject.name for subject in subjects(material)]
    progress = Progress(dict.fromkeys(names, 14), {names[0]: 9, names[1]: 14})
    unfinished = replace(material, progress=progress, folder="my-study")
    stated = shown(unfinished)
    assert stated["missing"] == "Not finished: 23 of 56 runs done. To go on:"
    assert stated["resume"] == "sizer resume my-study"
    first, second, *_ = map(plainly, stated["rows"])
    assert (first.status.word, first.how_sure, first.doubt) == (
        "provisional",
        "runs are missing",
        "9 of 14 runs done.",
    )
    assert second.status.word == "at least"
    assert "<code>sizer resume my-study</code>" in first_screen(unfinished)
    none = replace(unfinished, runs=(), recommendation=None, model=None, progress=replace(progress, finished={}))
    assert shown(none)["missing"] == "Not finished: 0 of 56 runs done. To go on:"
    assert "No recommendation has been computed" not in first_screen(none)
    assert first_screen(none).count("0 of 14 runs done.") == 4
    done = replace(unfinished, progress=replace(progress, finished=progress.planned))
    assert shown(done)["missing"] == ""


def test_an_adaptive_study_says_what_it_would_measure_next_or_how_it_ended(material: Material) -> None:
    """Nobody knows how many runs it will take, so none is called missing; the run that comes next is named, and why."""
    names = [subject.name for subject in subjects(material)]
    made = dict.fromkeys(names, 4)
    why = RunReason(RunReasonKind.BETWEEN_VCPUS, {"low": 2.0, "high": 8.0})
    cut_short = Progress(made, made, {}, NextRun(material.runs[0].spec, why))
    unfinished = replace(material, progress=cut_short, folder="my-study")
    stated = shown(unfinished)
    assert stated["missing"].startswith("Not finished: runs are chosen one after another, and the next is ")
    assert stated["missing"].endswith(": between 2 and 8 vCPUs the answer is open. To go on:")
    assert stated["resume"] == "sizer resume my-study"
    assert "4 of 4" not in first_screen(unfinished)
    end = PlanEnd(PlanEndKind.BUDGET, tuple(names[1:]), (names[0],), 16, 600.0)
    ended = shown(replace(material, progress=replace(cut_short, chosen=end), folder="my-study"))
    assert ended["missing"] == ""
    said = next(
        note for note in ended["notes"] if note.startswith("Its runs were chosen one after another: the budget")
    )
    assert said.endswith(f"still open: `{names[0]}`.")
    bounded = replace(end, then=NextRun(material.runs[0].spec, why), enough=900.0)
    ended = shown(replace(material, progress=replace(cut_short, chosen=bounded), folder="my-study"))
    assert ended["missing"].startswith("Its runs were chosen one after another: the budget")
    assert ended["missing"].endswith(": between 2 and 8 vCPUs the answer is open. To go on:")
    assert ended["resume"] == "sizer run my-study/study.yaml --out my-study --budget 15m"
    assert not any(note.startswith("Its runs were chosen") for note in ended["notes"])


def test_a_search_that_is_not_finished_is_no_search_that_found_nothing(material: Material) -> None:
    """What it found so far, which bound has no room for its next run, and the command that goes on."""
    names = [subject.name for subject in subjects(material)]
    made = dict.fromkeys(names, 4)
    study = replace(study_of(memory_floor=True), adaptive=Adaptive(runs=0))
    left = unfinished(following_runs(study, HOST), [], study)
    progress = Progress(made, made, searching=left)
    stated = shown(replace(material, progress=progress, folder="my-study"))
    assert stated["missing"] == (
        "Not finished: `job`: the memory floor is not known; the search is not finished; as many runs are made as were "
        "allowed. To go on:"
    )
    assert stated["resume"] == "sizer run my-study/study.yaml --out my-study --runs 4"


def test_runs_of_an_older_form_of_the_study_are_counted_apart(material: Material) -> None:
    """They are in the figures, so "0 of 14 runs" alone beside a rate would be no truth."""
    names = [subject.name for subject in subjects(material)]
    progress = Progress(dict.fromkeys(names, 14), {}, {names[0]: 21, names[1]: 1})
    changed = replace(material, progress=progress, folder="my-study")
    stated = shown(changed)
    assert stated["missing"] == (
        "Stored of an older form of the study file: 22 runs; the figures are by them, too. "
        "Not finished: 0 of 56 runs done. To go on:"
    )
    first, second, third, *_ = map(plainly, stated["rows"])
    assert first.doubt == (
        "0 of 14 runs done. Stored of an older form of the study file: 21 runs; the figures are by them, too."
    )
    assert second.doubt.endswith("Stored of an older form of the study file: 1 run; the figures are by them, too.")
    assert third.doubt == "0 of 14 runs done."
    done = replace(changed, progress=replace(progress, finished=progress.planned))
    assert "Stored of an older form of the study file: 22 runs" in first_screen(done)


def test_without_a_recommendation_the_page_says_how_to_get_one(material: Material) -> None:
    """With the folder, where it is known."""
    text = first_screen(replace(material, recommendation=None, folder="my-study"))
    assert "No recommendation has been computed" in text
    assert "<code>sizer recommend my-study</code>" in text


def test_what_is_known_of_the_whole_study_stands_above_the_rows(material: Material) -> None:
    """What was asked, when and in how many runs, and whether the host drifted."""
    text = first_screen(replace(material, drift=Spread(12, 180.0, 220.0, "image")))
    assert "The cheapest spec that keeps 95 % of the best throughput. 2026-11-21. 56 runs: 53 completed" in text
    assert ">drifting<" in text
    assert "The host drifted: " in text
    assert "A quiet host, or more repeats" in text
    quiet = replace(material, runs=tuple(replace(run, warnings=()) for run in material.runs))
    assert "A quiet host" not in first_screen(quiet)


def test_every_bottleneck_has_its_swatch(changed: Changed) -> None:
    """The colour and the hatching that the charts give it."""
    for bottleneck in Bottleneck:
        (row, *_) = rows_of(changed(bottleneck=bottleneck)).values()
        assert row.bound_by is not None
        assert row.bound_by.kind.startswith("hue-")


def test_twelve_workloads_have_twelve_rows(material: Material) -> None:
    """Each once."""
    assert material.recommendation is not None
    plan, answer = material.study.workloads[0], material.recommendation.workloads[0]
    names = [f"train-{number}" for number in range(12)]
    plans = tuple(replace(plan, workload=replace(plan.workload, name=name)) for name in names)
    answers = tuple(replace(answer, workload=name) for name in names)
    many = replace(
        material,
        study=replace(material.study, workloads=plans),
        runs=(),
        model=None,
        recommendation=Recommendation(material.study.objective, answers),
    )
    assert first_screen(many).count('<th scope="rowgroup"') == 12


def test_a_study_in_which_every_run_failed_has_rows(material: Material) -> None:
    """Rows without figures, and no bar."""
    runs = tuple(replace(run, outcome=Outcome.CRASHED, throughput=None) for run in material.runs)
    answers = tuple(
        Answer(plan.workload.name, "refused", reasons=(reason(ReasonCode.NOT_FITTED),))
        for plan in material.study.workloads
    )
    failed = replace(material, runs=runs, recommendation=Recommendation(material.study.objective, answers))
    assert all(row.rate is None for row in rows_of(failed).values())
    assert "<svg" not in first_screen(failed)


def test_a_run_that_is_told_by_more_than_its_vcpus_is_named_whole() -> None:
    """Its memory is as much what to measure as its vCPUs, new or again."""
    advice = Suggestion(Action.MEASURE, vcpus=(1.0,), memory_bytes=2 * GIB)
    answer = Answer("job", "refused", next_run=advice)
    assert next_run_sentences(answer, Terms("job"), alone=True) == "Measure job with 1 vCPU, 2 GiB."
    again = replace(answer, next_run=replace(advice, action=Action.REPEAT))
    assert next_run_sentences(again, Terms("job"), alone=True) == "Repeat job with 1 vCPU, 2 GiB."
