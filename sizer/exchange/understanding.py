"""A table as people make them -> the same with sizer's columns and plain numbers, and notes of what was read so."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sizer.catalog.catalog import Catalog
from sizer.exchange.accelerator_names import (
    MOST_LIKELY_COUNT,
    counted,
    memory_is_of_gpus,
    memory_was_used,
    nodes_in,
    tells_gpus_apart,
    with_gpu_names,
)
from sizer.exchange.cell_units import NUMBERS, plain
from sizer.exchange.cpu_names import NamedCpu, cpu_in, with_cpu_machines
from sizer.exchange.headers import (
    BATCH_PER_GPU,
    GPU_MEMORY,
    GPUS_PER_NODE,
    LATENCY,
    NODES,
    RATE_UNIT,
    TIMES,
    UNSAID,
    Meaning,
    meaning,
    sample_unit,
    spelt_alike,
)
from sizer.exchange.nodes import counted_machines, of_all_nodes
from sizer.exchange.rate_units import unit_of_rate, with_rate
from sizer.exchange.table_cells import mode as mode_of
from sizer.exchange.units_left_out import with_units
from sizer.exchange.wide_tables import in_rows
from sizer.exchange.written_cells import (
    Comma,
    comma_in,
    failure,
    is_completed,
    is_not_measured,
    mixed_with_points,
    unmarked,
    with_point,
)
from sizer.files.tables import Row, Table
from sizer.records.domains import LONGEST_NAME
from sizer.records.errors import InputError
from sizer.records.kinds import KINDS
from sizer.records.plain_text import printable
from sizer.records.run_kinds import Outcome
from sizer.records.study import Note, NoteKind
from sizer.records.units import RELATIVE

ADDED = ("device", "sample_unit", "outcome", "gpu_count", "batch_size", "instance_type", NODES)
"""Columns that a table has through others: what a rate counts by its header, how many GPUs by `8x V100`."""
MOST_LINES = 5
"""Lines of the table that one note names."""


@dataclass(frozen=True)
class Understood:
    """The table by sizer's columns, and notes of what was read as what.

    `rated_by` is the column of times from which the rate of a row follows that has none itself; None without such rows.
    `headers` are those of the table by sizer's columns, `per_gpu` the lines whose rate is that of one accelerator,
    `without_unit` is the column of `rated_by` where nothing says its unit.
    """

    table: Table
    notes: tuple[Note, ...]
    rated_by: str | None
    headers: Mapping[str, str]
    per_gpu: frozenset[int]
    without_unit: str


@dataclass
class _Echo:
    """What was read otherwise than it is written: by header a first cell and what it is read as, and lines."""

    thousands: dict[str, tuple[str, str]] = field(default_factory=dict)
    decimals: dict[str, tuple[str, str]] = field(default_factory=dict)
    marks: dict[str, tuple[str, str]] = field(default_factory=dict)
    counts: dict[str, tuple[str, str]] = field(default_factory=dict)
    failed: dict[str, tuple[str, str]] = field(default_factory=dict)
    units: dict[str, tuple[str, str]] = field(default_factory=dict)
    inputs: dict[str, tuple[str, str]] = field(default_factory=dict)
    merged: list[int] = field(default_factory=list)
    not_measured: list[int] = field(default_factory=list)
    counts_differ: list[int] = field(default_factory=list)
    of_one_gpu: set[int] = field(default_factory=set)
    of_all_nodes: set[int] = field(default_factory=set)
    rate_units: dict[int, Meaning] = field(default_factory=dict)
    cpus: dict[int, NamedCpu] = field(default_factory=dict)
    per_gpu: list[str] = field(default_factory=list)

    def notes(self) -> list[Note]:
        cells = {
            NoteKind.THOUSANDS: self.thousands,
            NoteKind.DECIMAL_COMMAS: self.decimals,
            NoteKind.MARKS_IGNORED: self.marks,
            NoteKind.COUNTS_IN_NAMES: self.counts,
            NoteKind.FAILURES_READ: self.failed,
            NoteKind.UNITS_READ: self.units,
            NoteKind.INPUTS_READ: self.inputs,
        }
        notes = []
        for kind, found in cells.items():
            if found:
                first, read = next(iter(found.values()))
                notes.append(Note(kind, columns=tuple(found), text=first, read_as=(read,)))
        if self.per_gpu:
            notes.append(Note(NoteKind.BATCH_OF_ONE_GPU, columns=tuple(self.per_gpu[:1])))
        lines = {
            NoteKind.CELLS_MERGED: self.merged,
            NoteKind.NOT_MEASURED: self.not_measured,
            NoteKind.COUNTS_DIFFER: self.counts_differ,
        }
        for kind, numbers in lines.items():
            if numbers:
                more = max(0, len(numbers) - MOST_LINES)
                notes.append(Note(kind, lines=tuple(numbers[:MOST_LINES]), rows=more))
        return notes


def understood(table: Table, path: Path, known: Collection[str], catalog: Catalog | None = None) -> Understood:
    """What the headers and cells of a table mean; columns that are not understood stay as they are.

    Raises InputError where two columns mean one, or where one may mean two things.
    """
    table, apart = in_rows(table, known)
    meanings, doubted = _meanings(table, path, known)
    echo = _Echo()
    table = _with_merged_cells(table, meanings, echo)
    numbers = [header for header, means in meanings.items() if means.column in NUMBERS]
    comma = comma_in((row.cells[header] for row in table.rows for header in numbers), table.delimiter)
    _refuse_mixed(table, numbers, comma)
    read = [_row(row, meanings, comma, echo) for row in table.rows]
    rows, cpus_read = with_cpu_machines([row for row in read if row is not None], echo.cpus)
    rows, gpus_read = with_gpu_names(rows)
    rows, nodes_read = of_all_nodes(rows, meanings, echo.of_all_nodes, catalog, path)
    rows = [_finished(row, meanings, echo) for row in rows]
    if read and not rows:
        raise InputError("{path} has no row with a measurement; write at least one `throughput`.", path=path)
    columns = [meanings[name].column if name in meanings else name for name in table.columns]
    columns = [name for name in columns if name not in (RATE_UNIT, GPUS_PER_NODE)]
    columns += [name for name in ADDED if name not in columns and any(name in row.cells for row in rows)]
    rated_by = next((means.column for means in meanings.values() if means.column in TIMES), None)
    if rated_by is None and "throughput" not in columns and LATENCY in columns:
        rated_by = LATENCY
    notes = (
        *_notes_of_table(table),
        *apart,
        *_notes_of_columns(meanings),
        *doubted,
        *echo.notes(),
    )
    headers = {means.column: header for header, means in meanings.items()}
    table = replace(table, columns=tuple(columns), rows=tuple(rows))
    notes = (*notes, *gpus_read, *nodes_read, *cpus_read)
    unsaid = any(means.column == rated_by and means.unit == UNSAID for means in meanings.values())
    without_unit = rated_by if rated_by is not None and unsaid else ""
    return Understood(table, notes, rated_by, headers, frozenset(echo.of_one_gpu), without_unit)


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


def _meanings(table: Table, path: Path, known: Collection[str]) -> tuple[dict[str, Meaning], list[Note]]:
    """By header what each column means, and a note for each that is not what it seems.

    Those that say a rate in another way are read only where none is given itself.
    """
    notes: list[Note] = []
    found: dict[str, Meaning] = {}
    for header in table.columns:
        own = header if header in known else next((each for each in known if spelt_alike(header, each)), None)
        means = meaning(header) if own is None else Meaning(own)
        if means is not None and (not means.if_numbers or _all_numbers(table, header)):
            found[header] = means
    for header, means in list(found.items()):
        if means.if_numbers and sum(each.column == means.column for each in found.values()) > 1:
            # Beside `vcpus` a column `cpu` says which they were, or how busy.
            del found[header]
    columns = {means.column for means in found.values() if not means.derived}
    if "input" in found and _are_sizes([row.cells["input"] for row in table.rows]):
        found["input"] = Meaning(SIZE_OF_INPUT)
    for header, means in list(found.items()):
        if means.column == "gpu_count" and "gpu" not in columns and _are_names(table, header):
            found[header] = Meaning("gpu")
            columns.add("gpu")
    for header in table.columns:
        if _plain_hardware(header) and "instance_type" not in columns and _counts_machines(table, header):
            found[header] = Meaning("instance_type")
            columns.add("instance_type")
        elif _plain_hardware(header) and "gpu" not in columns and header not in found and _counts_gpus(table, header):
            found[header] = Meaning("gpu")
            columns.add("gpu")
    if "device" in found and "gpu" not in columns and any(_names_gpu(row.cells["device"]) for row in table.rows):
        found["device"] = Meaning("gpu")
    for header in table.columns:
        if header.lower() in COUNTS and "gpu" in columns and "gpu_count" not in columns and _all_numbers(table, header):
            if _has_more_than(table, header, MOST_LIKELY_COUNT):
                notes.append(Note(NoteKind.COUNT_NOT_OF_GPUS, columns=(header,)))
                continue
            found[header] = Meaning("gpu_count")
            columns.add("gpu_count")
    if not any(means.column in ("throughput", *TIMES, LATENCY) for means in found.values()):
        texts = (header for header in table.columns if header not in found)
        if (told := next((header for header in texts if _tells_rates(table, header)), None)) is not None:
            found[told] = Meaning("throughput", unit="s")
    _read_nodes(table, found)
    _read_modes(table, found)
    for header, means in list(found.items()):
        if means.column == "memory_gib" and memory_is_of_gpus(table, found, header):
            found[header] = Meaning(GPU_MEMORY)
            notes.append(Note(NoteKind.MEMORY_OF_GPUS, columns=(header,)))
        elif means.column == "memory_gib" and memory_was_used(table, found, header):
            del found[header]
            notes.append(Note(NoteKind.MEMORY_OF_GPUS, columns=(header,)))
        elif means.column == GPU_MEMORY and not tells_gpus_apart(table, found, header):
            del found[header]
    given = [header for header, means in found.items() if means.column == "throughput" and not means.derived]
    derived = False
    for header, means in list(found.items()):
        if means.derived and (derived or (given and not _fills(table, header, means, given[0]))):
            del found[header]
        derived = derived or (means.derived and header in found)
    plain_rates = any(found[header].column == "throughput" and not found[header].unit for header in given)
    if not plain_rates or "sample_unit" in columns:
        # A header with a unit of its own says what its figures are, and sizer's own rates are samples a second.
        found = {header: means for header, means in found.items() if means.column != RATE_UNIT}
    found, left_out = with_units(table, found)
    _refuse_twice(found, path)
    return found, [*notes, *left_out]


def _read_nodes(table: Table, found: dict[str, Meaning]) -> None:
    """Beside the accelerators of all machines those of each say how many machines there were. What all machines have
    together is read only where something says how many they are. `instances` are machines only where one has a name,
    since programs for serving call copies of a network so, and `nodes` beside `edges`, or by thousands, are a graph's.
    """
    counts = [header for header, means in found.items() if means.column == "gpu_count"]
    named = [
        header
        for header, means in found.items()
        if means.column == "instance_type" and any(row.cells[header] for row in table.rows)
    ]
    graph = any("edge" in header.lower() for header in table.columns)
    for header, means in list(found.items()):
        copies = "instance" in header.lower() and not named
        if means.column == NODES != header and (graph or copies or _has_more_than(table, header, MOST_LIKELY_COUNT)):
            del found[header]
        elif means.column == "gpu_count" and means.of == "node" and len(counts) > 1:
            found[header] = Meaning(GPUS_PER_NODE)
    several = any(means.column == NODES for means in found.values()) or any(
        counted_machines(row.cells[header]) for header in named for row in table.rows
    )
    for header, means in list(found.items()):
        if means.of == "all" and means.column != "gpu_count" and not several:
            del found[header]


def _read_modes(table: Table, found: dict[str, Meaning]) -> None:
    """A column `kind` that says training or inference, as others write `mode`, and not which kind of sizer's."""
    if "kind" in found and "mode" not in table.columns:
        texts = [text for row in table.rows if (text := row.cells["kind"])]
        if texts and all(mode_of(text) and text not in KINDS for text in texts):
            found["kind"] = Meaning("mode")


