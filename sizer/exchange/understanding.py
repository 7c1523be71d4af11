"""A table as people make them -> the same with sizer's columns and plain numbers, and notes of what was read so."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

from sizer.exchange.cells import (
    NUMBERS,
    RATES,
    Comma,
    comma_in,
    is_not_measured,
    mixed_with_points,
    outcome_in,
    plain,
    told_rate,
    unmarked,
    with_point,
)
from sizer.exchange.headers import GPUS_PER_NODE, LATENCY, RATE_UNIT, TIMES, UNSAID, Meaning, meaning, word
from sizer.exchange.machine_names import counted, counted_machines, cpu_in, spread_gpus, with_gpu_names
from sizer.exchange.measurements import NODES
from sizer.exchange.table_columns import INPUTS, in_rows, names_gpu, read_columns, renamed
from sizer.files.tables import Row, Table
from sizer.records.domains import LONGEST_NAME
from sizer.records.messages import InputError, printable, quoted
from sizer.records.notes import Note, NoteKind
from sizer.records.run_kinds import Outcome
from sizer.records.units import RELATIVE

MOST_LINES = 5
"""Lines of the table that one note names."""
_OUTCOMES = frozenset(outcome.value for outcome in Outcome)
_NAMED_COUNT, _CPU = "count in a name", "name of a CPU"
"""What cells of a row say beside their own column, until the whole row is read."""


@dataclass(frozen=True)
class Understood:
    """The table by sizer's columns, and notes of what was read as what.

    `read` is the meaning of each header that has one, `per_gpu` the lines whose rate is that of one accelerator.
    """

    table: Table
    notes: tuple[Note, ...]
    read: Mapping[str, Meaning]
    per_gpu: frozenset[int]

    @property
    def headers(self) -> dict[str, str]:
        """Those of the table by sizer's columns."""
        return {means.column: header for header, means in self.read.items()}

    @property
    def rated_by(self) -> str | None:
        """The column of times from which the rate of a row follows that has none itself; None without such rows."""
        columns = [means.column for means in self.read.values()]
        time = next((column for column in columns if column in TIMES), None)
        return LATENCY if time is None and LATENCY in columns and "throughput" not in columns else time


class _Notes:
    """What was read otherwise than it is written: a first cell of each column, and lines."""

    def __init__(self) -> None:
        self.cells: dict[NoteKind, dict[str, tuple[str, str]]] = defaultdict(dict)
        self.pairs: dict[NoteKind, dict[tuple[str, str], None]] = defaultdict(dict)
        self.lines: dict[NoteKind, list[int]] = defaultdict(list)

    def cell(self, kind: NoteKind, column: str, text: str, read_as: str) -> None:
        if text != read_as:
            self.cells[kind].setdefault(column, (text, read_as))

    def __iter__(self) -> Iterator[Note]:
        for kind, columns in sorted(self.cells.items()):
            text, read_as = next(iter(columns.values()))
            yield Note(kind, columns=tuple(columns), text=text, read_as=(read_as,))
        for kind, lines in sorted(self.lines.items()):
            yield lines_note(kind, lines)
        for kind, pairs in self.pairs.items():
            written, read = zip(*pairs, strict=True)
            yield Note(kind, names=written, read_as=read)


def lines_note(kind: NoteKind, lines: Iterable[int], *columns: str) -> Note:
    """A note of lines of the table: the first ones, and how many more."""
    found = tuple(sorted(lines))
    return Note(kind, columns=columns, lines=found[:MOST_LINES], rows=max(0, len(found) - MOST_LINES))


def understood(table: Table, path: Path, names: Mapping[str, str] | None = None) -> Understood:
    """What the headers and cells of a table mean; columns that are not understood stay as they are.

    `names` are headers with the names that a person gives them. Raises InputError where one of these is not there,
    where two columns mean one, and where one may mean two things.
    """
    table, aliases = renamed(table, path, names or {})
    table, apart = in_rows(table)
    read, doubts = read_columns(table, aliases, path)
    notes = _Notes()
    table = _with_merged_cells(table, read, notes)
    numbers = [header for header, means in read.items() if means.column in NUMBERS]
    comma = comma_in((row.cells[header] for row in table.rows for header in numbers), table.delimiter)
    _refuse_mixed(table, numbers, comma)
    reader = _Reader(read, comma, notes)
    rows = [each for row in table.rows if (each := reader.row(row)) is not None]
    if table.rows and not rows:
        raise InputError("{path} has no row with a measurement; write at least one `throughput`.", path=path)
    rows, gpus = with_gpu_names(rows)
    for pair in gpus:
        notes.pairs[NoteKind.GPU_NAMES_READ][pair] = None
    columns = [read[name].column if name in read else name for name in table.columns]
    columns = list(dict.fromkeys((*columns, *(name for row in rows for name in row.cells))))
    title = [Note(NoteKind.TITLE_LEFT_OUT, text=table.title)] if table.title else []
    found = (
        *title,
        *apart,
        *_notes_of_columns(read),
        *doubts,
        *notes,
    )
    columns = [name for name in columns if name != RATE_UNIT]
    return Understood(replace(table, columns=tuple(columns), rows=tuple(rows)), found, read, frozenset(reader.per_gpu))


