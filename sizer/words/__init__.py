"""Every sentence that a person reads, made from records, in the language of that person."""

from __future__ import annotations

from sizer.words.floors import floor_in_words
from sizer.words.language import ENGLISH, in_language, languages
from sizer.words.runs import (
    bound_in_words,
    busy_host_in_words,
    cause_in_words,
    disk_in_words,
    evidence_in_words,
    failure_in_words,
    failure_line,
    following_in_words,
    imported_run_in_words,
    outcome_in_words,
    remark_in_words,
    result_in_words,
    run_in_words,
    spread_in_words,
    stage_in_words,
    stage_learnt,
    stage_shown,
    stages_in_words,
    warning_in_words,
    warning_line,
    warning_name,
    warning_names,
)

__all__ = [
    "ENGLISH",
    "bound_in_words",
    "busy_host_in_words",
    "cause_in_words",
    "disk_in_words",
    "evidence_in_words",
    "failure_in_words",
    "failure_line",
    "floor_in_words",
    "following_in_words",
    "imported_run_in_words",
    "in_language",
    "languages",
    "outcome_in_words",
    "remark_in_words",
    "result_in_words",
    "run_in_words",
    "spread_in_words",
    "stage_in_words",
    "stage_learnt",
    "stage_shown",
    "stages_in_words",
    "warning_in_words",
    "warning_line",
    "warning_name",
    "warning_names",
]
