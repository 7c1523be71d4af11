"""The rows of a table as typed values: each cell in the unit of its column, with notes of what was read otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

from sizer.catalog.gpus import gpu_names, read_gpu_name
from sizer.exchange import headers, values
from sizer.exchange.cells import (
    NUMBERS,
    RATES,
    Comma,
    comma_in,
    counted,
    counted_machines,
    cpu_in,
    is_not_measured,
    outcome_in,
    own_memory,
    plain,
    spread_gpus,
    told_rate,
    unmarked,
    with_point,
)
from sizer.exchange.columns import INPUTS, Columns, names_gpu
from sizer.exchange.measurements import COLUMNS, MODE, NODES
from sizer.exchange.values import Reader
from sizer.files.tables import Row, Table
from sizer.records.messages import InputError, quoted
from sizer.records.notes import Note, NoteKind
from sizer.records.run_kinds import Outcome
from sizer.records.units import format_seconds, parse_batch_size

READERS: Mapping[str, Reader] = COLUMNS | {
    **dict.fromkeys(headers.OF_ONE_GPU, values.usd),
    **dict.fromkeys(headers.TIMES, values.seconds),
    headers.BATCH_PER_GPU: parse_batch_size,
    headers.GPUS_PER_NODE: values.nodes,
}
"""How a cell of each column that is read becomes a value."""
PER_GPU = "rate of one GPU"
"""Whether the rate of a row is that of one accelerator."""
MOST_LINES = 5
"""Lines of the table that one note names."""
_NAMED_COUNT, _CPU = "count in a name", "name of a CPU"
"""What cells of a row say beside their own column, until the whole row is read."""
_OUTCOMES = frozenset(outcome.value for outcome in Outcome)


@dataclass(frozen=True)
class ParsedRow:
    """What one row says: values by column, without those whose cell is empty, and the cells of unread columns.

    `row` has the text of each cell by sizer's columns.
    """

    row: Row
    values: dict[str, Any]
    other: dict[str, str]

    def __getitem__(self, column: str) -> Any:
        """The value in that column; None where the cell is empty or the column is not there."""
        return self.values.get(column)

    @property
    def outcome(self) -> Outcome:
        outcome: Outcome = self.values.get("outcome", Outcome.COMPLETED)
        return outcome

    def having(self, **values: Any) -> ParsedRow:
        """The same row with other values."""
        return replace(self, values=self.values | values)

    def input_error(self, column: str, message: str, /, **values: object) -> InputError:
        """What is wrong with a cell of the row, as `Row.input_error` says it."""
        return self.row.input_error(column, message, **values)


def lines_note(kind: NoteKind, lines: Iterable[int], *columns: str) -> Note:
    """A note of lines of the table: the first ones, and how many more."""
    first = tuple(sorted(lines))
    return Note(kind, columns=columns, lines=first[:MOST_LINES], rows=max(0, len(first) - MOST_LINES))


class _Notes:
    """What was read otherwise than it is written, by kind: a first cell of each column, lines, or pairs of names."""

    def __init__(self) -> None:
        self.cells: dict[NoteKind, dict[str, tuple[str, str]]] = {}
        self.names: dict[NoteKind, dict[str, str]] = {}
        self.lines: dict[NoteKind, list[int]] = {}

    def cell(self, kind: NoteKind, column: str, text: str, read_as: str) -> str:
        if text != read_as:
            self.cells.setdefault(kind, {}).setdefault(column, (text, read_as))
        return read_as

    def __iter__(self) -> Iterator[Note]:
        for kind, columns in sorted(self.cells.items()):
            text, read_as = next(iter(columns.values()))
            yield Note(kind, columns=tuple(columns), text=text, read_as=(read_as,))
        yield from (lines_note(kind, lines) for kind, lines in sorted(self.lines.items()))
        for kind, names in self.names.items():
            yield Note(kind, names=tuple(names), read_as=tuple(names.values()))


def read_rows(columns: Columns, readers: Mapping[str, Reader] = READERS) -> tuple[list[ParsedRow], tuple[Note, ...]]:
    """The rows of a table without those that say that nothing was measured, and notes of what was read so.

    Only the columns of `readers` become values. Raises InputError with file, line and column for a cell that cannot be.
    """
    notes = _Notes()
    table = _with_merged_cells(columns, notes)
    reader = _Reader(columns, table, readers, notes)
    rows = [parsed for row in table.rows if (parsed := reader.row(row)) is not None]
    if table.rows and not rows:
        raise InputError("{path} has no row with a measurement; write at least one `throughput`.", path=columns.path)
    return _with_gpu_names(rows, notes), tuple(notes)


def _with_merged_cells(columns: Columns, notes: _Notes) -> Table:
    """The table with what a spreadsheet wrote of merged cells in each of their rows.

    That is where the first column names the job, which no row can lack: the empty cells with which a row begins are
    those of the row above.
    """
    table, rows = columns.table, list[Row]()
    job = next(iter(table.columns), "")
    if job not in (columns.header("workload"), columns.header("network")):
        return table
    for row in table.rows:
        if rows and not row.cells[job]:
            empty = takewhile(lambda header, cells=row.cells: not cells[header], table.columns)  # type: ignore[misc]
            notes.lines.setdefault(NoteKind.CELLS_MERGED, []).append(row.line)
            row = replace(row, cells=row.cells | {header: rows[-1].cells[header] for header in empty})
        rows.append(row)
    return replace(table, rows=tuple(rows))


def _with_gpu_names(rows: Sequence[ParsedRow], notes: _Notes) -> list[ParsedRow]:
    """The rows with the names of price lists for GPUs that are known by another one."""
    written = {}
    for row in rows:
        if gpu := row["gpu"]:
            size = own_memory(gpu, row.other.get(headers.GPU_MEMORY, ""))
            written[row.row.line] = gpu if size is None or read_gpu_name(gpu).memory_gb else f"{gpu} {size}GB"
    names = gpu_names(written.values())
    called = {line: names[text] for line, text in written.items() if names.get(text)}
    for row in rows:
        if called.get(row.row.line, row["gpu"]) != row["gpu"]:
            notes.names.setdefault(NoteKind.GPU_NAMES_READ, {}).setdefault(row["gpu"], called[row.row.line])
    return [row.having(gpu=called[row.row.line]) if row.row.line in called else row for row in rows]


class _Reader:
    """Reads the rows of a table: the cells by sizer's columns as plain text, and the values of these."""

    def __init__(self, columns: Columns, table: Table, readers: Mapping[str, Reader], notes: _Notes) -> None:
        self._columns, self._readers, self._notes = columns, readers, notes
        numbers = [header for header, means in columns.read.items() if means.column in NUMBERS]
        figures = [[unmarked(row.cells[header]) for row in table.rows] for header in numbers]
        self._comma = comma_in(figures, table.delimiter)
        self._units = columns.header(headers.RATE_UNIT) if headers.RATE_UNIT in columns else ""
        self._counts_devices = any(
            means.column == "gpu_count" and ("device" in header.lower() or "beside gpu" in means.where)
            for header, means in columns.read.items()
        )

    def row(self, row: Row) -> ParsedRow | None:
        """What a row says; None where it says that nothing was measured."""
        cells: dict[str, str] = {}
        unit = self._unit(row)
        for header, means in self._columns.read.items():
            if means.column == "throughput" and unit is not None:
                means = replace(unit, per_gpu=unit.per_gpu or means.per_gpu)
            column, text = self._cell(row, header, means, cells)
            if column != headers.RATE_UNIT and (text or not cells.get(column)):
                cells[column] = text
        unread = {self._columns.name(header): row.cells[header] for header in self._columns.unread}
        if not cells.get("outcome") and not any(cells.get(column) for column in RATES) and self._says_nothing(row):
            self._notes.lines.setdefault(NoteKind.NOT_MEASURED, []).append(row.line)
            return None
        named, count = cells.pop(_NAMED_COUNT, ""), cells.get("gpu_count", "")
        if named and count not in ("", named):
            self._notes.lines.setdefault(NoteKind.COUNTS_DIFFER, []).append(row.line)
        if named and count in ("", "1"):
            cells["gpu_count"] = named
        if self._counts_devices and cells.get("device") == "cpu" and not cells.get("gpu"):
            cells["gpu_count"] = "0"  # A CPU computed, and the column counts devices of any kind.
        if cpu := cells.pop(_CPU, ""):
            cells["instance_type"] = cells.get("instance_type") or cpu
        return self._parsed(replace(row, cells=cells), unread)

    def _parsed(self, row: Row, unread: Mapping[str, str]) -> ParsedRow:
        parsed: dict[str, Any] = {}
        other = {column: text for column, text in unread.items() if text}
        if row.cells.pop(PER_GPU, ""):
            parsed[PER_GPU] = True
        ended = self._value(row, "outcome") if row.cells.get("outcome") and "outcome" in self._readers else None
        failed = ended not in (None, Outcome.COMPLETED)
        for column, text in row.cells.items():
            if not text or (failed and column in {*headers.RATED_BY, "throughput"} and not text.strip("0.")):
                continue  # Of a run that failed, 0 is how some write that it has no rate.
            value = self._value(row, column) if column in self._readers else None
            if column in self._readers and (value is not None or column != MODE):
                parsed[column] = value
            else:
                other[column] = text
        if "gpu" in parsed and parsed["gpu"] is None and ("device" not in parsed or parsed["device"].kind == "cpu"):
            parsed["gpu_count"] = 0  # `1 x cpu` is no accelerator
        return ParsedRow(row, parsed, other)

    def _value(self, row: Row, column: str) -> Any:
        try:
            return self._readers[column](row.cells[column])
        except InputError as error:
            header = self._columns.header(column)
            if header == column:
                raise row.input_error(column, error) from None
            raise row.input_error(
                column,
                "{problem} If `{header}` is something else, type {option}.",
                problem=error,
                header=header,
                option=headers.map_option(header, ""),
            ) from None

    def _cell(self, row: Row, header: str, means: headers.Meaning, cells: dict[str, str]) -> tuple[str, str]:
        """The column of a cell and its text there; what else it says stands in `cells` then."""
        column, text = means.column, row.cells[header]
        if column in NUMBERS and text:
            return column, self._figure(row, header, means, text, cells)
        if column == "outcome" and text.lower().replace(" ", "_") not in _OUTCOMES:
            return column, self._notes.cell(NoteKind.FAILURES_READ, header, text, outcome_in(text) or text)
        if column == "input" and text.lower() not in INPUTS:
            return column, self._notes.cell(NoteKind.INPUTS_READ, text, text, headers.word("input", text) or text)
        if column in ("gpu", "device") and (cpu := cpu_in(text)) is not None:
            if cpu:
                cells[_CPU] = cpu
                self._notes.names.setdefault(NoteKind.CPUS_NAMED, {}).setdefault(text, cpu)
            return ("device" if header == "device" else column), "cpu"
        if column == "gpu" and header == "device" and not names_gpu(text):
            return header, text
        if column == "gpu" and (gpus := counted(text)):
            self._notes.cell(NoteKind.COUNTS_IN_NAMES, header, text, f"{gpus[1]} x {gpus[0]}")
            if spread := spread_gpus(text):
                cells |= {NODES: cells.get(NODES) or spread[0], headers.GPUS_PER_NODE: spread[1]}
            text, cells[_NAMED_COUNT] = gpus
        if column == "instance_type" and (machines := counted_machines(text)):
            self._notes.cell(NoteKind.COUNTS_IN_NAMES, header, text, f"{machines[1]} x {machines[0]}")
            text, cells[NODES] = machines[0], cells.get(NODES) or machines[1]
        return column, text

    def _figure(self, row: Row, header: str, means: headers.Meaning, text: str, cells: dict[str, str]) -> str:
        """A number as sizer writes it; empty where the cell says that there is none, and why."""
        failed = outcome_in(text) if means.column in RATES else ""
        if means.column in RATES and means.sample_unit:
            cells.setdefault("sample_unit", means.sample_unit)
        if failed:
            cells["outcome"] = cells.get("outcome") or self._notes.cell(NoteKind.FAILURES_READ, header, text, failed)
        if failed or is_not_measured(text):
            return ""
        bare = unmarked((means.column == "throughput" and told_rate(text)) or text)
        pointed = with_point(self._notes.cell(NoteKind.MARKS_IGNORED, header, text, bare), self._comma)
        decimal = self._comma is Comma.DECIMALS
        self._notes.cell(NoteKind.DECIMAL_COMMAS if decimal else NoteKind.THOUSANDS, header, bare, pointed)
        figure, counts = plain(means, pointed)
        if means.column in RATES and counts:
            cells["sample_unit"] = counts
        if means.column == "throughput" and figure != pointed and pointed.replace(".", "").isdigit():
            behind = f" {row.cells[self._units]}" if self._units else ""
            self._notes.cell(NoteKind.UNITS_READ, header, f"{pointed}{behind}", f"{float(figure):.4g}")
        if means.per_gpu:
            cells[PER_GPU] = "yes"
        return figure

    def _says_nothing(self, row: Row) -> bool:
        return any(
            row.cells[header] and is_not_measured(row.cells[header])
            for header, means in self._columns.read.items()
            if means.column in RATES
        )

    def _unit(self, row: Row) -> headers.Meaning | None:
        """What the figure of a row is by a column of units; None without one.

        Raises InputError for a unit that is not known: a rate in it would be taken for samples a second.
        """
        text = row.cells[self._units] if self._units else ""
        sample = headers.word("sample", text)
        means = headers.Meaning("throughput", sample_unit=sample) if sample else headers.meaning(text)
        if text and (means is None or means.column not in RATES or means.unit == headers.UNSAID):
            raise row.input_error(
                self._units,
                "{unit} is not a unit of rates that sizer knows; write one such as images/s, images/min, ms/step or "
                "s/epoch.",
                unit=quoted(text),
            )
        return means if text else None


