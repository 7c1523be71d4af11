"""A job is one job: rows of one workload that differ in program, framework, network or precision are named apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace

from sizer.exchange.imported_columns import MODES, ParsedRow
from sizer.exchange.imported_runs import run_key
from sizer.exchange.measurements import MODE, PRECISION
from sizer.exchange.repeats import said, settings_of, telling_apart
from sizer.records.domains import LONGEST_NAME
from sizer.records.framework_options import is_precision
from sizer.records.study import Note, NoteKind

DISTINGUISHING = ("kind", *MODES, "framework", "network", "precision")
VERSION = "framework_version"
"""No column of sizer, but what tells two programs apart that nothing else does."""

MOST_NAMED = 4
"""Workloads whose jobs are named; of the others a note says how many they are."""


def named_apart(parsed: Sequence[ParsedRow], job_by: Sequence[str] = ()) -> tuple[list[ParsedRow], tuple[Note, ...]]:
    """The rows, each with the name of its own job: `resnet50 (fp16)`, by what differs alone; and what was renamed.

    `job_by` are columns that tell jobs apart beside those that do so in any table, and those by which repeats differ.
    """
    jobs: dict[str, list[ParsedRow]] = defaultdict(list)
    for row in parsed:
        jobs[row["workload"]].append(row)
    settings = settings_of(parsed)
    by_line: dict[int, tuple[str, ...]] = {}
    differing: dict[str, tuple[str, ...]] = {}
    for name, rows in jobs.items():
        columns = _differing(rows, (*DISTINGUISHING, *job_by))
        alike: dict[tuple[str | None, ...], list[ParsedRow]] = defaultdict(list)
        for row in rows:
            alike[tuple(_value(row, column) for column in columns)].append(row)
        for job in alike.values():
            setting = telling_apart(job, settings)
            own = columns if setting is None else (*columns, setting)
            by_line |= {row.row.line: own for row in job}
            differing[name] = tuple(dict.fromkeys((*differing.get(name, ()), *own)))
    renamed = [_renamed(row, by_line[row.row.line]) for row in parsed]
    names: dict[str, dict[str, None]] = defaultdict(dict)
    for before, after in zip(parsed, renamed, strict=True):
        names[before["workload"]][after["workload"]] = None
    mixed = [(name, columns) for name, columns in differing.items() if columns]
    notes = [
        Note(NoteKind.JOBS_NAMED_APART, tuple(names[name]), text=name, columns=columns)
        for name, columns in mixed[:MOST_NAMED]
    ]
    if len(mixed) > MOST_NAMED:
        notes[-1] = replace(notes[-1], rows=len(mixed) - MOST_NAMED)
    return renamed, tuple(notes)


def unknown_words(parsed: Sequence[ParsedRow]) -> tuple[Note, ...]:
    """A note for each column of modes, and for precisions, with words that mean none, each with its first line."""
    notes: list[Note] = []
    for column in MODES:
        words = ((row, row.other.get(column, "")) for row in parsed)
        notes += _noted(NoteKind.MODES_UNKNOWN, column, words)
    called = ((row, row[PRECISION] or "") for row in parsed)
    notes += _noted(NoteKind.PRECISIONS_UNKNOWN, PRECISION, (each for each in called if not is_precision(each[1])))
    return tuple(notes)


def _noted(kind: NoteKind, column: str, said: Iterable[tuple[ParsedRow, str]]) -> Iterator[Note]:
    """A note of the words of a column that mean nothing; numbers are none."""
    found: dict[str, int] = {}
    for row, word in said:
        if any(map(str.isalpha, word)):
            found.setdefault(word, row.row.line)
    if found:
        yield Note(kind, columns=(column,), names=tuple(found), lines=tuple(found.values()))


def with_versions(parsed: Sequence[ParsedRow]) -> tuple[list[ParsedRow], tuple[Note, ...]]:
    """The rows with the version behind the name of the framework where two of them were compared.

    That is where rows that are alike in all else differ in it: they are not repeats, but different programs.
    """
    groups: dict[Hashable, dict[str, str]] = defaultdict(dict)
    for row in parsed:
        if row["framework"] is not None and (version := _version(row)):
            program = tuple(row[column] for column in ("kind", MODE, "precision"))
            groups[run_key(row), program][version] = row["framework"]
    apart = {(name, version) for found in groups.values() if len(found) > 1 for version, name in found.items()}
    if not apart:
        return list(parsed), ()
    named = [_with_version(row) if (row["framework"], _version(row)) in apart else row for row in parsed]
    names = dict.fromkeys(new["framework"] for new, old in zip(named, parsed, strict=True) if new is not old)
    return named, (Note(NoteKind.VERSIONS_NAMED, columns=(VERSION,), names=tuple(names)),)


def _version(row: ParsedRow) -> str:
    return row.other.get(VERSION, "")


def _with_version(row: ParsedRow) -> ParsedRow:
    name = f"{row['framework']} {_version(row)}"
    return replace(row, values=row.values | {"framework": name[:LONGEST_NAME].strip()})


def _differing(rows: Sequence[ParsedRow], columns: Sequence[str]) -> tuple[str, ...]:
    """Columns with two values; an empty cell is one only of a column that is none of DISTINGUISHING."""
    values = {column: {_value(row, column) for row in rows} for column in columns}
    return tuple(each for each, found in values.items() if len(found - {None} if each in DISTINGUISHING else found) > 1)


def _value(row: ParsedRow, column: str) -> str | None:
    """With the name of the column where the cell does not say by itself what it is."""
    if column in MODES:
        text = row.row.cells.get(column, "")
        return text if any(map(str.isalpha, text)) else None
    if column in DISTINGUISHING:
        value: str | None = row[column]
        return value
    text = said(row, column)
    return (text if any(map(str.isalpha, text)) else f"{column} {text}") if text else None


def _renamed(row: ParsedRow, columns: Sequence[str]) -> ParsedRow:
    values = [value for column in columns if (value := _value(row, column)) is not None]
    if not values:
        return row
    behind = f" ({', '.join(values)})"
    name = f"{row['workload'][: max(1, LONGEST_NAME - len(behind))].strip()}{behind}"
    return replace(row, values=row.values | {"workload": name[:LONGEST_NAME].strip()})