def _has_more_than(table: Table, header: str, most: int) -> bool:
    digits = (re.sub(r"[,\s]", "", row.cells[header]) for row in table.rows)
    return any(each.isdecimal() and int(each) > most for each in digits)


def _fills(table: Table, header: str, means: Meaning, given: str) -> bool:
    """Whether a column of times says the rate of a row in which the column of rates is empty."""
    return means.column in TIMES and any(
        row.cells[header] and (not row.cells[given] or is_not_measured(row.cells[given])) for row in table.rows
    )


SPELT_INPUTS = {
    "disk": (
        "real",
        "real data",
        "imagenet",
        "jpeg",
        "jpegs",
        "tfrecord",
        "tfrecords",
        "recordio",
        "on disk",
        "真实数据",
    ),
    "cached": ("cache", "in memory", "memory", "ram", "preloaded"),
    "synthetic": ("synth", "synthetic data", "dummy", "dummy data", "fake", "fake data", "random", "合成数据"),
}
"""How people call the inputs."""
COUNTS = ("count", "qty", "quantity", "number", "num", "数量")
"""What a column beside one of GPUs counts."""
INPUTS = ("disk", "cached", "synthetic")
SIZE_OF_INPUT = "input_size"
"""What a column `input` of numbers is: how large an image or a sequence is, and not where it comes from."""


