"""The table of what each number of accelerators makes of a workload, and what follows from it."""

from __future__ import annotations

from typing import Any

from sizer.records.answer import AcceleratorCount
from sizer.words.accelerators import (
    accelerator_counts_note,
    accelerator_counts_sentences,
    count_name,
    disk_asked,
    efficiency_in_words,
    fed_in_words,
    side_by_side_in_words,
    speed_up_in_words,
)
from sizer.words.language import rate_interval

from ..subject import Subject


def rows(subject: Subject) -> dict[str, Any]:
    """A row for each number, what they say together, and under what conditions; no rows where one was measured, but
    sentences where more were asked for."""
    counts = subject.answer.accelerator_counts if subject.answer is not None else ()
    if subject.answer is None:
        return {"rows": [], "sentences": [], "note": ""}
    return {
        "rows": [_row(each, subject) for each in counts],
        "sentences": accelerator_counts_sentences(subject.answer, subject.terms),
        "note": accelerator_counts_note(counts) if counts else "",
    }


def _row(each: AcceleratorCount, subject: Subject) -> dict[str, str]:
    return {
        "name": count_name(each, subject.terms),
        "throughput": rate_interval(each.throughput, subject.unit),
        "speed_up": speed_up_in_words(each),
        "efficiency": efficiency_in_words(each),
        "fed": fed_in_words(each),
        "disk": disk_asked(each),
        "jobs": side_by_side_in_words(each, subject.terms),
    }