def check(parsed: ParsedRow) -> None:
    """Raise InputError where cells of one row cannot be true together, or what is needed is empty."""
    if parsed["workload"] is None:
        raise parsed.input_error("workload", "the cell is empty; write the workload's name in each row.")
    rate, low, high = (parsed[column] for column in ("throughput", "throughput_low", "throughput_high"))
    if rate is None and parsed.outcome is Outcome.COMPLETED:
        raise parsed.input_error(
            "throughput",
            "the cell is empty; write samples a second, or in `outcome` how the run failed, such as out_of_memory.",
        )
    if (low is None) != (high is None):
        raise parsed.input_error(
            "throughput_low" if low is None else "throughput_high",
            "the cell is empty, and the other end of the interval is not; write both or neither.",
        )
    if rate is not None and low is not None and not low <= rate <= high:
        raise parsed.input_error(
            "throughput",
            "{rate} is not within its own interval, {low} to {high}; correct one of them.",
            rate=f"{rate:g}",
            low=f"{low:g}",
            high=f"{high:g}",
        )
    half, nearly_all = parsed["latency_p50_ms"], parsed["latency_p99_ms"]
    if half is not None and nearly_all is not None and nearly_all < half:
        raise parsed.input_error(
            "latency_p99_ms",
            "99 of 100 batches take {most} at the most, but half of them take {half} or more; correct one of them.",
            most=format_seconds(nearly_all),
            half=format_seconds(half),
        )
    device, count, gpu = parsed["device"], parsed["gpu_count"], parsed["gpu"]
    if device is None and gpu is not None and count == 0:
        raise parsed.input_error(
            "gpu_count", "0 GPUs, but `gpu` is {gpu}; write how many there were, or leave `gpu` empty.", gpu=gpu
        )
    if device is not None and device.kind == "cpu" and (gpu is not None or count):
        raise parsed.input_error(
            "device", "cpu, but the row has a GPU; write cuda:0, or leave `gpu` and `gpu_count` empty."
        )
    if device is not None and device.kind != "cpu" and count == 0:
        raise parsed.input_error(
            "gpu_count", "0 GPUs, but `device` is {device}; write how many there were, or nothing.", device=device.label
        )