def _counts_devices(header: str) -> bool:
    """Whether a column that is read as a count of accelerators counts devices of any kind, CPUs, too."""
    return "device" in header.lower() or header.lower() in COUNTS


def _are_sizes(cells: Sequence[str]) -> bool:
    """Whether cells of a column `input` are sizes, such as `224` and `seq 128`, and none is an input of sizer's."""
    return any(any(map(str.isdigit, text)) for text in cells) and not set(cells) & set(INPUTS)


def _names_gpu(text: str) -> bool:
    """Whether the cell of a column `device` is the name of a GPU: `K80`, and not `cuda:0`."""
    other = re.fullmatch(r"(?:gpu|cuda)(?::\d*)?|emulated:.*", text, re.IGNORECASE)
    return bool(text) and other is None and cpu_in(text) is None


_HARDWARE = ("hardware", "platform", "system", "card", "chip", "processor", "配置", "硬件")


def _are_names(table: Table, header: str) -> bool:
    """Whether a column called `GPUs` says which GPUs there were, and not only how many."""
    texts = [text for row in table.rows if (text := row.cells[header]) and not is_not_measured(text)]
    return bool(texts) and all(text[0].isalpha() or counted(text) for text in texts)


def _plain_hardware(header: str) -> bool:
    return header.strip().lower() in _HARDWARE


