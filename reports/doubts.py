"""What failed, and what is doubtful: reasons and what to do, warnings, intervals, repeats, other load, drift."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from sizer.model.memory import memory_floor
from sizer.model.model import Bounds, SearchedFloor, memory_of
from sizer.model.runs import as_asked, is_floor_search, is_search, searched_floor
from sizer.records.run import Run, RunWarning, WarningKind, way_of_ending
from sizer.records.run_kinds import MemoryPlace, Outcome
from sizer.records.study import Study
from sizer.words import warnings as words
from sizer.words.failures import failure_in_words, failure_line, remedy_of_failure
from sizer.words.language import _, _n, capital, clauses, sentence, small_share
from sizer.words.language import apart as apart_text
from sizer.words.names import floor_in_words, floor_sentences, largest_in_words, outcome_in_words
from sizer.words.page import configuration_line, runs_by_outcome, runs_counted

from . import results
from .charts.svg import readable
from .figures import drift
from .subject import Material, Subject


def contents(material: Material, subjects: Sequence[Subject]) -> dict[str, Any]:
    """Why runs failed, what warnings mean, the figures that a study can be judged by, and whether the host drifted."""
    runs, study = [run for subject in subjects for run in subject.runs], material.study
    kinds = {warning.kind.group for run in as_asked(runs) for warning in run.warnings}
    drifted = drift.drift(subjects, study)
    measured_again = bool(kinds & words.MEASURED_AGAIN) or (drifted is not None and drifted.has_drifted)
    return {
        "failures": failures(subjects, study),
        "memory_floors": [*memory_floors(subjects), *largest_batches(subjects)],
        "has_runs": bool(runs),
        "warnings": by_kind(runs),
        "again": words.how_to_measure_again() if measured_again and not study.imported else "",
        "facts": facts(runs, study),
        "drift": drifted,
    }


def facts(runs: Sequence[Run], study: Study) -> list[tuple[str, str, str]]:
    """Label, value and remark of what the whole study can be judged by; what was not accounted is left out.

    Runs of a search for the memory floor were asked for no rate, so they count nowhere.
    """
    measured = [run for run in as_asked(runs) if results.measured(run)]
    rates = [run.throughput for run in measured if run.throughput is not None]
    halves = [rate.relative_half_width or 0.0 for rate in rates if rate.has_interval and rate.value > 0]
    shown = []
    if halves:
        asked, middle, widest = study.measure.precision, *map(small_share, (statistics.median(halves), max(halves)))
        remark = _(
            "median; widest ±{widest}[[; {reached} of {whole} within the ±{asked} asked for]]",
            widest=widest,
            reached="" if study.imported else f"{sum(half <= asked for half in halves)}",
            whole=len(halves),
            asked=small_share(asked),
        )
        shown.append((_("Half-width of the 95 % intervals"), f"±{middle}", remark))
    apart = _repeats_apart(measured)
    if apart:
        remark = _n(
            "median of {count} configuration, most {most}: highest against lowest rate",
            "median of {count} configurations, most {most}: highest against lowest rate",
            len(apart),
            most=apart_text(max(apart)),
        )
        shown.append((_("Repeats lie apart by"), apart_text(statistics.median(apart)), remark))
    others = [run.conditions.other_cores for run in measured if run.conditions.other_cores is not None]
    if others:
        most = _("median; most {cores} cores", cores=f"{max(others):.2f}")
        median = _("{cores} cores", cores=f"{statistics.median(others):.2f}")
        shown.append((_("Other load on the host"), median, most))
    own = [run.conditions.overhead for run in measured if run.conditions.overhead is not None]
    if own:
        most = _("of the workload's core-seconds, median; most {most}", most=small_share(max(own)))
        shown.append((_("sizer's own use"), small_share(statistics.median(own)), most))
    return shown


def _repeats_apart(runs: Sequence[Run]) -> list[float]:
    """How far fresh processes at each place lie apart, which no interval of one run shows."""
    groups: dict[object, list[float]] = {}
    for run in runs:
        if run.throughput is not None:
            place = run.spec.workload, run.configuration, run.declared.machine
            groups.setdefault(place, []).append(run.throughput.value)
    return [max(r) / min(r) - 1 if min(r) > 0 else 0.0 for r in groups.values() if len(r) > 1]


MOST_WORDINGS = 3
"""Sentences shown of one kind; they differ in more than their figures where a unit or a path differs."""

IN_UNITS = frozenset({WarningKind.TWO_RATES, WarningKind.OTHER_BATCH_SIZE})
"""Kinds that count in the unit of the run's samples, so that those of another unit are another sentence."""

