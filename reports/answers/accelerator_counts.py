"""The table of what each number of accelerators makes of a workload, and what follows from it."""

from __future__ import annotations

from typing import Any

from sizer import words
from sizer.records import AcceleratorCount

from ..subject import Subject


def rows(subject: Subject) -> dict[str, Any]:
    """A row for each number, what they say together, and under what conditions; no rows where one was measured, but
    sentences where more were asked for."""
    counts = subject.answer.accelerator_counts if subject.answer is not None else ()
    if subject.answer is None:
        return {"rows": [], "sentences": [], "note": ""}
    return {
        "rows": [_row(each, subject) for each in counts],
        "sentences": words.accelerator_counts_sentences(subject.answer, subject.terms),
        "note": words.accelerator_counts_note(counts) if counts else "",
    }


def _row(each: AcceleratorCount, subject: Subject) -> dict[str, str]:
    return {
        "name": words.count_name(each, subject.terms),
        "throughput": words.rate_interval(each.throughput, subject.unit),
        "speed_up": words.speed_up_in_words(each),
        "efficiency": words.efficiency_in_words(each),
        "fed": words.fed_in_words(each),
        "disk": words.disk_asked(each),
        "jobs": words.side_by_side_in_words(each, subject.terms),
    }
