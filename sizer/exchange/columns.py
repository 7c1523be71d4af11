"""What the columns of a table mean: by the names that a person gives them, by their headers, and by their cells."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from sizer.catalog.gpus import GPU_MEMORY_GB
from sizer.exchange.cells import NUMBERS, counted, counted_machines, cpu_in, is_not_measured, own_memory, told_rate
from sizer.exchange.headers import (
    AN_HOUR,
    GPUS_PER_NODE,
    LATENCIES,
    LATENCY,
    RATE_UNIT,
    TIMES,
    UNSAID,
    Meaning,
    map_option,
    meaning,
    meanings,
)
from sizer.exchange.measurements import COLUMNS
from sizer.exchange.values import mode
from sizer.files.tables import Table, named
from sizer.records.kinds import KINDS
from sizer.records.messages import AnyOf, InputError, Message
from sizer.records.notes import Note, NoteKind
from sizer.records.units import RELATIVE

MOST_COUNTED = 1024
"""More accelerators, or machines, in one row are hardly those of a job."""
DEAREST_HOUR = 300.0
"""USD an hour: no machine that one can rent costs more, so such a price is that of a month or of the machine."""
MOST_GIB = 4096.0
"""So much memory without a unit may be MB."""
INPUTS = ("disk", "cached", "synthetic")
NOT_READ = "{} (not read)"
"""What a column is called in a study that a person leaves unread; its own name may be that of another."""
_TIMED = re.compile(r"sec|time|elapsed|duration|(?<![a-z])s(?![a-z])", re.IGNORECASE)
"""In a header that may be one of times, and not of rates."""
_OPTIONS = {"memory_gib": ("memory (GB)", "memory (MB)", "gpu memory"), "usd_per_hour": ("price per hour",)}
"""What a doubtful column may be called instead; that of a time is its header with a unit, any other the column."""
_GPUS = "|".join(re.escape(name).replace(r"\ ", "[ -]?") for name in sorted(GPU_MEMORY_GB, key=len, reverse=True))
_BESIDE_RATES = {
    "precision": re.compile(r"\b(fp64|fp32|tf32|fp16|bf16|fp8|int8|amp|mixed precision)\b", re.IGNORECASE),
    "gpu_count": re.compile(r"(?<![\w.])(\d{1,5})[ -]?(?:x ?)?(?:gpus?\b|accelerators?\b|卡)", re.IGNORECASE),
    "gpu": re.compile(rf"\b((?:{_GPUS})(?:[- ]\(?\d{{1,3}} ?GB\)?)?)(?![\w-])", re.IGNORECASE),
    "batch_size": re.compile(r"\b(?:bs|batch(?: ?size)?)[ =:]*(\d+)", re.IGNORECASE),
    "disk": re.compile(
        r"\b((?:local |aws |ebs )*(?:nvme|hdd|ssd|gp2|gp3|io1|io2|st1|sc1|ebs|efs|s3|nfs)(?: ssd)?)\b", re.IGNORECASE
    ),
}
"""By column what the header of a rate may hold beside its name; the group is the value."""


def names_gpu(text: str) -> bool:
    """Whether the cell of a column `device` is the name of a GPU: `K80`, and not `cuda:0`."""
    other = re.fullmatch(r"(?:gpu|cuda)(?::\d*)?|emulated:.*", text, re.IGNORECASE)
    return bool(text) and other is None and cpu_in(text) is None


def _numbers(cells: Sequence[str]) -> list[float]:
    """The numbers that cells begin with."""
    return [float(match[0]) for cell in cells if (match := re.match(r"\d+(?:\.\d+)?", cell.lstrip("$"), re.ASCII))]


def _in_gib(cells: Sequence[str], _: Sequence[str]) -> bool:
    return max(_numbers([cell for cell in cells if re.fullmatch(r"[\d.]+", cell)]), default=0.0) <= MOST_GIB


def _are_machines(cells: Sequence[str], gpus: Sequence[str]) -> bool:
    """Whether memory may be that of machines: neither `5.8/40.0`, nor beside accelerators what is no whole quarter, or
    the size of each of them."""
    if any("/" in cell for cell in cells) or not _in_gib(cells, gpus):
        return False
    own = [own_memory(gpu, cell) for gpu, cell in zip(gpus, cells, strict=True) if gpu and cell]
    return not own or (None in own and not any(number * 4 % 1 for number in _numbers(cells)))


WHERE: dict[str, Callable[[Sequence[str], Sequence[str]], bool]] = {
    "numbers": lambda cells, _: all(cell[:1].isdigit() and "%" not in cell for cell in cells if cell),
    "few": lambda cells, _: (
        len(_numbers(cells)) == len(cells) - cells.count("") and max(_numbers(cells), default=0) <= MOST_COUNTED
    ),
    "names": lambda cells, _: (
        any(cells) and all(cell[0].isalpha() or counted(cell) for cell in cells if cell and not is_not_measured(cell))
    ),
    "gpu names": lambda cells, _: any(map(names_gpu, cells)),
    "counted gpus": lambda cells, _: any(map(counted, cells)),
    "counted machines": lambda cells, _: any("." in count[0] for cell in cells if (count := counted_machines(cell))),
    "modes": lambda cells, _: any(cells) and all(mode(cell) and cell not in KINDS for cell in cells if cell),
    "sizes": lambda cells, _: any(map(str.isdigit, "".join(cells))) and not set(cells) & set(INPUTS),
    "machine sizes": _are_machines,
    "in gib": _in_gib,
    AN_HOUR: lambda cells, _: max(_numbers(cells), default=0.0) <= DEAREST_HOUR,
}
"""What `only where` of headers.csv may ask of the cells of a column, and of those of the column of GPUs beside them."""


@dataclass(frozen=True)
class Columns:
    """A table, what its headers mean, and notes of what was read so; `names` are what a person calls headers."""

    path: Path
    table: Table
    names: Mapping[str, str]
    read: Mapping[str, Meaning]
    notes: tuple[Note, ...]

    def __contains__(self, column: str) -> bool:
        return any(means.column == column for means in self.read.values())

    def header(self, column: str) -> str:
        """The table's own header of a column; the column itself where the table has none."""
        return next((header for header, means in self.read.items() if means.column == column), column)

    def name(self, header: str) -> str:
        """What a column of the table is called in a study that is not read."""
        return NOT_READ.format(header) if self.names.get(header) == "" else header

    @property
    def unread(self) -> tuple[str, ...]:
        """The headers that mean nothing."""
        return tuple(header for header in self.table.columns if header not in self.read)

    def unknown(self, taken: Collection[str]) -> tuple[str, ...]:
        """What the columns are called in a study that mean nothing, or none of these."""
        names = [
            self.read[header].column if header in self.read else self.name(header) for header in self.table.columns
        ]
        return tuple(name for name in names if name not in taken)

    @property
    def rated_by(self) -> str | None:
        """The column of times from which the rate of a row follows that has none itself; None without such rows."""
        time = next((means.column for means in self.read.values() if means.column in TIMES), None)
        return LATENCY if time is None and LATENCY in self and "throughput" not in self else time

    def hint(self, *columns: str) -> Message | str:
        """What to type if a column that is not read is one of these; nothing where all are read."""

        def figures(header: str) -> int:
            cells = {row.cells[header] for row in self.table.rows} - {""}
            return len(cells) if all(re.match(r"[$~]?\d", cell) for cell in cells) else 0

        if not self.unread:
            return ""
        header = max(reversed(self.unread) if "throughput" in columns else self.unread, key=figures)
        if "throughput" in columns and _TIMED.search(header):
            columns = ("seconds_per_sample",)
        options = AnyOf(*(map_option(header, column) for column in columns))
        return Message(" If a column has it under another name, type for example {options}.", options=options)


