"""A table as people make them -> the same with sizer's columns and plain numbers, and notes of what was read so."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sizer.exchange.cell_units import NUMBERS, plain, without_thousands
from sizer.exchange.headers import LATENCY, TIMES, Meaning, meaning, spelt_alike
from sizer.files import Row, Table
from sizer.records import RELATIVE, InputError, Note, NoteKind


@dataclass(frozen=True)
class Understood:
    """The table by sizer's columns, and notes of what was read as what.

    `rated_by` is the column of times from which the rate of a row follows that has none itself; None without such rows.
    """

    table: Table
    notes: tuple[Note, ...]
    rated_by: str | None


def understood(table: Table, path: Path, known: Collection[str]) -> Understood:
    """What the headers and cells of a table mean; columns that are not understood stay as they are.

    Raises InputError where two columns mean one.
    """
    meanings = _meanings(table, path, known)
    notes = list(_notes_of_columns(meanings))
    thousands: dict[str, tuple[str, str]] = {}
    rows = [_row(row, meanings, table.delimiter, thousands) for row in table.rows]
    if thousands:
        first, read = next(iter(thousands.values()))
        notes.append(Note(NoteKind.THOUSANDS, columns=tuple(thousands), text=first, read_as=(read,)))
    columns = [meanings[name].column if name in meanings else name for name in table.columns]
    if any("device" in row.cells for row in rows) and "device" not in columns:
        columns = [*columns, "device"]
    if any("sample_unit" in row.cells for row in rows) and "sample_unit" not in columns:
        columns = [*columns, "sample_unit"]
    rated_by = next((means.column for means in meanings.values() if means.column in TIMES), None)
    if rated_by is None and "throughput" not in columns and LATENCY in columns:
        rated_by = LATENCY
    return Understood(replace(table, columns=tuple(columns), rows=tuple(rows)), tuple(notes), rated_by)


def named_by_network(table: Table) -> Table:
    """The table with each network as a workload, where it has no column for these."""
    if "workload" in table.columns or "network" not in table.columns:
        return table
    rows = (replace(row, cells={"workload": row.cells["network"], **row.cells}) for row in table.rows)
    return replace(table, columns=("workload", *table.columns), rows=tuple(rows))


def _meanings(table: Table, path: Path, known: Collection[str]) -> dict[str, Meaning]:
    """By header what each column means; of those that say a rate in another way only where none is given itself."""
    found: dict[str, Meaning] = {}
    for header in table.columns:
        own = header if header in known else next((each for each in known if spelt_alike(header, each)), None)
        means = meaning(header) if own is None else Meaning(own)
        if means is not None and (not means.if_numbers or _all_numbers(table, header)):
            found[header] = means
    columns = {means.column for means in found.values() if not means.derived}
    if "input" in found and _are_sizes([row.cells["input"] for row in table.rows]):
        found["input"] = Meaning(SIZE_OF_INPUT)
    if "device" in found and "gpu" not in columns and any(_names_gpu(row.cells["device"]) for row in table.rows):
        found["device"] = Meaning("gpu")
    given = [header for header, means in found.items() if means.column == "throughput" and not means.derived]
    derived = False
    for header, means in list(found.items()):
        if means.derived and (derived or (given and not _fills(table, header, means, given[0]))):
            del found[header]
        derived = derived or (means.derived and header in found)
    _refuse_twice(found, path)
    return found


def _fills(table: Table, header: str, means: Meaning, given: str) -> bool:
    """Whether a column of times says the rate of a row in which the column of rates is empty."""
    return means.column in TIMES and any(row.cells[header] and not row.cells[given] for row in table.rows)


INPUTS = ("disk", "cached", "synthetic")
SIZE_OF_INPUT = "input_size"
"""What a column `input` of numbers is: how large an image or a sequence is, and not where it comes from."""


def _are_sizes(cells: Sequence[str]) -> bool:
    """Whether cells of a column `input` are sizes, such as `224` and `seq 128`, and none is an input of sizer's."""
    return any(any(map(str.isdigit, text)) for text in cells) and not set(cells) & set(INPUTS)


def _names_gpu(text: str) -> bool:
    """Whether the cell of a column `device` is the name of a GPU: `K80`, and not `cuda:0`."""
    return bool(text) and re.fullmatch(r"cpu\b.*|(?:gpu|cuda)(?::\d*)?|emulated:.*", text, re.IGNORECASE) is None


def _all_numbers(table: Table, header: str) -> bool:
    """Whether each cell begins with a figure: `cpu` may be how many or which."""
    return all(text[:1].isdigit() for row in table.rows if (text := row.cells[header]))


def _refuse_twice(found: Mapping[str, Meaning], path: Path) -> None:
    headers: dict[str, list[str]] = defaultdict(list)
    for header, means in found.items():
        headers[means.column].append(header)
    for column, names in headers.items():
        if len(names) > 1:
            raise InputError(
                "{path}: the columns `{first}` and `{second}` both mean {column}; remove or rename one of them.",
                path=path,
                first=names[0],
                second=names[1],
                column=column,
            )


def _notes_of_columns(meanings: Mapping[str, Meaning]) -> list[Note]:
    renamed = {name: means for name, means in meanings.items() if name != means.column}
    notes = []
    if renamed:
        read_as = tuple(means.column for means in renamed.values())
        notes.append(Note(NoteKind.COLUMNS_READ, columns=tuple(renamed), read_as=read_as))
    relative = tuple(name for name, means in meanings.items() if means.sample_unit == RELATIVE)
    if relative:
        notes.append(Note(NoteKind.RELATIVE_RATES, columns=relative))
    return notes


def _row(row: Row, meanings: Mapping[str, Meaning], delimiter: str, thousands: dict[str, tuple[str, str]]) -> Row:
    """The row with its cells in the units of their columns; what a rate counts where its header or cell says it."""
    cells: dict[str, str] = {}
    counted = ""
    for header, text in row.cells.items():
        means = meanings.get(header)
        column = means.column if means is not None else header
        if means is not None and column in NUMBERS and text:
            written, text = text, without_thousands(text, delimiter)
            if text != written:
                thousands.setdefault(header, (written, text))
            text, own = plain(column, text, means.unit)
            counted = counted or own or means.sample_unit
        if header == "device" and column == "gpu" and not _names_gpu(text):
            column = header
        cells[column] = text
    if counted and not cells.get("sample_unit"):
        cells["sample_unit"] = counted
    return replace(row, cells=cells)
