"""What a study can be judged by."""

from __future__ import annotations

from dataclasses import replace

from sizer.bundled.reports import doubts
from sizer.bundled.reports.markup import coded
from sizer.bundled.reports.page import render
from sizer.bundled.reports.subject import Material, subjects
from sizer.records.run import Estimate, Run, RunWarning, WarningKind
from sizer.records.study import Study


def stated(runs: tuple[Run, ...], study: Study) -> dict[str, tuple[str, str]]:
    """Value and remark by label."""
    return {label: (value, remark) for label, value, remark in doubts.facts(runs, study)}


def some(runs: tuple[Run, ...]) -> tuple[Run, ...]:
    """Three runs of a study: two repeats and another configuration."""
    first, second, other = (replace(run, warnings=()) for run in runs[:3])
    return (
        replace(first, throughput=Estimate(100.0, 99.0, 101.0), other_cores=0.02, overhead=0.002),
        replace(
            second,
            throughput=Estimate(104.0, 101.0, 107.0),
            other_cores=0.5,
            overhead=0.012,
            warnings=(RunWarning(WarningKind.OTHER, text="odd"),),
        ),
        replace(other, throughput=Estimate(200.0, 198.0, 202.0), other_cores=0.03, overhead=0.003),
    )


def test_the_intervals_that_were_reached_are_told(material: Material) -> None:
    """The median half-width, the widest, and how many are as narrow as was asked for."""
    value, remark = stated(some(material.runs), material.study)["Half-width of the 95 % intervals"]
    assert value == "±1.0 %"
    assert "widest ±2.9 %; 2 of 3 within the ±2.0 % asked for" in remark


def test_repeats_tell_what_no_interval_of_a_run_can(material: Material) -> None:
    """How far fresh processes at the same place lie apart."""
    value, remark = stated(some(material.runs), material.study)["Repeats lie apart by"]
    assert value == "4.0 %"
    assert "1 configuration" in remark
    assert "Repeats lie apart by" not in stated(some(material.runs)[1:], material.study)


def test_the_host_and_sizer_itself_are_told_with_their_worst(material: Material) -> None:
    """Median and most of the other load and of sizer's own use."""
    found = stated(some(material.runs), material.study)
    assert found["Other load on the host"] == ("0.03 cores", "median; most 0.50 cores")
    assert found["sizer's own use"] == ("0.3 %", "of the workload's core-seconds, median; most 1.2 %")


def test_what_older_runs_did_not_account_is_left_out(material: Material) -> None:
    """No share of nothing."""
    old = tuple(replace(run, other_cores=None, overhead=None) for run in some(material.runs))
    assert not {"Other load on the host", "sizer's own use"} & stated(old, material.study).keys()
    assert stated((), material.study) == {}


def test_how_to_measure_again_is_said_where_that_helps(material: Material) -> None:
    """On a quieter host, and not of a table that somebody else measured."""
    contended = RunWarning(WarningKind.CONTENDED, {"cores": 0.5})
    for warnings, imported, said in (((contended,), False, True), ((contended,), True, False), ((), False, False)):
        runs = tuple(replace(run, warnings=warnings) for run in material.runs)
        study = replace(material.study, workloads=()) if imported else material.study
        found = replace(material, runs=runs, study=study)
        assert bool(doubts.contents(found, subjects(found))["again"]) is said


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
