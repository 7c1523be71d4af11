"""A job is one job: rows of one workload that differ in program, framework, network or precision are named apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import replace

from sizer.exchange.imported_columns import MODES, ParsedRow
from sizer.exchange.imported_runs import run_key
from sizer.exchange.measurements import MODE
from sizer.records import LONGEST_NAME, Note, NoteKind

DISTINGUISHING = ("kind", *MODES, "framework", "network", "precision")
VERSION = "framework_version"
"""No column of sizer, but what tells two programs apart that nothing else does."""

MOST_NAMED = 4
"""Workloads whose jobs are named; of the others a note says how many they are."""


def named_apart(parsed: Sequence[ParsedRow]) -> tuple[list[ParsedRow], tuple[Note, ...]]:
    """The rows, each with the name of its own job: `resnet50 (fp16)`, by what differs alone; and what was renamed."""
    jobs: dict[str, list[ParsedRow]] = defaultdict(list)
    for row in parsed:
        jobs[row["workload"]].append(row)
    differing = {name: _differing(rows) for name, rows in jobs.items()}
    renamed = [_renamed(row, differing[row["workload"]]) for row in parsed]
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


def unknown_modes(parsed: Sequence[ParsedRow]) -> tuple[Note, ...]:
    """A note for each column of modes with words that mean none, each with the line where it is first."""
    notes = []
    for column in MODES:
        found: dict[str, int] = {}
        for row in parsed:
            said = row.other.get(column, "")
            if any(map(str.isalpha, said)):
                found.setdefault(said, row.row.line)
        if found:
            notes.append(
                Note(NoteKind.MODES_UNKNOWN, columns=(column,), names=tuple(found), lines=tuple(found.values()))
            )
    return tuple(notes)


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


def _differing(rows: Sequence[ParsedRow]) -> tuple[str, ...]:
    """Columns with two values; an empty cell is none."""
    return tuple(column for column in DISTINGUISHING if len({_value(row, column) for row in rows} - {None}) > 1)


def _value(row: ParsedRow, column: str) -> str | None:
    if column in MODES:
        said = row.row.cells.get(column, "")
        return said if any(map(str.isalpha, said)) else None
    value: str | None = row[column]
    return value


def _renamed(row: ParsedRow, columns: Sequence[str]) -> ParsedRow:
    values = [value for column in columns if (value := _value(row, column)) is not None]
    if not values:
        return row
    behind = f" ({', '.join(values)})"
    name = f"{row['workload'][: max(1, LONGEST_NAME - len(behind))].strip()}{behind}"
    return replace(row, values=row.values | {"workload": name[:LONGEST_NAME].strip()})
