"""Every run as one line that opens to its evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sizer.bundled.reports.runs import all_runs
from sizer.bundled.reports.subject import Material, subjects
from sizer.records.run import Cause, CauseKind, Failure, Outcome, Run, RunWarning, WarningKind

CONTENDED = RunWarning(WarningKind.CONTENDED, {"cores": 0.3})
SHORT = RunWarning(WarningKind.SHORT, {"seconds": 4.0})


def line(material: Material, run: Run) -> dict[str, Any]:
    """The line of that run in a study of its own."""
    alone = replace(material, runs=(run,))
    (group,) = all_runs.contents(alone, subjects(alone))["runs"]
    (found,) = group["runs"]
    return dict(found)


def test_a_line_tells_the_essentials(material: Material) -> None:
    """Its configuration, the rate with its interval, the bottleneck with its reason, and the kinds of its warnings."""
    run = replace(material.runs[0], warnings=(CONTENDED, RunWarning(WarningKind.CONTENDED, {"cores": 0.7}), SHORT))
    found = line(material, run)
    place = [found[name] for name in ("vcpus", "memory", "disk", "batch", "repeat")]
    assert place == ["0.5 vCPU", "4 GiB", "fast (emulated)", "batch 32", "repeat 1"]
    assert "images/s (" in found["rate"]
    assert (found["bound"], found["why"]) == ("CPU", "the vCPUs 100 % busy")
    assert found["warned"] == "contended, short"
    assert found["state"] == ""


def test_every_warning_stands_in_full_words_with_its_run(material: Material) -> None:
    """What the line shortens, the card says."""
    run = replace(material.runs[0], warnings=(CONTENDED, SHORT))
    assert line(material, run)["warnings"] == [
        "Contended: something else on this host used 0.30 cores meanwhile.",
        "Short: stopped at the deadline after 4 s of steady state.",
    ]


def test_a_run_that_failed_shows_the_end_of_its_error(material: Material) -> None:
    """Its line gives the reason with the last line of the log, its card the last five, all that an error holds."""
    last_words = "\n".join(f"line {number}" for number in range(20))
    run = replace(
        material.runs[0],
        outcome=Outcome.CRASHED,
        error=Failure(Cause(CauseKind.EXIT_STATUS, {"status": 1}), last_lines=last_words),
        throughput=None,
    )
    found = line(material, run)
    assert (found["outcome"], found["rate"], found["bound"], found["why"]) == (
        "crashed",
        "",
        "",
        "the workload ended with exit status 1; its last words: line 19",
    )
    assert found["last_words"] == "line 15\nline 16\nline 17\nline 18\nline 19"


def test_a_run_that_was_read_otherwise_says_so(material: Material) -> None:
    """Runs that isolate a stage are not taken for the workload as asked for."""
    run = material.runs[0]
    workload = replace(run.spec.workload, input="cached")
    assert line(material, replace(run, spec=replace(run.spec, workload=workload)))["state"] == "input cached"


def test_the_smallest_configuration_comes_first(material: Material) -> None:
    """Runs are ordered by vCPUs, memory, disk and repeat, whatever order they were made in."""
    groups = all_runs.contents(material, subjects(replace(material, runs=material.runs[::-1])))["runs"]
    assert [each["id"] for each in groups[0]["runs"]] == [
        each["id"] for each in all_runs.contents(material, subjects(material))["runs"][0]["runs"]
    ]
    assert groups[0]["runs"][0]["vcpus"] == "0.5 vCPU"


def test_numbers_of_accelerators_stand_in_order(material: Material) -> None:
    """Of the same vCPUs the fewest first, in a column that is wide enough for their names."""
    first = material.runs[0]
    counted = [
        replace(
            first,
            spec=replace(first.spec, gpu_count=count),
            configuration=replace(first.configuration, gpu_count=count),
        )
        for count in (4, 1, 2)
    ]
    alone = replace(material, runs=tuple(counted))
    (group,) = all_runs.contents(alone, subjects(alone))["runs"]
    assert group["counted"]
    assert [each["vcpus"] for each in group["runs"]] == [
        "0.5 vCPU, 1 accelerator",
        "0.5 vCPU, 2 accelerators",
        "0.5 vCPU, 4 accelerators",
    ]
    plain = replace(material, runs=(first,))
    assert not all_runs.contents(plain, subjects(plain))["runs"][0]["counted"]
