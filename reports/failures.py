"""What did not complete and why, as plain dicts; a kill for memory is explained as the memory floor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sizer import words
from sizer.model import is_search, memory_floor, memory_of, searched_floor
from sizer.records import Outcome, Run, Study, way_of_ending

from . import results
from .material import Material
from .subject import Subject

LAST_WORDS = 1500
"""Characters of a run's last words that are shown; its log has all of them."""


LINE = 160
"""Characters of the last words that a line about a run ends in."""


def contents(material: Material, found: Sequence[Subject]) -> dict[str, Any]:
    """What did not complete, and between which caps the memory floors lie."""
    return {"failures": failures(found, material.study), "memory_floors": memory_floors(found)}


def failures(subjects: Sequence[Subject], study: Study) -> list[dict[str, Any]]:
    """One row for all runs of a workload that ended alike, word for word, with their configurations."""
    alike: dict[tuple[object, ...], list[Run]] = {}
    for run in (run for subject in subjects for run in failed(subject)):
        alike.setdefault((run.spec.workload.name, way_of_ending(run), last_words(run)), []).append(run)
    return [_row(runs, study) for runs in alike.values()]


def failed(subject: Subject) -> list[Run]:
    """The workload's runs that did not complete."""
    return [run for run in subject.runs if run.outcome is not Outcome.COMPLETED]


def memory_floors(subjects: Sequence[Subject]) -> list[str]:
    """A sentence for each workload that was searched or killed: between which two caps its memory floor lies.

    None for one that ran out of an accelerator's memory, in a table that says no other.
    """
    return [_floor(subject) for subject in subjects if any(_was_capped(run) or is_search(run) for run in subject.runs)]


def tally(runs: Sequence[Run]) -> str:
    """How many runs ended in each way, in the order of the outcomes: `17 runs: 15 completed, 2 crashed.`"""
    counts = {outcome: sum(run.outcome is outcome for run in runs) for outcome in Outcome}
    return words.runs_by_outcome({outcome: count for outcome, count in counts.items() if count})


def last_words(run: Run) -> str:
    """The last words of a run that failed, which may be many."""
    return run.error.last_lines.strip() if run.error is not None else ""


def line(run: Run) -> str:
    """Why a run failed, ending in the last line that it printed: `exit status 1; its last words: KeyError: 'x'`."""
    return words.failure_line(run, LINE)


def log(run: Run) -> str:
    """Where the log of a run lies in the study's folder."""
    return f"logs/{run.id}.log"


def _row(runs: Sequence[Run], study: Study) -> dict[str, Any]:
    places = Counter(words.configuration_line(run.configuration, study) for run in runs)
    return {
        "workload": runs[0].spec.workload.name,
        "where": list(places.items()),
        "outcome": words.outcome_in_words(runs[0].outcome),
        "error": words.failure_in_words(runs[0]),
        "ids": [run.id for run in runs],
        "last_words": last_words(runs[0])[-LAST_WORDS:],
        "log": log(runs[0]),
    }


def _was_capped(run: Run) -> bool:
    return run.outcome is Outcome.OUT_OF_MEMORY and run.configuration.memory_bytes is not None


def _floor(subject: Subject) -> str:
    peak = max((run.peak_anonymous_bytes or 0 for run in subject.runs if results.measured(run)), default=0)
    searched = searched_floor(subject.runs)
    if searched is not None:
        return words.searched_floor_sentences(subject.name, searched, peak)
    floor = memory_floor(subject.runs)
    below = floor.out_of_memory_bytes if floor is not None else None
    above = floor.completed_bytes if floor is not None else None
    if below is None:
        below = max(memory_of(run.configuration) for run in subject.runs if _was_capped(run))
    return words.killed_floor_sentences(subject.name, below, above, subject.device.kind == "emulated", peak)
