"""Rows taken as repeats of one configuration that may be none: a slip, or something that sizer does not read."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence

from sizer.exchange.imported_columns import ParsedRow
from sizer.exchange.imported_runs import run_key
from sizer.records import SEARCHES, SLIP, Note, NoteKind, Run

MOST_NAMED = 5

OF_A_RUN = re.compile(
    r"\b(run|repeat|rep|trial|iteration|seed|date|time|started|timestamp|id|version|log|note|comment|remark|source|url)s?\b"
)
"""Headers of what repeats differ in."""


def not_only_repeats(parsed: Sequence[ParsedRow]) -> Iterator[Note]:
    """A note where rows that are alike in all that sizer reads differ in a column that it does not."""
    groups: dict[Hashable, list[ParsedRow]] = defaultdict(list)
    for row in parsed:
        groups[run_key(row)].append(row)
    found: dict[str, tuple[int, int]] = {}
    for group in groups.values():
        for column in group[0].other:
            differing = [row for row in group if row.other.get(column) != group[0].other[column]]
            if differing and _distinguishes(column, [row.other.get(column, "") for row in group]):
                found.setdefault(column, (group[0].row.line, differing[0].row.line))
    if found:
        yield Note(NoteKind.TAKEN_AS_REPEATS, columns=tuple(found), lines=next(iter(found.values())))


def _distinguishes(column: str, cells: Sequence[str]) -> bool:
    """Whether it names what was measured: words and whole numbers, and no figure that was measured, too."""
    measured = any(re.fullmatch(r"[\d,]*\.\d+\s*%?|.*%", cell.strip()) for cell in cells)
    return not measured and OF_A_RUN.search(re.sub(r"[^a-z]+", " ", column.lower())) is None


def repeats_that_differ(runs: Sequence[Run]) -> Iterator[Note]:
    """A note for each configuration whose repeats are more than threefold apart; the last names how many more."""
    groups: dict[Hashable, list[tuple[float, int]]] = defaultdict(list)
    for run in runs:
        if run.throughput is not None and run.spec.purpose not in SEARCHES:
            machine = run.machine and (run.machine.provider, run.machine.instance_type, run.machine.region)
            place = (run.spec.workload, run.configuration, run.spec.stage, machine)
            groups[place].append((run.throughput.value, run.spec.line))
    apart = [(min(found), max(found)) for found in groups.values() if max(found)[0] > SLIP * min(found)[0]]
    for number, pair in enumerate(apart[:MOST_NAMED], start=1):
        (first, line), (second, other) = sorted(pair, key=lambda each: each[1])
        more = len(apart) - MOST_NAMED if number == MOST_NAMED else 0
        yield Note(NoteKind.REPEATS_DIFFER, rows=max(0, more), lines=(line, other), rates=(first, second))
