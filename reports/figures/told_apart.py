"""Which disks the runs do not tell apart: the rates of two differ by chance alone, so nobody should rank them by it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from sizer.model.edge import tells_apart
from sizer.records.configuration import Configuration, Estimate
from sizer.words.language import paragraph
from sizer.words.page import disks_not_told_apart, study_disk

from ..subject import Subject

Places = Mapping[str, Configuration]
"""By what a place is called, '' where there is one alone, its configuration on any disk."""


def disks_alike(places: Places, disks: Mapping[str, Sequence[str]], subject: Subject) -> str:
    """Which of the disks at each place, in the order in which they are shown, the runs do not tell apart there."""
    if subject.model is None or subject.model.posterior is None:
        return ""
    pairs = [(name, pair) for name in places for pair in combinations(disks[name], 2)]
    asked = [(replace(places[name], disk=one), replace(places[name], disk=other)) for name, (one, other) in pairs]
    modelled = tells_apart(subject.model, asked)
    alike = {
        (name, pair)
        for (name, pair), both, apart in zip(pairs, asked, modelled, strict=True)
        if not (apart and _ran_apart(*(subject.measured_at(each) for each in both)))
    }
    found: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name in places:
        for group in _groups(disks[name], {pair for where, pair in alike if where == name}):
            found[group].append(name)
    return paragraph(
        disks_not_told_apart(
            [study_disk(disk, subject.study) for disk in group], where if len(where) < len(places) else []
        )
        for group, where in found.items()
    )


def _ran_apart(one: Estimate | None, other: Estimate | None) -> bool:
    """Whether the runs' own rates differ clearly; where one was not measured, nothing speaks against it."""
    return one is None or other is None or one.high < other.low or other.high < one.low


def _groups(disks: Sequence[str], alike: set[tuple[str, str]]) -> list[tuple[str, ...]]:
    """Neighbours of which no two are told apart, the longest such rows of them."""
    found: list[tuple[str, ...]] = []
    for first in range(len(disks)):
        group = [disks[first]]
        for disk in disks[first + 1 :]:
            if not all((each, disk) in alike for each in group):
                break
            group.append(disk)
        if len(group) > 1 and not any(set(group) <= set(known) for known in found):
            found.append(tuple(group))
    return found