def _with_merged_cells(table: Table, read: Mapping[str, Meaning], notes: _Notes) -> Table:
    """The table with what a spreadsheet wrote of merged cells in each of their rows.

    That is where the first column names the job, which no row can lack: the empty cells with which a row begins are
    those of the row above.
    """
    first = read.get(table.columns[0]) if table.columns else None
    if first is None or first.column not in ("workload", "network"):
        return table
    rows: list[Row] = []
    for row in table.rows:
        if rows and not row.cells[table.columns[0]]:
            empty = list(takewhile(lambda header, cells=row.cells: not cells[header], table.columns))  # type: ignore[misc]
            notes.lines[NoteKind.CELLS_MERGED].append(row.line)
            row = replace(row, cells=row.cells | {header: rows[-1].cells[header] for header in empty})
        rows.append(row)
    return replace(table, rows=tuple(rows))


def _refuse_mixed(table: Table, numbers: Sequence[str], comma: Comma) -> None:
    """Raise InputError where a column has `1,077` and `4.120`: one of the two would be read a thousandfold wrong."""
    for header in numbers if comma is Comma.THOUSANDS else ():
        mixed = mixed_with_points(unmarked(row.cells[header]) for row in table.rows)
        if mixed is not None:
            with_comma, pointed = mixed
            row = next(row for row in table.rows if unmarked(row.cells[header]) == pointed)
            raise row.input_error(
                header,
                "`{pointed}` may be {whole} or {decimal}, since `{with_comma}` stands in the same column; write one of "
                "them, and {other} without the comma.",
                pointed=pointed,
                whole=pointed.replace(".", ""),
                decimal=f"{float(pointed):g}",
                with_comma=with_comma,
                other=with_comma.replace(",", ""),
            )


def _notes_of_columns(read: Mapping[str, Meaning]) -> list[Note]:
    renamed = {name: means for name, means in read.items() if name != means.column and means.column != RATE_UNIT}
    notes = []
    if renamed:
        read_as = tuple(f"1 / {means.column}" if means.inverse else means.column for means in renamed.values())
        notes.append(Note(NoteKind.COLUMNS_READ, columns=tuple(renamed), read_as=read_as))
    relative = tuple(name for name, means in read.items() if means.sample_unit == RELATIVE)
    return [*notes, Note(NoteKind.RELATIVE_RATES, columns=relative)] if relative else notes


