"""Tables of measurements, written in a test as their rows, as the runs that sizer reads of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sizer.catalog import Catalog
from sizer.exchange import Imported, read_measurements
from sizer.records import NoteKind, Run

Read = Callable[..., Imported]
"""Imports a table given as text, under a name of its own or none."""


def kinds(found: Imported) -> list[NoteKind]:
    """What is noted of the table, without what it is called."""
    return [note.kind for note in found.notes[1:]]


def imported(folder: Path, table: str) -> Imported:
    """The table as it is read with sizer's own catalogue; the lines of its text may be indented."""
    path = folder / "table.csv"
    path.write_text("\n".join(line.strip() for line in table.strip().splitlines()) + "\n")
    return read_measurements(path, Catalog.load())


def runs_of(folder: Path, table: str) -> tuple[Run, ...]:
    return imported(folder, table).runs
