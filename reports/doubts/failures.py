"""What did not complete and why, as plain dicts; a kill for memory is explained as the memory floor."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from sizer.model.coordinates import memory_of
from sizer.model.floor_runs import is_floor_search, is_search, searched_floor
from sizer.model.memory import memory_floor
from sizer.records.run import Run, way_of_ending
from sizer.records.run_kinds import MemoryPlace, Outcome
from sizer.records.study import Study
from sizer.words.failures import failure_in_words, failure_line, remedy_of_failure
from sizer.words.language import sentence
from sizer.words.names import killed_floor_sentences, largest_batch_of, outcome_in_words, searched_floor_sentences
from sizer.words.page import configuration_line, runs_by_outcome

from .. import results
from ..charts.svg import readable
from ..subject import Subject

SHOWN_LINES = 5
"""Last lines of a log that are shown at once; those before them are folded away."""
MOST_LINES, LONGEST_LINE = 40, 300
"""Lines of a log, and characters of each, that are on the page; the log has all of them."""
MOST_LOGS = 25
"""Ways of failing that show their log; those after them name it."""
LINE = 160
"""Characters of the last words that a line about a run ends in."""
NUMBERS = re.compile(r"0x[0-9a-fA-F]+|\d+")


def failures(subjects: Sequence[Subject], study: Study) -> list[dict[str, Any]]:
    """One entry for all runs of a workload that ended alike, with their configurations.

    Alike are also last words that differ in numbers alone, as times, addresses and process ids do.
    """
    alike: dict[tuple[object, ...], list[Run]] = {}
    for run in (run for subject in subjects for run in failed(subject)):
        said = NUMBERS.sub("#", last_words(run))
        alike.setdefault((run.spec.workload.name, way_of_ending(run), said), []).append(run)
    return [_entry(runs, study, number < MOST_LOGS) for number, runs in enumerate(alike.values())]


def failed(subject: Subject) -> list[Run]:
    """The workload's runs that did not complete."""
    return [run for run in subject.runs if run.outcome is not Outcome.COMPLETED]


def memory_floors(subjects: Sequence[Subject]) -> list[str]:
    """A sentence for each workload that was searched or killed: between which two caps its memory floor lies.

    None for one that ran out of an accelerator's memory, in a table that says no other.
    """
    told = [each for each in subjects if any(_was_capped(run) or is_floor_search(run) for run in each.runs)]
    return [_floor(subject) for subject in told]


def largest_batches(subjects: Sequence[Subject]) -> list[str]:
    """The same of the largest batch, where no chart of batch sizes says it."""
    advised = [(each.name, each.answer.batch) for each in subjects if each.answer is not None and each.answer.batch]
    return [
        largest_batch_of(name, advice.largest)
        for name, advice in advised
        if advice.largest is not None and not advice.curves
    ]


def tally(runs: Sequence[Run]) -> str:
    """How many runs ended in each way, in the order of the outcomes: `17 runs: 15 completed, 2 crashed.`"""
    counts = {outcome: sum(run.outcome is outcome for run in runs) for outcome in Outcome}
    return runs_by_outcome({outcome: count for outcome, count in counts.items() if count})


def last_words(run: Run) -> str:
    """The last lines of the log of a run that failed, without what would turn their neighbours around.

    Long lines are cut, as they are where nobody reads them.
    """
    lines = run.error.last_lines.strip().splitlines() if run.error is not None else []
    return "\n".join(readable(line.expandtabs(4), LONGEST_LINE) for line in lines[-MOST_LINES:])


def line(run: Run) -> str:
    """Why a run failed, ending in the last line that it printed: `exit status 1; its last words: KeyError: 'x'`."""
    return readable(failure_line(run, LINE), 4 * LINE)


def log(run: Run) -> str:
    """Where the log of a run lies in the study's folder."""
    return f"logs/{run.id}.log"


def _entry(runs: Sequence[Run], study: Study, with_log: bool) -> dict[str, Any]:
    first = runs[0]
    places = Counter(configuration_line(run.configuration, study) for run in runs)
    lines = last_words(first).splitlines() if with_log else []
    return {
        "workload": first.spec.workload.name,
        "where": list(places.items()),
        "outcome": outcome_in_words(first.outcome),
        "is_finding": first.outcome is Outcome.OUT_OF_MEMORY,
        "why": sentence(failure_in_words(first, LONGEST_LINE)),
        "remedy": remedy_of_failure(first),
        "ids": [run.id for run in runs],
        "earlier": "\n".join(lines[:-SHOWN_LINES]),
        "last_words": "\n".join(lines[-SHOWN_LINES:]),
        "log": "" if first.imported else log(first),
    }


def _was_capped(run: Run) -> bool:
    of_host = run.outcome is Outcome.OUT_OF_MEMORY and run.ran_out_of is not MemoryPlace.GPU
    return of_host and not is_search(run) and run.configuration.memory_bytes is not None


def _floor(subject: Subject) -> str:
    peak = max((run.peak_anonymous_bytes or 0 for run in subject.runs if results.measured(run)), default=0)
    searched = searched_floor(subject.runs)
    if searched is not None:
        return searched_floor_sentences(subject.name, searched, peak)
    floor = memory_floor(subject.runs)
    below = floor.out_of_memory_bytes if floor is not None else None
    above = floor.completed_bytes if floor is not None else None
    if below is None:
        below = max(memory_of(run.configuration) for run in subject.runs if _was_capped(run))
    return killed_floor_sentences(subject.name, below, above, subject.device.kind == "emulated", peak)
