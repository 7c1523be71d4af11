"""Whether a study's figures can be trusted."""

from __future__ import annotations

from dataclasses import replace

from sizer.bundled.reports import Material, trust
from sizer.bundled.reports.subject import subjects
from sizer.records.run import Estimate, Run, RunWarning, WarningKind
from sizer.records.study import Study


def stated(runs: tuple[Run, ...], study: Study) -> dict[str, tuple[str, str]]:
    """Value and remark by label."""
    return {label: (value, remark) for label, value, remark in trust.facts(runs, study)}


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
    assert found["Runs with a warning"][0] == "1 of 3"
    assert found["Order of the runs"][0] == "mixed, by seed 1"


def test_what_older_runs_did_not_account_is_left_out(material: Material) -> None:
    """No share of nothing."""
    old = tuple(replace(run, other_cores=None, overhead=None) for run in some(material.runs))
    assert not {"Other load on the host", "sizer's own use"} & stated(old, material.study).keys()
    assert list(stated((), material.study)) == ["Order of the runs"]


def test_the_reference_shows_the_drift_of_the_host(material: Material, reference: tuple[Run, ...]) -> None:
    """The configuration that was measured again, in order of time, with how far its rates lie apart."""
    found = replace(material, runs=(*reversed(reference), *material.runs))
    (shown,) = trust.references(subjects(found), found.study)
    rows = shown["rows"] + shown["more"]
    assert shown["count"] == len(rows) == 14
    assert [row["started"] for row in rows] == sorted(row["started"] for row in rows)
    rates = [run.throughput.value for run in (*reference, *material.runs) if run.throughput and run.spec.workload is
             reference[0].spec.workload and run.configuration == reference[0].configuration]  # fmt: skip
    assert shown["spread"] == f"{(max(rates) / min(rates) - 1) * 100:.1f} %"
    assert rows[-1]["against"].startswith("−")


def test_repeats_alone_are_no_reference(material: Material) -> None:
    """Only what was measured beyond its repeats tells of drift."""
    assert trust.references(subjects(material), material.study) == []