def _counts_gpus(table: Table, header: str) -> bool:
    """Whether a column of machines counts GPUs in its cells: `8x V100`."""
    return any(counted(row.cells[header]) for row in table.rows)


def _counts_machines(table: Table, header: str) -> bool:
    """Whether it counts instance types in its cells, which have a point in their names: `2x p4d.24xlarge`."""
    counts = (counted_machines(row.cells[header]) for row in table.rows)
    return any("." in machines[0] for machines in counts if machines)


def _with_merged_cells(table: Table, meanings: Mapping[str, Meaning], echo: _Echo) -> Table:
    """The table with what a spreadsheet wrote of merged cells in each of their rows.

    That is where the first column names the job, which no row can lack: the empty cells with which a row begins are
    those of the row above.
    """
    first = meanings.get(table.columns[0]) if table.columns else None
    if first is None or first.column not in ("workload", "network"):
        return table
    rows: list[Row] = []
    for row in table.rows:
        if rows and not row.cells[table.columns[0]]:
            filled = dict(row.cells)
            for header in table.columns:
                if filled[header]:
                    break
                filled[header] = rows[-1].cells[header]
            echo.merged.append(row.line)
            row = replace(row, cells=filled)
        rows.append(row)
    return replace(table, rows=tuple(rows))


def _all_numbers(table: Table, header: str) -> bool:
    """Whether each cell begins with a figure: `cpu` may be how many or which, or how busy it was."""
    return all(text[:1].isdigit() and "%" not in text for row in table.rows if (text := row.cells[header]))


def _refuse_mixed(table: Table, numbers: Sequence[str], comma: Comma) -> None:
    """Raise InputError where a column has `1,077` and `4.120`: one of the two would be read a thousandfold wrong."""
    for header in numbers if comma is Comma.THOUSANDS else ():
        found = mixed_with_points(unmarked(row.cells[header]) for row in table.rows)
        if found is not None:
            with_comma, pointed = found
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


