"""Which rows of a table are one job: named apart by what differs, and repeats only where nothing else does."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from sizer.exchange.cells import is_not_measured
from sizer.exchange.measurements import EPOCH, MODE, NODES, PRECISION
from sizer.exchange.rows import ParsedRow
from sizer.records.domains import LONGEST_NAME
from sizer.records.frameworks import is_precision
from sizer.records.notes import Note, NoteKind
from sizer.records.run import OUTLIER, Run, RunWarning, WarningKind
from sizer.records.run_kinds import SEARCHES

CONFIGURATION = (
    *("workload", "framework", "network", "batch_size", "vcpus", "memory_gib", "disk", "input", "cache", "gpu"),
    *("gpu_count", "isolates", "provider", "instance_type", "region", NODES),
)
DISTINGUISHING = ("kind", MODE, "framework", "network", PRECISION)
"""Columns that tell jobs apart in any table."""
OF_DATA = ("dataset", "dataset_gib", "dataset_samples")
"""Columns that sizer reads and that make no configuration."""
MOST_JOBS, MOST_NAMED = 4, 5
"""Workloads whose jobs are named, and configurations; of the others a note says how many they are."""
REPEATS_APART = 1.1
"""How many times as fast as the slowest the fastest of repeats may be before a column that parts them counts: repeats
on a quiet machine are within some per cent, on a shared one within a third."""
PARTED = 3.0
"""The ln of how far rows of one setting are apart is at the most this part of what they are beside the others."""
OF_A_RUN = re.compile(
    r"\b(run|repeat|rep|trial|iteration|seed|date|time|started|timestamp|id|log|note|comment|remark|source|url)s?\b"
)
"""Headers of what repeats differ in."""
MEASURED = re.compile(r"[\d,]*\.\d+\s*%?|.*%")
"""A figure that was measured and names nothing."""

Rows = Sequence[ParsedRow]


def configuration_of(row: ParsedRow) -> tuple[Any, ...]:
    """What the rows of one configuration have alike: they are its repeats, or epochs of one run."""
    device = row["device"]
    return (device.label if device else None, *(row[column] for column in CONFIGURATION))


def named_apart(rows: Rows, job_by: Sequence[str] = ()) -> tuple[list[ParsedRow], tuple[Note, ...]]:
    """The rows, each with the name of its own job: `resnet50 (fp16)`, by what differs alone; and what was renamed.

    `job_by` are columns that tell jobs apart beside those that do so in any table, and those by which repeats differ.
    """
    settings = _settings(rows)
    renamed: list[ParsedRow] = []
    notes = []
    for name, job in _grouped(rows, lambda row: row["workload"]).items():
        columns = [column for column in (*DISTINGUISHING, *job_by) if _differs(job, column)]
        differing, jobs = dict.fromkeys(columns), dict[str, None]()
        for part in _grouped(job, lambda row: tuple(_value(row, column) for column in columns)).values():  # noqa: B023
            setting = _telling_apart(part, settings)
            own = columns if setting is None else [*columns, setting]
            differing |= dict.fromkeys(own)
            renamed += [_renamed(row, own) for row in part]
        if differing:
            jobs |= dict.fromkeys(row["workload"] for row in _in_order(renamed[-len(job) :]))
            notes.append(Note(NoteKind.JOBS_NAMED_APART, tuple(jobs), text=name, columns=tuple(differing)))
    return _in_order(renamed), _first(notes, MOST_JOBS)


def _in_order(rows: Iterable[ParsedRow]) -> list[ParsedRow]:
    return sorted(rows, key=lambda row: row.row.line)


def _first(notes: Sequence[Note], most: int) -> tuple[Note, ...]:
    """So many of the notes; the last one says how many more there are."""
    more = len(notes) - most
    return tuple(notes) if more <= 0 else (*notes[: most - 1], replace(notes[most - 1], rows=more))


def unknown_words(rows: Rows) -> Iterator[Note]:
    """A note for modes, and for precisions, with words that mean none, each with its first line."""
    kinds = {MODE: NoteKind.MODES_UNKNOWN, PRECISION: NoteKind.PRECISIONS_UNKNOWN}
    for column, kind in kinds.items():
        words: dict[str, int] = {}
        for row in rows:
            text = row[column] if column == PRECISION else row.other.get(column)
            if text and any(map(str.isalpha, text)) and not (column == PRECISION and is_precision(text)):
                words.setdefault(text, row.row.line)
        if words:
            yield Note(kind, columns=(column,), names=tuple(words), lines=tuple(words.values()))


def _differs(rows: Rows, column: str) -> bool:
    """Whether a column has two values; an empty cell is one only of a column that is none of DISTINGUISHING."""
    return len({_value(row, column) for row in rows} - ({None} if column in DISTINGUISHING else set())) > 1


def _value(row: ParsedRow, column: str) -> str | None:
    """With the name of the column where the cell does not say by itself what it is."""
    if column in DISTINGUISHING and column != MODE:
        value: str | None = row[column]
        return value
    text = _text(row, column)
    if any(map(str.isalpha, text)):
        return text
    return f"{column} {text}" if text and column != MODE else None


def _renamed(row: ParsedRow, columns: Sequence[str]) -> ParsedRow:
    values = [value for column in columns if (value := _value(row, column)) is not None]
    if not values:
        return row
    behind = f" ({', '.join(values)})"
    name = f"{row['workload'][: max(1, LONGEST_NAME - len(behind))].strip()}{behind}"
    return row.having(workload=name[:LONGEST_NAME].strip())


def _text(row: ParsedRow, column: str) -> str:
    """What a row says in a column, which may be one that sizer does not read; empty where that is nothing."""
    text = row.other.get(column) or row.row.cells.get(column, "")
    return "" if is_not_measured(text) else text


def taken_as_repeats(rows: Rows) -> Note | None:
    """A note where rows that are alike in all that sizer reads differ in a column that it does not."""
    lines: dict[str, tuple[int, int]] = {}
    for group in _grouped(rows, configuration_of).values():
        for column in _parting(group, frozenset()):
            other = next(row for row in group if _text(row, column) != _text(group[0], column))
            lines.setdefault(column, (group[0].row.line, other.row.line))
    return Note(NoteKind.TAKEN_AS_REPEATS, columns=tuple(lines), lines=next(iter(lines.values()))) if lines else None


def mixed(rows: Rows) -> dict[int, RunWarning]:
    """By line the warning of each row whose repeats may be another job: they differ by more than repeats do, and in
    these columns."""
    settings = _settings(rows)
    warnings: dict[int, RunWarning] = {}
    for group in _apart(rows):
        if columns := _parting(group, settings):
            figures = {"factor": math.exp(_spread(group))}
            warning = RunWarning(WarningKind.MAY_BE_ANOTHER_JOB, figures, "; ".join(columns))
            warnings |= {row.row.line: warning for row in group}
    return warnings


def repeats_that_differ(runs: Sequence[Run]) -> tuple[Note, ...]:
    """A note for each configuration whose repeats are more than threefold apart; the last names how many more."""
    groups: dict[Hashable, list[tuple[float, int]]] = defaultdict(list)
    for run in runs:
        if run.throughput is not None and run.spec.purpose not in SEARCHES:
            machine = run.declared.machine and (
                run.declared.machine.provider,
                run.declared.machine.instance_type,
                run.declared.machine.region,
            )
            place = (run.spec.workload, run.configuration, run.spec.stage, machine)
            groups[place].append((run.throughput.value, run.spec.line))
    notes = []
    for rates in groups.values():
        if max(rates)[0] > OUTLIER * min(rates)[0]:
            (first, line), (second, other) = sorted((min(rates), max(rates)), key=lambda rate: rate[1])
            notes.append(Note(NoteKind.REPEATS_DIFFER, lines=(line, other), rates=(first, second)))
    return _first(notes, MOST_NAMED)


def _parting(group: Rows, settings: Collection[str]) -> list[str]:
    """The columns in which rows of one configuration differ that name what was measured: words, whole numbers, and
    what is known as one of the `settings`; where one is, no figure beside it."""
    columns = dict.fromkeys((*(column for row in group for column in row.other), *OF_DATA))
    texts = {column: {_text(row, column).strip() for row in group} for column in columns}
    differing = [column for column in columns if len(texts[column]) > 1]
    return [column for column in differing if column in settings] or [
        column for column in differing if not any(map(MEASURED.fullmatch, texts[column])) and not _is_of_a_run(column)
    ]


def _is_of_a_run(column: str) -> bool:
    return OF_A_RUN.search(re.sub(r"[^a-z]+", " ", column.lower())) is not None


def _settings(rows: Rows) -> frozenset[str]:
    """The columns that sizer does not read whose values come again in other configurations: nothing measured does."""
    places: dict[str, dict[str, set[Hashable]]] = defaultdict(lambda: defaultdict(set))
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        key = configuration_of(row)
        for column in (*row.other, *OF_DATA):
            if text := _text(row, column):
                places[column][text].add(key)
                counts[column][text] += 1
    return frozenset(
        column
        for column, values in places.items()
        if 2 * sum(counts[column][text] for text, keys in values.items() if len(keys) > 1) >= counts[column].total()
        and not _is_of_a_run(column)
    )


def _telling_apart(rows: Rows, settings: Collection[str]) -> str | None:
    """The setting by which rows of one job are two jobs: rows of one configuration with one value of it agree, and do
    not with those of another. None where repeats agree all the same, or two settings would part them in two ways."""
    groups = _apart(rows)
    columns = {column for group in groups for column in _parting(group, settings)} & set(settings)
    telling = [column for column in columns if all(_explains(column, group) for group in groups)]
    telling.sort(key=lambda column: (len({_text(row, column) for row in rows}), column))
    if not telling:
        return None
    coarsest, *finer = telling
    parts = (part for name in finer for part in _parted(rows, name))
    return coarsest if all(len({_text(row, coarsest) for row in part}) == 1 for part in parts) else None


def _explains(column: str, group: Rows) -> bool:
    within = max(map(_spread, _parted(group, column)))
    return within <= max(math.log(REPEATS_APART), _spread(group) / PARTED)


def _apart(rows: Rows) -> list[list[ParsedRow]]:
    """Rows of one configuration that are further apart than repeats are; epochs of one run are none."""
    rated = [row for row in rows if row["throughput"] is not None and row[EPOCH] is None]
    groups = _grouped(rated, configuration_of).values()
    return [group for group in groups if _spread(group) > math.log(REPEATS_APART)]


def _parted(rows: Rows, column: str) -> list[list[ParsedRow]]:
    return list(_grouped(rows, lambda row: _text(row, column)).values())


def _grouped(rows: Rows, key: Callable[[ParsedRow], Hashable]) -> dict[Any, list[ParsedRow]]:
    groups: dict[Any, list[ParsedRow]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return groups


def _spread(group: Rows) -> float:
    """How far the fastest is from the slowest, in ln."""
    rates = [row["throughput"] for row in group]
    return math.log(max(rates) / min(rates))