def read_columns(table: Table, path: Path, names: Mapping[str, str]) -> Columns:
    """What each column of a table means; `names` are headers with what a person calls them, or nothing.

    Columns that say a rate in another way are read only where none is given itself. Raises InputError for a bad name,
    where two columns mean one, and where rates would follow from a time whose unit nothing says.
    """
    names = _checked(names, table, path)
    table, notes = _in_rows(table, names)
    meant = {header: meanings(names.get(header, header)) for header in table.columns}
    read = _read(table, meant)
    if not {"throughput", *TIMES, *LATENCIES} & {means.column for means in read.values()}:
        for header in table.columns:
            cells = [row.cells[header] for row in table.rows if row.cells[header]]
            if header not in read and cells and all(map(told_rate, cells)):
                read[header] = Meaning("throughput", unit="s")
                break
    columns = [means.column for means in read.values()]
    for header, means in list(read.items()):
        if columns.count(means.column) > 1 and means.column == "gpu_count" and means.of == "node":
            read[header] = Meaning(GPUS_PER_NODE)
        elif columns.count(means.column) > 1 and means.of == "all":
            del read[header]
    rates = [header for header, means in read.items() if means.column == "throughput" and not means.derived]
    derived = False
    for header, means in list(read.items()):
        if means.derived and (derived or (rates and not _fills(table, header, means, rates[0]))):
            del read[header]
        derived = derived or (means.derived and header in read)
    if "sample_unit" in columns or not any(read[header].unit == "" for header in rates):
        # A header with a unit of its own says what its figures are, and sizer's own rates are samples a second.
        read = {header: means for header, means in read.items() if means.column != RATE_UNIT}
    doubts = _doubts(table, read, meant, names, path)
    _refuse_twice(read, path)
    return Columns(path, table, names, read, (*notes, *_read_otherwise(read), *doubts))