class _Reader:
    """Reads the rows of a table into sizer's columns, each cell in the unit of its column."""

    def __init__(self, read: Mapping[str, Meaning], comma: Comma, notes: _Notes) -> None:
        self._read, self._comma, self._notes = read, comma, notes
        self._units = next((header for header, means in read.items() if means.column == RATE_UNIT), "")
        self._counts_devices = any(
            means.column == "gpu_count" and ("device" in header.lower() or "beside gpu" in means.where)
            for header, means in read.items()
        )
        self.per_gpu: set[int] = set()

    def row(self, row: Row) -> Row | None:
        """The row; None where it says that nothing was measured."""
        cells: dict[str, str] = {}
        unit = self._unit(row)
        for header, text in row.cells.items():
            means = self._read.get(header, Meaning(header))
            if means.column == "throughput" and unit is not None:
                means = replace(unit, per_gpu=unit.per_gpu or means.per_gpu)
            column, text = self._cell(row, header, means, text, cells)
            if column != RATE_UNIT and (text or not cells.get(column)):
                cells[column] = text
        if not cells.get("outcome") and not any(cells.get(column) for column in RATES) and self._says_nothing(row):
            self._notes.lines[NoteKind.NOT_MEASURED].append(row.line)
            return None
        named, count = cells.pop(_NAMED_COUNT, ""), cells.get("gpu_count", "")
        if named and count not in ("", named):
            self._notes.lines[NoteKind.COUNTS_DIFFER].append(row.line)
        if named and count in ("", "1"):
            cells["gpu_count"] = named
        if self._counts_devices and cells.get("device") == "cpu" and not cells.get("gpu"):
            cells["gpu_count"] = "0"  # A CPU computed, and the column counts devices of any kind.
        if cpu := cells.pop(_CPU, ""):
            cells["instance_type"] = cells.get("instance_type") or cpu
        return replace(row, cells=cells)

    def _cell(self, row: Row, header: str, means: Meaning, text: str, cells: dict[str, str]) -> tuple[str, str]:
        """The column of a cell and its text there; what else it says stands in `cells` then."""
        column = means.column
        if column in NUMBERS and text and header in self._read:
            return column, self._figure(row, header, means, text, cells)
        if column == "outcome" and text.lower().replace(" ", "_") not in _OUTCOMES:
            return column, self._meant(NoteKind.FAILURES_READ, header, text, outcome_in(text))
        if column == "input" and text.lower() not in INPUTS:
            return column, self._meant(NoteKind.INPUTS_READ, text, text, word("input", text))
        if column in ("gpu", "device") and (cpu := cpu_in(text)) is not None:
            if cpu:
                cells[_CPU] = cpu
                self._notes.pairs[NoteKind.CPUS_NAMED][text, cpu] = None
            return ("device" if header == "device" else column), "cpu"
        if column == "gpu" and header == "device" and not names_gpu(text):
            return header, text
        if column == "gpu" and header in self._read and (gpus := counted(text)):
            self._notes.cell(NoteKind.COUNTS_IN_NAMES, header, text, f"{gpus[1]} x {gpus[0]}")
            if spread := spread_gpus(text):
                cells |= {NODES: cells.get(NODES) or spread[0], GPUS_PER_NODE: spread[1]}
            text, cells[_NAMED_COUNT] = gpus
        if column == "instance_type" and (machines := counted_machines(text)):
            self._notes.cell(NoteKind.COUNTS_IN_NAMES, header, text, f"{machines[1]} x {machines[0]}")
            text, cells[NODES] = machines[0], cells.get(NODES) or machines[1]
        return column, text

    def _figure(self, row: Row, header: str, means: Meaning, text: str, cells: dict[str, str]) -> str:
        """A number as sizer writes it; empty where the cell says that there is none, and why."""
        failed = outcome_in(text) if means.column in RATES else ""
        if means.column in RATES and means.sample_unit:
            cells.setdefault("sample_unit", means.sample_unit)
        if failed:
            cells["outcome"] = cells.get("outcome") or failed
            return self._meant(NoteKind.FAILURES_READ, header, text, failed)[:0]
        if is_not_measured(text):
            return ""
        bare = unmarked((means.column == "throughput" and told_rate(text)) or text)
        self._notes.cell(NoteKind.MARKS_IGNORED, header, text, bare)
        pointed = with_point(bare, self._comma)
        decimal = self._comma is Comma.DECIMALS
        self._notes.cell(NoteKind.DECIMAL_COMMAS if decimal else NoteKind.THOUSANDS, header, bare, pointed)
        figure, counts = plain(means, pointed)
        if means.column in RATES and counts:
            cells["sample_unit"] = counts
        if means.column == "throughput" and figure != pointed and pointed.replace(".", "").isdigit():
            behind = f" {row.cells[self._units]}" if self._units else ""
            self._notes.cell(NoteKind.UNITS_READ, header, f"{pointed}{behind}", f"{float(figure):.4g}")
        if means.per_gpu:
            self.per_gpu.add(row.line)
        return figure

    def _meant(self, kind: NoteKind, column: str, text: str, means: str) -> str:
        """What a word means; the word itself where that is nothing."""
        if means:
            self._notes.cell(kind, column, text, means)
        return means or text

    def _says_nothing(self, row: Row) -> bool:
        return any(
            row.cells[header] and is_not_measured(row.cells[header])
            for header, means in self._read.items()
            if means.column in RATES
        )

    def _unit(self, row: Row) -> Meaning | None:
        """What the figure of a row is by a column of units; None without one.

        Raises InputError for a unit that is not known: a rate in it would be taken for samples a second.
        """
        text = row.cells[self._units] if self._units else ""
        sample = word("sample", text)
        means = Meaning("throughput", sample_unit=sample) if sample else meaning(text)
        if text and (means is None or means.column not in RATES or means.unit == UNSAID):
            raise row.input_error(
                self._units,
                "{unit} is not a unit of rates that sizer knows; write one such as images/s, images/min, ms/step or "
                "s/epoch.",
                unit=quoted(text),
            )
        return means if text else None


def with_workloads(table: Table, path: Path) -> tuple[Table, tuple[Note, ...]]:
    """The table with each network as a workload where it has no column for these, and as one where it has neither."""
    if "workload" in table.columns:
        return table, ()
    if "network" in table.columns:
        names = [row.cells["network"] for row in table.rows]
        note = Note(NoteKind.NAMED_BY_COLUMN, columns=("network",))
    else:
        names = [printable(path.stem).strip()[:LONGEST_NAME] or "job"] * len(table.rows)
        note = Note(NoteKind.NAMED_BY_TABLE, text=names[0] if names else "")
    rows = (replace(row, cells={"workload": name, **row.cells}) for row, name in zip(table.rows, names, strict=True))
    return replace(table, columns=("workload", *table.columns), rows=tuple(rows)), (note,)
