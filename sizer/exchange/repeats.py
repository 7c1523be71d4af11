"""Rows taken as repeats of one configuration that may be none: a slip, or something that sizer does not read."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence

from sizer.exchange.imported_columns import EPOCH, ParsedRow
from sizer.exchange.imported_runs import run_key
from sizer.exchange.written_cells import NOT_MEASURED
from sizer.records.run import SLIP, Run, RunWarning, WarningKind
from sizer.records.run_kinds import SEARCHES
from sizer.records.study import Note, NoteKind

MOST_NAMED = 5
REPEATS_APART = 1.1
"""How many times as fast as the slowest the fastest of repeats may be before a column that parts them counts: repeats
on a quiet machine are within some per cent, on a shared one within a third."""
PARTED = 3.0
"""The ln of how far rows of one setting are apart is at the most this part of what they are beside the others."""
OF_A_RUN = re.compile(
    r"\b(run|repeat|rep|trial|iteration|seed|date|time|started|timestamp|id|version|log|note|comment|remark|source|url)s?\b"
)
"""Headers of what repeats differ in."""
MEASURED = re.compile(r"[\d,]*\.\d+\s*%?|.*%")
"""A figure that was measured and names nothing."""
OF_DATA = ("dataset", "dataset_gib", "dataset_samples")
"""Columns that sizer reads and that make no configuration."""

Group = Sequence[ParsedRow]


def said(row: ParsedRow, column: str) -> str:
    """What a row says in a column, which may be one that sizer does not read; empty where that is nothing."""
    text = row.other.get(column) or row.row.cells.get(column, "")
    return "" if text.lower() in NOT_MEASURED else text


def not_only_repeats(parsed: Sequence[ParsedRow]) -> Iterator[Note]:
    """A note where rows that are alike in all that sizer reads differ in a column that it does not."""
    found: dict[str, tuple[int, int]] = {}
    for group in _alike(parsed):
        for column in differing(group, frozenset()):
            other = next(row for row in group if said(row, column) != said(group[0], column))
            found.setdefault(column, (group[0].row.line, other.row.line))
    if found:
        yield Note(NoteKind.TAKEN_AS_REPEATS, columns=tuple(found), lines=next(iter(found.values())))


def differing(group: Group, settings: Collection[str]) -> list[str]:
    """The columns in which rows of one configuration differ that name what was measured: words, whole numbers, and
    what is known as one of the `settings`; where one is, no figure beside it."""
    columns = dict.fromkeys((*(column for row in group for column in row.other), *OF_DATA))
    found = [column for column in columns if len({said(row, column) for row in group}) > 1]
    named = [column for column in found if column in settings]
    unread = [column for column in found if not any(MEASURED.fullmatch(said(row, column).strip()) for row in group)]
    return named or [column for column in unread if not _is_of_a_run(column)]


def _is_of_a_run(column: str) -> bool:
    return OF_A_RUN.search(re.sub(r"[^a-z]+", " ", column.lower())) is not None


def settings_of(parsed: Sequence[ParsedRow]) -> frozenset[str]:
    """The columns that sizer does not read whose values come again in other configurations: nothing measured does."""
    places: dict[str, dict[str, set[Hashable]]] = defaultdict(lambda: defaultdict(set))
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in parsed:
        key = run_key(row)
        for column in (*row.other, *OF_DATA):
            if text := said(row, column):
                places[column][text].add(key)
                counts[column][text] += 1
    return frozenset(
        column
        for column, values in places.items()
        if 2 * sum(counts[column][text] for text, keys in values.items() if len(keys) > 1) >= counts[column].total()
        and not _is_of_a_run(column)
    )


def telling_apart(rows: Group, settings: Collection[str]) -> str | None:
    """The setting by which rows of one job are two jobs: rows of one configuration with one value of it agree, and do
    not with those of another. None where repeats agree all the same, or two settings would part them in two ways."""
    groups = _apart(rows)
    columns = {column for group in groups for column in differing(group, settings)} & set(settings)
    found = [column for column in columns if all(_explains(column, group) for group in groups)]
    found.sort(key=lambda column: (len({said(row, column) for row in rows}), column))
    if not found:
        return None
    coarsest, *finer = found
    one_way = all(len({said(row, coarsest) for row in part}) == 1 for name in finer for part in _parted(rows, name))
    return coarsest if one_way else None


def _explains(column: str, group: Group) -> bool:
    within = max(map(_spread, _parted(group, column)))
    return within <= max(math.log(REPEATS_APART), _spread(group) / PARTED)


def mixed(parsed: Sequence[ParsedRow]) -> dict[int, RunWarning]:
    """By line the warning of each row whose repeats may be another job: they differ by more than repeats do, and in
    these columns."""
    settings = settings_of(parsed)
    found: dict[int, RunWarning] = {}
    for group in _apart(parsed):
        if columns := differing(group, settings):
            factor = math.exp(_spread(group))
            warning = RunWarning(WarningKind.MAY_BE_ANOTHER_JOB, {"factor": factor}, "; ".join(columns))
            found |= {row.row.line: warning for row in group}
    return found


def _alike(parsed: Iterable[ParsedRow]) -> list[Group]:
    """The rows of each configuration."""
    groups: dict[Hashable, list[ParsedRow]] = defaultdict(list)
    for row in parsed:
        groups[run_key(row)].append(row)
    return list(groups.values())


def _apart(parsed: Iterable[ParsedRow]) -> list[Group]:
    """Those that are further apart than repeats are; epochs of one run are none."""
    rated = (row for row in parsed if row["throughput"] is not None and row[EPOCH] is None)
    return [group for group in _alike(rated) if _spread(group) > math.log(REPEATS_APART)]


def _parted(rows: Group, column: str) -> list[Group]:
    parts: dict[str, list[ParsedRow]] = defaultdict(list)
    for row in rows:
        parts[said(row, column)].append(row)
    return list(parts.values())


def _spread(group: Group) -> float:
    """How far the fastest is from the slowest, in ln."""
    rates = [row["throughput"] for row in group]
    return math.log(max(rates) / min(rates))


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