def _checked(names: Mapping[str, str], table: Table, path: Path) -> dict[str, str]:
    """The names by the table's own headers. Raises InputError for a header or a name that is not there."""
    by_name = {header.lower(): header for header in table.columns} | {header: header for header in table.columns}
    for header, means in names.items():
        if header not in by_name and header.lower() not in by_name:
            raise InputError(
                "{path} has no column `{header}` for --map, only {headers}.",
                path=path,
                header=header,
                headers=named(table.columns),
            )
        if means and not meanings(means) and _rate_beside(means, _BESIDE_RATES) is None:
            close = get_close_matches(means, list(COLUMNS), n=1, cutoff=0.7)
            lists = Message("`sizer import --help` lists them.")
            raise InputError(
                "{option}: sizer reads no column `{means}`; {nearest} The table has {headers}.",
                option=map_option(header, means),
                means=means,
                nearest=Message("did you mean `{name}`?", name=close[0]) if close else lists,
                headers=named(table.columns),
            )
    return {by_name.get(header) or by_name[header.lower()]: means for header, means in names.items()}


def _in_rows(table: Table, names: Mapping[str, str]) -> tuple[Table, list[Note]]:
    """The table with one rate a row, and a note for what was taken apart, as of `FP16 images/s` beside `FP32 images/s`.

    That is where two headers or more are those of rates but for what _BESIDE_RATES says, the same for each, and no
    column says that. Lines are counted as if the table were written so, since a run is known by its line.
    """
    headers = {header: names.get(header, header) for header in table.columns}
    taken = {means.column for name in headers.values() if (means := meaning(name)) is not None}
    kinds = {column: form for column, form in _BESIDE_RATES.items() if column not in taken}
    wide = {header: split for header, name in headers.items() if (split := _rate_beside(name, kinds)) is not None}
    columns = {tuple(values) for values, _ in wide.values()}
    if "throughput" in taken or len(wide) < 2 or len(columns) > 1:
        return table, []
    rate = next(iter(wide.values()))[1]
    kept = tuple(header for header in table.columns if header not in wide)
    cells = [
        (row, {name: row.cells[name] for name in kept} | values | {rate: row.cells[header]})
        for row in table.rows
        for header, (values, _) in wide.items()
        if row.cells[header]
    ]
    rows = [replace(row, line=line, cells=own) for line, (row, own) in enumerate(cells, start=2)]
    (read_as,) = columns
    note = Note(NoteKind.WIDE_COLUMNS, columns=tuple(wide), read_as=read_as)
    return replace(table, columns=(*kept, *read_as, rate), rows=tuple(rows)), [note]


def _rate_beside(header: str, kinds: Mapping[str, re.Pattern[str]]) -> tuple[dict[str, str], str] | None:
    """What the header of a rate says beside it, by column, and the header without that; None where it is none."""
    values, rest = {}, header
    for column, form in kinds.items():
        if match := form.search(rest):
            values[column] = match[1]
            rest = f"{rest[: match.start()]} {rest[match.end() :]}"
    rest = re.sub(r"\(\s*\)|\[\s*\]", "", rest).strip(" ,:;-_()")
    means = meaning(rest)
    return (values, rest) if values and means is not None and means.column == "throughput" else None


