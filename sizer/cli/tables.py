"""A table of configurations to predict: columns as in measurements.csv, so that this file itself will do."""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sizer.cli import values
from sizer.errors import InputError
from sizer.given_files import read_given

COLUMNS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "workload": ("workload", str),
    "vcpus": ("vcpus", values.vcpus),
    "memory_gib": ("memory_bytes", values.memory_gibibytes),
    "disk": ("disk", str),
    "batch_size": ("batch_size", values.batch_size),
}
"""The columns that say where to predict, the name of each inside, and how its cells are read; others are left alone."""


def read_places(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """What each row asks for, with its place, `FILE line N`; an empty cell asks for nothing.

    Raises InputError for a table without rows or without any of the columns, and for a cell out of bounds.
    """
    text = read_given(path, "a table of configurations")
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""))
        if not set(COLUMNS) & set(reader.fieldnames or ()):
            raise InputError(f"{path} line 1: none of the columns {', '.join(COLUMNS)} is in the header")
        rows = [(f"{path} line {reader.line_num}", row) for row in reader]
    except csv.Error as error:
        raise InputError(f"{path}: cannot be read as a table ({error}); give a CSV file in UTF-8") from error
    if not rows:
        raise InputError(f"{path}: has a header and no row; give one configuration a row")
    return [(where, _place(row, where)) for where, row in rows]


def _place(row: Mapping[str | None, Any], where: str) -> dict[str, Any]:
    if None in row:
        raise InputError(f"{where}: has more cells than the header has columns")
    place: dict[str, Any] = {}
    for column, (name, read) in COLUMNS.items():
        text = (row.get(column) or "").strip()
        try:
            place |= {name: read(text)} if text else {}
        except argparse.ArgumentTypeError as error:
            raise InputError(f"{where}: {column}: {error}") from None
    return place
