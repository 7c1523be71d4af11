"""What to change in a job instead of renting more: a table over all workloads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sizer.model.edge import best_place
from sizer.recommend.instead import LEAST_GAIN, Change, ChangeKind, changes, judged_by
from sizer.records.configuration import Configuration, Estimate
from sizer.records.errors import NoAnswer
from sizer.records.units import RELATIVE
from sizer.words.answers import change_evidence, change_named, gain_in_words, no_change, then_bound
from sizer.words.page import configuration_line
from sizer.words.verdict import Badge, BadgeKind, badge

from .material import Material
from .subject import Subject


def contents(_material: Material, found: Sequence[Subject]) -> dict[str, Any] | None:
    """A group of rows for each workload that has a model; None where none has."""
    groups = [_group(subject, here, found) for subject in found if (here := place_of_answer(subject)) is not None]
    return {"groups": groups, "several": len(found) > 1} if groups else None


def place_of_answer(subject: Subject) -> Configuration | None:
    """The configuration that its answer is judged by, else that of the best rate; None without a model."""
    if subject.model is None:
        return None
    spec = subject.answer.spec if subject.answer is not None else None
    try:
        return judged_by(subject.model, spec) if spec is not None else best_place(subject.model)
    except NoAnswer:
        return None


def _group(subject: Subject, here: Configuration, found: Sequence[Subject]) -> dict[str, Any]:
    assert subject.model is not None, "only a model has a place of the answer"
    known = [*_formats(subject, here, found), *changes(subject.model, subject.runs, here)]
    known.sort(key=lambda each: -each.gain.value)
    sure = [each for each in known if each.is_sure]
    unsure = next((each for each in known if not each.is_sure), None)
    nothing = ""
    if not sure and unsure is not None:
        named = change_named(unsure, subject.model.facts.kind)
        nothing = no_change(LEAST_GAIN, named, gain_in_words(unsure))
    elif not sure:
        nothing = no_change(LEAST_GAIN)
    return {
        "name": subject.name,
        "where": configuration_line(here, subject.study),
        "rows": [_row(each, subject) for each in sure],
        "nothing": nothing,
    }


def _row(found: Change, subject: Subject) -> dict[str, Any]:
    assert subject.model is not None, "rows are of subjects with a model"
    now = subject.answer.bottleneck if subject.answer is not None else None
    return {
        "change": change_named(found, subject.model.facts.kind),
        "evidence": change_evidence(found, subject.terms),
        "gain": gain_in_words(found),
        "then": then_bound(found, now, subject.terms),
        "badges": list(_badges(found)),
    }


def _badges(found: Change) -> Iterator[Badge]:
    """How the gain is known."""
    if found.measured:
        yield badge(BadgeKind.MEASURED)
    else:
        yield badge(BadgeKind.EXTRAPOLATED if found.extrapolated else BadgeKind.PREDICTED)


def _formats(subject: Subject, here: Configuration, found: Sequence[Subject]) -> Iterator[Change]:
    """Workloads of the study that differ in the format of their data alone, and are faster there."""
    own = subject.measured_at(here)
    for other in found:
        there = other.measured_at(here)
        if own is None or there is None or other is subject or subject.unit == RELATIVE:
            continue
        mine, theirs = subject.runs[0].spec.workload, other.runs[0].spec.workload
        alike = ("kind", "framework", "network", "input", "cache", "device")
        if any(getattr(mine, name) != getattr(theirs, name) for name in alike) or mine.format == theirs.format:
            continue
        gained = Estimate(there.value / own.value - 1, there.low / own.high - 1, there.high / max(own.low, 1e-9) - 1)
        if gained.value >= LEAST_GAIN:
            figures = {"format": theirs.format, "other": mine.format, "workload": other.name}
            yield Change(ChangeKind.FORMAT, gained, figures, measured=True)