def _fills(table: Table, header: str, means: Meaning, given: str) -> bool:
    """Whether a column of times says the rate of a row in which the column of rates is empty."""
    return means.column in TIMES and any(
        row.cells[header] and (not row.cells[given] or is_not_measured(row.cells[given])) for row in table.rows
    )


def _read(table: Table, meant: Mapping[str, Sequence[Meaning]]) -> dict[str, Meaning]:
    """What each header means: first those that mean one thing anywhere, then those for which the table decides."""
    some = {header: means for header, means in meant.items() if means}
    read = {header: means[0] for header, means in some.items() if not means[0].where}
    # What the machines are comes first, since others may stand beside it.
    for header in sorted(some, key=lambda name: some[name][0].column not in ("gpu", "instance_type")):
        if header not in read:
            means = next((means for means in some[header] if _holds(means, header, table, read)), None)
            read |= {header: means} if means is not None else {}
    return {header: read[header] for header in table.columns if header in read}


def _holds(means: Meaning, header: str, table: Table, read: Mapping[str, Meaning]) -> bool:
    """Whether the table is as `where` of a meaning asks."""
    cells = [row.cells[header] for row in table.rows]
    filled = {means.column: name for name, means in read.items() if any(row.cells[name] for row in table.rows)}
    gpus = [row.cells.get(filled.get("gpu", ""), "") for row in table.rows]
    others = {means.column for means in read.values()} | {name.lower() for name in table.columns if name != header}
    return all(
        column in filled if how == "beside" else column not in others if how == "without" else WHERE[where](cells, gpus)
        for where in means.where
        for how, _, column in [where.partition(" ")]
    )


def _read_otherwise(read: Mapping[str, Meaning]) -> list[Note]:
    """A note of the headers that are called otherwise by sizer, and one of the rates that are relative."""
    read_as = {
        name: f"1 / {means.column}" if means.inverse else means.column
        for name, means in read.items()
        if name != means.column and means.column != RATE_UNIT
    }
    relative = tuple(name for name, means in read.items() if means.sample_unit == RELATIVE)
    notes = [
        Note(NoteKind.COLUMNS_READ, columns=tuple(read_as), read_as=tuple(read_as.values())),
        Note(NoteKind.RELATIVE_RATES, columns=relative),
    ]
    return [note for note in notes if note.columns]


def _doubts(
    table: Table,
    read: dict[str, Meaning],
    meant: Mapping[str, Sequence[Meaning]],
    names: Mapping[str, str],
    path: Path,
) -> list[Note]:
    """A note for each column of figures of which it is not sure what it is, or in which unit, and which is not read.

    Raises InputError where rates rest on one.
    """
    notes = []
    columns = {means.column for means in read.values()}
    for header, options in meant.items():
        cells = [row.cells[header] for row in table.rows if row.cells[header]]
        means = read.get(header) or next((means for means in options[-1:] if means.where), None)
        if means is None or means.column not in NUMBERS or not cells or len(_numbers(cells)) < len(cells):
            continue
        bare = any(re.fullmatch(r"[\d.,]+", cell) for cell in cells)
        if (means.unit != UNSAID or not bare) if header in read else means.column in columns:
            continue
        units = ("s", "min") if means.column == "seconds_per_epoch" else ("ms", "s")
        timed = tuple(f"{names.get(header, header)} ({unit})" for unit in units)
        others = timed if means.unit == UNSAID else _OPTIONS.get(means.column, (means.column,))
        typed = tuple(map_option(header, name) for name in others)
        if means.column in TIMES or (means.column == LATENCY and not columns & {"throughput", *TIMES}):
            raise InputError(
                "{path}: rates follow from `{header}`, and nothing says its unit; type {options}.",
                path=path,
                header=header,
                options=AnyOf(*typed),
            )
        read.pop(header, None)
        notes.append(Note(NoteKind.COLUMN_DOUBTFUL, columns=(header,), names=typed))
    return notes


def _refuse_twice(read: Mapping[str, Meaning], path: Path) -> None:
    headers: dict[str, list[str]] = defaultdict(list)
    for header, means in read.items():
        headers[means.column].append(header)
    for column, (first, *others) in headers.items():
        if others:
            raise InputError(
                "{path}: the columns `{first}` and `{second}` both mean {column}; leave one of them unread with "
                "{option}.",
                path=path,
                first=first,
                second=others[0],
                column=column,
                option=map_option(others[0], ""),
            )
