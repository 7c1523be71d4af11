"""A job is one job: rows of one workload that differ in program, framework, network or precision are named apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from sizer.exchange import table_cells as cells
from sizer.exchange.imported_columns import MODES, ParsedRow
from sizer.records import LONGEST_NAME, Note, NoteKind

DISTINGUISHING = ("kind", *MODES, "framework", "network", "precision")

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


def _differing(rows: Sequence[ParsedRow]) -> tuple[str, ...]:
    """Columns with two values; an empty cell is none."""
    return tuple(column for column in DISTINGUISHING if len({_value(row, column) for row in rows} - {None}) > 1)


def _value(row: ParsedRow, column: str) -> str | None:
    if column in MODES:
        said = row.row.cells.get(column, "")
        return said if cells.mode(said) else None
    value: str | None = row[column]
    return value


def _renamed(row: ParsedRow, columns: Sequence[str]) -> ParsedRow:
    values = [value for column in columns if (value := _value(row, column)) is not None]
    if not values:
        return row
    behind = f" ({', '.join(values)})"
    name = f"{row['workload'][: max(1, LONGEST_NAME - len(behind))].strip()}{behind}"
    return replace(row, values=row.values | {"workload": name[:LONGEST_NAME].strip()})
