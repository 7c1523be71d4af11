"""What warnings say of a study: each kind once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sizer.model.isolation import as_asked
from sizer.records.run import Run, RunWarning, WarningKind
from sizer.words.language import capital, clauses, sentence
from sizer.words.page import runs_counted
from sizer.words.warnings import meaning_of_warning, warning_in_words, warning_name

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
    found: dict[WarningKind, list[list[Marked]]] = {}
    for run in as_asked(runs):
        own: dict[WarningKind, list[Marked]] = {}
        for warning in run.warnings:
            own.setdefault(warning.kind.group, []).append((warning, run.sample_unit))
        for kind, warnings in own.items():
            found.setdefault(kind, []).append(warnings)
    ordered = sorted(found.items(), key=lambda item: (-len(item[1]), warning_name(item[0])))
    return [_grouped(kind, warnings) for kind, warnings in ordered]


def _grouped(kind: WarningKind, of_runs: Sequence[Sequence[Marked]]) -> dict[str, Any]:
    """`contended`, `9 runs`, `Something else on this host used 0.06–1.21 cores meanwhile.`, and what that means.

    How far the host drifted is not said by each run, since a picture shows it.
    """
    alike: dict[object, list[Marked]] = {}
    for warning, unit in (each for warnings in of_runs for each in warnings):
        own = unit if warning.kind in IN_UNITS else None
        alike.setdefault((warning.kind, tuple(warning.figures), warning.text, own), []).append((warning, unit))
    said = [
        warning_in_words([warning for warning, _unit in group], group[0][1])
        for group in sorted(alike.values(), key=lambda each: -len(each))
    ]
    wordings = list(dict.fromkeys(each for each in said if each))
    what = clauses(wordings[:MOST_WORDINGS] if kind is not WarningKind.DRIFTING else ())
    return {
        "kind": warning_name(kind),
        "where": runs_counted(len(of_runs)),
        "what": f"{capital(what)} …" if what and len(wordings) > MOST_WORDINGS else sentence(what),
        "meaning": meaning_of_warning(kind),
    }
