"""A table of configurations to predict: columns as in measurements.csv, so that this file itself will do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sizer.exchange.imported_columns import READERS
from sizer.exchange.understanding import understood
from sizer.files.tables import Row, read_table
from sizer.records.errors import InputError
from sizer.records.messages import AnyOf, Message
from sizer.records.typed_values import (
    parse_batch_size,
    parse_gpu_count,
    parse_memory_gib,
    parse_vcpus,
)

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
    table = understood(read_table(path, Message("a table of configurations"), READERS, COLUMNS), path, READERS).table
    if not set(COLUMNS) & set(table.columns):
        raise InputError(
            "{path}: the header has no column that says where to predict; add {columns}.",
            path=path,
            columns=AnyOf(*COLUMNS),
        )
    if not table.rows:
        raise InputError("{path} has a header but no rows; write one configuration per row.", path=path)
    return [(row.where, _asked_configuration(row)) for row in table.rows], table.unknown(READERS)


def _asked_configuration(row: Row) -> dict[str, Any]:
    asked: dict[str, Any] = {}
    for column, (name, read) in COLUMNS.items():
        text = row.cells.get(column, "")
        try:
            asked |= {name: read(text)} if text else {}
        except InputError as error:
            raise row.input_error(column, error) from None
    return asked
