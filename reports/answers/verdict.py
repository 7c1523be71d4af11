"""The first screen: the answer for each workload in a row, and what must be known of the whole study. Where a table of
frameworks is what the study is about, the rows are a section below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sizer.adaptive.chosen import NextRun, PlanEnd
from sizer.model.isolation import as_asked
from sizer.model.observations import beside_others
from sizer.records.run_kinds import Outcome
from sizer.words.language import _
from sizer.words.notes import note_in_words
from sizer.words.page import cross_answer, table_comes_first
from sizer.words.planning import chosen_runs, going_on_with, plan_goes_on, unfinished_said
from sizer.words.runs import host_lines
from sizer.words.verdict import (
    BadgeKind,
    badge,
    family_sentence,
    measured_on,
    objective_in_words,
    progress_sentence,
    runs_of_older_form,
    shared_sentences,
    spread_assumed,
)

from ..charts import legend
from ..doubts import failures
from ..material import Material
from ..subject import Subject
from .answer_row import AnswerRow, answer_row

MOST_NOTES = 2
"""Notes of the study above a table of frameworks; an imported table may have a dozen."""


def contents(material: Material, found: Sequence[Subject]) -> dict[str, Any]:
    """What is answered first of all, and what must be known of the whole study."""
    runs = [run for subject in found for run in subject.runs]  # workloads in the study's order, wherever they are named
    embedded = bool(found) and all(subject.embedded for subject in found)
    table = material.recommendation.cross_table if material.recommendation is not None else None
    notes, more_notes = _notes(material, found)
    return {
        "objective": _objective(material),
        "measured": measured_on([run.started_at for run in runs]),
        "tally": failures.tally(runs),
        "warned_count": sum(bool(run.warnings) for run in as_asked(runs)),
        "embedded": badge(BadgeKind.EMBEDDED_DATA) if embedded else None,
        "drifting": badge(BadgeKind.DRIFTING) if material.drift is not None else None,
        "has_recommendation": material.recommendation is not None,
        "recommend": f"sizer recommend {material.folder}".strip(),
        **_missing(material),
        "compared": cross_answer(table) if table is not None else "",
        **(_NO_ANSWERS if _table_first(material) else _answers(material, found)),
        "notes": notes,
        "more_notes": more_notes,
    }


def answers(material: Material, found: Sequence[Subject]) -> dict[str, Any] | None:
    """The answer for each of many workloads, below the table of frameworks that the study is about; else None, as they
    are on the first screen."""
    return _answers(material, found) if _table_first(material) else None


def _table_first(material: Material) -> bool:
    return material.recommendation is not None and table_comes_first(material.recommendation, material.study)


def _answers(material: Material, found: Sequence[Subject]) -> dict[str, Any]:
    embedded = bool(found) and all(subject.embedded for subject in found)
    rows = [answer_row(subject, material) for subject in found]
    return {
        "rows": [replace(row, data_badge=None) for row in rows] if embedded else rows,
        "keys": _keys(rows),
        **_for_all(material),
    }


_NO_ANSWERS: Mapping[str, Any] = {"rows": [], "keys": [], "shared": [], "family": ""}


def _keys(rows: Sequence[AnswerRow]) -> list[legend.Key]:
    """What the bars mean, as far as they are on the page."""
    bars = [row.rate for row in rows if row.rate is not None and row.rate.bar is not None]
    predicted = [rate.badge is not None and rate.badge.kind == BadgeKind.PREDICTED.value for rate in bars]
    found = [legend.small_bar(_("rate, with the 90 % interval for a new run"))] if not all(predicted) else []
    found += [legend.small_bar(_("predicted rate, with its interval"), predicted=True)] if any(predicted) else []
    return [*found, legend.candidate(_("each that was measured"))] if bars else []


def _objective(material: Material) -> str:
    """What was asked for."""
    recommendation = material.recommendation
    if recommendation is None:
        return objective_in_words(material.study.objective)
    answers = recommendation.workloads
    accelerators = any(each.spec.gpu or each.spec.gpu_count for answer in answers for each in answer.alternatives)
    compared = bool(answers) and all(answer.alternatives for answer in answers)
    return objective_in_words(recommendation.objective, compared, accelerators)


def _missing(material: Material) -> dict[str, str]:
    """What is missing of the study, and the command that goes on with it; empty where nothing is."""
    progress = material.progress
    if progress is None or progress.is_complete:
        return {"missing": "", "resume": ""}
    resume = f"sizer resume {material.folder}"
    if isinstance(progress.chosen, NextRun):
        return {"missing": plan_goes_on(progress.chosen, material.study.emulated_disks), "resume": resume}
    ended = progress.chosen
    if progress.searching:
        said = unfinished_said(progress.searching, material.runs)
        return {"missing": said, "resume": going_on_with(progress.searching, material.folder, ended)}
    if ended is not None and ended.then is not None:
        said = chosen_runs(ended, material.study.emulated_disks, to_go_on=True)
        return {"missing": said, "resume": going_on_with((), material.folder, ended)}
    counts = sum(progress.finished.values()), sum(progress.planned.values()), sum(progress.older.values())
    return {"missing": progress_sentence(*counts), "resume": resume}


def _for_all(material: Material) -> dict[str, Any]:
    """One machine, and one family, for all workloads; empty where fewer than two have an answer."""
    recommendation = material.recommendation
    answered = [each for each in recommendation.workloads if each.spec is not None] if recommendation else []
    if recommendation is None or len(answered) < 2:
        return {"shared": [], "family": ""}
    return {"shared": shared_sentences(recommendation), "family": family_sentence(recommendation.family)}


def _notes(material: Material, found: Sequence[Subject]) -> tuple[list[str], list[str]]:
    """What must be known of the whole study, and what of it is folded away where the first screen has a table."""
    completed = [run for run in material.runs if run.outcome is Outcome.COMPLETED]
    host = host_lines(material.drift, sum(map(beside_others, completed)), len(completed))
    progress = material.progress
    older = sum(progress.older.values()) if progress is not None and progress.is_complete else 0
    changed = [runs_of_older_form(older)] if older else []
    assumed = [spread_assumed()] if material.study.imported and all(map(_is_bare, found)) else []
    told = [*map(note_in_words, material.notes), *assumed]
    kept = MOST_NOTES if _table_first(material) else len(told)
    return [*told[:kept], *_ended(material), *changed, *host], told[kept:]


def _ended(material: Material) -> list[str]:
    """How an adaptive plan ended, where that is not said with the command that goes on with it."""
    progress = material.progress
    if progress is None or not isinstance(progress.chosen, PlanEnd):
        return []
    if progress.chosen.then is not None and not progress.searching:
        return []
    return [chosen_runs(progress.chosen, material.study.emulated_disks)]


def _is_bare(subject: Subject) -> bool:
    """Whether its rates are single numbers: no interval, and no configuration a second time."""
    runs = subject.of_the_job
    once = len({run.configuration for run in runs}) == len(runs) > 0
    return once and not any(run.throughput is not None and run.throughput.low != run.throughput.high for run in runs)