def _notes_of_table(table: Table) -> list[Note]:
    return [Note(NoteKind.TITLE_LEFT_OUT, text=table.title)] if table.title else []


def _notes_of_columns(meanings: Mapping[str, Meaning]) -> list[Note]:
    renamed = {name: means for name, means in meanings.items() if name != means.column and means.column != RATE_UNIT}
    notes = []
    if renamed:
        read_as = tuple(f"1 / {means.column}" if means.inverse else means.column for means in renamed.values())
        notes.append(Note(NoteKind.COLUMNS_READ, columns=tuple(renamed), read_as=read_as))
    relative = tuple(name for name, means in meanings.items() if means.sample_unit == RELATIVE)
    if relative:
        notes.append(Note(NoteKind.RELATIVE_RATES, columns=relative))
    return notes


def _input(text: str) -> str:
    """The input that people call so; the text itself, where none is."""
    return next((name for name, spelt in SPELT_INPUTS.items() if text.lower() in spelt), text)


def _row(row: Row, meanings: Mapping[str, Meaning], comma: Comma, echo: _Echo) -> Row | None:
    """The row with its cells in the units of their columns; None where it says that nothing was measured."""
    cells: dict[str, str] = {}
    counted_in, said_nothing, named_count = "", False, ""
    units = next((header for header, means in meanings.items() if means.column == RATE_UNIT), None)
    unit = unit_of_rate(row, units) if units is not None else None
    if unit is not None:
        echo.rate_units[row.line] = unit
    for header, text in row.cells.items():
        means = meanings.get(header)
        column = means.column if means is not None else header
        if column == RATE_UNIT:
            continue
        if means is not None and column == "throughput" and unit is not None:
            means = replace(unit, per_gpu=unit.per_gpu or means.per_gpu)
            column = means.column
        if means is not None and column in NUMBERS and text:
            failed = failure(text) if column in _RATES else None
            counted_in = counted_in or (means.sample_unit if column in _RATES else "")
            if failed is not None:
                cells.setdefault("outcome", "")
                cells["outcome"] = cells["outcome"] or failed.value
                echo.failed.setdefault(header, (text, failed.value))
                text = ""
            elif is_not_measured(text):
                said_nothing = said_nothing or column in _RATES
                text = ""
            else:
                written = _figure(header, _told_rate(text) or text if column == "throughput" else text, comma, echo)
                if column == "throughput" and _told_rate(text):
                    echo.marks.setdefault(header, (text, written))
                text, own = plain(means, written)
                counted_in = own or counted_in
                if column == "throughput" and text != written and written.replace(".", "").isdigit():
                    behind = f" {row.cells[units]}" if units is not None else ""
                    echo.units.setdefault(header, (f"{written}{behind}", f"{float(text):.4g}"))
                if means.per_gpu:
                    echo.of_one_gpu.add(row.line)
        elif column == "outcome" and text:
            text = _outcome(header, text, echo)
        elif column == "input" and text.lower() not in INPUTS:
            written, text = text, _input(text)
            if text != written:
                echo.inputs.setdefault(written, (written, text))
        elif column in ("gpu", "device") and (cpu := cpu_in(text)) is not None:
            if cpu:
                echo.cpus[row.line] = NamedCpu(text, cpu)
            text = "cpu"
        elif column == "gpu" and means is not None and (found := counted(text)):
            echo.counts.setdefault(header, (text, f"{found[1]} x {found[0]}"))
            if nodes := nodes_in(text):
                cells[NODES] = cells.get(NODES) or nodes
                echo.of_all_nodes.add(row.line)
            text, named_count = found
        elif column == "instance_type" and (machines := counted_machines(text)):
            text, nodes = machines
            echo.counts.setdefault(header, (row.cells[header], f"{nodes} x {text}"))
            cells[NODES] = cells.get(NODES) or nodes
        if header == "device" and column == "gpu" and not _names_gpu(text):
            column = header
        if text or not cells.get(column):
            cells[column] = text
    if said_nothing and not cells.get("outcome") and not any(cells.get(column) for column in _RATES):
        echo.not_measured.append(row.line)
        return None
    if counted_in and not cells.get("sample_unit"):
        cells["sample_unit"] = counted_in
    cells = _counted_by_name(row, cells, named_count, echo)
    cells = _without_cpus(row, cells, meanings, echo)
    return replace(row, cells=cells)


