"""A table of configurations to predict: columns as in measurements.csv, so that this file itself will do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sizer.exchange import measurements
from sizer.exchange.columns import read_columns
from sizer.exchange.headers import BATCH_PER_GPU, GPUS_PER_NODE
from sizer.exchange.machines import together, with_whole_batches
from sizer.exchange.rows import READERS, read_rows
from sizer.files.tables import read_table
from sizer.records.messages import AnyOf, InputError, Message
from sizer.records.units import parse_batch_size, parse_gpu_count, parse_memory_gib, parse_vcpus

COLUMNS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "workload": ("workload", str),
    "vcpus": ("vcpus", parse_vcpus),
    "memory_gib": ("memory_bytes", parse_memory_gib),
    "disk": ("disk", str),
    "batch_size": ("batch_size", parse_batch_size),
    "gpu": ("gpu", str),
    "gpu_count": ("gpu_count", parse_gpu_count),
}
"""The columns that say where to predict, the name of each inside, and how its cells are read; others are left alone."""


AskedRow = tuple[Message, dict[str, Any]]


def read_configurations(path: Path) -> tuple[list[AskedRow], tuple[str, ...]]:
    """What each row asks for, with its place, `FILE line N`, and the columns that measurements.csv does not have.

    An empty cell asks for nothing. Raises InputError for a table without rows or without any of the columns, and for a
    cell out of bounds.
    """
    table = read_table(path, Message("a table of configurations"), measurements.COLUMNS, COLUMNS)
    columns = read_columns(table, path, {})
    if not any(column in columns for column in COLUMNS):
        raise InputError(
            "{path}: the header has no column that says where to predict; add {columns}.",
            path=path,
            columns=AnyOf(*COLUMNS),
        )
    if not table.rows:
        raise InputError("{path} has a header but no rows; write one configuration per row.", path=path)
    readers = {column: reader for column, (_, reader) in COLUMNS.items()} | {
        column: READERS[column] for column in (measurements.NODES, GPUS_PER_NODE, BATCH_PER_GPU)
    }
    rows, _ = read_rows(columns, readers)
    rows, _ = together(rows, columns, None)
    rows, _ = with_whole_batches(rows, columns)
    asked = [
        (row.row.where, {name: row[column] for column, (name, _) in COLUMNS.items() if row[column] is not None})
        for row in rows
    ]
    return asked, columns.unknown(READERS)
