"""What warnings say of a study: each kind once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sizer import words
from sizer.model import as_asked
from sizer.records import Run, RunWarning, WarningKind

MOST_WORDINGS = 3
"""Sentences shown of one kind; they differ in more than their figures where a unit or a path differs."""

Marked = tuple[RunWarning, str]
"""A warning and the unit of its run's samples."""


def by_kind(runs: Iterable[Run]) -> list[dict[str, Any]]:
    """Each kind once, the commonest first: in how many runs, and what they say with the range of their figures.

    Runs of a search for the memory floor were asked for no rate, so their warnings are not among these.
    """
    found: dict[WarningKind, list[list[Marked]]] = {}
    for run in as_asked(runs):
        own: dict[WarningKind, list[Marked]] = {}
        for warning in run.warnings:
            own.setdefault(warning.kind.group, []).append((warning, run.sample_unit))
        for kind, warnings in own.items():
            found.setdefault(kind, []).append(warnings)
    ordered = sorted(found.items(), key=lambda item: (-len(item[1]), words.warning_name(item[0])))
    return [_grouped(kind, warnings) for kind, warnings in ordered]


def _grouped(kind: WarningKind, of_runs: Sequence[Sequence[Marked]]) -> dict[str, Any]:
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
        "kind": words.warning_name(kind),
        "where": words.runs_counted(len(of_runs)),
        "what": words.clauses(wordings[:MOST_WORDINGS]) + more,
    }
