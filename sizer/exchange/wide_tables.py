"""A table with several rates in one row, `FP16 images/s` beside `FP32 images/s`: each becomes a row of its own."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace

from sizer.catalog.gpus import GPU_MEMORY_GB
from sizer.exchange.headers import Meaning, meaning
from sizer.files.tables import Table
from sizer.records.study import Note, NoteKind

_GPUS = "|".join(re.escape(name).replace(r"\ ", "[ -]?") for name in sorted(GPU_MEMORY_GB, key=len, reverse=True))
_KINDS = {
    "precision": re.compile(r"\b(fp64|fp32|tf32|fp16|bf16|fp8|int8|amp|mixed precision)\b", re.IGNORECASE),
    "gpu_count": re.compile(r"(?<![\w.])(\d{1,5})[ -]?(?:x ?)?(?:gpus?\b|accelerators?\b|卡)", re.IGNORECASE),
    "gpu": re.compile(rf"\b((?:{_GPUS})(?:[- ]\(?\d{{1,3}} ?GB\)?)?)(?![\w-])", re.IGNORECASE),
    "batch_size": re.compile(r"\b(?:bs|batch(?: ?size)?)[ =:]*(\d+)", re.IGNORECASE),
    "disk": re.compile(
        r"\b((?:local |aws |ebs )*(?:nvme|hdd|ssd|gp2|gp3|io1|io2|st1|sc1|ebs|efs|s3|nfs)(?: ssd)?)\b", re.IGNORECASE
    ),
}
"""By column what a header may hold beside the name of a rate; the group is the value."""


def in_rows(table: Table, known: Collection[str]) -> tuple[Table, tuple[Note, ...]]:
    """The table with one rate a row, and a note for what was taken apart.

    That is where two headers or more are those of rates but for what _KINDS says, the same for each, and no column says
    that. Lines are counted as if the table were written so, since a run is known by its line.
    """
    columns = {header: meaning(header) for header in table.columns}
    taken = {means.column for means in columns.values() if means is not None} | (set(table.columns) & set(known))
    kinds = {column: form for column, form in _KINDS.items() if column not in taken}
    found = {header: split for header in table.columns if (split := _rate(header, kinds)) is not None}
    said = {tuple(values) for values, _ in found.values()}
    if "throughput" in taken or len(found) < 2 or len(said) > 1:
        return table, ()
    rate = next(iter(found.values()))[1]
    kept = tuple(header for header in table.columns if header not in found)
    cells = [
        (row, {each: row.cells[each] for each in kept} | values | {rate: row.cells[header]})
        for row in table.rows
        for header, (values, _) in found.items()
        if row.cells[header]
    ]
    rows = [replace(row, line=line, cells=own) for line, (row, own) in enumerate(cells, start=2)]
    (own_columns,) = said
    note = Note(NoteKind.WIDE_COLUMNS, columns=tuple(found), read_as=own_columns)
    return replace(table, columns=(*kept, *own_columns, rate), rows=tuple(rows)), (note,)


def _rate(header: str, kinds: Mapping[str, re.Pattern[str]]) -> tuple[dict[str, str], str] | None:
    """What the header of a rate says beside it, by column, and the header without that; None where it is none."""
    values, rest = {}, header
    for column, form in kinds.items():
        if found := form.search(rest):
            values[column] = found[1]
            rest = f"{rest[: found.start()]} {rest[found.end() :]}"
    rest = re.sub(r"\(\s*\)|\[\s*\]", "", rest).strip(" ,:;-_()")
    means: Meaning | None = meaning(rest)
    return (values, rest) if values and means is not None and means.column == "throughput" else None
