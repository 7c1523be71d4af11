"""What warnings say of a study: the word before the colon is the kind, and each kind is told once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from sizer.model import as_asked
from sizer.records import Run

from . import formatting

FIGURE = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")

MOST_WORDINGS = 3
"""Sentences shown of one kind; they differ in more than their figures where a unit or a reason differs."""


def kinds(run: Run) -> list[str]:
    """The kinds of a run's warnings, each once: `contended`, `short`."""
    return list(dict.fromkeys(_kind(warning) for warning in run.warnings))


def by_kind(runs: Iterable[Run]) -> list[dict[str, Any]]:
    """Each kind once, the commonest first: in how many runs, and what they say with the range of their figures.

    A run of a search for the memory floor is marked as one, which is no doubt about the study's rates.
    """
    told: dict[str, list[list[str]]] = {}
    for run in as_asked(runs):
        for kind in kinds(run):
            told.setdefault(kind, []).append([each for each in run.warnings if _kind(each) == kind])
    ordered = sorted(told.items(), key=lambda item: (-len(item[1]), item[0]))
    return [_grouped(kind, warnings) for kind, warnings in ordered]


def _kind(warning: str) -> str:
    return warning.partition(":")[0].strip()


def _grouped(kind: str, of_runs: list[list[str]]) -> dict[str, Any]:
    """`contended`, `9 runs`, `something else on this host used 0.06–1.21 cores meanwhile`."""
    alike: dict[str, list[str]] = {}
    for said in (each.partition(":")[2].strip() for warnings in of_runs for each in warnings):
        alike.setdefault(FIGURE.sub("#", said), []).append(said)
    wordings = [_with_ranges(each) for each in sorted(alike.values(), key=lambda each: -len(each)) if each[0]]
    more = " …" if len(wordings) > MOST_WORDINGS else ""
    return {
        "kind": kind,
        "where": formatting.counted(len(of_runs), "run"),
        "what": "; ".join(wordings[:MOST_WORDINGS]) + more,
    }


def _with_ranges(alike: list[str]) -> str:
    columns = zip(*(FIGURE.findall(said) for said in alike), strict=True)
    ranges = iter([_range(figures) for figures in columns])
    return FIGURE.sub(lambda _: next(ranges), alike[0])


def _range(figures: Iterable[str]) -> str:
    ordered = sorted(set(figures), key=lambda figure: float(figure.replace(",", "")))
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]}–{ordered[-1]}"
