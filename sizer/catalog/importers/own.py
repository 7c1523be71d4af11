"""Tables with the columns of sizer's own files: instance types, disk tiers or accelerator rates."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from sizer.catalog.accelerator_rates import AcceleratorRate
from sizer.catalog.machines import Entry, columns, is_text
from sizer.files.codec import from_json
from sizer.files.tables import Row, Table, table_in
from sizer.records.domains import LARGEST_COUNT
from sizer.records.messages import AllOf, InputError, quoted

KINDS = ("instance_type", "disk_tier", "samples_per_second")
"""One of these columns says what a table holds."""
_LIMITS = tuple(f"{limit}_{part}" for limit in ("read_iops", "read_mbps") for part in ("base", "per_gib", "max"))
NEEDED = {
    "instance_type": ("provider", "instance_type", "vcpus", "memory_gib", "as_of", "source"),
    "disk_tier": ("provider", "disk_tier", "class", *_LIMITS, "as_of", "source"),
    "samples_per_second": ("mode", "network", "gpu", "precision", "samples_per_second", "framework", "as_of", "source"),
}
"""The columns without which a table of that kind cannot be read."""
COLUMNS = {"instance_type": columns("instances"), "disk_tier": columns("disks"), "samples_per_second": ("batch_size",)}
"""All that are read of such a table beside those."""
ALSO_CALLED = {
    "usd_per_hour": "price_per_hour",
    "usd_per_hour_spot": "spot_per_hour",
    "latency_ms": "latency_emulate_ms",
}
"""Columns that have another name in sizer's own files."""
WHOLE = ("gpu_count", "batch_size", "retired")


def read(text: str, path: Path) -> tuple[str, list[Entry]]:
    """The kind of a table, one of KINDS, and its rows. InputError names the file, the line and the column."""
    columns = {*ALSO_CALLED, *(name for of_kind in (NEEDED, COLUMNS) for names in of_kind.values() for name in names)}
    table = table_in(text, path, columns, KINDS)
    kind = next((kind for kind in KINDS if kind in table.columns), None)
    if kind is None:
        raise InputError("{path}: the header needs a column instance_type, disk_tier or samples_per_second.", path=path)
    _check_columns(table, kind, path)
    return kind, list(_entries(table, kind))


def _check_columns(table: Table, kind: str, path: Path) -> None:
    if not table.rows:
        raise InputError("{path} has a header but no rows; write one entry per row.", path=path)
    missing = [column for column in NEEDED[kind] if column not in table.columns]
    if missing:
        raise InputError(
            "{path}: the header has no column {missing}; a table of this kind needs {needed}.",
            path=path,
            missing=AllOf(*missing),
            needed=AllOf(*NEEDED[kind]),
        )


def _entries(table: Table, kind: str) -> Iterator[Entry]:
    names = {*NEEDED[kind], *COLUMNS[kind]}
    for row in table.rows:
        cells = {ALSO_CALLED.get(column, column): column for column in row.cells}
        yield Entry(row.where, {name: _cell(row, cells[name], name) for name in cells if name in names})


def _cell(row: Row, column: str, name: str) -> object:
    """A text, a number, or None of an empty cell."""
    text = row.cells[column]
    if not text or is_text(name) or name in ("mode", "network", "precision", "framework"):
        return text or None
    return number(row, column, name in WHOLE and name != "gpu_count")


def number(row: Row, column: str, whole: bool = False) -> float | int:
    """The number in a cell; InputError with its line where it is none."""
    text = row.cells[column]
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise row.input_error(column, "{text} is not a number; correct it.", text=quoted(text))
    if whole and not value.is_integer():
        raise row.input_error(column, "{text} is not a whole number; correct it.", text=quoted(text))
    return int(value) if value.is_integer() and abs(value) < LARGEST_COUNT else value


def rate(entry: Entry) -> AcceleratorRate:
    """The accelerator rate of a row. InputError names the row and what is wrong with it."""
    return from_json(AcceleratorRate, dict(entry.cells), entry.where)
