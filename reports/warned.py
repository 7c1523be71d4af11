"""What warnings say of a study: each kind once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sizer import words
from sizer.model import as_asked
from sizer.records import Run, RunWarning

MOST_WORDINGS = 3
"""Sentences shown of one kind; they differ in more than their figures where a unit or a path differs."""

Marked = tuple[RunWarning, str]
"""A warning and the unit of its run's samples."""


def by_kind(runs: Iterable[Run]) -> list[dict[str, Any]]:
    """Each kind once, the commonest first: in how many runs, and what they say with the range of their figures.

    Runs of a search for the memory floor were asked for no rate, so their warnings are not among these.
    """
    found: dict[str, list[list[Marked]]] = {}
    for run in as_asked(runs):
        own: dict[str, list[Marked]] = {}
        for warning in run.warnings:
            own.setdefault(words.warning_name(warning.kind), []).append((warning, run.sample_unit))
        for name, warnings in own.items():
            found.setdefault(name, []).append(warnings)
    ordered = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
    return [_grouped(name, warnings) for name, warnings in ordered]


def _grouped(name: str, of_runs: Sequence[Sequence[Marked]]) -> dict[str, Any]:
    """`contended`, `9 runs`, `something else on this host used 0.06–1.21 cores meanwhile`."""
    alike: dict[object, list[Marked]] = {}
    for warning, unit in (each for warnings in of_runs for each in warnings):
        alike.setdefault((warning.kind, tuple(warning.figures), warning.text, unit), []).append((warning, unit))
    said = [
        words.warning_in_words([warning for warning, _unit in group], group[0][1])
        for group in sorted(alike.values(), key=lambda each: -len(each))
    ]
    wordings = list(dict.fromkeys(each for each in said if each))
    more = " …" if len(wordings) > MOST_WORDINGS else ""
    return {
        "kind": name,
        "where": words.runs_counted(len(of_runs)),
        "what": words.clauses(wordings[:MOST_WORDINGS]) + more,
    }
