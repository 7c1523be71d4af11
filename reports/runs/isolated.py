"""The runs that isolate one stage of a workload, as what they are: they show no rate of the workload as asked for."""

from __future__ import annotations

from typing import Any

from sizer.model.coordinates import batch_of, disk_of, vcpus_of
from sizer.records.run import Run
from sizer.records.run_kinds import ISOLATED_STAGES, Outcome
from sizer.records.units import format_number
from sizer.words.language import _, percent, rate_interval, row
from sizer.words.names import outcome_in_words
from sizer.words.page import configuration_line
from sizer.words.runs import remark_in_words, stage_learnt, stage_shown, stage_title
from sizer.words.warnings import warning_names

from .. import results
from ..doubts import failures
from ..subject import Subject


def rows(subject: Subject) -> list[dict[str, Any]]:
    """The configuration of each such run, its rate, and what it shows; by stage, and smallest first."""
    runs = [run for run in subject.runs if run.spec.stage is not None]
    return [_row(run, subject) for run in sorted(runs, key=_order)]


def remark(run: Run) -> str:
    """`isolating the disk`; nothing of a run of the workload as asked for."""
    return remark_in_words(run.spec)


def _row(run: Run, subject: Subject) -> dict[str, Any]:
    stage = run.spec.stage
    assert stage is not None, "rows() lets only such runs through"
    return {
        "stage": stage_title(stage),
        "where": configuration_line(run.configuration, subject.study),
        "rate": _rate(run),
        "warned": row(warning_names(run)),
        "tells": _found(run, stage),
        "how": stage_shown(stage),
    }


def _rate(run: Run) -> str:
    if run.throughput is None or not results.measured(run):
        return outcome_in_words(run.outcome)
    return rate_interval(run.throughput, run.sample_unit)


def _found(run: Run, stage: str) -> str:
    """What the stage gives, and the figure that the rate does not show."""
    if run.outcome is not Outcome.COMPLETED:
        return failures.line(run)
    used, learnt, figures = run.demand, stage_learnt(stage), ""
    if stage == "disk" and used is not None and used.read_bytes is not None and run.throughput is not None:
        figures = f"{format_number(run.throughput.value * used.read_bytes / 1e6)} MB/s"
        if used.read_ios is not None:
            reads = format_number(run.throughput.value * used.read_ios)
            figures = _("{speed} and {iops} IOPS of reads", speed=figures, iops=reads)
    if stage == "cache" and run.hit_rate is not None:
        figures = percent(run.hit_rate)
    return _("{name}: {sentence}", name=learnt, sentence=figures) if figures else learnt


def _order(run: Run) -> tuple[int, float, str, int]:
    configuration = run.configuration
    return (
        tuple(ISOLATED_STAGES.values()).index(run.spec.stage or ""),
        vcpus_of(configuration),
        disk_of(configuration),
        batch_of(configuration),
    )
