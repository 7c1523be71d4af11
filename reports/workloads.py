"""What was found for one workload, as plain dicts: charts, what binds each configuration, model and rejected specs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from sizer.model.runs import as_asked
from sizer.recommend.rule import SURE
from sizer.records.answer import AcceleratorCount, Alternative, Answer, Option, Rejection
from sizer.records.kinds import PREPROCESSING
from sizer.records.units import RELATIVE, format_seconds
from sizer.words import accelerators, answers, language
from sizer.words.language import _
from sizer.words.names import accelerators_in_words, price_an_hour, resource_name
from sizer.words.page import memory_size, resources_agreed, runs_and_warned, spec_line, study_disk
from sizer.words.reasons.phrasing import reason_sentences
from sizer.words.verdict import Badge, next_run_sentences, next_run_title, page_reasons

from . import doubts, markup, results
from .figures import disks
from .figures.workload import figures, machine_rows
from .runs import all_runs
from .subject import Material, Subject, described

IMAGENET_IMAGES = 1_281_167
"""Training images of ILSVRC 2012, the ImageNet of the literature (Russakovsky et al. 2015, table 2)."""


def contents(_material: Material, of_study: Sequence[Subject]) -> dict[str, Any]:
    """A part of the page for each workload; what a note says of several stands at the first."""
    sections = [workload(subject) for subject in of_study]
    notes = [section["machines_note"] for section in sections]
    for number, section in enumerate(sections):
        section["machines_note"] = "" if notes[number] in notes[:number] else notes[number]
    return {"sections": sections}


def workload(subject: Subject) -> dict[str, Any]:
    """All that the workload's section shows; every value is text, a number for a bar, or finished SVG.

    Runs of a search for the memory floor show no rate, and runs that isolate a stage not that of the workload, so none
    of it draws or counts them; the latter have a table of their own.
    """
    what, isolated, asked = described(subject), all_runs.isolated_rows(subject), as_asked(subject.runs)
    subject = replace(subject, runs=tuple(asked))
    measured = results.by_configuration(subject.runs)
    pictures = figures(subject)
    machines, more_machines = machine_rows(subject)
    compared = subject.answer.alternatives if subject.answer is not None else ()
    of_disks = any(alternative.disk_usd_per_hour for alternative in compared)
    priced = any(machine.usd_per_hour is not None for machine in compared)
    rows = _rows(measured, subject)
    return {
        "name": subject.name,
        "status": subject.status,
        "what": what,
        "unit": language.several_of(subject.unit) if subject.unit != RELATIVE else "",
        "figures": pictures,
        "machines": machines,
        "more_machines": more_machines,
        "million": answers.million_heading(subject.unit, of_disks),
        "machines_note": answers.machines_note(subject.unit, priced, of_disks) if compared else "",
        "rows": rows if _says_more(rows, measured, compared) else [],
        "accounted": any(row["busy"] or any(row["bottleneck"]) for row in rows),
        "has_latency": any(row["p50"] for row in rows),
        "isolated": isolated,
        "disk_question": answers.disk_question(),
        "disk_answer": "" if any(picture.answer for picture in pictures) else disks.disk_answer(subject),
        **reasoning(subject),
        "counts": count_rows(subject),
        "options": options(subject),
        **rejected(subject),
        "none_completed": not measured,
    }


def _says_more(
    rows: Sequence[dict[str, Any]], measured: Sequence[results.Result], compared: Sequence[Alternative]
) -> bool:
    """Whether the table of configurations has what that of machines has not: of a bare table both are the same."""
    has_more = any(row["p50"] or row["busy"] or row["repeated"] for row in rows)
    return bool(has_more) or len(compared) < len(measured)


def _rows(measured: Sequence[results.Result], subject: Subject) -> list[dict[str, Any]]:
    """Each configuration: what it had, what it gave, and what bound it."""
    rows = [_row(result, subject) for result in measured]
    if any(row["accelerators"] for row in rows):
        rows = [{**row, "accelerators": row["accelerators"] or _("none")} for row in rows]
    return rows


def _row(result: results.Result, subject: Subject) -> dict[str, Any]:
    place, runs, chosen = result.configuration, result.runs, subject.answer.chosen if subject.answer else None
    evidence = [run.evidence for run in runs if run.evidence is not None]
    bottleneck = (
        resources_agreed([evidence_of_run.bottleneck for evidence_of_run in evidence], subject.device)
        if evidence
        else ""
    )
    machine, warned = answers.machine_rented(result.machine), sum(bool(run.warnings) for run in runs)
    p50, p99 = (results.middle(getattr(run.rate, name) for run in runs) for name in ("latency_p50", "latency_p99"))
    is_answer = subject.is_answer(place) and (not machine or chosen is None or chosen.instance_type == machine)
    state = subject.unusual(result.input, result.cache)
    return {
        "machine": machine,
        "vcpus": f"{place.vcpus:g}" if place.vcpus is not None else "",
        "memory": memory_size(place),
        "disk": study_disk(place.disk, subject.study) if place.disk is not None else "",
        "batch": str(place.batch_size) if place.batch_size is not None else "",
        "accelerators": accelerators_in_words(place),
        "is_answer": is_answer,
        "throughput": (
            language.rate_interval(result.throughput, subject.unit),
            language.row(
                filter(None, (_("the answer") if is_answer else "", runs_and_warned(len(runs), warned), state))
            ),
        ),
        "bottleneck": (bottleneck, all_runs.evidence_agreed(evidence)),
        "busy": all_runs.busy_bars(evidence),
        "p50": language.milliseconds(p50) if p50 is not None else "",
        "p99": language.milliseconds(p99) if p99 is not None else "",
        "repeated": len(runs) > 1 or warned,
    }


MOST_REJECTED = 6
"""Cheaper specs shown at once; the others are folded away."""


def reasoning(subject: Subject) -> dict[str, Any]:
    """Reasons, the figures that belong to them, and what to do next."""
    answer = subject.answer or Answer(subject.name, "refused")
    reasons, more_reasons = page_reasons(answer, subject.terms)
    failed = doubts.failed(subject) if answer.status == "refused" else []
    return {
        "reasons": reasons,
        "more_reasons": more_reasons,
        "facts": list(_facts(answer, subject)),
        "next_run": next_run_sentences(answer, subject.terms),
        "next_run_title": next_run_title(answer),
        "failed_log": doubts.log(failed[0]) if failed and not subject.study.imported else "",
    }


def _facts(answer: Answer, subject: Subject) -> Iterator[tuple[str, object, str]]:
    """Label, value and remark of what lies beside the answer and beyond it."""
    rate = answer.throughput
    if answer.next_bottleneck is not None:
        yield _("Next in line"), resource_name(answer.next_bottleneck, subject.device), ""
    if answer.runner_up is not None:
        yield _("Runner-up"), spec_line(answer.runner_up, subject.study, subject.device), ""
    if answer.beyond is not None:
        label, beyond = answers.beyond_in_words(answer.beyond, subject.terms)
        yield label, Markup("{} {}").format(beyond, markup.badge(Badge.EXTRAPOLATED)), ""
    if rate is not None and rate.low > 0 and not answer.rate_in_doubt and subject.workload.kind == PREPROCESSING:
        times = (format_seconds(IMAGENET_IMAGES / end) for end in (rate.value, rate.high, rate.low))
        read = _("Computed from the measured rate and its interval; ImageNet itself was not read.")
        yield _("ImageNet's 1,281,167 images"), language.with_interval(*times), read


def options(subject: Subject) -> dict[str, Any]:
    """A row for each spec that some preference takes; the sentence where all of them take the same."""
    answer = subject.answer
    if answer is None or answer.rate_in_doubt:
        return {"title": "", "rows": [], "same": ""}
    options = answer.options if len(answer.options) > 1 else ()
    return {
        "title": answers.options_title(priced=any(option.usd_per_hour is not None for option in options)),
        "rows": [_option(option, answer, subject) for option in options],
        "same": answers.one_choice_in_words(answer),
    }


def _option(option: Option, answer: Answer, subject: Subject) -> dict[str, Any]:
    sure = answer.provisional and option.probability >= SURE
    of_machine = not answer.alternatives or option.throughput == answer.throughput
    is_answer = option.spec == answer.spec and of_machine
    return {
        "name": (language.capital(answers.preferences_in_words(option)), _("the answer") if is_answer else ""),
        "spec": spec_line(option.spec, subject.study, subject.device),
        "throughput": language.rate_interval(option.throughput, subject.unit),
        "hour": (price_an_hour(option.usd_per_hour), option.instance_type or ""),
        "million": _("[[{usd:usd}]]", usd=option.usd_per_million_samples),
        "probability": "" if sure else language.chance(option.probability),
        "bound": resource_name(option.bottleneck, subject.device) if option.bottleneck is not None else "",
        "is_answer": is_answer,
    }


def rejected(subject: Subject) -> dict[str, Any]:
    """A row for each cheaper spec: those shown at once, and those folded away."""
    rejections = subject.answer.rejected if subject.answer is not None else ()
    rows = [_rejected(rejection, subject) for rejection in rejections]
    return {
        "rejected_title": answers.rejected_title(
            priced=any(rejection.usd_saved_per_hour is not None for rejection in rejections)
        ),
        "rejected": rows[:MOST_REJECTED],
        "more_rejected": rows[MOST_REJECTED:],
    }


def _rejected(rejection: Rejection, subject: Subject) -> dict[str, Any]:
    return {
        "spec": answers.rejected_spec(rejection, subject.terms),
        "rate": answers.rejected_rate(rejection, subject.terms),
        "saved": answers.rejected_saving(rejection),
        "why": language.paragraph(reason_sentences(rejection.why, subject.terms)),
    }


def count_rows(subject: Subject) -> dict[str, Any]:
    """A row for each number, what they say together, and under what conditions; no rows where one was measured, but
    sentences where more were asked for."""
    counts = subject.answer.accelerator_counts if subject.answer is not None else ()
    if subject.answer is None:
        return {"rows": [], "sentences": [], "note": ""}
    return {
        "rows": [_count_row(count, subject) for count in counts],
        "sentences": accelerators.accelerator_counts_sentences(subject.answer, subject.terms),
        "note": accelerators.accelerator_counts_note(counts) if counts else "",
    }


def _count_row(count: AcceleratorCount, subject: Subject) -> dict[str, str]:
    return {
        "name": accelerators.count_name(count, subject.terms),
        "throughput": language.rate_interval(count.throughput, subject.unit),
        "speed_up": _("{count.speed_up:times_over}", count=count),
        "efficiency": _("{count.efficiency:share}", count=count),
        "fed": accelerators.fed_in_words(count),
        "disk": accelerators.disk_asked(count),
        "jobs": accelerators.side_by_side_in_words(count, subject.terms),
    }