Marked = tuple[RunWarning, str]
"""A warning and the unit of its run's samples."""


def by_kind(runs: Iterable[Run]) -> list[dict[str, Any]]:
    """Each kind once, the commonest first: in how many runs, what they say with the range of their figures, and what
    that means for the answer.

    Runs of a search for the memory floor were asked for no rate, so their warnings are not among these.
    """
    groups: dict[WarningKind, list[list[Marked]]] = {}
    for run in as_asked(runs):
        own: dict[WarningKind, list[Marked]] = {}
        for warning in run.warnings:
            own.setdefault(warning.kind.group, []).append((warning, run.sample_unit))
        for kind, warnings in own.items():
            groups.setdefault(kind, []).append(warnings)
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), words.warning_name(item[0])))
    return [_grouped(kind, warnings) for kind, warnings in ordered]


def _grouped(kind: WarningKind, of_runs: Sequence[Sequence[Marked]]) -> dict[str, Any]:
    """`contended`, `9 runs`, `Something else on this host used 0.06–1.21 cores meanwhile.`, and what that means.

    How far the host drifted is not said by each run, since a picture shows it.
    """
    alike: dict[object, list[Marked]] = {}
    for warning, unit in (warning for warnings in of_runs for warning in warnings):
        own = unit if warning.kind in IN_UNITS else None
        alike.setdefault((warning.kind, tuple(warning.figures), warning.text, own), []).append((warning, unit))
    sentences = [
        words.warning_in_words([warning for warning, _unit in group], group[0][1])
        for group in sorted(alike.values(), key=lambda marked: -len(marked))
    ]
    wordings = list(dict.fromkeys(sentence for sentence in sentences if sentence))
    what = clauses(wordings[:MOST_WORDINGS] if kind is not WarningKind.DRIFTING else ())
    return {
        "kind": words.warning_name(kind),
        "where": runs_counted(len(of_runs)),
        "what": f"{capital(what)} …" if what and len(wordings) > MOST_WORDINGS else sentence(what),
        "meaning": words.meaning_of_warning(kind),
    }


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
        words_of_end = NUMBERS.sub("#", last_words(run))
        alike.setdefault((run.spec.workload.name, way_of_ending(run), words_of_end), []).append(run)
    return [_entry(runs, study, number < MOST_LOGS) for number, runs in enumerate(alike.values())]


def failed(subject: Subject) -> list[Run]:
    """The workload's runs that did not complete."""
    return [run for run in subject.runs if run.outcome is not Outcome.COMPLETED]


def memory_floors(subjects: Sequence[Subject]) -> list[str]:
    """A sentence for each workload that was searched or killed: between which two caps its memory floor lies.

    None for one that ran out of an accelerator's memory, in a table that says no other.
    """
    capped = [subject for subject in subjects if any(_was_capped(run) or is_floor_search(run) for run in subject.runs)]
    return [_floor(subject) for subject in capped]


def largest_batches(subjects: Sequence[Subject]) -> list[str]:
    """The same of the largest batch, where no chart of batch sizes says it."""
    advised = [
        (subject.name, subject.answer.batch)
        for subject in subjects
        if subject.answer is not None and subject.answer.batch
    ]
    return [
        floor_sentences(name, largest_in_words(advice.largest), 0)
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
    peak = max((run.memory.peak_anonymous_bytes or 0 for run in subject.runs if results.measured(run)), default=0)
    searched = searched_floor(subject.runs)
    if searched is not None:
        return floor_sentences(subject.name, floor_in_words(searched), peak)
    floor = memory_floor(subject.runs)
    below = floor.too_small if floor is not None else None
    above = floor.held if floor is not None else None
    if below is None:
        below = max(memory_of(run.configuration) for run in subject.runs if _was_capped(run))
    searched = SearchedFloor(Bounds(below, above), pipeline_alone=subject.device.kind == "emulated")
    return floor_sentences(subject.name, floor_in_words(searched, searched=False), peak)
