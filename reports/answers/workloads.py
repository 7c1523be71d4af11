"""What was found for one workload, as plain dicts: charts, what binds each configuration, model and rejected specs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sizer.model.isolation import as_asked
from sizer.records.answer import Alternative
from sizer.records.run import Run
from sizer.records.units import RELATIVE
from sizer.words.answers import disk_question as disk_question_text
from sizer.words.answers import machine_rented, machines_note, million_heading
from sizer.words.language import _, milliseconds, rate_interval, several_of
from sizer.words.names import accelerators_in_words
from sizer.words.page import memory_size, resources_agreed, runs_and_warned, study_disk

from .. import results
from ..figures import disk_question
from ..figures.machines import machine_rows
from ..figures.workload import figures
from ..material import Material
from ..runs import busy, isolated
from ..runs.columns import with_content
from ..subject import Subject, described
from . import accelerator_counts, choices, preprocessing
from .answer_row import status

COLUMNS = ("machine", "vcpus", "accelerators", "memory", "disk", "batch")
"""What a configuration may say; a table that was imported may lack any of them."""


def contents(_material: Material, sections: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A part of the page for each workload, as `workload` made it; what a note says of several stands at the first."""
    notes = [section["machines_note"] for section in sections]
    for number, section in enumerate(sections):
        section["machines_note"] = "" if notes[number] in notes[:number] else notes[number]
    return {"sections": sections}


def workload(subject: Subject) -> dict[str, Any]:
    """All that the workload's section shows; every value is text, a number for a bar, or finished SVG.

    Runs of a search for the memory floor show no rate, and runs that isolate a stage not that of the workload, so none
    of it draws or counts them; the latter have a table of their own.
    """
    what, alone, asked = described(subject), isolated.rows(subject), as_asked(subject.runs)
    isolating = tuple(run for run in subject.runs if run.spec.stage is not None)
    subject = replace(subject, runs=tuple(asked), isolating=isolating)
    found = results.by_configuration(subject.runs)
    without = _without(subject)
    rows = [_row(result, subject, without) for result in found]
    first = figures(subject)
    machines, more_machines = machine_rows(subject)
    compared = subject.answer.alternatives if subject.answer is not None else ()
    of_disks = any(each.disk_usd_per_hour for each in compared)
    return {
        "name": subject.name,
        "status": status(subject.answer),
        "what": what,
        "unit": several_of(subject.unit) if subject.unit != RELATIVE else "",
        "figures": first,
        "machines": machines,
        "more_machines": more_machines,
        "million": million_heading(subject.unit, of_disks),
        "machines_note": _machines_note(compared, subject.unit, of_disks),
        "rows": rows,
        "columns": with_content(rows, *COLUMNS) or ["vcpus"],
        "preprocessing": preprocessing.times(subject),
        "isolated": alone,
        "disk_question": disk_question_text(),
        "disk_answer": "" if any(each.answer for each in first) else disk_question.disk_answer(subject),
        **choices.reasoning(subject),
        "counts": accelerator_counts.rows(subject),
        "options": choices.options(subject),
        **choices.rejected(subject),
        "none_completed": not found,
    }


def _machines_note(compared: Sequence[Alternative], unit: str, of_disks: bool) -> str:
    """What the table of machines means; empty where there is none."""
    priced = any(each.usd_per_hour is not None for each in compared)
    return machines_note(unit, priced, of_disks) if compared else ""


def _row(result: results.Result, subject: Subject, without: str) -> dict[str, Any]:
    configuration = result.configuration
    evidence = [run.evidence for run in result.runs if run.evidence is not None]
    vcpus, batch, machine = configuration.vcpus, configuration.batch_size, machine_rented(result.machine)
    return {
        "machine": machine,
        "vcpus": f"{vcpus:g}" if vcpus is not None else "",
        "memory": memory_size(configuration),
        "disk": study_disk(configuration.disk, subject.study) if configuration.disk is not None else "",
        "batch": str(batch) if batch is not None else "",
        "accelerators": accelerators_in_words(configuration) or without,
        "state": subject.unusual(result.input, result.cache),
        "is_answer": preprocessing.is_answer(configuration, subject) and _named_alike(machine, subject),
        "runs": runs_and_warned(len(result.runs), sum(bool(run.warnings) for run in result.runs)),
        "throughput": rate_interval(result.throughput, subject.unit),
        "bottleneck": resources_agreed([each.bottleneck for each in evidence], subject.device) if evidence else "",
        "reason": busy.told(evidence),
        "busy": busy.bars(evidence),
        **_latency(result),
    }


def _without(subject: Subject) -> str:
    """What is said of a machine without accelerators where others have some."""
    some = any(accelerators_in_words(run.configuration) for run in subject.runs)
    return _("none") if some else ""


def _named_alike(machine: str, subject: Subject) -> bool:
    """Whether the answer is a machine of that name, where machines have names."""
    chosen = subject.answer.chosen if subject.answer is not None else None
    return not machine or chosen is None or chosen.instance_type == machine


def _latency(result: results.Result) -> dict[str, str]:
    p50, p99 = (results.middle(_latencies(result.runs, name)) for name in ("latency_p50", "latency_p99"))
    return {
        "p50": milliseconds(p50) if p50 is not None else "",
        "p99": milliseconds(p99) if p99 is not None else "",
    }


def _latencies(runs: tuple[Run, ...], name: str) -> list[float | None]:
    return [getattr(run, name) for run in runs]