def _finished(row: Row, meanings: Mapping[str, Meaning], echo: _Echo) -> Row:
    """The row with what follows from how many accelerators it had: its whole batch, and a rate from that and a time."""
    units = next((header for header, means in meanings.items() if means.column == RATE_UNIT), None)
    unit = echo.rate_units.get(row.line)
    read = replace(row, cells=_of_all_gpus(row.cells, meanings, echo))
    return with_rate(read, units, unit) if units is not None and unit is not None and unit.column in TIMES else read


def _outcome(header: str, text: str, echo: _Echo) -> str:
    """The outcome that a word such as `OOM` means; one that is written as sizer does stays as it is."""
    if text.lower().replace(" ", "_") in {each.value for each in Outcome}:
        return text
    failed = failure(text)
    found = failed.value if failed is not None else Outcome.COMPLETED.value if is_completed(text) else text
    if found != text:
        echo.failed.setdefault(header, (text, found))
    return found


def _counted_by_name(row: Row, cells: dict[str, str], named: str, echo: _Echo) -> dict[str, str]:
    """With the count in a name such as `8x V100`, where no column says another; 1 there counts the whole of it."""
    said = cells.get("gpu_count", "")
    if not named or said == named:
        return cells
    if said:
        echo.counts_differ.append(row.line)
    return cells | {"gpu_count": named} if said in ("", "1") else cells


def _without_cpus(row: Row, cells: dict[str, str], meanings: Mapping[str, Meaning], echo: _Echo) -> dict[str, str]:
    """With no accelerator where a CPU computed, and the column counts devices of any kind."""
    header = next((header for header, means in meanings.items() if means.column == "gpu_count"), "")
    if cells.get("device") != "cpu" or cells.get("gpu") or not _counts_devices(header):
        return cells
    count, cpu = cells.get("gpu_count", ""), echo.cpus.get(row.line)
    if cpu is not None and count.isdecimal() and int(count) > 1:
        echo.cpus[row.line] = replace(cpu, name=f"{int(count)} x {cpu.name}")
    return cells | {"gpu_count": "0"}


_RATES = ("throughput", *TIMES)
"""Columns of which a row needs one."""


_TOLD = re.compile(r"(?<![\d.,])[\d.,]+\s?[kKM]?\s*([a-z]+)\s?(?:/|per )\s?s(?:ec(?:ond)?)?\b", re.IGNORECASE)


def _told_rate(text: str) -> str:
    """The rate within a longer cell, `40.7 images/sec` of `79.8 s (2 epochs, 40.7 images/sec)`; empty without one."""
    found = [each[0] for each in _TOLD.finditer(text) if sample_unit(each[1])]
    return found[0] if len(found) == 1 and found[0] != text else ""


def _tells_rates(table: Table, header: str) -> bool:
    cells = [text for row in table.rows if (text := row.cells[header])]
    return bool(cells) and all(_told_rate(text) for text in cells)


def _figure(header: str, text: str, comma: Comma, echo: _Echo) -> str:
    """A number as sizer writes it, with its unit."""
    bare = unmarked(text)
    if bare != text:
        echo.marks.setdefault(header, (text, bare))
    pointed = with_point(bare, comma)
    if pointed != bare:
        (echo.decimals if comma is Comma.DECIMALS else echo.thousands).setdefault(header, (bare, pointed))
    return pointed


def _of_all_gpus(cells: dict[str, str], meanings: Mapping[str, Meaning], echo: _Echo) -> dict[str, str]:
    """With the batch over all GPUs where the table has that of one.

    Without a count of GPUs there is one, but where an instance type is named, which may have several.
    """
    each, count = cells.get(BATCH_PER_GPU, ""), cells.get("gpu_count") or ("" if cells.get("instance_type") else "1")
    if not each or cells.get("batch_size") or not (each.isdecimal() and count.isdecimal()):
        return cells
    if not echo.per_gpu:
        echo.per_gpu += [header for header, means in meanings.items() if means.column == BATCH_PER_GPU]
    return cells | {"batch_size": str(int(each) * max(1, int(count)))}
