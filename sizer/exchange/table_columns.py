"""What the columns of a table mean: by the names that a person gives them, by their headers, and by their cells."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from sizer.catalog.gpus import GPU_MEMORY_GB
from sizer.exchange.cells import is_not_measured, told_rate
from sizer.exchange.headers import (
    AN_HOUR,
    FURTHER,
    GPUS_PER_NODE,
    LATENCIES,
    LATENCY,
    RATE_UNIT,
    SECONDS_PER_EPOCH,
    TIMES,
    UNSAID,
    Meaning,
    map_option,
    meaning,
    meanings,
)
from sizer.exchange.machine_names import counted, counted_machines, cpu_in, own_memory
from sizer.exchange.measurements import COLUMNS
from sizer.exchange.values import mode
from sizer.files.tables import Table, named
from sizer.records.kinds import KINDS
from sizer.records.messages import AnyOf, InputError, Message
from sizer.records.notes import Note, NoteKind

MOST_COUNTED = 1024
"""More accelerators, or machines, in one row are hardly those of a job."""
DEAREST_HOUR = 300.0
"""USD an hour: no machine that one can rent costs more, so such a price is that of a month or of the machine."""
MOST_GIB = 4096.0
"""So much memory without a unit may be MB."""
INPUTS = ("disk", "cached", "synthetic")
MEANT = {*COLUMNS, *FURTHER}
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
    return [float(found[0]) for cell in cells if (found := re.match(r"\d+(?:\.\d+)?", cell.lstrip("$"), re.ASCII))]


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
    "counted machines": lambda cells, _: any("." in found[0] for cell in cells if (found := counted_machines(cell))),
    "modes": lambda cells, _: any(cells) and all(mode(cell) and cell not in KINDS for cell in cells if cell),
    "sizes": lambda cells, _: any(map(str.isdigit, "".join(cells))) and not set(cells) & set(INPUTS),
    "machine sizes": _are_machines,
    "in gib": _in_gib,
    AN_HOUR: lambda cells, _: max(_numbers(cells), default=0.0) <= DEAREST_HOUR,
}
"""What `only where` of headers.csv may ask of the cells of a column, and of those of the column of GPUs beside them."""


def renamed(table: Table, path: Path, names: Mapping[str, str]) -> tuple[Table, dict[str, str]]:
    """The table with columns of sizer where a person says so, and by header what else one is called.

    A column without a name is not read. Raises InputError for a bad name.
    """
    by_name = {header.lower(): header for header in table.columns}
    new = {}
    for header, means in names.items():
        own = header if header in table.columns else by_name.get(header.lower())
        if own is None:
            raise InputError(
                "{path} has no column `{header}` for --map, only {headers}.",
                path=path,
                header=header,
                headers=named(table.columns),
            )
        if means and not meanings(means) and _rate_beside(means, _BESIDE_RATES) is None:
            close = get_close_matches(means, list(COLUMNS), n=1, cutoff=0.7)
            lists = Message("`sizer import --help` lists them.")
            nearest = Message("did you mean `{name}`?", name=close[0]) if close else lists
            raise InputError(
                "{option}: sizer reads no column `{means}`; {nearest} The table has {headers}.",
                option=map_option(header, means),
                means=means,
                nearest=nearest,
                headers=named(table.columns),
            )
        new[own] = means or f"{own} (not read)"
    twice = [means for means, count in Counter(new.values()).items() if count > 1]
    if twice:
        raise InputError("--map: two columns are to be `{means}`; leave one out.", means=twice[0])
    aliases = {header: means for header, means in new.items() if meanings(means) and means not in COLUMNS}
    new = {header: means for header, means in new.items() if header not in aliases}
    for header, means in new.items():
        if means in table.columns and means not in new:
            raise InputError(
                "{option}: {path} has a column `{means}` already; leave that one unread with {other}.",
                option=map_option(header, means),
                means=means,
                path=path,
                other=map_option(means, ""),
            )
    rows = (replace(row, cells={new.get(name, name): cell for name, cell in row.cells.items()}) for row in table.rows)
    return replace(table, columns=tuple(new.get(name, name) for name in table.columns), rows=tuple(rows)), aliases


def in_rows(table: Table) -> tuple[Table, tuple[Note, ...]]:
    """The table with one rate a row, and a note for what was taken apart, as of `FP16 images/s` beside `FP32 images/s`.

    That is where two headers or more are those of rates but for what _BESIDE_RATES says, the same for each, and no
    column says that. Lines are counted as if the table were written so, since a run is known by its line.
    """
    taken = {means.column for header in table.columns if (means := meaning(header)) is not None}
    kinds = {column: form for column, form in _BESIDE_RATES.items() if column not in taken}
    found = {header: split for header in table.columns if (split := _rate_beside(header, kinds)) is not None}
    said = {tuple(values) for values, _ in found.values()}
    if "throughput" in taken or len(found) < 2 or len(said) > 1:
        return table, ()
    rate = next(iter(found.values()))[1]
    kept = tuple(header for header in table.columns if header not in found)
    cells = [
        (row, {name: row.cells[name] for name in kept} | values | {rate: row.cells[header]})
        for row in table.rows
        for header, (values, _) in found.items()
        if row.cells[header]
    ]
    rows = [replace(row, line=line, cells=own) for line, (row, own) in enumerate(cells, start=2)]
    (own_columns,) = said
    note = Note(NoteKind.WIDE_COLUMNS, columns=tuple(found), read_as=own_columns)
    return replace(table, columns=(*kept, *own_columns, rate), rows=tuple(rows)), (note,)


def _rate_beside(header: str, kinds: Mapping[str, re.Pattern[str]]) -> tuple[dict[str, str], str] | None:
    """What the header of a rate says beside it, by column, and the header without that; None where it is none."""
    values, rest = {}, header
    for column, form in kinds.items():
        if found := form.search(rest):
            values[column] = found[1]
            rest = f"{rest[: found.start()]} {rest[found.end() :]}"
    rest = re.sub(r"\(\s*\)|\[\s*\]", "", rest).strip(" ,:;-_()")
    means = meaning(rest)
    return (values, rest) if values and means is not None and means.column == "throughput" else None


def read_columns(table: Table, aliases: Mapping[str, str], path: Path) -> tuple[dict[str, Meaning], list[Note]]:
    """By header what each column means, and a note for each that is not what it seems.

    Those that say a rate in another way are read only where none is given itself. Raises InputError where two columns
    mean one, and where rates would follow from a time whose unit nothing says.
    """
    meant = {header: meanings(aliases.get(header, header)) for header in table.columns}
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
    notes = _doubts(table, read, meant, aliases, path)
    _refuse_twice(read, path)
    return read, notes


def _fills(table: Table, header: str, means: Meaning, given: str) -> bool:
    """Whether a column of times says the rate of a row in which the column of rates is empty."""
    return means.column in TIMES and any(
        row.cells[header] and (not row.cells[given] or is_not_measured(row.cells[given])) for row in table.rows
    )


def _read(table: Table, meant: Mapping[str, Sequence[Meaning]]) -> dict[str, Meaning]:
    """What each header means: first those that mean one thing anywhere, then those for which the table decides."""
    found = {header: each for header, each in meant.items() if each}
    read = {header: each[0] for header, each in found.items() if not each[0].where}
    # What the machines are comes first, since others may stand beside it.
    for header in sorted(found, key=lambda name: found[name][0].column not in ("gpu", "instance_type")):
        if header not in read:
            means = next((each for each in found[header] if _holds(each, header, table, read)), None)
            read |= {header: means} if means is not None else {}
    return {header: read[header] for header in table.columns if header in read}


def _holds(means: Meaning, header: str, table: Table, read: Mapping[str, Meaning]) -> bool:
    """Whether the table is as `where` of a meaning asks."""
    cells = [row.cells[header] for row in table.rows]
    filled = {each.column: name for name, each in read.items() if any(row.cells[name] for row in table.rows)}
    gpus = [row.cells.get(filled.get("gpu", ""), "") for row in table.rows]
    others = {each.column for each in read.values()} | {name.lower() for name in table.columns if name != header}
    return all(
        column in filled if how == "beside" else column not in others if how == "without" else WHERE[each](cells, gpus)
        for each in means.where
        for how, _, column in [each.partition(" ")]
    )


def _doubts(
    table: Table,
    read: dict[str, Meaning],
    meant: Mapping[str, Sequence[Meaning]],
    aliases: Mapping[str, str],
    path: Path,
) -> list[Note]:
    """A note for each column of figures of which it is not sure what it is, or in which unit, and which is not read.

    Raises InputError where rates rest on one.
    """
    notes = []
    columns = {means.column for means in read.values()}
    for header in table.columns:
        cells = [row.cells[header] for row in table.rows if row.cells[header]]
        means = read.get(header) or next((each for each in meant[header][-1:] if each.where), None)
        bare = any(re.fullmatch(r"[\d.,]+", cell) for cell in cells)
        if means is None or not cells or len(_numbers(cells)) < len(cells):
            continue
        if (means.unit != UNSAID or not bare) if header in read else means.column in columns:
            continue
        called = aliases.get(header, header)
        timed = [f"{called} ({unit})" for unit in (("s", "min") if means.column == SECONDS_PER_EPOCH else ("ms", "s"))]
        names = timed if means.unit == UNSAID else _OPTIONS.get(means.column, (means.column,))
        options = tuple(map_option(header, name) for name in names)
        if means.column in TIMES or (means.column == LATENCY and not columns & {"throughput", *TIMES}):
            raise InputError(
                "{path}: rates follow from `{header}`, and nothing says its unit; type {options}.",
                path=path,
                header=header,
                options=AnyOf(*options),
            )
        read.pop(header, None)
        notes.append(Note(NoteKind.COLUMN_DOUBTFUL, columns=(header,), names=options))
    return notes


def _refuse_twice(read: Mapping[str, Meaning], path: Path) -> None:
    headers: dict[str, list[str]] = defaultdict(list)
    for header, means in read.items():
        headers[means.column].append(header)
    for column, names in headers.items():
        if len(names) > 1:
            raise InputError(
                "{path}: the columns `{first}` and `{second}` both mean {column}; leave one of them unread with "
                "{option}.",
                path=path,
                first=names[0],
                second=names[1],
                column=column,
                option=map_option(names[1], ""),
            )


def hint_of_map(table: Table, *columns: str) -> Message | str:
    """What to type if a column of the table that is not read is one of these; nothing where all are read."""
    unread = [header for header in table.columns if header not in MEANT]

    def figures(header: str) -> int:
        cells = {row.cells.get(header, "") for row in table.rows} - {""}
        return len(cells) if all(re.match(r"[$~]?\d", cell) for cell in cells) else 0

    if not unread:
        return ""
    header = max(reversed(unread) if "throughput" in columns else unread, key=figures)
    options = AnyOf(*(map_option(header, column) for column in columns))
    return Message(" If a column has it under another name, type for example {options}.", options=options)
