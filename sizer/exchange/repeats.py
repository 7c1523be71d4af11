"""Repeats of one configuration that cannot both be right: a slip of a digit, or of a unit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence

from sizer.records import SLIP, Note, NoteKind, Purpose, Run

MOST_NAMED = 5


def repeats_that_differ(runs: Sequence[Run]) -> Iterator[Note]:
    """A note for each configuration whose repeats are more than threefold apart; the last names how many more."""
    groups: dict[Hashable, list[tuple[float, int]]] = defaultdict(list)
    for run in runs:
        if run.throughput is not None and run.spec.purpose is not Purpose.FLOOR_SEARCH:
            machine = run.machine and (run.machine.provider, run.machine.instance_type)
            place = (run.spec.workload, run.configuration, run.spec.stage, machine)
            groups[place].append((run.throughput.value, run.spec.line))
    apart = [(min(found), max(found)) for found in groups.values() if max(found)[0] > SLIP * min(found)[0]]
    for number, pair in enumerate(apart[:MOST_NAMED], start=1):
        (first, line), (second, other) = sorted(pair, key=lambda each: each[1])
        more = len(apart) - MOST_NAMED if number == MOST_NAMED else 0
        yield Note(NoteKind.REPEATS_DIFFER, rows=max(0, more), lines=(line, other), rates=(first, second))
